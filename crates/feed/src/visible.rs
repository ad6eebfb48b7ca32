//! Whether a post or a person is there for a reader. Those of somebody who is suspended are there for nobody, and neither
//! are posts that are hidden from everybody.

use std::collections::HashMap;

use model::{Handle, Kind, Person, Problem, Topic};
use store::restrictions::Restricted;

use super::Feed;
use super::problems::{missing, to_problem};

impl Feed {
    /// The person, or the author of the post, whether or not the author is shown.
    pub(super) async fn author_of(&self, topic: &Topic) -> Result<Handle, Problem> {
        match topic {
            Topic::User(handle) => Ok(handle.clone()),
            Topic::Post(id) => {
                let post = self.stored_post(*id).await?;
                let shown = Some(post.author).filter(|_| !post.withheld);
                shown.ok_or_else(|| missing(&topic.to_string()))
            }
        }
    }

    /// Refuses what is there for nobody: a read of the author, and one of the post.
    pub(super) async fn require_shown(&self, topic: &Topic) -> Result<(), Problem> {
        let author = self.author_of(topic).await?;
        let people = self.store.people().named([&author]).await;
        visible(
            topic,
            &author,
            &people.map_err(to_problem)?,
            &Restricted::default(),
        )
    }

    /// Refuses what a reader does not see: one more read, if there is a reader.
    ///
    /// # Errors
    /// As [`visible`].
    pub(super) async fn require_visible(
        &self,
        topic: &Topic,
        reader: Option<&Handle>,
    ) -> Result<(), Problem> {
        let author = self.author_of(topic).await?;
        let people = self.store.people();
        let (people, restricted) = futures::try_join!(
            people.named([&author]),
            self.restricted(reader, [&author].into_iter())
        )
        .map_err(to_problem)?;
        visible(topic, &author, &people, &restricted)
    }
}

/// Refuses a post or person of this author unless the author is among these people, and no block concerns them.
///
/// # Errors
/// [`Kind::NotFound`], and [`Kind::Forbidden`] for what the page of somebody does not show because of a block.
pub(super) fn visible(
    topic: &Topic,
    author: &Handle,
    people: &HashMap<Handle, Person>,
    restricted: &Restricted,
) -> Result<(), Problem> {
    let is_blocked = restricted.blocks(author);
    match topic {
        Topic::User(_) if is_blocked => {
            let why = "One of you blocks the other, so you do not see this.";
            Err(Problem::new(Kind::Forbidden, why))
        }
        _ if is_blocked || !people.contains_key(author) => Err(missing(&topic.to_string())),
        _ => Ok(()),
    }
}
