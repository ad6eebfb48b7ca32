//! The third part of a check: lists that belong together.
//!
//! An action of a person writes several lists, one after the other, and takes them back in the reverse order. The list
//! that is written first and taken back last decides: `followers` of the followed, and the likes, shares and comments
//! of a post; for a post, the post itself. What it has and others lack is finished forward; what others have and it
//! lacks is taken out of them.

use bson::{Bson, Document, doc};
use model::{ActivityKind, Handle, PostId, Relation, Topic};
use uuid::Uuid;

use super::Checking;
use crate::error::Result;
use crate::overflow::{Item, Key, Owner, owner_collection, owner_id, uuid_bson};
use crate::port::Find;
use crate::upkeep::finding::{Outcome, Violation};
use crate::upkeep::list_state::Shape;
use crate::upkeep::lookup::{Answer, Wanted, lookup};
use crate::upkeep::owners::{COLLECTIONS, Owners, owner_of, relations_of};
use crate::{Error, people};

/// How many look-ups to make at once.
const BATCH: usize = 128;

/// Something that a list says, and where else it should then stand.
#[derive(Debug, Clone)]
struct Claim {
    /// Whose list says it.
    owner: Owner,
    /// In which list, as which item; no list for a post itself.
    source: Option<(Relation, Item)>,
    /// Where it should stand.
    wanted: Wanted,
    /// What it means when it does not.
    violation: Violation,
    /// What makes the two agree.
    mend: Mend,
}

#[derive(Debug, Clone)]
enum Mend {
    /// Write what is wanted.
    Append(Item),
    /// Take the claim back.
    Withdraw(Key),
}

