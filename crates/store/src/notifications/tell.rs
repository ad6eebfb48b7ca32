//! From the marks of posts and people to notifications.

use std::slice;

use bson::{Document, doc};
use model::{Handle, NotificationKind, PostId, Relation, Timestamp, Topic};
use uuid::Uuid;

use super::{FIELD, Notifications};
use crate::Store;
use crate::comments::REPLY_TO;
use crate::digest_id::digest_id;
use crate::overflow::{Item, Key, Owner, owner_collection, owner_id, uuid_bson};
use crate::people::{self, date};
use crate::posts::{self, QUOTE};
use crate::reactions::unless_gone;
use crate::upkeep::owner_of;
use document::{Attempts, Error, Find, Result, Update};
use outlier::{Sweep, fields};

/// For how many posts, and for how many people, one sweep tells.
const MOST: u64 = 1_000;

/// What somebody is told of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct News {
    /// The post that it is about.
    pub post: Option<PostId>,
    /// The comment that mentions or answers somebody.
    pub comment: Option<Uuid>,
    /// When it happened.
    pub at: Timestamp,
}

impl News {
    /// The notification of this kind of somebody who has marked this many as read. Something that happens once is told
    /// once.
    pub fn item(&self, kind: NotificationKind, read: i64) -> Item {
        let mut more = doc! { "kind": kind.as_str() };
        let mut parts = vec![b"notification".to_vec(), kind.as_str().into()];
        for (field, id) in [("post", self.post.map(PostId::uuid)), ("comment", self.comment)] {
            if let Some(id) = id {
                more.insert(field, uuid_bson(id));
                parts.push(id.into_bytes().to_vec());
            }
        }
        let happens_once = [
            NotificationKind::Mention,
            NotificationKind::Reply,
            NotificationKind::Quote,
        ];
        if !happens_once.contains(&kind) {
            parts.push(read.to_be_bytes().to_vec());
        }
        Item {
            id: digest_id(parts),
            by: None,
            at: self.at,
            more,
        }
    }
}

impl Notifications<'_> {
    /// Tells people what the mark of a post or person says, and removes the mark. Repeating it changes nothing. Returns whom
    /// it concerned.
    ///
    /// # Errors
    /// [`Error::Contended`] when more kept being added; the mark is still there.
    pub async fn tell(&self, owner: &Owner) -> Result<Vec<Handle>> {
        let store = &self.store.session();
        let collection = owner_collection(owner);
        let mut attempts = Attempts::default();
        let mut told = Vec::new();
        while attempts.next().await {
            let marked = doc! { "_id": owner_id(owner), FIELD: { "$exists": true } };
            let find = Find::matching(marked)
                .project(doc! { FIELD: 1, "author": 1, "born": 1, "text": 1, QUOTE: 1 })
                .limit(1);
            let found = store.engine().find(collection, find).await?;
            let Some(found) = found.first() else {
                return Ok(told);
            };
            let mark = found.get_document(FIELD).cloned().unwrap_or_default();
            match owner {
                Topic::Post(post) => told.extend(tell_of_post(store, *post, found, &mark).await?),
                Topic::User(handle) => {
                    tell_of_follows(store, handle, &mark).await?;
                    told.push(handle.clone());
                }
            }
            let as_read = doc! { "_id": owner_id(owner), "born": found.get("born").cloned(), FIELD: mark };
            let done = Update::one(as_read, doc! { "$unset": { FIELD: "" } });
            if store.engine().update(collection, done).await?.matched == 1 {
                return Ok(told);
            }
        }
        Err(Error::Contended(owner.to_string()))
    }

    /// Tells what interrupted actions left untold; returns of how many posts and people.
    pub async fn tell_all(&self) -> Result<usize> {
        let mut sweep = Sweep::default();
        for collection in [posts::COLLECTION, people::COLLECTION] {
            let find = Find::matching(doc! { format!("{FIELD}.at"): { "$exists": true } })
                .project(doc! { "_id": 1 })
                .limit(MOST);
            for marked in self.store.engine().find(collection, find).await? {
                if let Some(owner) = marked.get("_id").and_then(|id| owner_of(collection, id)) {
                    sweep.note(&owner, self.tell(&owner).await.map(drop))?;
                }
            }
        }
        sweep.end()
    }
}

/// Returns whom it concerned.
async fn tell_of_post(store: &Store, post: PostId, found: &Document, mark: &Document) -> Result<Vec<Handle>> {
    let author = found
        .get_str("author")
        .ok()
        .and_then(|author| author.parse::<Handle>().ok());
    let author = author.ok_or_else(|| Error::malformed("a post's `author` is not a handle"))?;
    let at = date(mark, "at")?;
    let news = |comment| News {
        post: Some(post),
        comment,
        at,
    };
    let owner = Topic::Post(post);
    let mut told = vec![author.clone()];
    for (relation, kind) in [
        (Relation::Likes, NotificationKind::Like),
        (Relation::Comments, NotificationKind::Comment),
        (Relation::Shares, NotificationKind::Share),
    ] {
        if let Some(others) = by_others(store, &owner, relation, mark, &author).await? {
            tell(store, &author, &[kind], news(None), &others).await?;
        }
    }
    if mark.get_bool("text").unwrap_or_default() {
        let original = quoted_author(store, found).await?;
        let quotes = original.map(|person| (person, NotificationKind::Quote));
        let text = found.get_str("text").unwrap_or_default();
        for (person, kinds) in addressed(quotes, text) {
            if person != author {
                tell(store, &person, &kinds, news(None), slice::from_ref(&author)).await?;
                told.push(person);
            }
        }
    }
    for id in mark.get_array("mentions").into_iter().flatten() {
        if let Ok(id) = fields::uuid(&doc! { "id": id }, "id") {
            told.extend(tell_of_comment(store, &author, post, id, at).await?);
        }
    }
    Ok(told)
}

