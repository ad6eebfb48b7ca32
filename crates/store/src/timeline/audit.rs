//! Checks whether timelines agree with the lists and the posts, a hundred at a time.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use bson::{Bson, Document, RawDocumentBuf, doc};
use model::{Handle, Timestamp};
use uuid::Uuid;

use super::deliver::UNDELIVERED;
use super::stored::{Entry, Timeline};
use super::{COLLECTION, LISTED, Timelines};
use crate::account_deletion::MARK;
use crate::overflow::uuid_bson;
use crate::people;
use document::{Error, Find, Result};

/// How many timelines to audit together.
const BATCH: u64 = 128;
/// How many authors to query at once.
const AUTHORS: usize = 1_000;
/// How many posts to have in memory at once.
const STRETCH: u64 = 4_096;

/// What can be wrong with a timeline.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TimelineFault {
    /// Its reader is gone.
    Orphan,
    /// It lacks a post of an author whom the reader follows. Without a post, it lacks the author, who is an outlier.
    Lacks { author: Handle, post: Option<Uuid> },
    /// It has posts of an author whom the reader does not follow.
    Unfounded { author: Handle },
}

/// A timeline that may be wrong.
#[derive(Debug)]
pub(crate) struct Suspect {
    pub reader: Handle,
    pub faults: BTreeSet<TimelineFault>,
    /// The timeline as it was read.
    timeline: Timeline,
}

/// A timeline whose entries are compared with the posts.
#[derive(Clone)]
struct Open {
    suspect: usize,
    /// The authors whose posts must be in it.
    authors: HashSet<Handle>,
    entries: HashSet<(Timestamp, Uuid)>,
    end: Option<(Timestamp, Uuid)>,
    /// How many posts it may still lack before the search can stop.
    left: usize,
}

/// The fields of a person that an audit needs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Person {
    Ordinary,
    Outlier,
    BeingDeleted,
}

