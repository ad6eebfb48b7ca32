//! Restrictions: whom a person mutes or blocks; and which posts a reader does not see because of them, or hides.
//!
//! Each is in two lists. The person's own one, `mutes` or `blocks`, decides. The other's, `muters` or `blockers`, is shown
//! to nobody: it says whose posts the other may not see, and which lists name them when they leave. It is written
//! first and removed from last, so it has whatever the own list has, unless two servers work on the same restriction at
//! the same time; a check of the store adds what is missing then. After an interruption it may have more, so somebody
//! in `blockers` counts only if their own list has the reader.

use std::collections::HashSet;

use bson::{Bson, Document, doc};
use model::{Handle, PostId, Relation, Timestamp, Topic};
use uuid::Uuid;

use crate::Store;
use crate::overflow::{Appended, Item, Key, Owner, PAGES, Removed};
use crate::people::COLLECTION;
use crate::reactions::unless_gone;
use document::{Attempts, Error, Find, Result};
use outlier::fields;

/// What somebody does about another person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Restriction {
    /// They do not see the other's posts.
    Mute,
    /// Neither sees the other's posts, nor can react to them.
    Block,
}

impl Restriction {
    /// The list of the person who does it.
    pub const fn own(self) -> Relation {
        match self {
            Self::Mute => Relation::Mutes,
            Self::Block => Relation::Blocks,
        }
    }

    /// The list of the other person.
    const fn mirror(self) -> Relation {
        match self {
            Self::Mute => Relation::Muters,
            Self::Block => Relation::Blockers,
        }
    }
}

/// Those of some people with whom a reader has restrictions, and of some posts that the reader hides.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Restricted {
    /// Those whom the reader mutes.
    pub muted: HashSet<Handle>,
    /// Those whom the reader blocks.
    pub blocked: HashSet<Handle>,
    /// Those who block the reader.
    pub blockers: HashSet<Handle>,
    /// The posts that the reader hides.
    pub hidden: HashSet<PostId>,
}

impl Restricted {
    /// Whether one of the two blocks the other.
    pub fn blocks(&self, person: &Handle) -> bool {
        self.blocked.contains(person) || self.blockers.contains(person)
    }

    /// Whether the reader does not want to see the person, or must not.
    pub fn hides(&self, person: &Handle) -> bool {
        self.muted.contains(person) || self.blocks(person)
    }

    /// Whether a feed leaves a post out.
    pub fn hides_post(&self, post: PostId, author: &Handle) -> bool {
        self.hidden.contains(&post) || self.hides(author)
    }

    /// Notes an item of one of the reader's lists.
    fn note(&mut self, relation: Relation, key: Key) {
        match (relation, key) {
            (Relation::Mutes, Key::By(person)) => _ = self.muted.insert(person),
            (Relation::Blocks, Key::By(person)) => _ = self.blocked.insert(person),
            (Relation::Blockers, Key::By(person)) => _ = self.blockers.insert(person),
            (_, Key::Id(post)) => _ = self.hidden.insert(post.into()),
            (_, Key::By(_)) => {}
        }
    }
}

/// The lists of a reader that say whom and what they do not see.
const LISTS: [Relation; 4] = [
    Relation::Mutes,
    Relation::Blocks,
    Relation::Blockers,
    Relation::Hidden,
];

/// The restrictions of a store's people.
pub struct Restrictions<'a> {
    store: &'a Store,
}

