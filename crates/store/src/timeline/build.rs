use bson::{Bson, doc};
use model::Handle;

use super::stored::{Entry, Timeline};
use super::{COLLECTION, DeliveryMode, LISTED, Timelines};
use crate::shared_posts::OF;
use crate::{account_deletion, people, posts, shared_posts};
use document::{Attempts, Error, Find, Result};

impl Timelines<'_> {
    /// A reader's timeline. If there is none, or too little in it, it is built from the lists and the posts, which
    /// takes longer the more people the reader follows.
    ///
    /// It is first stored empty. From then on, every post that is fanned out and every author who becomes an outlier
    /// changes it, and whatever was computed without that change is computed again.
    pub(super) async fn built(&self, reader: &Handle) -> Result<Timeline> {
        let mut attempts = Attempts::default();
        while attempts.next().await {
            let Some(mut timeline) = self.get(reader).await? else {
                let Some((_, born)) = self.delivery_mode(reader).await? else {
                    return Err(Error::NoOwner(format!("user:{reader}")));
                };
                let begun = vec![Timeline::new_document(reader, &born, self.window())];
                match self.store.engine().insert(COLLECTION, begun).await {
                    Ok(()) | Err(Error::DuplicateKey { .. }) => continue,
                    Err(error) => return Err(error),
                }
            };
            if !timeline.is_thin() {
                return Ok(timeline);
            }
            if timeline.built {
                // It ignores what is older than its end, without leaving a trace.
                timeline.clear();
                self.replace(reader, &timeline).await?;
                continue;
            }
            let found = match self.followed(reader, &timeline).await {
                Ok(followed) => self
                    .outliers_among(&followed, reader)
                    .await?
                    .map(|outliers| (followed, outliers)),
                Err(Error::NoOwner(_)) => None,
                Err(error) => return Err(error),
            };
            let Some((mut ordinary, outliers)) = found else {
                // The reader has left, and this timeline may have been begun after the departure removed theirs.
                self.remove(reader).await?;
                return Err(Error::NoOwner(format!("user:{reader}")));
            };
            timeline.outliers = outliers;
            ordinary.retain(|author| !timeline.outliers.contains(author));
            timeline.entries = self.newest_by(&ordinary).await?;
            timeline.complete = timeline.entries.len() < self.window();
            timeline.built = true;
            if self.replace(reader, &timeline).await? {
                timeline.rev += 1;
                return Ok(timeline);
            }
        }
        Err(Error::Contended(format!("the timeline of {reader}")))
    }

    /// The newest posts and shares of some authors. The index has all that a post's entry needs, so no post is read.
    pub(super) async fn newest_by(&self, authors: &[Handle]) -> Result<Vec<Entry>> {
        if authors.is_empty() {
            return Ok(Vec::new());
        }
        let mut entries = Vec::new();
        for collection in LISTED {
            let mut fields = doc! { "author": 1, "at": 1 };
            if collection == shared_posts::COLLECTION {
                fields.insert(OF, 1);
            }
            let find = Find::matching(posts::by(Some(authors)))
                .project(fields)
                .sort(doc! { "at": -1, "_id": -1 })
                .limit(self.window() as u64);
            let found = self.store.engine().find(collection, find).await?;
            for entry in &found {
                entries.push(Entry::read(entry)?);
            }
        }
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.order()));
        entries.truncate(self.window());
        Ok(entries)
    }

    /// How an author's posts reach their followers, and the author's incarnation; `None` if the author does not exist
    /// or is leaving.
    pub(super) async fn delivery_mode(&self, author: &Handle) -> Result<Option<(DeliveryMode, Bson)>> {
        let find = Find::matching(doc! { "_id": author.as_str() })
            .project(doc! { "born": 1, "outlier": 1, "followers.pages": 1, account_deletion::MARK: 1 })
            .limit(1);
        let found = self.store.engine().find(people::COLLECTION, find).await?;
        let Some(author) = found
            .into_iter()
            .find(|author| !author.contains_key(account_deletion::MARK))
        else {
            return Ok(None);
        };
        let pages = author
            .get_document("followers")
            .ok()
            .and_then(|list| list.get("pages").cloned());
        let overflowed = pages.is_some_and(|pages| pages != Bson::Int64(0) && pages != Bson::Int32(0));
        let standing = match author.get_bool("outlier") {
            Ok(true) => DeliveryMode::Outlier,
            Ok(false) => DeliveryMode::Becoming,
            Err(_) if overflowed => DeliveryMode::Becoming,
            Err(_) => DeliveryMode::Ordinary,
        };
        Ok(Some((
            standing,
            author.get("born").cloned().unwrap_or(Bson::Null),
        )))
    }

    /// The ones among some authors whose posts are merged in; `None` when the reader has left. People who are leaving
    /// count neither as authors nor as readers.
    async fn outliers_among(&self, authors: &[Handle], reader: &Handle) -> Result<Option<Vec<Handle>>> {
        let ids: Vec<&str> = authors.iter().chain([reader]).map(Handle::as_str).collect();
        let wanted = account_deletion::not_being_deleted(doc! {
            "_id": { "$in": ids },
            "$or": [
                { "outlier": { "$exists": true } },
                { "followers.pages": { "$gt": 0_i64 } },
                { "_id": reader.as_str() },
            ],
        });
        let find = Find::matching(wanted).project(doc! { "_id": 1 });
        let found = self.store.engine().find(people::COLLECTION, find).await?;
        let handle = |person: &bson::Document| {
            person
                .get_str("_id")
                .ok()
                .and_then(|handle| handle.parse().ok())
                .ok_or_else(|| Error::malformed("a user's `_id` is not a handle"))
        };
        let mut found: Vec<Handle> = found.iter().map(handle).collect::<Result<_>>()?;
        let before = found.len();
        found.retain(|person| person != reader);
        Ok((found.len() < before).then_some(found))
    }
}
