//! Claims that lists make about each other.

use bson::{Document, doc};
use model::{ActivityKind, Counterpart, Handle, Relation, Topic};
use uuid::Uuid;

use crate::overflow::{Item, Key, Owner, owner_id};
use crate::people;
use crate::reactions::Reaction;
use crate::upkeep::finding::Violation;
use crate::upkeep::lookup::Wanted;
use outlier::fields;

/// A claim of a list, and where else it should be recorded.
#[derive(Debug, Clone)]
pub(super) struct Claim {
    /// The owner of the list that makes it.
    pub owner: Owner,
    /// The list and its item; `None` for a post itself.
    pub source: Option<(Relation, Item)>,
    /// Where it should be recorded.
    pub wanted: Wanted,
    /// Where it may be recorded instead.
    pub instead: Option<Wanted>,
    /// What is wrong if it is not.
    pub violation: Violation,
    /// What makes the two agree.
    pub mend: ClaimRepair,
}

#[derive(Debug, Clone)]
pub(super) enum ClaimRepair {
    /// Write what is wanted.
    Append(Item),
    /// Remove the claim.
    Withdraw(Key),
}

impl Claim {
    /// Where the claim itself is stored.
    pub fn location(&self) -> Wanted {
        match &self.source {
            Some((relation, item)) => Wanted::item(self.owner.clone(), *relation, Key::Id(item.id)),
            None => Wanted::owner(self.owner.clone()),
        }
    }
}

/// A post should be recorded in its author's activities.
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
        instead: None,
        violation: Violation::ActivityMissing {
            actor: author.to_string(),
            what: "post",
        },
        mend: ClaimRepair::Append(activity(id.uuid(), at, ActivityKind::Post, target)),
    })
}

/// Reader and author, if the claim is about following.
pub(super) fn follow_of(claim: &Claim) -> Option<(&Handle, &Handle)> {
    let (relation, item) = claim.source.as_ref()?;
    let (Topic::User(own), Some(other)) = (&claim.owner, &item.by) else {
        return None;
    };
    match relation.description().counterpart {
        Counterpart::Activity(_) if claim.wanted.relation == Relation::Following => Some((other, own)),
        Counterpart::Followers => Some((own, other)),
        Counterpart::Nothing | Counterpart::Activity(_) | Counterpart::Object => None,
    }
}

/// The violation if the owner of the other list is gone. An item of a person who is gone is removed by its id, because
/// an item that a later holder of the handle adds has another id. A post of a person who is gone is kept.
pub(super) fn owner_gone(claim: &Claim) -> (Violation, Option<ClaimRepair>) {
    let wanted = &claim.wanted.owner;
    match (&claim.violation, wanted) {
        (Violation::ActivityUnfounded { what, target }, Topic::Post(_)) => {
            let (what, target) = (*what, target.clone());
            (Violation::TargetGone { what, target }, Some(claim.mend.clone()))
        }
        (_, Topic::User(handle)) => {
            let actor = handle.to_string();
            let own = claim.source.as_ref().map(|(_, item)| Key::Id(item.id));
            (Violation::ActorGone { actor }, own.map(ClaimRepair::Withdraw))
        }
        (violation, Topic::Post(_)) => (violation.clone(), Some(claim.mend.clone())),
    }
}

/// Where else an item of a list should be recorded.
pub(super) fn claims_of(owner: &Owner, relation: Relation, item: &Item) -> Vec<Claim> {
    let claim = |wanted, violation, mend| Claim {
        owner: owner.clone(),
        source: Some((relation, item.clone())),
        wanted,
        instead: None,
        violation,
        mend,
    };
    let activity_of = |actor: &Handle, reaction: &Reaction| {
        let activity = reaction.activity(item);
        let own = Topic::User(actor.clone());
        let instead = match reaction {
            Reaction::Comment(_, id) => Some(Wanted::old_activity(own.clone(), *id, owner_id(owner))),
            Reaction::Like(_) | Reaction::Share(_) | Reaction::Follow(_) => None,
        };
        Claim {
            instead,
            ..claim(
                Wanted::item(own, Relation::Activities, Key::Id(activity.id)),
                Violation::ActivityMissing {
                    actor: actor.to_string(),
                    what: reaction.kind().as_str(),
                },
                ClaimRepair::Append(activity),
            )
        }
    };
    match (relation.description().counterpart, owner, &item.by) {
        (Counterpart::Activity(ActivityKind::Follow), Topic::User(followed), Some(actor)) => vec![
            claim(
                Wanted::item(
                    Topic::User(actor.clone()),
                    Relation::Following,
                    Key::By(followed.clone()),
                ),
                Violation::FollowingMissing {
                    actor: actor.to_string(),
                },
                ClaimRepair::Append(Item::new(item.id, followed.clone(), item.at)),
            ),
            activity_of(actor, &Reaction::Follow(followed.clone())),
        ],
        (Counterpart::Activity(kind), Topic::Post(post), Some(actor)) => {
            let reaction = match kind {
                ActivityKind::Like => Reaction::Like(*post),
                ActivityKind::Share => Reaction::Share(*post),
                ActivityKind::Comment => Reaction::Comment(*post, item.id),
                ActivityKind::Post | ActivityKind::Follow => return Vec::new(),
            };
            vec![activity_of(actor, &reaction)]
        }
        (Counterpart::Followers, Topic::User(actor), Some(followed)) => vec![claim(
            Wanted::item(
                Topic::User(followed.clone()),
                Relation::Followers,
                Key::By(actor.clone()),
            ),
            Violation::FollowerMissing {
                followed: followed.to_string(),
            },
            // Not by the author: a follow at this moment adds another item.
            ClaimRepair::Withdraw(Key::Id(item.id)),
        )],
        (Counterpart::Object, ..) => foundation(item)
            .map(|(wanted, what)| {
                let target = wanted.owner.to_string();
                let withdraw = ClaimRepair::Withdraw(Key::Id(item.id));
                claim(wanted, Violation::ActivityUnfounded { what, target }, withdraw)
            })
            .into_iter()
            .collect(),
        (Counterpart::Nothing | Counterpart::Activity(_) | Counterpart::Followers, ..) => Vec::new(),
    }
}

/// Where the thing that an activity is about is stored.
fn foundation(activity: &Item) -> Option<(Wanted, &'static str)> {
    if let Some(reaction) = Reaction::of(activity) {
        let id = match &reaction {
            Reaction::Comment(_, comment) => *comment,
            Reaction::Like(_) | Reaction::Share(_) | Reaction::Follow(_) => activity.id,
        };
        let wanted = Wanted::item(reaction.owner(), reaction.relation(), Key::Id(id));
        return Some((wanted, reaction.kind().as_str()));
    }
    let post = ActivityKind::Post.as_str();
    let id = fields::uuid(&activity.more, "post").ok()?;
    (activity.more.get_str("kind").ok()? == post).then(|| (Wanted::owner(Topic::Post(id.into())), post))
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
