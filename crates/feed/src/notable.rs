//! Owners whose storage is worth a look.

use model::{Handle, PostCard, Problem, Profile, Timestamp};
use store::posts::Order;

use super::posts::asked_for;
use super::problems::to_problem;
use super::{Feed, Paging, Posts};

/// How many posts to choose from.
const CANDIDATES: usize = 100;

/// An outlier of each kind, and an ordinary post. Each is missing where a store has none.
#[derive(Debug, Clone, Default)]
pub struct Notable {
    /// The most liked post.
    pub viral: Option<PostCard>,
    /// The most followed among the authors of the most liked posts.
    pub celebrity: Option<Profile>,
    /// The most liked among the newest posts whose likes are all in their document.
    pub quiet: Option<PostCard>,
}

impl Posts<'_> {
    /// The owners to begin with. In a demo town they belong to the town: its visitors' posts are not used as
    /// examples.
    pub async fn notable(self) -> Result<Notable, Problem> {
        let until = self.0.town_ends().await?;
        let liked = self.0.written_until(until, Order::MostLiked, CANDIDATES).await?;
        let newest = self
            .0
            .written_until(until, Order::Newest, Paging::DEFAULT_LIMIT)
            .await?;
        let authors = liked.iter().map(|card| &card.post.author.handle);
        let authors: std::collections::BTreeSet<&Handle> = authors.collect();
        let celebrity = self
            .0
            .store
            .people()
            .most_followed(authors)
            .await
            .map_err(to_problem)?;
        let celebrity = match celebrity {
            Some(handle) => Some(self.0.people().profile(&handle, None).await?),
            None => None,
        };
        let viral = liked.into_iter().next();
        let is_viral = |card: &PostCard| viral.as_ref().is_some_and(|viral| viral.post.id == card.post.id);
        let others = newest
            .into_iter()
            .filter(|card| !is_viral(card) && card.meter.pages == 0);
        Ok(Notable {
            quiet: others.max_by_key(|card| card.post.likes),
            viral,
            celebrity: celebrity.filter(|person| person.followers > 0),
        })
    }

    /// The most liked post; in a demo town, the most liked of its own posts.
    pub async fn viral(self) -> Result<Option<PostCard>, Problem> {
        let until = self.0.town_ends().await?;
        let liked = self.0.written_until(until, Order::MostLiked, 1).await?;
        Ok(liked.into_iter().next())
    }
}

impl Feed {
    async fn written_until(
        &self,
        until: Option<Timestamp>,
        order: Order,
        limit: usize,
    ) -> Result<Vec<PostCard>, Problem> {
        let posts = self.store.posts().written_until(until, order, limit).await;
        self.cards(posts.map_err(to_problem)?, None, asked_for).await
    }

    /// The moment at which the demo town ends: younger posts are by its visitors. `None` without a town.
    async fn town_ends(&self) -> Result<Option<Timestamp>, Problem> {
        let town = self.store.town().await.map_err(to_problem)?;
        Ok(town.and_then(|town| town.ends()))
    }
}
