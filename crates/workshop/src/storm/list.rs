use std::collections::HashSet;

use document::{Error, Result};
use model::{Handle, Person, PostId, Relation, RelationOverflow, Timestamp, Topic};
use store::overflow::{FeedList, Item, Key, StoredList, Work, lay_out, owner_collection};
use store::people::User;
use store::upkeep::{CheckOptions, check};
use store::{Store, posts};
use uuid::Uuid;

use super::tally::{Membership, StormAnswers};
use crate::report::{StormTarget, StormVerdict};

/// How many likes a quiet post has.
const QUIET: u64 = 12;

/// How many likes a post on the brink lacks to reach its threshold.
const BELOW: u64 = 5;

/// The maximum number of items that are laid out, so that it takes seconds.
const LONGEST: u64 = 200_000;

/// The age of the youngest item at the start, in milliseconds: later ones are always newer.
const BEFORE: i64 = 60_000;

/// A list in a sandbox that a storm writes to.
pub(super) struct StormList {
    store: Store,
    owner: Topic,
    relation: Relation,
}

impl StormList {
    /// Lays out a list with the items of `fan0`, `fan1` and so on.
    pub(super) async fn lay_out(
        store: Store,
        target: StormTarget,
        size: u64,
        now: Timestamp,
    ) -> Result<Self> {
        let (owner, relation) = match target {
            StormTarget::Quiet | StormTarget::Brink | StormTarget::Viral => {
                (Topic::Post(PostId::from(Uuid::from_u128(7))), Relation::Likes)
            }
            StormTarget::Celebrity => (Topic::User(named("celebrity")?), Relation::Followers),
        };
        let list = Self {
            store,
            owner,
            relation,
        };
        let first = now.millis() - BEFORE - i64::try_from(size).unwrap_or(0);
        let items = (0..size)
            .map(|nth| {
                let at = first.saturating_add_unsigned(nth);
                Ok(Item::new(
                    Uuid::from_u128(u128::from(nth)),
                    named(&fan(nth))?,
                    Timestamp::from_millis(at),
                ))
            })
            .collect::<Result<_>>()?;
        list.insert(items, Timestamp::from_millis(first)).await?;
        Ok(list)
    }

    /// The number of items before a storm begins. The last two are as long as the longest lists of the town, and
    /// shorter than [`LONGEST`].
    pub(super) async fn size_for(target: StormTarget, town: &Store) -> Result<u64> {
        let longest = |relation: Relation| async move {
            let count = town.longest_list(relation).await?;
            Ok(count.min(LONGEST))
        };
        match target {
            StormTarget::Quiet => Ok(QUIET),
            StormTarget::Brink => {
                let threshold = town.settings().of(Relation::Likes).threshold as u64;
                Ok(threshold.saturating_sub(BELOW))
            }
            StormTarget::Viral => longest(Relation::Likes).await,
            StormTarget::Celebrity => longest(Relation::Followers).await,
        }
    }

    async fn insert(&self, items: Vec<Item>, at: Timestamp) -> Result<()> {
        let born = Uuid::from_u128(8);
        let limits = self.store.settings().of(self.relation);
        let StoredList { list, pages } = lay_out(&self.owner, born, self.relation, limits, items);
        let mut owner = match &self.owner {
            Topic::Post(post) => {
                let text = "The river rises.".parse().map_err(unusable)?;
                posts::new_document(*post, born, &named("author")?, &text, at)
            }
            Topic::User(handle) => {
                let name = "Everybody’s darling".parse().map_err(unusable)?;
                let person = Person {
                    handle: handle.clone(),
                    name,
                };
                let user = User {
                    person,
                    bio: String::new(),
                    password: None,
                    at,
                };
                user.to_document(born)
            }
        };
        owner.insert(self.relation.as_str(), list);
        let collection = owner_collection(&self.owner);
        self.store.insert_owners(collection, vec![owner], pages).await
    }

    /// How many items the head may hold.
    pub(super) fn threshold(&self) -> u64 {
        self.store.settings().of(self.relation).threshold as u64
    }

    /// How the list is stored now: one read of its owner.
    pub(super) async fn stored(&self) -> Result<RelationOverflow> {
        let all = self.store.overflow(&self.owner).await?;
        all.get(&self.relation)
            .cloned()
            .ok_or_else(|| Error::NoOwner(self.owner.to_string()))
    }

    /// The list's statistics so far. Nobody else uses this store, so they only cover the storm's own work.
    pub(super) fn work(&self) -> Work {
        self.store.work(self.relation)
    }

    /// An actor likes, as the `nth` action of the storm.
    pub(super) async fn like(&self, actor: u32, nth: u64, at: Timestamp) -> Result<()> {
        // The laid-out items have the ids below.
        let id = Uuid::from_u128((1 << 64) + u128::from(nth));
        let item = Item::new(id, actor_named(actor)?, at);
        self.list().append(&self.owner, item).await.map(drop)
    }

    /// An actor removes the like.
    pub(super) async fn unlike(&self, actor: u32) -> Result<()> {
        let key = Key::By(actor_named(actor)?);
        self.list().remove(&self.owner, &key).await.map(drop)
    }

    /// Reads all documents: whether everybody who must be in the list is there, once, and nobody else.
    pub(super) async fn verdict(&self, laid_out: u64, tally: &StormAnswers) -> Result<StormVerdict> {
        let standings = tally.memberships().await;
        let named = |standing: Membership| {
            let actors = (0_u32..)
                .zip(&standings)
                .filter(move |(_, had)| **had == standing);
            actors.map(|(actor, _)| format!("{ACTOR}{actor}"))
        };
        let mut missing: HashSet<String> = (0..laid_out).map(fan).chain(named(Membership::In)).collect();
        let unknown: HashSet<String> = named(Membership::Unknown).collect();
        let acknowledged = missing.len() as u64;

        let (mut found, mut items, mut strangers) = (HashSet::new(), 0, 0);
        let mut walk = self.list().walk(&self.owner);
        while let Some(stretch) = walk.next().await? {
            for by in stretch.items.into_iter().filter_map(|item| item.by) {
                items += 1;
                let by = by.to_string();
                if !missing.remove(&by) && !found.contains(&by) && !unknown.contains(&by) {
                    strangers += 1;
                }
                found.insert(by);
            }
        }
        let lists = CheckOptions {
            lists_only: true,
            ..CheckOptions::default()
        };
        let violations = check(&self.store, lists, &|_, _| {}).await?.findings.len() as u64;
        let counted = self.stored().await?.count;
        let distinct = found.len() as u64;
        let lost = missing.len() as u64;
        let unknown_found = found.intersection(&unknown).count() as u64;
        Ok(StormVerdict {
            acknowledged,
            counted,
            distinct,
            lost,
            strangers,
            unknown: unknown.len() as u64,
            violations,
            holds: lost + strangers + violations == 0
                && counted == distinct
                && items == distinct
                && distinct == acknowledged + unknown_found,
        })
    }

    fn list(&self) -> FeedList<'_> {
        self.store.list(self.relation)
    }
}

/// The prefix of every actor's name.
const ACTOR: &str = "actor";

fn actor_named(actor: u32) -> Result<Handle> {
    named(&format!("{ACTOR}{actor}"))
}

fn fan(nth: u64) -> String {
    format!("fan{nth}")
}

fn named(name: &str) -> Result<Handle> {
    name.parse().map_err(unusable)
}

fn unusable(problem: model::Problem) -> Error {
    Error::refused(2, problem.message)
}
