//! The third part of a check: lists that belong together.
//!
//! An action of a person changes several lists, one after the other. One of them decides: `followers` of the followed
//! person, and the likes, shares and comments of a post. It is changed first, whether the action adds or removes. For a
//! post, the post itself decides: it is written before its activity, and deleted before it. What it has and others lack
//! is completed; what others have and it lacks is removed from them.
//!
//! Claims are gathered from the lists of many owners and looked up together. What is missing is looked up again after
//! a pause; what is still missing then is looked up once more, alone.

use bson::{Bson, doc};
use model::{Relation, Topic};

use super::Checking;
use super::claims::{Claim, ClaimRepair, claim_of_post, claims_of, owner_gone};
use crate::overflow::{Item, Owner};
use crate::reactions::{Reaction, agree, agree_on_post, unless_gone};
use crate::upkeep::collections::{owner_of, relation_of, relations_of};
use crate::upkeep::finding::{Outcome, Severity, Violation};
use crate::upkeep::lookup::{Answer, Wanted, lookup};
use document::{DocumentEngine, Find, Result};
use outlier::Collection;
use outlier::scan::{Committed, Owners, Shape, groups, paged};

/// From how many claims on to look them up. Memory holds at most two claims for each loaded item in addition.
const MANY: usize = 16_384;

