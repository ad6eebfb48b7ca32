//! Runs every interleaving of a scenario, and checks the invariants during and after each.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use bson::doc;
use document::{Engine, Error, Find};
use model::{Relation, Topic};
use store::overflow::{Key, Owner, PAGES, Stretch, owner_id};
use store::{Settings, Store};
use uuid::Uuid;

use super::{Beforehand, Scenario};
use crate::support::operations::{LIKES, key_of};
use crate::support::{assert_sound, born_of, handle, like_at, walk};
use checker::cached::{Cached, State};
use checker::history::History;
use checker::schedule::{Between, Bounds, Explorer, Run};
use checker::stale::Versions;

/// How old reads may be.
struct Stale {
    /// Whether no read of a session is older than the one before it.
    sessions: bool,
    /// How many reads of a run may be old.
    reads: usize,
}

impl Scenario {
    /// Explores the scenario within its bounds, or within `least` where that is wider; returns the number of runs.
    /// Panics with the story of the run that fails.
    pub async fn explore(&self, between: Between, least: Bounds) -> usize {
        let mut runs = 0;
        for bounds in self.bounds {
            runs += self.explore_within(between, bounds.at_least(least), None).await;
        }
        runs
    }

    /// Like [`Scenario::explore`], with this many old reads in a run.
    pub async fn explore_stale(
        &self,
        between: Between,
        sessions: bool,
        bounds: Bounds,
        reads: usize,
    ) -> usize {
        let stale = Stale { sessions, reads };
        self.explore_within(between, bounds, Some(stale)).await
    }

    async fn explore_within(&self, between: Between, bounds: Bounds, stale: Option<Stale>) -> usize {
        let engine = Cached::in_memory();
        let in_sessions = stale.as_ref().is_some_and(|stale| stale.sessions);
        let stale = stale.map(|stale| (Versions::of(Arc::clone(&engine), stale.sessions), stale.reads));
        let mut limits = Settings::default();
        for relation in Relation::ALL {
            limits.set_threshold(relation, 3).unwrap();
            limits.set_page_size(relation, 2).unwrap();
        }
        // Marks would make states differ that are one for the list.
        let limits = limits.without_notifications();
        let beneath = Store::open(Arc::clone(&engine) as Engine, limits).await.unwrap();
        let seen = between(beneath.engine().clone());
        let store = Store::open(seen, beneath.settings().clone()).await.unwrap();
        let owner = self.prepare(&beneath).await;
        let before = self.items_beforehand(&beneath, &owner).await;
        let mut explorer = Explorer::new(bounds, &engine);
        let mut operated = beneath.clone();
        if let Some((versions, reads)) = &stale {
            explorer = explorer.with_stale_reads(Arc::clone(versions), *reads);
            operated = Store::open(versions.engine(), beneath.settings().clone())
                .await
                .unwrap();
        }
        let open = async |engine| operated.over(engine);
        let checked = Mutex::new(HashSet::new());
        let compared = Mutex::new(HashSet::new());
        loop {
            explorer.history = History::of(before.clone());
            let history = explorer.history.clone();
            let operations = (self.operations)(&owner);
            let run = explorer
                .run(operated.engine(), &open, &operations, between, async || {
                    // Most interleavings pass through states that another one has reached already.
                    let settled = history.settled();
                    let stored = engine.now();
                    if checked.lock().unwrap().insert((stored, settled.clone())) {
                        self.assert_readers_see_a_sound_list(&store, &owner, &settled)
                            .await;
                    }
                    if let Some((versions, _)) = stale.as_ref().filter(|_| in_sessions) {
                        let stored = (&engine, &beneath);
                        self.assert_old_readers_see_a_version(stored, &owner, versions, between, &compared)
                            .await;
                    }
                })
                .await;
            let Some(run) = run else {
                if explorer.advance() {
                    continue;
                }
                return explorer.runs;
            };

            // Crashed callers come back and try again; then nothing is left half-done.
            for (operation, crashed) in operations.iter().zip(&run.crashed) {
                if *crashed {
                    history.during(operation(store.clone())).await;
                }
            }
            history.assert_correct(stale.is_some(), &run.story);
            if explorer.ends_as_no_other(&run, ()) {
                self.look_at_the_end(&store, &owner, &run).await;
            }
            if !explorer.advance() {
                return explorer.runs;
            }
        }
    }

    /// Appends once more, and checks the list and that nothing is left half-done.
    async fn look_at_the_end(&self, store: &Store, owner: &Owner, run: &Run) {
        let mut last = like_at(900, 900);
        last.id = Uuid::from_u128(900);
        store.list(self.relation()).append(owner, last).await.unwrap();
        let what_happened = &run.story;
        assert_sound(store, owner, self.relation()).await;
        assert_nothing_half_done(store, owner, what_happened).await;
        if !run.crashed.contains(&true) {
            let living = born_of(store, owner).await;
            let orphans = doc! { "owner": owner_id(owner), "born": { "$ne": living } };
            let orphans = store.engine().count(PAGES, orphans).await.unwrap();
            assert_eq!(orphans, 0, "pages of a deleted post after {what_happened:#?}");
        }
        for (actor, expected) in self.afterwards {
            let key = Key::By(handle(*actor));
            let found = store.list(LIKES).find(owner, &key).await.unwrap();
            assert_eq!(
                found.is_some(),
                *expected,
                "actor {actor} after {what_happened:#?}"
            );
        }
    }