impl Checking<'_> {
    pub(super) async fn between(&mut self) -> Result<()> {
        for collection in COLLECTIONS {
            let mut owners = Owners::of(&**self.store.engine(), collection);
            loop {
                let batch = owners.next().await?;
                if batch.is_empty() {
                    break;
                }
                let mut claims = Vec::new();
                for document in &batch {
                    let Some(owner) = document.get("_id").and_then(|id| owner_of(collection, id)) else {
                        continue;
                    };
                    if let Topic::Post(id) = owner {
                        claims.extend(self.claim_of_post(id).await?);
                    }
                    for relation in relations_of(collection) {
                        if matches!(Shape::of(document, relation), Shape::List(list) if list.count > 0) {
                            self.claims_of_list(&owner, relation, &mut claims).await?;
                        }
                    }
                    self.settle(&mut claims, BATCH).await?;
                }
                self.settle(&mut claims, 1).await?;
                self.advance(batch.len());
            }
        }
        Ok(())
    }

    async fn claims_of_list(
        &mut self,
        owner: &Owner,
        relation: Relation,
        claims: &mut Vec<Claim>,
    ) -> Result<()> {
        let mut after = None;
        loop {
            let stretch = self.store.list(relation).newest_first(owner, after, 1_000).await;
            let stretch = match stretch {
                Ok(stretch) => stretch,
                // It went meanwhile, or was told as malformed.
                Err(Error::NoOwner(_) | Error::Malformed(_) | Error::Refused { .. }) => return Ok(()),
                Err(error) => return Err(error),
            };
            for item in stretch.items {
                claims.extend(claims_of(owner, relation, &item));
            }
            self.settle(claims, BATCH).await?;
            after = stretch.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// A post should be told of in its author's activities.
    async fn claim_of_post(&self, id: PostId) -> Result<Option<Claim>> {
        let find = Find::matching(doc! { "_id": uuid_bson(id.uuid()) })
            .project(doc! { "author": 1, "at": 1 })
            .limit(1);
        let found = self.store.engine().find(crate::posts::COLLECTION, find).await?;
        let Some(post) = found.first() else {
            return Ok(None);
        };
        let (Some(author), Ok(at)) = (
            post.get_str("author")
                .ok()
                .and_then(|author| author.parse::<Handle>().ok()),
            crate::people::date(post, "at"),
        ) else {
            return Ok(None);
        };
        let activity = activity(
            id.uuid(),
            at,
            ActivityKind::Post,
            doc! { "post": uuid_bson(id.uuid()) },
        );
        Ok(Some(Claim {
            owner: Topic::Post(id),
            source: None,
            wanted: Wanted::item(
                Topic::User(author.clone()),
                Relation::Activities,
                Key::Id(id.uuid()),
            ),
            violation: Violation::ActivityMissing {
                actor: author.to_string(),
                what: "post",
            },
            mend: Mend::Append(activity),
        }))
    }

    /// Verifies claims when at least `enough` have come together. What a first look-up misses is asked for again after
    /// a pause.
    async fn settle(&mut self, claims: &mut Vec<Claim>, enough: usize) -> Result<()> {
        if claims.len() < enough {
            return Ok(());
        }
        let claims = std::mem::take(claims);
        let mut missed = Vec::new();
        for batch in claims.chunks(BATCH) {
            let wanted: Vec<&Wanted> = batch.iter().map(|claim| &claim.wanted).collect();
            let answers = lookup(&**self.store.engine(), &wanted).await?;
            let open = batch
                .iter()
                .zip(answers)
                .filter(|(_, answer)| !matches!(answer, Answer::There | Answer::Unknown));
            missed.extend(open.map(|(claim, _)| claim.clone()));
        }
        if missed.is_empty() {
            return Ok(());
        }
        self.wait().await;
        for claim in missed {
            self.disagreement(claim).await?;
        }
        Ok(())
    }

    async fn disagreement(&mut self, claim: Claim) -> Result<()> {
        let stands = match &claim.source {
            Some((relation, item)) => Wanted::item(claim.owner.clone(), *relation, Key::Id(item.id)),
            None => Wanted::owner(claim.owner.clone()),
        };
        let engine = &**self.store.engine();
        if lookup(engine, &[&stands]).await?.first() != Some(&Answer::There) {
            return Ok(());
        }
        let answer = lookup(engine, &[&claim.wanted]).await?.into_iter().next();
        let (violation, mend) = match answer {
            Some(Answer::Absent) => (claim.violation.clone(), Some(claim.mend.clone())),
            Some(Answer::NoOwner) => owner_gone(&claim),
            _ => return Ok(()),
        };
        let relation = claim.source.as_ref().map(|(relation, _)| *relation);
        let outcome = if !self.options.repair {
            Outcome::Found
        } else if let Some(mend) = mend {
            self.mend(&claim, mend).await?;
            Outcome::Repaired
        } else {
            Outcome::Unrepairable(violation.unrepairable())
        };
        self.report(claim.owner.to_string(), relation, violation, outcome);
        Ok(())
    }

    async fn mend(&self, claim: &Claim, mend: Mend) -> Result<()> {
        let done = match (mend, &claim.source) {
            (Mend::Append(item), _) => {
                let list = self.store.list(claim.wanted.relation);
                list.append(&claim.wanted.owner, item).await.map(drop)
            }
            (Mend::Withdraw(key), Some((relation, item))) => {
                if *relation == Relation::Following {
                    // Its activity goes first, as when somebody unfollows.
                    let activities = self.store.list(Relation::Activities);
                    activities.remove(&claim.owner, &Key::Id(item.id)).await?;
                }
                self.store
                    .list(*relation)
                    .remove(&claim.owner, &key)
                    .await
                    .map(drop)
            }
            (Mend::Withdraw(_), None) => Ok(()),
        };
        match done {
            // There is nobody left to disagree.
            Err(Error::NoOwner(_)) => {}
            done => done?,
        }
        match follow_of(claim) {
            Some((reader, author)) => self.store.timelines().align(reader, author, None).await,
            None => Ok(()),
        }
    }
}

/// Who follows whom, or does not, where a claim is about that.
fn follow_of(claim: &Claim) -> Option<(&Handle, &Handle)> {
    let (relation, item) = claim.source.as_ref()?;
    match (relation, &claim.owner, claim.wanted.relation) {
        (Relation::Followers, Topic::User(author), Relation::Following) => Some((item.by.as_ref()?, author)),
        (Relation::Following, Topic::User(reader), Relation::Followers) => Some((reader, item.by.as_ref()?)),
        _ => None,
    }
}

/// What it means that the owner of the other list is gone.
fn owner_gone(claim: &Claim) -> (Violation, Option<Mend>) {
    let wanted = &claim.wanted.owner;
    match (&claim.violation, wanted) {
        (Violation::ActivityUnfounded { what, target }, Topic::Post(_)) => {
            let (what, target) = (*what, target.clone());
            (Violation::TargetGone { what, target }, Some(claim.mend.clone()))
        }
        (_, Topic::User(handle)) => {
            let actor = handle.to_string();
            (Violation::ActorGone { actor }, None)
        }
        (violation, Topic::Post(_)) => (violation.clone(), Some(claim.mend.clone())),
    }
}

/// Where else an item of a list should be told of.
fn claims_of(owner: &Owner, relation: Relation, item: &Item) -> Vec<Claim> {
    let claim = |wanted, violation, mend| Claim {
        owner: owner.clone(),
        source: Some((relation, item.clone())),
        wanted,
        violation,
        mend,
    };
    let told = |actor: &Handle, kind: ActivityKind, target: Document| {
        claim(
            Wanted::item(Topic::User(actor.clone()), Relation::Activities, Key::Id(item.id)),
            Violation::ActivityMissing {
                actor: actor.to_string(),
                what: kind.as_str(),
            },
            Mend::Append(activity(item.id, item.at, kind, target)),
        )
    };
    let post = || doc! { "post": owner_id(owner) };
    match (relation, owner, &item.by) {
        (Relation::Followers, Topic::User(followed), Some(actor)) => vec![
            claim(
                Wanted::item(
                    Topic::User(actor.clone()),
                    Relation::Following,
                    Key::By(followed.clone()),
                ),
                Violation::FollowingMissing {
                    actor: actor.to_string(),
                },
                Mend::Append(Item::new(item.id, followed.clone(), item.at)),
            ),
            told(actor, ActivityKind::Follow, doc! { "user": followed.as_str() }),
        ],
        (Relation::Following, Topic::User(actor), Some(followed)) => vec![claim(
            Wanted::item(
                Topic::User(followed.clone()),
                Relation::Followers,
                Key::By(actor.clone()),
            ),
            Violation::FollowerMissing {
                followed: followed.to_string(),
            },
            Mend::Withdraw(Key::By(followed.clone())),
        )],
        (Relation::Likes, _, Some(actor)) => vec![told(actor, ActivityKind::Like, post())],
        (Relation::Shares, _, Some(actor)) => vec![told(actor, ActivityKind::Share, post())],
        (Relation::Comments, _, Some(actor)) => vec![told(actor, ActivityKind::Comment, post())],
        (Relation::Activities, _, _) => foundation(item)
            .map(|(wanted, what)| {
                let target = wanted.owner.to_string();
                let withdraw = Mend::Withdraw(Key::Id(item.id));
                claim(wanted, Violation::ActivityUnfounded { what, target }, withdraw)
            })
            .into_iter()
            .collect(),
        _ => Vec::new(),
    }
}

/// What an activity tells of: where that stands.
fn foundation(activity: &Item) -> Option<(Wanted, &'static str)> {
    let kind: ActivityKind = activity.more.get_str("kind").ok()?.parse().ok()?;
    let relation = match kind {
        ActivityKind::Post => None,
        ActivityKind::Like => Some(Relation::Likes),
        ActivityKind::Comment => Some(Relation::Comments),
        ActivityKind::Share => Some(Relation::Shares),
        ActivityKind::Follow => Some(Relation::Followers),
    };
    let target = match (kind, activity.more.get("post")) {
        (ActivityKind::Follow, _) => owner_of(people::COLLECTION, activity.more.get("user")?)?,
        (_, Some(Bson::Binary(post))) => Topic::Post(Uuid::from_slice(&post.bytes).ok()?.into()),
        _ => return None,
    };
    debug_assert!(
        relation.is_none_or(|relation| crate::overflow::owners_of(relation) == owner_collection(&target))
    );
    let wanted = match relation {
        Some(relation) => Wanted::item(target, relation, Key::Id(activity.id)),
        None => Wanted::owner(target),
    };
    Some((wanted, kind.as_str()))
}

fn activity(id: Uuid, at: model::Timestamp, kind: ActivityKind, target: Document) -> Item {
    let mut more = doc! { "kind": kind.as_str() };
    more.extend(target);
    Item {
        id,
        by: None,
        at,
        more,
    }
}
