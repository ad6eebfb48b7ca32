//! Whether a post or a person is there for a reader. Those of somebody who is suspended are there for nobody, and neither
//! are posts that are hidden from everybody.

use std::collections::{HashMap, HashSet};

use model::{Handle, Kind, Person, PostId, Problem, Topic};
use store::restrictions::Restricted;

use super::problems::{missing, to_problem};
use super::{Feed, Storage};

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

impl Storage<'_> {
    /// Refuses what the reader does not see.
    pub async fn require(self, topic: &Topic) -> Result<(), Problem> {
        self.0.require_visible(topic, self.1).await
    }

    /// Those of some people who are suspended, or whom a block separates from the reader: two reads.
    pub async fn hidden_among(self, people: &HashSet<Handle>) -> Result<HashSet<Handle>, Problem> {
        let suspensions = self.0.store.suspensions();
        let (mut hidden, restricted) = futures::try_join!(
            suspensions.among(people),
            self.0.restricted(self.1, people.iter())
        )
        .map_err(to_problem)?;
        hidden.extend(people.iter().filter(|person| restricted.blocks(person)).cloned());
        Ok(hidden)
    }

    /// Those of these topics that the reader sees: three reads, however many there are.
    ///
    /// # Errors
    /// When there are topics and the reader sees none.
    pub async fn visible_among(self, topics: Vec<Topic>) -> Result<Vec<Topic>, Problem> {
        let Some(first) = topics.first().map(ToString::to_string) else {
            return Ok(topics);
        };
        let post = |topic: &Topic| match topic {
            Topic::Post(id) => Some(*id),
            Topic::User(_) => None,
        };
        let ids: Vec<PostId> = topics.iter().filter_map(post).collect();
        let posts = self.0.store.posts().several(&ids).await.map_err(to_problem)?;
        let author = |topic: &Topic| match topic {
            Topic::User(handle) => Some(handle.clone()),
            Topic::Post(id) => posts.get(id).map(|post| post.author.clone()),
        };
        let authors: Vec<Handle> = topics.iter().filter_map(author).collect();
        let people = self.0.store.people();
        let (people, restricted) =
            futures::try_join!(people.named(&authors), self.0.restricted(self.1, authors.iter()))
                .map_err(to_problem)?;
        // The page of somebody who is blocked is live, too.
        let is_visible = |topic: &Topic| {
            author(topic).is_some_and(|author| {
                let is_blocked = matches!(topic, Topic::Post(_)) && restricted.blocks(&author);
                people.contains_key(&author) && !is_blocked
            })
        };
        let visible: Vec<Topic> = topics.into_iter().filter(is_visible).collect();
        if visible.is_empty() {
            Err(missing(&first))
        } else {
            Ok(visible)
        }
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