impl<'a> Restrictions<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        Self { store }
    }

    /// Adds a restriction, with a fresh id. Repeating it changes nothing; after an interruption it finishes the first
    /// try.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when one of the two is gone.
    pub async fn add(
        &self,
        restriction: Restriction,
        actor: &Handle,
        other: &Handle,
        (id, at): (Uuid, Timestamp),
    ) -> Result<Appended> {
        let store = self.store.session();
        let (own, mirror) = (store.list(restriction.own()), store.list(restriction.mirror()));
        let (mine, theirs) = (user(actor), user(other));
        let mut attempts = Attempts::default();
        let mut wanted = Item::new(id, actor.clone(), at);
        while attempts.next().await {
            let mirrored = mirror.append(&theirs, wanted.clone()).await?.item;
            let item = Item::new(mirrored.id, other.clone(), mirrored.at);
            let added = match own.append(&mine, item).await {
                Err(gone @ Error::NoOwner(_)) => {
                    unless_gone(mirror.remove(&theirs, &Key::Id(mirrored.id)).await)?;
                    return Err(gone);
                }
                added => added?,
            };
            if added.item.id != mirrored.id {
                // The mirror had lost it. Both have the id of the own list, by which a departure removes them.
                mirror.remove(&theirs, &Key::Id(mirrored.id)).await?;
                wanted = Item::new(added.item.id, actor.clone(), added.item.at);
                continue;
            }
            // The other may have left since the mirror was written, and have found nothing here to remove.
            match mirror.find(&theirs, &Key::By(actor.clone())).await {
                Err(gone @ Error::NoOwner(_)) => {
                    unless_gone(own.remove(&mine, &Key::Id(added.item.id)).await)?;
                    return Err(gone);
                }
                found => found?,
            };
            return Ok(added);
        }
        Err(Error::Contended(mine.to_string()))
    }

    /// Removes a restriction. Repeating it changes nothing; after an interruption it finishes the first try.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when the actor is gone, or when there is neither such a person nor a restriction.
    pub async fn remove(&self, restriction: Restriction, actor: &Handle, other: &Handle) -> Result<Removed> {
        let store = self.store.session();
        let own = store.list(restriction.own());
        let removed = own.remove(&user(actor), &Key::By(other.clone())).await?;
        let mirror = store.list(restriction.mirror());
        match mirror.remove(&user(other), &Key::By(actor.clone())).await {
            Err(gone @ Error::NoOwner(_)) if removed.item.is_none() => Err(gone),
            mirrored => unless_gone(mirrored).map(|()| removed),
        }
    }

    /// Those of these people with whom a reader has restrictions: one find, and one more over the pages of a reader who
    /// has restrictions with very many. Each hit there takes two finds more, and so do all who block the reader together.
    pub async fn among(
        &self,
        reader: &Handle,
        people: impl IntoIterator<Item = &Handle>,
    ) -> Result<Restricted> {
        self.of_posts(reader, people, []).await
    }

    /// The same, and those of these posts that the reader hides.
    pub async fn of_posts(
        &self,
        reader: &Handle,
        people: impl IntoIterator<Item = &Handle>,
        posts: impl IntoIterator<Item = PostId>,
    ) -> Result<Restricted> {
        let people = people.into_iter().map(|person| Key::By(person.clone()));
        let posts = posts.into_iter().map(|post| Key::Id(post.uuid()));
        let wanted: HashSet<Key> = people.chain(posts).collect();
        let mut restricted = Restricted::default();
        if wanted.is_empty() {
            return Ok(restricted);
        }
        let engine = self.store.engine();
        let mut fields = doc! { "_id": 0 };
        for list in LISTS {
            fields.insert(format!("{list}.head.{}", key_field(list)), 1);
            fields.insert(format!("{list}.pages"), 1);
        }
        let own = Find::matching(doc! { "_id": reader.as_str() })
            .project(fields)
            .limit(1);
        let found = engine.find(COLLECTION, own).await?;
        let Some(found) = found.first() else {
            return Ok(restricted);
        };
        let mut spilled = Vec::new();
        for relation in LISTS {
            let Ok(list) = found.get_document(relation.as_str()) else {
                continue;
            };
            for key in keys(relation, list.get_array("head")).filter(|key| wanted.contains(key)) {
                restricted.note(relation, key);
            }
            if list.get_i64("pages").is_ok_and(|pages| pages > 0) {
                spilled.push(relation);
            }
        }
        for relation in spilled {
            self.in_pages(reader, relation, &wanted, &mut restricted).await?;
        }
        self.confirm_blockers(reader, &mut restricted).await?;
        Ok(restricted)
    }

    /// Leaves out those whose own list does not have the reader: their block was interrupted, or is being taken back.
    async fn confirm_blockers(&self, reader: &Handle, restricted: &mut Restricted) -> Result<()> {
        let owners: Vec<Topic> = restricted.blockers.iter().map(user).collect();
        let holding = self.store.holding(&owners, Relation::Blocks, reader).await?;
        restricted
            .blockers
            .retain(|blocker| holding.contains(&user(blocker)));
        Ok(())
    }

    /// Notes what is in the pages of one list.
    async fn in_pages(
        &self,
        reader: &Handle,
        relation: Relation,
        wanted: &HashSet<Key>,
        restricted: &mut Restricted,
    ) -> Result<()> {
        let field = format!("items.{}", key_field(relation));
        let of_people = relation != Relation::Hidden;
        let values: Vec<Bson> = wanted
            .iter()
            .filter(|key| matches!(key, Key::By(_)) == of_people)
            .map(Key::value)
            .collect();
        let with_them =
            doc! { "owner": reader.as_str(), "relation": relation.as_str(), &field: { "$in": values } };
        let pages = Find::matching(with_them).project(doc! { &field: 1 });
        for page in self.store.engine().find(PAGES, pages).await? {
            for key in keys(relation, page.get_array("items")).filter(|key| wanted.contains(key)) {
                // Pages hold uncommitted and pending items too.
                match self.store.list(relation).find(&user(reader), &key).await {
                    Ok(Some(_)) => restricted.note(relation, key),
                    Ok(None) | Err(Error::NoOwner(_)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }
}

/// The field that distinguishes the items of one of [`LISTS`].
fn key_field(relation: Relation) -> &'static str {
    if relation == Relation::Hidden { "id" } else { "by" }
}

/// The keys of some items of one of [`LISTS`].
fn keys<E>(relation: Relation, items: std::result::Result<&Vec<Bson>, E>) -> impl Iterator<Item = Key> {
    let items = items.into_iter().flatten().filter_map(Bson::as_document);
    items.filter_map(move |item| match relation {
        Relation::Hidden => fields::uuid(item, "id").ok().map(Key::Id),
        _ => item.get_str("by").ok()?.parse().ok().map(Key::By),
    })
}

/// The fields of a person's document that say whether anybody blocks somebody here, and what they say.
pub(crate) const BLOCKS: [&str; 2] = ["blocks.count", "blockers.count"];

/// Whether the person blocks somebody, or the other way round.
pub(crate) fn has_blocks(person: &Document) -> bool {
    [Relation::Blocks, Relation::Blockers].iter().any(|relation| {
        let list = person.get_document(relation.as_str());
        list.is_ok_and(|list| fields::number(list, "count").is_ok_and(|count| count > 0))
    })
}

fn user(handle: &Handle) -> Owner {
    Topic::User(handle.clone())
}
