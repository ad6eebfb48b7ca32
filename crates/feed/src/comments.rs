//! Comments: a list of a post in which each person may appear many times.

use std::collections::{HashMap, HashSet};

use bson::doc;
use futures::future::try_join_all;
use model::{
    Comment, CommentText, Cursor, Handle, ItemId, Kind, Listing, Person, PostId, Problem, Relation,
    Timestamp, Topic,
};
use outlier::fields;
use store::comments::REPLY_TO;
use store::overflow::{Item, uuid_bson};
use store::reactions::Reaction;
use uuid::Uuid;

use super::lists::keep_seams;
use super::people::{mentions, name_or_handle};
use super::problems::to_problem;
use super::visible::visible;
use super::{Feed, Paging, Reactions};

/// A comment to write.
#[derive(Debug, Clone)]
pub struct NewComment {
    /// The id that the client chose, if it did.
    pub id: Option<ItemId>,
    /// What it says.
    pub text: CommentText,
    /// The comment that it answers, if it answers one.
    pub reply_to: Option<ItemId>,
}

impl Reactions<'_> {
    /// Comments on a post. A second call with the same `id` returns the existing comment.
    pub async fn comment(self, actor: &Handle, post: PostId, new: NewComment) -> Result<Comment, Problem> {
        let _turn = self.0.turns.of(actor).await;
        let at = self.0.environment.now();
        let NewComment { id, text, reply_to } = new;
        let mut more = doc! { "text": text.as_str() };
        let answered = match reply_to {
            Some(answered) => {
                more.insert(REPLY_TO, uuid_bson(answered.uuid()));
                match self.answered(actor, post, answered).await {
                    // Sent again, after the comment that it answers was deleted.
                    Err(_) if self.is_by(actor, post, id).await? => None,
                    answered => Some(answered?),
                }
            }
            None => None,
        };
        let id = id.map_or_else(|| self.0.environment.ids.uuid(at), ItemId::uuid);
        let item = Item {
            id,
            by: Some(actor.clone()),
            at,
            more,
        };
        let reaction = Reaction::Comment(post, id);
        let mentioned = Handle::mentioned_in(text.as_str());
        let people = async {
            let people = self.0.store.people();
            people
                .named(mentioned.iter().chain([actor]).chain(&answered))
                .await
                .map_err(to_problem)
        };
        let (appended, people) = futures::try_join!(self.0.add(&reaction, item), people)?;
        if appended.item.by.as_ref() != Some(actor) {
            return Err(
                Problem::new(Kind::Conflict, "Another comment has this id. Choose another.").about("id"),
            );
        }
        comment(&appended.item, &people, answered.as_ref())
    }

    /// The author of the comment that a reply answers.
    async fn answered(self, actor: &Handle, post: PostId, id: ItemId) -> Result<Handle, Problem> {
        // Somebody blocked is told nothing else than if it were not there.
        let gone = || {
            let message = "There is no such comment on this post to reply to.";
            Problem::new(Kind::NotFound, message).about("replyTo")
        };
        let found = self.0.store.comments().as_written(post, id.uuid()).await;
        let Some(found) = found.map_err(to_problem)? else {
            // If the post is not there either, that is the reason.
            self.0.stored_post(post).await?;
            return Err(gone());
        };
        let by = found.by.ok_or_else(gone)?;
        match self
            .0
            .require_visible(&Topic::User(by.clone()), Some(actor))
            .await
        {
            Err(problem) if [Kind::NotFound, Kind::Forbidden].contains(&problem.kind) => Err(gone()),
            visible => visible.map(|()| by),
        }
    }

    /// Whether a comment is there already, and the actor's.
    async fn is_by(self, actor: &Handle, post: PostId, id: Option<ItemId>) -> Result<bool, Problem> {
        let Some(id) = id else { return Ok(false) };
        let found = self.0.store.comments().as_written(post, id.uuid()).await;
        Ok(found
            .map_err(to_problem)?
            .is_some_and(|comment| comment.by.as_ref() == Some(actor)))
    }

    /// A cursor of the comments on a post, newest first, at which this comment comes first; `None` if it is gone.
    pub async fn cursor_at_comment(self, post: PostId, id: ItemId) -> Result<Option<Cursor>, Problem> {
        let store = &self.0.store;
        let found = store.comments().as_written(post, id.uuid()).await;
        let cursor = |comment: Item| {
            let list = store.list(Relation::Comments);
            list.cursor_at(&Topic::Post(post), comment.at)
        };
        Ok(found.map_err(to_problem)?.map(cursor))
    }

    /// Changes the text of one of the actor's own comments. The same text again changes nothing.
    pub async fn edit_comment(
        self,
        actor: &Handle,
        post: PostId,
        id: ItemId,
        text: CommentText,
    ) -> Result<Comment, Problem> {
        let _turn = self.0.turns.of(actor).await;
        self.0.require_visible(&Topic::Post(post), Some(actor)).await?;
        let found = self.0.stored_comment(post, id).await?;
        if found.by.as_ref() != Some(actor) {
            return Err(Problem::new(
                Kind::Forbidden,
                "Only its author can edit a comment.",
            ));
        }
        if found.more.get_str("text").ok() != Some(text.as_str()) {
            let (comments, at) = (self.0.store.comments(), self.0.environment.now());
            if !comments.edit(post, &found, &text, at).await.map_err(to_problem)? {
                return Err(no_comment());
            }
            let mentioned = [mentioned_in(&found), Handle::mentioned_in(text.as_str())];
            self.0.unread_changed(mentioned.iter().flatten());
        }
        let mut shown = self.shown(post, None, Some(actor), vec![found]).await?;
        shown.pop().ok_or_else(no_comment)
    }

    /// Deletes one of the actor's own comments.
    pub async fn delete_comment(self, actor: &Handle, post: PostId, id: ItemId) -> Result<(), Problem> {
        let _turn = self.0.turns.of(actor).await;
        let comments = self.0.store.comments();
        let found = comments.as_written(post, id.uuid()).await.map_err(to_problem)?;
        let found = found.ok_or_else(no_comment)?;
        if found.by.as_ref() != Some(actor) {
            return Err(Problem::new(
                Kind::Forbidden,
                "Only its author can delete a comment.",
            ));
        }
        self.0.remove(actor, &Reaction::Comment(post, id.uuid())).await?;
        self.0.is_gone_for_whom_it_concerned(post, found);
        Ok(())
    }

    /// The comments on a post, without those of people whom the reader's restrictions hide.
    pub async fn comments(
        self,
        post: PostId,
        viewer: Option<&Handle>,
        paging: Paging,
    ) -> Result<Listing<Comment>, Problem> {
        let (lists, topic) = (self.0.lists(None), Topic::Post(post));
        let (author, mut stretch) = futures::try_join!(
            self.0.author_of(&topic),
            lists.stretch(&topic, Relation::Comments, paging)
        )?;
        let read: Vec<_> = stretch.items.iter().map(|item| item.id).collect();
        let items = self.shown(post, Some(&author), viewer, stretch.items).await?;
        let shown: HashSet<_> = items.iter().map(|comment| comment.id.uuid()).collect();
        keep_seams(
            &mut stretch.seams,
            read.into_iter().map(|id| (id, shown.contains(&id))),
        );
        Ok(Listing {
            next: stretch.next.map(|cursor| cursor.to_string()),
            seams: stretch.seams,
            total: stretch.total,
            items,
        })
    }

    /// Comments as a reader sees them, without those that the reader does not see. With the author of the post it is an
    /// error if the reader does not see the post.
    async fn shown(
        self,
        post: PostId,
        author: Option<&Handle>,
        viewer: Option<&Handle>,
        mut comments: Vec<Item>,
    ) -> Result<Vec<Comment>, Problem> {
        let answered = self.authors_answered(post, &comments).await?;
        let stored = self.0.store.comments();
        let edited = comments.iter_mut().map(|comment| (post, comment));
        stored.edit_in_place(edited.collect()).await.map_err(to_problem)?;
        let authors = || {
            let by = comments.iter().filter_map(|comment| comment.by.as_ref());
            by.chain(answered.values()).chain(author)
        };
        let texts = comments
            .iter()
            .filter_map(|comment| comment.more.get_str("text").ok());
        let mentioned: Vec<Handle> = texts.flat_map(Handle::mentioned_in).collect();
        let stored = self.0.store.people();
        let (people, restricted) = futures::try_join!(
            stored.named(authors().chain(&mentioned)),
            self.0.restricted(viewer, authors())
        )
        .map_err(to_problem)?;
        if let Some(author) = author {
            visible(&Topic::Post(post), author, &people, &restricted)?;
        }
        // The comments of somebody who has just left are being deleted; those of somebody who is suspended stay.
        let is_seen = |by: &Handle| people.contains_key(by) && !restricted.hides(by);
        let shown = comments
            .iter()
            .filter(|comment| comment.by.as_ref().is_none_or(is_seen));
        shown
            .map(|item| {
                let to = fields::uuid(&item.more, REPLY_TO).ok();
                let by = to.and_then(|to| answered.get(&to));
                comment(item, &people, by.filter(|by| is_seen(by)))
            })
            .collect()
    }

    /// The authors of the comments that some of these answer, by the ids of those comments. Each that is not among these
    /// is looked up.
    async fn authors_answered(
        self,
        post: PostId,
        comments: &[Item],
    ) -> Result<HashMap<Uuid, Handle>, Problem> {
        let answered = comments
            .iter()
            .filter_map(|item| fields::uuid(&item.more, REPLY_TO).ok());
        let answered: HashSet<Uuid> = answered.collect();
        let here = comments.iter().filter(|item| answered.contains(&item.id));
        let mut authors: HashMap<Uuid, Handle> = here
            .filter_map(|item| Some((item.id, item.by.clone()?)))
            .collect();
        let stored = self.0.store.comments();
        let elsewhere = answered.iter().filter(|id| !authors.contains_key(id));
        let found = try_join_all(elsewhere.map(|id| stored.as_written(post, *id))).await;
        for item in found.map_err(to_problem)?.into_iter().flatten() {
            authors.extend(item.by.map(|by| (item.id, by)));
        }
        Ok(authors)
    }
}

