//! Finding posts and people.

use model::{FoundPerson, Handle, Listing, PostCard, Problem, Search};
use store::posts::Order;
use store::search::FoundPosts;

use super::posts::in_a_feed;
use super::problems::to_problem;
use super::{Feed, Paging, People, Posts};

/// How many of the people whom a reader follows are found before everybody else.
const FOLLOWED: usize = 100;

impl Posts<'_> {
    /// Posts with all the words of a search. `total` is a lower bound. There may be more even if few or none are
    /// returned: each call reads a bounded number of posts.
    pub async fn search(
        self,
        search: &Search,
        order: Order,
        viewer: Option<&Handle>,
        paging: Paging,
    ) -> Result<Listing<PostCard>, Problem> {
        let index = self.0.store.search();
        let found = match order {
            Order::Newest => index.newest_posts(search, paging.after, paging.limit).await,
            Order::MostLiked => index.most_liked_posts(search, paging.after, paging.limit).await,
        };
        self.0.found(found.map_err(to_problem)?, viewer).await
    }

    /// Everybody's posts, those with the most likes for their age first. `total` is a lower bound.
    pub async fn rising(self, viewer: Option<&Handle>, paging: Paging) -> Result<Listing<PostCard>, Problem> {
        let rising = self.0.store.posts().rising(paging.after, paging.limit).await;
        self.0.found(rising.map_err(to_problem)?, viewer).await
    }
}

impl Feed {
    async fn found(&self, found: FoundPosts, viewer: Option<&Handle>) -> Result<Listing<PostCard>, Problem> {
        let read = found.posts.len() as u64;
        let items = self.cards(found.posts, viewer, in_a_feed).await?;
        Ok(Listing {
            next: found.next.map(|cursor| cursor.to_string()),
            seams: Vec::new(),
            total: found.total - (read - items.len() as u64),
            items,
        })
    }
}

impl People<'_> {
    /// The people whose handle or name begins with the words of a search, in one part: first those among the hundred whom
    /// the reader followed last, then the others, each with the most followers first. People who block the reader, or whom
    /// the reader blocks, are left out. `total` is a lower bound.
    pub async fn search(
        self,
        search: &Search,
        viewer: Option<&Handle>,
        limit: usize,
    ) -> Result<Listing<FoundPerson>, Problem> {
        let followed = match viewer {
            Some(reader) => self.followed_last(reader, FOLLOWED).await?,
            None => Vec::new(),
        };
        let found = self.0.store.search().people(search, &followed).await;
        let mut items = found.map_err(to_problem)?;
        let found = items.iter().map(|person| &person.handle);
        let restricted = self.0.restricted(viewer, found).await.map_err(to_problem)?;
        items.retain(|person| !restricted.blocks(&person.handle));
        let total = items.len() as u64;
        items.truncate(limit);
        Ok(Listing {
            items,
            next: None,
            seams: Vec::new(),
            total,
        })
    }
}
