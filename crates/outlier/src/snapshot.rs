//! Changes to a list that apply only if nothing was removed from it since it was read: for lists that follow another
//! document.
//!
//! A caller that keeps a list in step with another document reads the list, then the other document, then changes the
//! list. Another caller doing the same may get in between. So each of these changes raises the list's `rev`, or is
//! guarded on it, even if it finds nothing to do. If two callers have read the same list, the second reads it again.

use bson::{Bson, Document};

use crate::remove::Removed;
use crate::state::{Head, State};
use crate::{Key, OverflowList, Owner, value_at};
use document::{Error, FindAndModify, Result};

/// A list as it was when it was read.
#[derive(Debug, Clone)]
pub struct Snapshot(pub(crate) State);

/// The conditions of a change, and what is written with it.
#[derive(Debug, Default)]
pub(crate) struct Terms {
    /// The list must not have changed since this state.
    pub since: Option<State>,
    /// Update operators for other fields of the owner, which are applied in the write that decides.
    pub also: Document,
}

impl Terms {
    /// Whether the list is unchanged, as far as a read can tell.
    pub fn allow(&self, now: &State) -> bool {
        let Some(since) = &self.since else { return true };
        (now.rev, &now.born) == (since.rev, &since.born)
    }

    /// The change together with `also`.
    pub fn with(&self, change: Document) -> Document {
        together(change, self.also.clone())
    }
}

/// The update operators of both, which change different fields.
pub(crate) fn together(mut change: Document, also: Document) -> Document {
    for (operator, fields) in also {
        match (change.get_mut(&operator), fields) {
            (Some(Bson::Document(there)), Bson::Document(more)) => there.extend(more),
            (_, fields) => _ = change.insert(operator, fields),
        }
    }
    change
}

impl OverflowList<'_> {
    /// Reads the list.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when the owner does not exist.
    pub async fn snapshot(&self, owner: &Owner) -> Result<Snapshot> {
        self.state(owner, Head::Whole).await.map(Snapshot)
    }

    /// Changes other fields of the owner, and returns the list as it is after that, with these fields and those named in
    /// `read`, in one command. `guard` selects the owner. A later write is on disk only together with this one; the answer does not mean that this one is.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when no owner meets the guard.
    pub async fn snapshot_after(
        &self,
        owner: &Owner,
        guard: Document,
        change: Document,
        read: &[&str],
    ) -> Result<(Snapshot, Document)> {
        let mut fields = self.fields(Head::Whole);
        fields.extend(read.iter().map(|field| ((*field).to_owned(), Bson::Int32(1))));
        let fields_changed = change.iter().filter_map(|(_, fields)| fields.as_document());
        for field in fields_changed.flat_map(Document::keys) {
            fields.insert(field, 1);
        }
        let change = FindAndModify::after(guard, change).project(fields).unjournaled();
        let found = self.engine.find_and_modify(self.owners(), change).await?;
        let found = found.ok_or_else(|| Error::NoOwner(owner.to_string()))?;
        let state = if matches!(value_at(&found, self.field()), Some(Bson::Document(_))) {
            State::read(found.clone(), self)?
        } else {
            self.state(owner, Head::Whole).await?
        };
        Ok((Snapshot(state), found))
    }

    /// Like [`OverflowList::remove`], under the condition of [`OverflowList::append_if`].
    ///
    /// # Errors
    /// As [`OverflowList::remove`].
    pub async fn remove_if(
        &self,
        owner: &Owner,
        key: &Key,
        seen: Snapshot,
        also: Document,
    ) -> Result<Option<Removed>> {
        let terms = Terms {
            since: Some(seen.0),
            also,
        };
        let mut last = None;
        let removed = self.remove_beside_others(owner, key, &terms, &mut last).await?;
        self.finish_leftovers(owner, last).await;
        Ok(removed)
    }
}