impl Checking<'_> {
    pub(super) async fn between(&mut self) -> Result<()> {
        let mut claims = Vec::new();
        for collection in self.collections.clone() {
            let mut owners = Owners::of(&**self.store.engine(), &collection);
            loop {
                let batch = owners.next().await?;
                if batch.is_empty() {
                    break;
                }
                for group in groups(&collection, &batch) {
                    self.claims_of_group(&collection, &group, &mut claims).await?;
                    self.settle(&mut claims, MANY).await?;
                    self.advance(group.len());
                }
            }
            self.settle(&mut claims, 1).await?;
        }
        Ok(())
    }

    /// The claims of some owners and their lists. A list that is still an array makes none.
    async fn claims_of_group(
        &mut self,
        collection: &Collection,
        ids: &[Bson],
        claims: &mut Vec<Claim>,
    ) -> Result<()> {
        let name = collection.name();
        let relations = relations_of(name);
        let mut fields = doc! { "born": 1, "author": 1, "at": 1 };
        fields.extend(
            relations
                .iter()
                .map(|relation| (relation.to_string(), Bson::Int32(1))),
        );
        let find = Find::matching(doc! { "_id": { "$in": ids } }).project(fields);
        let owners = self.store.engine().find(name, find).await?;
        for document in &owners {
            let Some(owner) = document.get("_id").and_then(|id| owner_of(name, id)) else {
                continue;
            };
            claims.extend(claim_of_post(&owner, document));
            for &relation in &relations {
                if let Shape::List(list) = Shape::of(document, relation.as_str()) {
                    claims.extend(
                        list.head
                            .iter()
                            .flat_map(|item| claims_of_item(&owner, relation, item)),
                    );
                }
            }
        }
        let lists = paged(collection, &owners);
        drop(owners);
        let mut pages = Committed::of(&**self.store.engine(), &lists);
        loop {
            let stretches = pages.next().await?;
            if stretches.is_empty() {
                return Ok(());
            }
            for stretch in stretches {
                let list = &lists[stretch.list];
                let spec = list.lists.spec();
                let (Some(owner), Some(relation)) = (owner_of(name, &list.owner.id()), relation_of(spec))
                else {
                    continue;
                };
                let pages = stretch.pages.iter();
                let items = pages.flat_map(|page| list.state.items_of(page, &spec.order));
                claims.extend(items.flat_map(|item| claims_of_item(&owner, relation, item)));
            }
            self.settle(claims, MANY).await?;
        }
    }

    /// Verifies claims when there are at least `enough` of them.
    async fn settle(&mut self, claims: &mut Vec<Claim>, enough: usize) -> Result<()> {
        if claims.len() < enough {
            return Ok(());
        }
        let claims = std::mem::take(claims);
        let missed = self.missed(claims).await?;
        if missed.is_empty() {
            return Ok(());
        }
        self.wait().await;
        for (claim, answer) in self.still_missed(missed).await? {
            let gone = (answer == Answer::NoOwner).then(|| owner_gone(&claim).0);
            match gone {
                Some(violation) if violation.severity() == Severity::Notice && !self.options.repair => {
                    self.report_of(&claim, violation, Outcome::Found);
                }
                _ => self.disagreement(claim).await?,
            }
        }
        Ok(())
    }

    /// The claims for which the other list has nothing.
    async fn missed(&self, claims: Vec<Claim>) -> Result<Vec<Claim>> {
        let open = open(&**self.store.engine(), claims).await?;
        Ok(open.into_iter().map(|(claim, _)| claim).collect())
    }

    /// Those of these claims that still stand and for which the other list still has nothing, and why not. Whether
    /// they stand is looked up last, because that is the last place from which an action is removed.
    async fn still_missed(&self, claims: Vec<Claim>) -> Result<Vec<(Claim, Answer)>> {
        let engine = &**self.store.engine();
        let open = open(engine, claims).await?;
        let sources: Vec<Wanted> = open.iter().map(|(claim, _)| claim.location()).collect();
        let stand = lookup(engine, &sources.iter().collect::<Vec<_>>()).await?;
        let standing = open.into_iter().zip(stand);
        let standing = standing.filter(|(_, stands)| *stands == Answer::There);
        Ok(standing.map(|(open, _)| open).collect())
    }

    async fn disagreement(&mut self, claim: Claim) -> Result<()> {
        // In this order: the people in a claim existed before the claim was written, and in the session of a check the
        // look at them is not older than the look at the claim.
        let engine = &**self.store.engine();
        if lookup(engine, &[&claim.location()]).await?.first() != Some(&Answer::There) {
            return Ok(());
        }
        let (claim, violation, repair) = match open(engine, vec![claim]).await?.pop() {
            Some((claim, Answer::NoOwner)) => {
                let (violation, repair) = owner_gone(&claim);
                (claim, violation, repair)
            }
            Some((claim, _)) => {
                let (violation, repair) = (claim.violation.clone(), claim.repair.clone());
                (claim, violation, Some(repair))
            }
            None => return Ok(()),
        };
        let outcome = if !self.options.repair {
            Outcome::Found
        } else if let Some(repair) = repair {
            self.repair(&claim, repair).await?;
            Outcome::Repaired
        } else {
            Outcome::Unrepairable(violation.unrepairable())
        };
        self.report_of(&claim, violation, outcome);
        Ok(())
    }

    fn report_of(&mut self, claim: &Claim, violation: Violation, outcome: Outcome) {
        let relation = claim.source.as_ref().map(|(relation, _)| *relation);
        self.report(claim.owner.to_string(), relation, violation, outcome);
    }

    /// Each of these writes applies only if nobody has changed what it follows from.
    async fn repair(&self, claim: &Claim, repair: ClaimRepair) -> Result<()> {
        let store = self.store;
        match (repair, &claim.source) {
            (ClaimRepair::Agree(actor, reaction), _) => {
                unless_gone(agree(store, &actor, &reaction, None).await)?;
                match reaction {
                    Reaction::Follow(author) if claim.is_about_following() => {
                        store.timelines().align(&actor, &author, None).await
                    }
                    _ => Ok(()),
                }
            }
            (ClaimRepair::AgreeOnPost(author, post), _) => {
                unless_gone(agree_on_post(store, &author, post, None).await)
            }
            (ClaimRepair::Mirror(relation, other), Some((_, item))) => {
                let Topic::User(person) = &claim.owner else {
                    return Ok(());
                };
                let mirrored = Item::new(item.id, person.clone(), item.at);
                unless_gone(store.list(relation).append(&Topic::User(other), mirrored).await)
            }
            (ClaimRepair::Withdraw(key), Some((relation, _))) => {
                unless_gone(store.list(*relation).remove(&claim.owner, &key).await)
            }
            (ClaimRepair::Withdraw(_) | ClaimRepair::Mirror(..), None) => Ok(()),
        }
    }
}

/// Those of these claims for which the other list has nothing, and why not.
async fn open(engine: &dyn DocumentEngine, claims: Vec<Claim>) -> Result<Vec<(Claim, Answer)>> {
    let wanted: Vec<&Wanted> = claims.iter().map(|claim| &claim.wanted).collect();
    let answers = lookup(engine, &wanted).await?;
    let open = claims.into_iter().zip(answers);
    let mut open: Vec<_> = open
        .filter(|(_, answer)| matches!(answer, Answer::Absent | Answer::NoOwner))
        .collect();
    let instead: Vec<&Wanted> = open
        .iter()
        .filter_map(|(claim, _)| claim.instead.as_ref())
        .collect();
    let mut instead = lookup(engine, &instead).await?.into_iter();
    open.retain(|(claim, _)| claim.instead.is_none() || instead.next() != Some(Answer::There));
    Ok(open)
}

/// The claims that an item makes; empty if it is malformed.
fn claims_of_item(owner: &Owner, relation: Relation, item: &Bson) -> Vec<Claim> {
    let item = item.as_document().cloned().map(Item::from_document);
    match item {
        Some(Ok(item)) => claims_of(owner, relation, &item),
        _ => Vec::new(),
    }
}
