use bson::{Document, doc};
use model::{ActivityKind, Handle, PostId, Relation, Topic};
use outlier::fields;
use uuid::Uuid;

use crate::digest_id::digest_id;
use crate::overflow::{Item, Key, Owner, uuid_bson};
use crate::shared_posts::SharedPost;

/// What somebody does, and to which post or person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reaction {
    /// Likes a post.
    Like(PostId),
    /// Shares a post.
    Share(PostId),
    /// Comments on a post, with this id. Clients choose it, so comments on two posts may have the same.
    Comment(PostId, Uuid),
    /// Follows a person.
    Follow(Handle),
}

/// What an intent tells that somebody began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Adding a reaction or removing it.
    React(Reaction),
    /// Deleting one of their own posts.
    DeletePost(PostId),
}

impl Action {
    /// Reads the stored form.
    pub(super) fn read(fields: &Document) -> Option<Self> {
        if fields.get_str("kind").ok()? == ActivityKind::Post.as_str() {
            return Some(Self::DeletePost(fields::uuid(fields, "post").ok()?.into()));
        }
        Reaction::read(fields, None).map(Self::React)
    }

    pub(super) fn to_document(&self) -> Document {
        match self {
            Self::React(reaction) => reaction.to_document(),
            Self::DeletePost(post) => {
                doc! { "kind": ActivityKind::Post.as_str(), "post": uuid_bson(post.uuid()) }
            }
        }
    }

    /// The kind of the activity that it adds or removes.
    pub fn kind(&self) -> ActivityKind {
        match self {
            Self::React(reaction) => reaction.kind(),
            Self::DeletePost(_) => ActivityKind::Post,
        }
    }

    /// The list of that post or person which decides; any list of a post that is deleted.
    pub(super) fn relation(&self) -> Relation {
        match self {
            Self::React(reaction) => reaction.relation(),
            Self::DeletePost(_) => Relation::Likes,
        }
    }

    /// The post or person that it is about.
    pub fn owner(&self) -> Owner {
        match self {
            Self::React(reaction) => reaction.owner(),
            Self::DeletePost(post) => Topic::Post(*post),
        }
    }
}

impl Reaction {
    /// The reaction that an activity is about; `None` for a published post, and for a malformed activity.
    pub fn of(activity: &Item) -> Option<Self> {
        Self::read(&activity.more, Some(activity.id))
    }

    /// Reads the stored form. The activity of a comment without `comment` has the comment's own id: the form that
    /// activities had before two comments could have the same one.
    pub(super) fn read(fields: &Document, id: Option<Uuid>) -> Option<Self> {
        let kind: ActivityKind = fields.get_str("kind").ok()?.parse().ok()?;
        if kind == ActivityKind::Follow {
            return Some(Self::Follow(fields.get_str("user").ok()?.parse().ok()?));
        }
        let post = PostId::from(fields::uuid(fields, "post").ok()?);
        match kind {
            ActivityKind::Like => Some(Self::Like(post)),
            ActivityKind::Share => Some(Self::Share(post)),
            ActivityKind::Comment => Some(Self::Comment(post, fields::uuid(fields, "comment").ok().or(id)?)),
            ActivityKind::Follow | ActivityKind::Post => None,
        }
    }

    /// The stored form: what activities and intents have beside id and time.
    pub(super) fn to_document(&self) -> Document {
        let mut fields = doc! { "kind": self.kind().as_str() };
        match self {
            Self::Like(post) | Self::Share(post) => _ = fields.insert("post", uuid_bson(post.uuid())),
            Self::Comment(post, id) => {
                fields.insert("post", uuid_bson(post.uuid()));
                fields.insert("comment", uuid_bson(*id));
            }
            Self::Follow(author) => _ = fields.insert("user", author.as_str()),
        }
        fields
    }

