//! The post that a person pinned to their page.

use model::{Handle, Kind, PostCard, PostId, Problem, Profile};

use super::Posts;
use super::posts::asked_for;
use super::problems::to_problem;

impl Posts<'_> {
    /// Pins one of the actor's own posts to their page, instead of another one.
    pub async fn pin(self, actor: &Handle, id: PostId) -> Result<(), Problem> {
        let post = self.0.stored_post(id).await?;
        if post.author != *actor {
            return Err(Problem::new(Kind::Forbidden, "Only the author can pin a post."));
        }
        self.0.store.people().pin(actor, id).await.map_err(to_problem)
    }

    /// Unpins a post. A second call changes nothing.
    pub async fn unpin(self, actor: &Handle, id: PostId) -> Result<(), Problem> {
        self.0.store.people().unpin(actor, id).await.map_err(to_problem)
    }

    /// Whether a person pinned a post.
    pub async fn is_pinned(self, author: &Handle, id: PostId) -> Result<bool, Problem> {
        let person = self.0.store.people().summary(author).await.map_err(to_problem)?;
        Ok(person.is_some_and(|person| person.pinned == Some(id)))
    }

    /// The post that somebody pinned, as a reader sees it; `None` if there is none, or if it is gone.
    pub async fn pinned(
        self,
        profile: &Profile,
        viewer: Option<&Handle>,
    ) -> Result<Option<PostCard>, Problem> {
        let Some(id) = profile.pinned else {
            return Ok(None);
        };
        let post = self.0.store.posts().get(id).await.map_err(to_problem)?;
        let own = post.filter(|post| post.author == profile.handle);
        Ok(self
            .0
            .cards(own.into_iter().collect(), viewer, asked_for)
            .await?
            .pop())
    }
}