/// Who wrote the post that a post quotes, if there is one.
async fn quoted_author(store: &Store, post: &Document) -> Result<Option<Handle>> {
    match fields::uuid(post, QUOTE) {
        Ok(quoted) => Ok(store.posts().get(quoted.into()).await?.map(|post| post.author)),
        Err(_) => Ok(None),
    }
}

/// Tells those whom a comment answers or mentions. The author of the post is told of it as of all comments, if they want
/// to be told of these. Returns whom it concerned.
async fn tell_of_comment(
    store: &Store,
    author: &Handle,
    post: PostId,
    id: Uuid,
    at: Timestamp,
) -> Result<Vec<Handle>> {
    let comments = store.comments();
    let Some(comment) = comments.as_written(post, id).await? else {
        return Ok(Vec::new());
    };
    let Some(by) = comment.by else {
        return Ok(Vec::new());
    };
    let answered = match fields::uuid(&comment.more, REPLY_TO) {
        Ok(answered) => comments.as_written(post, answered).await?,
        Err(_) => None,
    };
    let answered = answered.and_then(|answered| answered.by);
    let replies = answered.map(|person| (person, NotificationKind::Reply));
    let text = comment.more.get_str("text").unwrap_or_default();
    let news = News {
        post: Some(post),
        comment: Some(id),
        at,
    };
    let mut told = Vec::new();
    for (person, mut kinds) in addressed(replies, text) {
        if person == by {
            continue;
        }
        if person == *author {
            kinds.insert(0, NotificationKind::Comment);
        }
        tell(store, &person, &kinds, news, slice::from_ref(&by)).await?;
        told.push(person);
    }
    Ok(told)
}

/// Whom a text concerns: the person to whose post or comment it belongs, as this kind, and those whom it mentions.
fn addressed(
    original: Option<(Handle, NotificationKind)>,
    text: &str,
) -> Vec<(Handle, Vec<NotificationKind>)> {
    let original = original.into_iter().map(|(person, kind)| (person, vec![kind]));
    let mut all: Vec<_> = original.collect();
    for person in Handle::mentioned_in(text) {
        match all.iter_mut().find(|(other, _)| *other == person) {
            Some((_, kinds)) => kinds.push(NotificationKind::Mention),
            None => all.push((person, vec![NotificationKind::Mention])),
        }
    }
    all
}

async fn tell_of_follows(store: &Store, person: &Handle, mark: &Document) -> Result<()> {
    let owner = Topic::User(person.clone());
    let Some(others) = by_others(store, &owner, Relation::Followers, mark, person).await? else {
        return Ok(());
    };
    let news = News {
        post: None,
        comment: None,
        at: date(mark, "at")?,
    };
    tell(store, person, &[NotificationKind::Follow], news, &others).await
}

/// Whose items a mark names that are still there, besides the person's own; `None` if there are none. If it names as many
/// as it can, there may have been others before, and nobody is named.
async fn by_others(
    store: &Store,
    owner: &Owner,
    relation: Relation,
    mark: &Document,
    person: &Handle,
) -> Result<Option<Vec<Handle>>> {
    let named = mark.get_array(relation.as_str()).map_or(&[][..], Vec::as_slice);
    if named.is_empty() {
        return Ok(None);
    }
    if i64::try_from(named.len()).unwrap_or(i64::MAX) >= super::NAMED {
        return Ok(Some(Vec::new()));
    }
    let list = store.list(relation);
    let mut others = Vec::new();
    for id in named {
        let id = fields::uuid(&doc! { "id": id }, "id")?;
        match list.find(owner, &Key::Id(id)).await {
            Ok(Some(Item { by: Some(by), .. })) if by != *person => others.push(by),
            Ok(_) | Err(Error::NoOwner(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok((!others.is_empty()).then_some(others))
}

/// Adds a notification of what these people did, of the first of these kinds of which the person wants to be told. There
/// is none for a person who is gone, has the same and has not marked it as read, or does not see any of them.
async fn tell(
    store: &Store,
    person: &Handle,
    kinds: &[NotificationKind],
    news: News,
    by: &[Handle],
) -> Result<()> {
    let notifications = store.notifications();
    let Some(state) = notifications.state(person).await? else {
        return Ok(());
    };
    let Some(&kind) = kinds.iter().find(|kind| !state.silenced.contains(kind)) else {
        return Ok(());
    };
    let item = news.item(kind, state.read.count);
    // All comments on a post are told as one.
    let is_told_with_others = kind == NotificationKind::Comment && news.comment.is_some();
    if is_told_with_others || state.head.contains(&item.id) {
        return Ok(());
    }
    let restricted = store.restrictions().among(person, by).await?;
    if !by.is_empty() && by.iter().all(|by| restricted.hides(by)) {
        return Ok(());
    }
    let list = store.list(Relation::Notifications);
    unless_gone(list.append(&Topic::User(person.clone()), item).await)
}
