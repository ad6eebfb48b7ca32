//! Comments: a list of a post in which each person may appear many times.

use std::collections::HashMap;

use bson::doc;
use model::{Comment, CommentText, Handle, ItemId, Kind, Listing, Person, PostId, Problem, Relation, Topic};
use store::overflow::{Item, Key};
use store::reactions::Reaction;

use super::lists::keep_seams;
use super::people::{mentions, name_or_handle};
use super::problems::to_problem;
use super::{Feed, Paging, Reactions};

impl Reactions<'_> {
    /// Comments on a post. A second call with the same `id` returns the existing comment.
    pub async fn comment(
        self,
        actor: &Handle,
        post: PostId,
        id: Option<ItemId>,
        text: CommentText,
    ) -> Result<Comment, Problem> {
        let _turn = self.0.turns.of(actor).await;
        let at = self.0.environment.now();
        let id = id.map_or_else(|| self.0.environment.ids.uuid(at), ItemId::uuid);
        let item = Item {
            id,
            by: Some(actor.clone()),
            at,
            more: doc! { "text": text.as_str() },
        };
        let reaction = Reaction::Comment(post, id);
        let mentioned = Handle::mentioned_in(text.as_str());
        let people = async {
            let people = self.0.store.people();
            people
                .named(mentioned.iter().chain([actor]))
                .await
                .map_err(to_problem)
        };
        let (appended, people) = futures::try_join!(self.0.add(&reaction, item), people)?;
        if appended.item.by.as_ref() != Some(actor) {
            return Err(
                Problem::new(Kind::Conflict, "Another comment has this id. Choose another.").about("id"),
            );
        }
        comment(&appended.item, &people)
    }

    /// Deletes one of the actor's own comments.
    pub async fn delete_comment(self, actor: &Handle, post: PostId, id: ItemId) -> Result<(), Problem> {
        let _turn = self.0.turns.of(actor).await;
        let (author, _) = self.0.stored_comment(post, id).await?;
        if author != *actor {
            return Err(Problem::new(
                Kind::Forbidden,
                "Only its author can delete a comment.",
            ));
        }
        self.0
            .remove(actor, &Reaction::Comment(post, id.uuid()))
            .await
            .map(drop)
    }

    /// The comments on a post, without those of people whom the reader's restrictions hide.
    pub async fn comments(
        self,
        post: PostId,
        viewer: Option<&Handle>,
        paging: Paging,
    ) -> Result<Listing<Comment>, Problem> {
        let lists = self.0.lists(None);
        let stretch = lists
            .stretch(&Topic::Post(post), Relation::Comments, paging)
            .await?;
        let authors = || stretch.items.iter().filter_map(|item| item.by.as_ref());
        let texts = stretch
            .items
            .iter()
            .filter_map(|item| item.more.get_str("text").ok());
        let mentioned: Vec<Handle> = texts.flat_map(Handle::mentioned_in).collect();
        let stored = self.0.store.people();
        let (people, restricted) = futures::try_join!(
            stored.named(authors().chain(&mentioned)),
            self.0.restricted(viewer, authors())
        )
        .map_err(to_problem)?;
        // The comments of somebody who has just left are being deleted; those of somebody who is suspended stay.
        let is_shown = |item: &&Item| {
            let by = item.by.as_ref();
            by.is_none_or(|by| people.contains_key(by) && !restricted.hides(by))
        };
        let mut seams = stretch.seams;
        keep_seams(
            &mut seams,
            stretch.items.iter().map(|item| (item.id, is_shown(&item))),
        );
        Ok(Listing {
            next: stretch.next.map(|cursor| cursor.to_string()),
            seams,
            total: stretch.total,
            items: stretch
                .items
                .iter()
                .filter(is_shown)
                .map(|item| comment(item, &people))
                .collect::<Result<_, _>>()?,
        })
    }
}

impl Feed {
    /// The author of a comment, and its text.
    pub(super) async fn stored_comment(&self, post: PostId, id: ItemId) -> Result<(Handle, String), Problem> {
        let list = self.store.list(Relation::Comments);
        let found = list.find(&Topic::Post(post), &Key::Id(id.uuid())).await;
        let found = found.map_err(to_problem)?.and_then(|item| {
            let text = item.more.get_str("text").unwrap_or_default().to_owned();
            Some((item.by?, text))
        });
        found.ok_or_else(|| Problem::new(Kind::NotFound, "There is no such comment on this post."))
    }
}

/// A comment as it is shown. `people` has the names of its author and of those whom it mentions.
fn comment(item: &Item, people: &HashMap<Handle, Person>) -> Result<Comment, Problem> {
    let malformed = |what: &str| to_problem(document::Error::Malformed(what.to_owned()));
    let by = item
        .by
        .as_ref()
        .ok_or_else(|| malformed("a comment without an author"))?;
    let text = item
        .more
        .get_str("text")
        .map_err(|_| malformed("a comment without a text"))?;
    Ok(Comment {
        id: item.id.into(),
        user: name_or_handle(people, by)?,
        mentions: mentions(text, people),
        at: item.at,
        text: text.parse().map_err(|_| malformed("a comment's text"))?,
    })
}