    /// A reader whose first read is answered from an older version finds the list of that version, or that of now.
    async fn assert_old_readers_see_a_version(
        &self,
        (engine, store): (&Arc<Cached>, &Store),
        owner: &Owner,
        versions: &Arc<Versions>,
        between: Between,
        compared: &Mutex<HashSet<(State, State)>>,
    ) {
        if matches!(self.beforehand, Beforehand::Array(_)) {
            // Reading an unbounded array adopts it.
            return;
        }
        let (all, now) = (versions.all(), engine.now());
        for (version, then) in all.into_iter().enumerate() {
            if then == now || !compared.lock().unwrap().insert((then, now)) {
                continue;
            }
            for way in Way::ALL {
                let older = between(versions.session_since(version));
                let older = store.over(older);
                let found = way.read(&older, owner, self.relation()).await;
                let is_now = found == way.read(store, owner, self.relation()).await;
                engine.go_back_to(then);
                let was_then = found == way.read(store, owner, self.relation()).await;
                engine.go_back_to(now);
                assert!(is_now || was_then, "{way:?}, version {version}: {found:#?}");
            }
        }
    }

    /// The invariants a reader can see, at any moment between two writes.
    async fn assert_readers_see_a_sound_list(
        &self,
        store: &Store,
        owner: &Owner,
        settled: &[(String, bool)],
    ) {
        let Topic::Post(id) = owner else { return };
        let find = Find::matching(doc! { "_id": owner_id(owner) });
        let Some(document) = store.engine().find("posts", find).await.unwrap().pop() else {
            let must_be_there = settled.iter().find(|(_, there)| *there);
            assert_eq!(must_be_there, None, "there is no owner");
            return;
        };
        let list = match document.get_document(self.relation().as_str()) {
            Ok(list) if !list.contains_key("adopting") => list,
            // An unbounded array has no bounds, and may have an actor twice, until it is adopted.
            _ => return,
        };
        let relation = self.relation();
        let items = walk(store, owner, relation, 2).await;
        let overflow = store.overflow(owner).await.unwrap()[&relation].clone();
        assert_eq!(
            overflow.count,
            items.len() as u64,
            "the count of {id} is what a reader can reach"
        );
        assert_eq!(list.get_bool("hasOverflow").unwrap(), overflow.pages > 0);
        assert!(overflow.head <= self.largest_head);
        assert!(
            items.is_sorted_by(|newer, older| (newer.at, newer.id) > (older.at, older.id)),
            "{items:#?}"
        );
        let mut keys: Vec<_> = items
            .iter()
            .map(|item| {
                if relation.once_per_actor() {
                    format!("{:?}", item.by)
                } else {
                    item.id.to_string()
                }
            })
            .collect();
        for (key, there) in settled {
            let found = items.iter().any(|item| key_of(relation, item) == *key);
            assert_eq!(found, *there, "{key} was answered, and is it in {items:#?}?");
        }
        keys.sort_unstable();
        assert!(keys.windows(2).all(|pair| pair[0] != pair[1]), "{keys:?}");

        let mut upwards = store
            .list(relation)
            .oldest_first(owner, None, 100)
            .await
            .unwrap()
            .items;
        upwards.reverse();
        assert_eq!(upwards, items, "from the oldest");
        for skip in [1, 4] {
            let from = store.list(relation).from_offset(owner, skip, 100).await.unwrap();
            let rest = items.get(usize::try_from(skip).unwrap()..).unwrap_or_default();
            assert_eq!(from.items, rest, "from the offset {skip}");
        }
    }
}

/// How a list is read.
#[derive(Debug, Clone, Copy)]
enum Way {
    NewestFirst,
    OldestFirst,
    FromOffset,
}

impl Way {
    const ALL: [Self; 3] = [Self::NewestFirst, Self::OldestFirst, Self::FromOffset];

    /// The whole list, or all after its newest item; `None` if there is no owner.
    async fn read(self, store: &Store, owner: &Owner, relation: Relation) -> Option<Stretch> {
        let list = store.list(relation);
        let found = match self {
            Self::NewestFirst => list.newest_first(owner, None, 100).await,
            Self::OldestFirst => list.oldest_first(owner, None, 100).await,
            Self::FromOffset => list.from_offset(owner, 1, 100).await,
        };
        match found {
            Err(Error::NoOwner(_)) => None,
            found => Some(found.unwrap()),
        }
    }
}

/// After an operation on the list, nothing of an interrupted one is left in its owner.
async fn assert_nothing_half_done(store: &Store, owner: &Owner, what_happened: &[String]) {
    for field in ["likes.pending.0", "comments.pending.0", "likes.adopting"] {
        let find = Find::matching(doc! { "_id": owner_id(owner), field: { "$exists": true } });
        let found = store.engine().find("posts", find).await.unwrap();
        assert!(found.is_empty(), "{field} after {what_happened:#?}");
    }
    let empty = doc! {
        "owner": owner_id(owner), "born": born_of(store, owner).await, "count": 0_i64, "last": { "$exists": true },
    };
    let empty = store.engine().find(PAGES, Find::matching(empty)).await.unwrap();
    assert!(empty.is_empty(), "{empty:?} after {what_happened:#?}");
}