impl Feed {
    /// A comment as it reads now.
    pub(super) async fn stored_comment(&self, post: PostId, id: ItemId) -> Result<Item, Problem> {
        let found = self.store.comments().find(post, id.uuid()).await;
        found.map_err(to_problem)?.ok_or_else(no_comment)
    }

    /// The author of a comment, and what it says now.
    pub(super) async fn comment_text(&self, post: PostId, id: ItemId) -> Result<(Handle, String), Problem> {
        let found = self.stored_comment(post, id).await?;
        let text = found.more.get_str("text").unwrap_or_default().to_owned();
        Ok((found.by.ok_or_else(no_comment)?, text))
    }
}

impl Feed {
    /// Pages of those whom a comment answered or mentioned, that are open, show that it is gone. Nobody waits for it, and
    /// nothing is read if there are none.
    fn is_gone_for_whom_it_concerned(&self, post: PostId, comment: Item) {
        if !self.events.somebody_watches_themselves() {
            return;
        }
        let feed = self.clone();
        tokio::spawn(async move {
            let mut concerned = mentioned_in(&comment);
            if let Ok(answered) = fields::uuid(&comment.more, REPLY_TO) {
                let answered = feed.store.comments().as_written(post, answered).await;
                concerned.extend(answered.ok().flatten().and_then(|answered| answered.by));
            }
            feed.unread_changed(&concerned);
        });
    }
}

