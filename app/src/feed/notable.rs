//! Owners that are worth a look at how they are stored.

use model::{Handle, PostCard, Problem, Profile};

use super::problems::explain;
use super::{Feed, Paging};

/// How many posts to choose from.
const AMONG: usize = 100;

/// An outlier of each kind, and what is ordinary. Each is missing where a store has none.
#[derive(Debug, Clone, Default)]
pub struct Notable {
    /// The most liked post.
    pub viral: Option<PostCard>,
    /// The most followed of those who wrote the most liked posts.
    pub celebrity: Option<Profile>,
    /// The least liked of the newest posts.
    pub quiet: Option<PostCard>,
}

impl Feed {
    /// The owners to begin with.
    pub async fn notable(&self) -> Result<Notable, Problem> {
        let paging = Paging {
            limit: AMONG,
            ..Paging::default()
        };
        let (liked, newest) =
            futures::try_join!(self.explore(None, paging), self.home(None, Paging::default()))?;
        let authors = liked.items.iter().map(|card| &card.post.author.handle);
        let authors: std::collections::BTreeSet<&Handle> = authors.collect();
        let celebrity = self
            .store
            .people()
            .most_followed(authors)
            .await
            .map_err(explain)?;
        let celebrity = match celebrity {
            Some(handle) => Some(self.profile(&handle, None).await?),
            None => None,
        };
        let viral = liked.items.into_iter().next();
        let is_viral = |card: &PostCard| viral.as_ref().is_some_and(|viral| viral.post.id == card.post.id);
        let others = newest.items.into_iter().filter(|card| !is_viral(card));
        Ok(Notable {
            quiet: others.min_by_key(|card| card.post.likes),
            viral,
            celebrity: celebrity.filter(|person| person.followers > 0),
        })
    }
}
