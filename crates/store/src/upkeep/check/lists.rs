//! The first part of a check: every list by itself.
//!
//! Many owners are read at once, then the pages of all of their lists, then the owners' fields again. A list that did
//! not change meanwhile and is sound is done; any other is read again alone.

use std::collections::HashMap;

use bson::{Bson, Document, doc};
use model::Relation;

use super::committed::{Committed, Paged, paged};
use super::documents::faults;
use super::look::{ListCheck, conclude, list_check, numbers, without_list};
use super::{Audit, Checking};
use crate::overflow::{Owner, owner_id};
use crate::upkeep::finding::{Outcome, Severity, Violation};
use crate::upkeep::list_state::Shape;
use crate::upkeep::owners::{COLLECTIONS, Owners, groups, owner_of, relations_of};
use document::{Find, Result};

/// The results for lists with pages.
type Looks = HashMap<(Owner, Relation), ListCheck>;

impl Checking<'_> {
    pub(super) async fn lists(&mut self) -> Result<()> {
        for collection in COLLECTIONS {
            let mut owners = Owners::of(&**self.store.engine(), collection);
            for id in owners.foreign().await? {
                let what = "its `_id` is not an owner's".to_owned();
                self.report(
                    format!("{collection}/{id}"),
                    None,
                    Violation::Malformed { what },
                    Outcome::Unrepairable("delete it by hand"),
                );
            }
            loop {
                let batch = owners.next().await?;
                if batch.is_empty() {
                    break;
                }
                for group in groups(collection, &batch) {
                    let find = Find::matching(doc! { "_id": { "$in": &group } });
                    let owners = self.store.engine().find(collection, find).await?;
                    let mut looks = self.looks(collection, &owners).await?;
                    for owner in &owners {
                        self.owner(collection, owner, &mut looks).await?;
                    }
                    self.checked.owners += group.len() as u64;
                    self.advance(group.len());
                }
            }
        }
        Ok(())
    }

    async fn owner(
        &mut self,
        collection: &'static str,
        document: &Document,
        looks: &mut Looks,
    ) -> Result<()> {
        let id = document.get("_id").cloned().unwrap_or(Bson::Null);
        let Some(owner) = owner_of(collection, &id) else {
            let violation = Violation::Malformed {
                what: "its `_id` is not an owner's".to_owned(),
            };
            let outcome = self.outcome_of_unrepaired(&violation);
            self.report(format!("{collection}/{id}"), None, violation, outcome);
            return Ok(());
        };
        for violation in faults(collection, document) {
            let outcome = self.outcome_of_unrepaired(&violation);
            self.report(owner.to_string(), None, violation, outcome);
        }
        for relation in relations_of(collection) {
            let look = match Shape::of(document, relation) {
                Shape::List(list) if list.pages == 0 => Some(conclude(relation, self.store, &list)),
                Shape::List(_) => looks.remove(&(owner.clone(), relation)),
                other => Some(without_list(other)),
            };
            self.list(&owner, relation, look).await?;
        }
        Ok(())
    }

    /// The lists with pages of these owners that did not change while they were read.
    async fn looks(&self, collection: &'static str, owners: &[Document]) -> Result<Looks> {
        let lists = paged(collection, owners);
        let mut looks = Looks::new();
        if lists.is_empty() {
            return Ok(looks);
        }
        let engine = &**self.store.engine();
        let (mut pages, mut audit) = (Committed::of(engine, &lists), None);
        loop {
            let stretches = pages.next().await?;
            if stretches.is_empty() {
                break;
            }
            for stretch in stretches {
                let Paged {
                    owner,
                    relation,
                    state,
                } = &lists[stretch.list];
                let limits = self.store.settings().of(*relation);
                let mut open = audit
                    .take()
                    .unwrap_or_else(|| Audit::of(*relation, limits, state));
                for page in &stretch.pages {
                    open.page(page);
                }
                if stretch.last {
                    let head = open.head();
                    let look = list_check(state, open.finish(), head, None);
                    looks.insert((owner.clone(), *relation), look);
                } else {
                    audit = Some(open);
                }
            }
        }
        let mut ids: Vec<Bson> = lists.iter().map(|list| owner_id(&list.owner)).collect();
        ids.sort_by_cached_key(ToString::to_string);
        ids.dedup();
        let find = Find::matching(doc! { "_id": { "$in": ids } }).project(numbers(&relations_of(collection)));
        let now = engine.find(collection, find).await?;
        let now: HashMap<Owner, &Document> = now
            .iter()
            .filter_map(|document| Some((owner_of(collection, document.get("_id")?)?, document)))
            .collect();
        for Paged {
            owner,
            relation,
            state,
        } in &lists
        {
            let after = now.get(owner).map(|document| Shape::of(document, *relation));
            if !matches!(after, Some(Shape::List(after)) if state.same_moment(&after)) {
                looks.remove(&(owner.clone(), *relation));
            }
        }
        Ok(looks)
    }

    /// What was found sound, or only worth knowing, in a shared read is reported as it is. Anything else is read
    /// alone.
    async fn list(&mut self, owner: &Owner, relation: Relation, look: Option<ListCheck>) -> Result<()> {
        if let Some(look) = look.filter(ListCheck::is_sound) {
            self.checked.items += look.items;
            for violation in look.found {
                let outcome = self.outcome_of_unrepaired(&violation);
                self.report(owner.to_string(), Some(relation), violation, outcome);
            }
            return Ok(());
        }
        let Some(found) = self.agreed(owner, relation).await? else {
            let violation = Violation::Busy;
            self.report(owner.to_string(), Some(relation), violation, Outcome::Found);
            return Ok(());
        };
        let mut rest = Vec::new();
        if self.options.repair && !found.is_empty() {
            rest = self.repair(owner, relation).await?;
        }
        for violation in found {
            let outcome = if !self.options.repair {
                Outcome::Found
            } else if rest.iter().any(|rest| rest.is_like(&violation)) {
                Outcome::Unrepairable(violation.unrepairable())
            } else {
                Outcome::Repaired
            };
            if outcome != Outcome::Repaired && violation.severity() == Severity::Broken {
                self.doubtful.insert((owner.clone(), relation));
            }
            self.report(owner.to_string(), Some(relation), violation, outcome);
        }
        Ok(())
    }

    fn outcome_of_unrepaired(&self, violation: &Violation) -> Outcome {
        if self.options.repair {
            Outcome::Unrepairable(violation.unrepairable())
        } else {
            Outcome::Found
        }
    }
}
