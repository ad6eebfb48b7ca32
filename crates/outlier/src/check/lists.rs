//! The first part of a check: every list by itself.
//!
//! Many owners are read at once, then the pages of all of their lists, then the owners' fields again. A list that did
//! not change meanwhile and is sound is done; any other is read again alone.

use std::collections::HashMap;

use bson::{Bson, Document, doc};
use document::{Find, Result};

use super::look::{ListCheck, conclude, list_check, numbers, without_list};
use super::{Audit, Checking, Defect, List, Outcome, Severity, near_limit};
use crate::scan::{Committed, Owners, Paged, Shape, groups, paged};
use crate::{Collection, Owner};

/// The results for lists with pages, by owner and path.
type Looks<'a> = HashMap<(Owner, &'a str), ListCheck>;

impl<'a> Checking<'a> {
    pub(super) async fn lists(&mut self, collection: &'a Collection) -> Result<()> {
        let name = collection.name();
        let mut owners = Owners::of(&**self.engine, collection);
        for id in owners.foreign().await? {
            let outcome = Outcome::Unrepairable("delete it by hand");
            self.report_of(format!("{name}/{id}"), None, no_owner(), outcome);
        }
        loop {
            let batch = owners.next().await?;
            if batch.is_empty() {
                return Ok(());
            }
            for group in groups(collection, &batch) {
                let find = Find::matching(doc! { "_id": { "$in": &group } });
                let owners = self.engine.find(name, find).await?;
                let mut looks = self.looks(collection, &owners).await?;
                for owner in &owners {
                    self.owner(collection, owner, &mut looks).await?;
                }
                self.checked.owners += group.len() as u64;
                self.advance();
            }
        }
    }

    async fn owner(
        &mut self,
        collection: &'a Collection,
        document: &Document,
        looks: &mut Looks<'a>,
    ) -> Result<()> {
        let Some(owner) = collection.owner_of(document) else {
            let id = document.get("_id").unwrap_or(&Bson::Null);
            self.report_document(format!("{}/{id}", collection.name()), no_owner());
            return Ok(());
        };
        for what in (collection.faults)(document) {
            self.report_document(owner.to_string(), Defect::Malformed { what });
        }
        if let Some(near) = near_limit(document, || "the owner document".to_owned()) {
            self.report_document(owner.to_string(), near);
        }
        for lists in collection.lists() {
            let path = &*lists.spec().path;
            let look = match Shape::of(document, path) {
                Shape::List(list) if list.pages == 0 => Some(conclude(collection, lists.spec(), &list)),
                Shape::List(_) => looks.remove(&(owner.clone(), path)),
                other => Some(without_list(other)),
            };
            let list = List {
                collection,
                lists,
                owner: owner.clone(),
            };
            self.list(list, look).await?;
        }
        Ok(())
    }

    /// The lists with pages of these owners that did not change while they were read.
    async fn looks(&self, collection: &'a Collection, owners: &[Document]) -> Result<Looks<'a>> {
        let lists = paged(collection, owners);
        let mut looks = Looks::new();
        if lists.is_empty() {
            return Ok(looks);
        }
        let (mut pages, mut audit) = (Committed::of(&**self.engine, &lists), None);
        loop {
            let stretches = pages.next().await?;
            if stretches.is_empty() {
                break;
            }
            for stretch in stretches {
                let Paged { owner, lists, state } = &lists[stretch.list];
                let spec = lists.spec();
                let mut open = audit.take().unwrap_or_else(|| Audit::of(collection, spec, state));
                for page in &stretch.pages {
                    open.page(page);
                }
                if stretch.last {
                    let head = open.head();
                    let look = list_check(state, open.finish(), head, None);
                    looks.insert((owner.clone(), &*spec.path), look);
                } else {
                    audit = Some(open);
                }
            }
        }
        let mut ids: Vec<Bson> = lists.iter().map(|list| list.owner.id()).collect();
        ids.sort_by_cached_key(ToString::to_string);
        ids.dedup();
        let paths = collection.lists().iter().map(|lists| &*lists.spec().path);
        let find = Find::matching(doc! { "_id": { "$in": ids } }).project(numbers(paths));
        let now = self.engine.find(collection.name(), find).await?;
        let now: HashMap<Owner, &Document> = now
            .iter()
            .filter_map(|document| Some((collection.owner_of(document)?, document)))
            .collect();
        for Paged { owner, lists, state } in &lists {
            let path = &*lists.spec().path;
            let after = now.get(owner).map(|document| Shape::of(document, path));
            if !matches!(after, Some(Shape::List(after)) if state.same_moment(&after)) {
                looks.remove(&(owner.clone(), path));
            }
        }
        Ok(looks)
    }

    /// What was found sound, or only worth knowing, in a shared read is reported as it is. Anything else is read
    /// alone.
    async fn list(&mut self, list: List<'a>, look: Option<ListCheck>) -> Result<()> {
        if let Some(look) = look.filter(ListCheck::is_sound) {
            self.checked.items += look.items;
            for defect in look.found {
                let outcome = self.outcome_of_unrepaired(&defect);
                self.report(&list, defect, outcome);
            }
            return Ok(());
        }
        let Some(found) = self.agreed(&list).await? else {
            self.report(&list, Defect::Busy, Outcome::Found);
            return Ok(());
        };
        let mut rest = Vec::new();
        if self.options.repair && !found.is_empty() {
            rest = self.repair(&list).await?;
        }
        for defect in found {
            let outcome = if !self.options.repair {
                Outcome::Found
            } else if rest.iter().any(|rest| rest.is_like(&defect)) {
                Outcome::Unrepairable(defect.unrepairable())
            } else {
                Outcome::Repaired
            };
            if outcome != Outcome::Repaired && defect.severity() == Severity::Broken {
                self.doubtful.insert(list.key());
            }
            self.report(&list, defect, outcome);
        }
        Ok(())
    }
}

fn no_owner() -> Defect {
    let what = "its `_id` is not an owner's".to_owned();
    Defect::Malformed { what }
}
