//! Claims that lists make about each other.

use bson::Document;
use model::{ActivityKind, Counterpart, Handle, PostId, Readers, Relation, Topic};

use crate::overflow::{Item, Key, Owner, owner_id};
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
    pub repair: ClaimRepair,
}

#[derive(Debug, Clone)]
pub(super) enum ClaimRepair {
    /// Make the lists of an actor agree with the list that decides.
    Agree(Handle, Reaction),
    /// Make an author's activities agree with whether the post exists.
    AgreeOnPost(Handle, PostId),
    /// Add the same item to the list of this relation of a person.
    Mirror(Relation, Handle),
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

    /// Whether it is about whom somebody follows, which decides about their timeline.
    pub fn is_about_following(&self) -> bool {
        let source = self.source.as_ref().map(|(relation, _)| *relation);
        [source, Some(self.wanted.relation)].contains(&Some(Relation::Following))
    }
}

/// A post should be recorded in its author's activities.
pub(super) fn claim_of_post(owner: &Owner, document: &Document) -> Option<Claim> {
    let Topic::Post(id) = owner else { return None };
    let author: Handle = document.get_str("author").ok()?.parse().ok()?;
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
        repair: ClaimRepair::AgreeOnPost(author, *id),
    })
}

/// The violation if the owner of the other list is gone. An item of a person who is gone is removed by its id, because
/// an item that a later holder of the handle adds has another id. A post of a person who is gone is kept.
pub(super) fn owner_gone(claim: &Claim) -> (Violation, Option<ClaimRepair>) {
    let wanted = &claim.wanted.owner;
    match (&claim.violation, wanted) {
        (Violation::ActivityUnfounded { what, target }, Topic::Post(_)) => {
            let (what, target) = (*what, target.clone());
            (Violation::TargetGone { what, target }, Some(claim.repair.clone()))
        }
        (_, Topic::User(handle)) => {
            let actor = handle.to_string();
            let repair = claim.source.as_ref().map(|(relation, item)| match relation {
                Relation::Following => claim.repair.clone(),
                _ => ClaimRepair::Withdraw(Key::Id(item.id)),
            });
            (Violation::ActorGone { actor }, repair)
        }
        (violation, Topic::Post(_)) => (violation.clone(), Some(claim.repair.clone())),
    }
}

/// Where else an item of a list should be recorded.
pub(super) fn claims_of(owner: &Owner, relation: Relation, item: &Item) -> Vec<Claim> {
    let claim = |wanted, violation, repair| Claim {
        owner: owner.clone(),
        source: Some((relation, item.clone())),
        wanted,
        instead: None,
        violation,
        repair,
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
                ClaimRepair::Agree(actor.clone(), reaction.clone()),
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
                ClaimRepair::Agree(actor.clone(), Reaction::Follow(followed.clone())),
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
            ClaimRepair::Agree(actor.clone(), Reaction::Follow(followed.clone())),
        )],
        (Counterpart::Object, Topic::User(actor), _) => foundation(actor, item)
            .map(|(wanted, what, repair)| {
                let target = wanted.owner.to_string();
                claim(wanted, Violation::ActivityUnfounded { what, target }, repair)
            })
            .into_iter()
            .collect(),
        (Counterpart::Mirror(mirror), Topic::User(person), Some(other)) => {
            let decides = relation.description().readers == Readers::Owner;
            let repair = if decides {
                ClaimRepair::Mirror(mirror, other.clone())
            } else {
                ClaimRepair::Withdraw(Key::Id(item.id))
            };
            let violation = Violation::MirrorMissing {
                other: other.to_string(),
                list: mirror,
            };
            let wanted = Wanted::item(Topic::User(other.clone()), mirror, Key::By(person.clone()));
            vec![claim(wanted, violation, repair)]
        }
        (
            Counterpart::Nothing
            | Counterpart::Activity(_)
            | Counterpart::Followers
            | Counterpart::Object
            | Counterpart::Mirror(_),
            ..,
        ) => Vec::new(),
    }
}

/// Where the thing that an activity is about is stored, its kind, and what makes both agree.
fn foundation(actor: &Handle, activity: &Item) -> Option<(Wanted, &'static str, ClaimRepair)> {
    if let Some(reaction) = Reaction::of(activity) {
        let id = match &reaction {
            Reaction::Comment(_, comment) => *comment,
            Reaction::Like(_) | Reaction::Share(_) | Reaction::Follow(_) => activity.id,
        };
        let wanted = Wanted::item(reaction.owner(), reaction.relation(), Key::Id(id));
        let kind = reaction.kind().as_str();
        return Some((wanted, kind, ClaimRepair::Agree(actor.clone(), reaction)));
    }
    let post = ActivityKind::Post.as_str();
    let id = PostId::from(fields::uuid(&activity.more, "post").ok()?);
    let repair = ClaimRepair::AgreeOnPost(actor.clone(), id);
    (activity.more.get_str("kind").ok()? == post).then(|| (Wanted::owner(Topic::Post(id)), post, repair))
}