impl Timelines<'_> {
    /// The next timelines in the order of their readers, after one of them; empty at the end.
    pub(crate) async fn stretch(&self, after: Option<&Bson>) -> Result<Vec<Document>> {
        let filter = after.map_or_else(Document::new, |last| doc! { "_id": { "$gt": last } });
        let find = Find::matching(filter).sort(doc! { "_id": 1 }).limit(BATCH);
        self.store.engine().find(COLLECTION, find).await
    }

    fn read(&self, stored: &Document) -> Result<Timeline> {
        Timeline::read(&RawDocumentBuf::try_from(stored)?, self.window())
    }

    /// The malformed ones among these timelines: their `_id`, and what is wrong.
    pub(crate) fn malformed(&self, stored: &[Document]) -> Vec<(String, String)> {
        let fault = |document: &Document| match self.read(document) {
            Err(error) => Some(error.to_string()),
            Ok(_) if handle_in(document, "_id").is_none() => Some("its `_id` is not a handle".to_owned()),
            Ok(_) => None,
        };
        let id = |document: &Document| document.get("_id").map_or_else(String::new, ToString::to_string);
        stored
            .iter()
            .filter_map(|document| Some((id(document), fault(document)?)))
            .collect()
    }

    /// The ones among these timelines that do not agree with the lists and the posts, as far as one read can tell.
    /// They may include some that are changing right now, but not those that the next home request rebuilds anyway.
    pub(crate) async fn audit(&self, stored: &[Document]) -> Result<Vec<Suspect>> {
        let mut suspects = Vec::new();
        for document in stored {
            let (Some(reader), Ok(timeline)) = (handle_in(document, "_id"), self.read(document)) else {
                continue;
            };
            suspects.push(Suspect {
                reader,
                faults: BTreeSet::new(),
                timeline,
            });
        }
        let mut followed = self.followed_by_each(&suspects).await?;
        let named = suspects.iter().flat_map(|suspect| {
            let entries = suspect.timeline.entries.iter().map(|entry| &entry.author);
            entries.chain(&suspect.timeline.outliers)
        });
        let everybody: HashSet<Handle> = followed.values().flatten().chain(named).cloned().collect();
        let people = self.people(everybody).await?;
        let mut open = Vec::new();
        for (index, suspect) in suspects.iter_mut().enumerate() {
            let timeline = &suspect.timeline;
            match followed.remove(&suspect.reader) {
                Some(followed) if !timeline.is_thin() => {
                    let (faults, authors) = compare(timeline, followed, &people, &suspect.reader);
                    suspect.faults = faults;
                    open.push(Open {
                        suspect: index,
                        authors,
                        entries: timeline.entries.iter().map(Entry::order).collect(),
                        end: timeline.end(),
                        left: timeline.window,
                    });
                }
                Some(_) => {}
                None => _ = suspect.faults.insert(TimelineFault::Orphan),
            }
        }
        self.missing(&open, &mut suspects).await?;
        suspects.retain(|suspect| !suspect.faults.is_empty());
        Ok(suspects)
    }

    /// Audits suspects again. Returns those that still have a fault which they had before, and whether they have not
    /// changed meanwhile: then no operation was under way, and the fault is real.
    pub(crate) async fn audit_again(&self, before: &[Suspect]) -> Result<Vec<(Suspect, bool)>> {
        let ids: Vec<&str> = before.iter().map(|suspect| suspect.reader.as_str()).collect();
        let find = Find::matching(doc! { "_id": { "$in": ids } });
        let stored = self.store.engine().find(COLLECTION, find).await?;
        let mut left = Vec::new();
        for mut suspect in self.audit(&stored).await? {
            let Some(earlier) = before.iter().find(|earlier| earlier.reader == suspect.reader) else {
                continue;
            };
            suspect.faults.retain(|fault| earlier.faults.contains(fault));
            let mut founded = BTreeSet::new();
            for fault in suspect.faults {
                if self
                    .is_founded(&suspect.reader, &suspect.timeline, &fault)
                    .await?
                {
                    founded.insert(fault);
                }
            }
            suspect.faults = founded;
            if suspect.faults.is_empty() {
                continue;
            }
            let now = self.get(&suspect.reader).await?;
            let is_quiet =
                now.is_some_and(|now| now.rev == suspect.timeline.rev && now.born == suspect.timeline.born);
            left.push((suspect, is_quiet));
        }
        Ok(left)
    }

    /// Removes a timeline without a reader; empties any other so that the next home request rebuilds it. Returns
    /// whether it was still as it had been read.
    pub(crate) async fn repair(&self, suspect: Suspect) -> Result<bool> {
        let Suspect {
            reader,
            faults,
            mut timeline,
        } = suspect;
        if faults.contains(&TimelineFault::Orphan) {
            let same = doc! { "_id": reader.as_str(), "born": &timeline.born, "rev": timeline.rev };
            return Ok(self.store.engine().delete(COLLECTION, same, false).await? == 1);
        }
        timeline.clear();
        self.replace(&reader, &timeline).await
    }

    /// Whom each of these readers follows; readers who are gone are left out. Readers who are leaving, and those whose
    /// list cannot be read, get an empty set: a check of the lists reports them.
    async fn followed_by_each(&self, suspects: &[Suspect]) -> Result<HashMap<Handle, HashSet<Handle>>> {
        let ids: Vec<&str> = suspects.iter().map(|suspect| suspect.reader.as_str()).collect();
        let find = Find::matching(doc! { "_id": { "$in": ids } })
            .project(doc! { "following.head": 1, "following.pages": 1, MARK: 1 });
        let mut followed = HashMap::new();
        for person in self.store.engine().find(people::COLLECTION, find).await? {
            let Some(reader) = handle_in(&person, "_id") else {
                continue;
            };
            let list = person.get_document("following").ok();
            let head = list.and_then(|list| list.get_array("head").ok());
            let pages = list.and_then(|list| list.get("pages")).cloned();
            let follows: HashSet<Handle> = match head {
                _ if person.contains_key(MARK) => HashSet::new(),
                Some(head) if matches!(pages, Some(Bson::Int64(0) | Bson::Int32(0))) => {
                    let items = head.iter().filter_map(Bson::as_document);
                    items.filter_map(|item| handle_in(item, "by")).collect()
                }
                _ => match self.followed_by(&reader).await {
                    Ok(followed) => followed.into_iter().collect(),
                    Err(Error::NoOwner(_) | Error::Malformed(_) | Error::Refused { .. }) => HashSet::new(),
                    Err(error) => return Err(error),
                },
            };
            followed.insert(reader, follows);
        }
        Ok(followed)
    }

    async fn people(&self, handles: HashSet<Handle>) -> Result<HashMap<Handle, Person>> {
        let handles: Vec<&str> = handles.iter().map(Handle::as_str).collect();
        let mut people = HashMap::new();
        for ids in handles.chunks(AUTHORS) {
            let find = Find::matching(doc! { "_id": { "$in": ids } }).project(doc! { "outlier": 1, MARK: 1 });
            for person in self.store.engine().find(people::COLLECTION, find).await? {
                let standing = match person.get_bool("outlier") {
                    _ if person.contains_key(MARK) => Person::BeingDeleted,
                    Ok(true) => Person::Outlier,
                    _ => Person::Ordinary,
                };
                people.extend(handle_in(&person, "_id").map(|handle| (handle, standing)));
            }
        }
        Ok(people)
    }

    /// Reads the posts and shares of all authors of some timelines, newest first, down to each timeline's end, and notes
    /// what is missing.
    async fn missing(&self, open: &[Open], suspects: &mut [Suspect]) -> Result<()> {
        for collection in LISTED {
            self.missing_in(collection, open.to_vec(), suspects).await?;
        }
        Ok(())
    }

    async fn missing_in(
        &self,
        collection: &str,
        mut open: Vec<Open>,
        suspects: &mut [Suspect],
    ) -> Result<()> {
        let mut missing: BTreeMap<Uuid, Vec<(usize, Handle)>> = BTreeMap::new();
        let mut filter = Document::new();
        loop {
            open.retain(|timeline| timeline.left > 0 && !timeline.authors.is_empty());
            let authors: BTreeSet<&str> = open
                .iter()
                .flat_map(|it| &it.authors)
                .map(Handle::as_str)
                .collect();
            if authors.is_empty() {
                break;
            }
            filter.insert("author", doc! { "$in": authors.into_iter().collect::<Vec<_>>() });
            let find = Find::matching(filter.clone())
                .project(doc! { "author": 1, "at": 1 })
                .sort(doc! { "at": -1, "_id": -1 })
                .limit(STRETCH);
            let found = self.store.engine().find(collection, find).await?;
            for post in &found {
                let post = Entry::read(post)?;
                for timeline in open.iter_mut().filter(|it| it.authors.contains(&post.author)) {
                    let belongs = timeline.end.is_none_or(|end| post.order() >= end);
                    if timeline.left > 0 && belongs && !timeline.entries.contains(&post.order()) {
                        timeline.left -= 1;
                        let lacks = (timeline.suspect, post.author.clone());
                        missing.entry(post.post).or_default().push(lacks);
                    }
                }
            }
            let Some(last) = found.last().filter(|_| found.len() as u64 == STRETCH) else {
                break;
            };
            let last = Entry::read(last)?.order();
            open.retain(|timeline| timeline.end.is_none_or(|end| end < last));
            let at = bson::DateTime::from_millis(last.0.millis());
            let below = [
                doc! { "at": { "$lt": at } },
                doc! { "at": at, "_id": { "$lt": uuid_bson(last.1) } },
            ];
            filter.insert("$or", below.to_vec());
        }
        // Posts that are still being delivered are reported separately.
        let ids: Vec<Bson> = missing.keys().map(|id| uuid_bson(*id)).collect();
        for ids in ids.chunks(AUTHORS) {
            let delivered = doc! { "_id": { "$in": ids }, UNDELIVERED: { "$exists": false } };
            let find = Find::matching(delivered).project(doc! { "_id": 1, "author": 1, "at": 1 });
            for post in self.store.engine().find(collection, find).await? {
                let post = Entry::read(&post)?;
                for (suspect, author) in missing.remove(&post.post).into_iter().flatten() {
                    let post = Some(post.post);
                    suspects[suspect]
                        .faults
                        .insert(TimelineFault::Lacks { author, post });
                }
            }
        }
        Ok(())
    }

    /// Whether the list that decides confirms the fault, and readers would notice it.
    async fn is_founded(&self, reader: &Handle, timeline: &Timeline, fault: &TimelineFault) -> Result<bool> {
        match fault {
            TimelineFault::Orphan => Ok(true),
            TimelineFault::Lacks { author, .. } => self.follows(reader, author).await,
            TimelineFault::Unfounded { author } if self.follows(reader, author).await? => Ok(false),
            TimelineFault::Unfounded { author } if timeline.outliers.contains(author) => Ok(true),
            TimelineFault::Unfounded { author } => {
                let theirs = timeline.entries.iter().filter(|entry| entry.author == *author);
                let ids: Vec<Bson> = theirs.map(|entry| uuid_bson(entry.post)).collect();
                let shown = doc! { "_id": { "$in": ids }, "author": author.as_str() };
                for collection in LISTED {
                    if self.store.engine().count(collection, shown.clone()).await? > 0 {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
        }
    }
}

/// What is wrong with the authors of a timeline, and whose posts must be in it. Authors in doubt are left out.
fn compare(
    timeline: &Timeline,
    mut followed: HashSet<Handle>,
    people: &HashMap<Handle, Person>,
    reader: &Handle,
) -> (BTreeSet<TimelineFault>, HashSet<Handle>) {
    let doubted = timeline.doubted_authors();
    let mut faults = BTreeSet::new();
    for author in timeline
        .outliers
        .iter()
        .chain(timeline.entries.iter().map(|entry| &entry.author))
    {
        let is_leaving = people.get(author) == Some(&Person::BeingDeleted);
        if !followed.contains(author) && !doubted.contains(author) && !is_leaving && author != reader {
            let author = author.clone();
            faults.insert(TimelineFault::Unfounded { author });
        }
    }
    let named: HashSet<&Handle> = timeline.outliers.iter().collect();
    followed.retain(|author| !doubted.contains(author) && !named.contains(author));
    followed.retain(|author| match people.get(author) {
        Some(Person::Ordinary) => true,
        Some(Person::Outlier) => {
            let author = author.clone();
            faults.insert(TimelineFault::Lacks { author, post: None });
            false
        }
        Some(Person::BeingDeleted) | None => false,
    });
    (faults, followed)
}

fn handle_in(document: &Document, field: &str) -> Option<Handle> {
    document.get_str(field).ok()?.parse().ok()
}