fn mentioned_in(comment: &Item) -> Vec<Handle> {
    Handle::mentioned_in(comment.more.get_str("text").unwrap_or_default())
}

fn no_comment() -> Problem {
    Problem::new(Kind::NotFound, "There is no such comment on this post.")
}

/// A comment as it is shown, with the author of the comment that it answers. `people` has the names of both and of those
/// whom it mentions.
fn comment(
    item: &Item,
    people: &HashMap<Handle, Person>,
    answered: Option<&Handle>,
) -> Result<Comment, Problem> {
    let malformed = |what: &str| to_problem(document::Error::Malformed(what.to_owned()));
    let by = item
        .by
        .as_ref()
        .ok_or_else(|| malformed("a comment without an author"))?;
    let text = item
        .more
        .get_str("text")
        .map_err(|_| malformed("a comment without a text"))?;
    let edited_at = item.more.get_datetime("editedAt").ok();
    Ok(Comment {
        id: item.id.into(),
        user: name_or_handle(people, by)?,
        mentions: mentions(text, people),
        at: item.at,
        text: text.parse().map_err(|_| malformed("a comment's text"))?,
        edited_at: edited_at.map(|at| Timestamp::from_millis(at.timestamp_millis())),
        reply_to: fields::uuid(&item.more, REPLY_TO).ok().map(ItemId::from),
        reply_to_user: answered.and_then(|by| people.get(by).cloned()),
    })
}