    /// The activity about an item of the list. A comment's activity has an id made from the post's and the comment's
    /// id, and names the comment in `comment`; any other has the item's id, which no client chooses.
    pub fn activity(&self, item: &Item) -> Item {
        Item {
            id: self.activity_id(item.id),
            by: None,
            at: item.at,
            more: self.to_document(),
        }
    }

    /// How an item of the list is listed like a post, if it is a share.
    pub(super) fn shared_post(&self, item: &Item) -> Option<SharedPost> {
        match self {
            Self::Share(post) => SharedPost::of(*post, item),
            Self::Like(_) | Self::Comment(..) | Self::Follow(_) => None,
        }
    }

    fn activity_id(&self, item: Uuid) -> Uuid {
        let Self::Comment(post, id) = self else {
            return item;
        };
        digest_id([b"comment", post.uuid().as_bytes().as_slice(), id.as_bytes()])
    }

    /// The ids that the activity of an item may have, the usual one first.
    pub(super) fn activity_ids(&self, item: Uuid) -> Vec<Uuid> {
        match self {
            Self::Comment(..) => vec![self.activity_id(item), item],
            Self::Like(_) | Self::Share(_) | Self::Follow(_) => vec![item],
        }
    }

    /// The kind of its activity.
    pub fn kind(&self) -> ActivityKind {
        match self {
            Self::Like(_) => ActivityKind::Like,
            Self::Share(_) => ActivityKind::Share,
            Self::Comment(..) => ActivityKind::Comment,
            Self::Follow(_) => ActivityKind::Follow,
        }
    }

    /// The owner of the list that decides whether the reaction exists.
    pub fn owner(&self) -> Owner {
        match self {
            Self::Like(post) | Self::Share(post) | Self::Comment(post, _) => Topic::Post(*post),
            Self::Follow(author) => Topic::User(author.clone()),
        }
    }

    /// The relation of that list.
    pub fn relation(&self) -> Relation {
        match self {
            Self::Like(_) => Relation::Likes,
            Self::Share(_) => Relation::Shares,
            Self::Comment(..) => Relation::Comments,
            Self::Follow(_) => Relation::Followers,
        }
    }

    /// The key of its item in that list.
    pub fn key(&self, actor: &Handle) -> Key {
        match self {
            Self::Comment(_, id) => Key::Id(*id),
            Self::Like(_) | Self::Share(_) | Self::Follow(_) => Key::By(actor.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Timestamp;

    use super::*;

    fn post(number: u128) -> PostId {
        Uuid::from_u128(number).into()
    }

    fn item(id: Uuid) -> Item {
        Item::new(id, "ada".parse().unwrap(), Timestamp::from_millis(1))
    }

    #[test]
    fn an_activity_gives_back_its_reaction() {
        let id = Uuid::from_u128(7);
        for reaction in [
            Reaction::Like(post(1)),
            Reaction::Share(post(1)),
            Reaction::Comment(post(1), id),
            Reaction::Follow("bob".parse().unwrap()),
        ] {
            let activity = reaction.activity(&item(id));
            assert_eq!(Reaction::of(&activity), Some(reaction.clone()));
            assert_eq!(activity.id == id, !matches!(reaction, Reaction::Comment(..)));
        }
    }

    #[test]
    fn comments_of_one_id_on_two_posts_have_an_activity_each() {
        let id = Uuid::from_u128(7);
        let on = |number| Reaction::Comment(post(number), id).activity(&item(id));
        assert_eq!(on(1), on(1));
        assert_ne!(on(1).id, on(2).id);
        // The id is stored, so it must always be made in the same way.
        assert_eq!(on(1).id.get_version_num(), 8);
    }

    #[test]
    fn an_activity_of_the_old_form_has_the_id_of_its_comment() {
        let id = Uuid::from_u128(7);
        let mut activity = item(id);
        activity.more = doc! { "kind": "comment", "post": uuid_bson(post(1).uuid()) };
        assert_eq!(Reaction::of(&activity), Some(Reaction::Comment(post(1), id)));
    }
}
