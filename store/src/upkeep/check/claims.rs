//! What lists say about each other.

use bson::{Bson, Document, doc};
use model::{ActivityKind, Handle, Relation, Topic};
use uuid::Uuid;

use crate::overflow::{Item, Key, Owner, owner_collection, owner_id};
use crate::people;
use crate::upkeep::finding::Violation;
use crate::upkeep::lookup::Wanted;
use crate::upkeep::owners::owner_of;

/// Something that a list says, and where else it should then stand.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    /// Whose list says it.
    pub owner: Owner,
    /// In which list, as which item; no list for a post itself.
    pub source: Option<(Relation, Item)>,
    /// Where it should stand.
    pub wanted: Wanted,
    /// What it means when it does not.
    pub violation: Violation,
    /// What makes the two agree.
    pub mend: Mend,
}

#[derive(Debug, Clone)]
pub(super) enum Mend {
    /// Write what is wanted.
    Append(Item),
    /// Take the claim back.
    Withdraw(Key),
}

impl Claim {
    /// Where it stands itself.
    pub fn stands(&self) -> Wanted {
        match &self.source {
            Some((relation, item)) => Wanted::item(self.owner.clone(), *relation, Key::Id(item.id)),
            None => Wanted::owner(self.owner.clone()),
        }
    }
}

/// A post should be told of in its author's activities.
pub(super) fn claim_of_post(owner: &Owner, document: &Document) -> Option<Claim> {
    let Topic::Post(id) = owner else { return None };
    let author: Handle = document.get_str("author").ok()?.parse().ok()?;
    let at = people::date(document, "at").ok()?;
    let target = doc! { "post": owner_id(owner) };
    Some(Claim {
        owner: owner.clone(),
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
        mend: Mend::Append(activity(id.uuid(), at, ActivityKind::Post, target)),
    })
}

/// Who follows whom, or does not, where a claim is about that.
pub(super) fn follow_of(claim: &Claim) -> Option<(&Handle, &Handle)> {
    let (relation, item) = claim.source.as_ref()?;
    match (relation, &claim.owner, claim.wanted.relation) {
        (Relation::Followers, Topic::User(author), Relation::Following) => Some((item.by.as_ref()?, author)),
        (Relation::Following, Topic::User(reader), Relation::Followers) => Some((reader, item.by.as_ref()?)),
        _ => None,
    }
}

/// What it means that the owner of the other list is gone.
pub(super) fn owner_gone(claim: &Claim) -> (Violation, Option<Mend>) {
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
pub(super) fn claims_of(owner: &Owner, relation: Relation, item: &Item) -> Vec<Claim> {
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
