//! What search engines are told about.

use model::{PostCard, Problem};
use store::posts::Order;

use super::{Paging, Posts};

impl Posts<'_> {
    /// The newest posts and the most liked ones, as anybody sees them: at most this many of each. A post that is both
    /// is there once.
    pub async fn findable(self, most: usize) -> Result<Vec<PostCard>, Problem> {
        let (mut posts, liked) = futures::try_join!(
            self.first(Order::Newest, most),
            self.first(Order::MostLiked, most)
        )?;
        let newest: std::collections::HashSet<_> = posts.iter().map(|card| card.post.id).collect();
        posts.extend(liked.into_iter().filter(|card| !newest.contains(&card.post.id)));
        Ok(posts)
    }

    async fn first(self, order: Order, most: usize) -> Result<Vec<PostCard>, Problem> {
        let mut posts = Vec::new();
        let mut paging = Paging {
            limit: Paging::MAX_LIMIT.min(most),
            ..Paging::default()
        };
        while posts.len() < most {
            let listing = match order {
                Order::Newest => self.home(None, paging).await?,
                Order::MostLiked => self.explore(None, paging).await?,
            };
            posts.extend(listing.items);
            let Some(next) = listing.next else { break };
            paging.after = Some(next.parse()?);
        }
        posts.truncate(most);
        Ok(posts)
    }
}
