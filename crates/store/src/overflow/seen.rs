//! Changes to a list that apply only if nothing was taken out of it since somebody looked: for lists that follow
//! another document.
//!
//! Who keeps a list in step with another document looks at the list, then reads the other document, then changes the
//! list. Another who does the same may have come between. So each of these changes raises the list's `rev`, or is
//! guarded on it, even where it finds nothing to do; of two who looked at the same list, the second one looks again.

use bson::{Bson, Document};

use super::append::Appended;
use super::remove::Removed;
use super::state::{Head, State};
use super::{Item, Key, OverflowList, Owner};
use document::{Error, FindAndModify, Result};

/// A list as it was when somebody looked.
#[derive(Debug, Clone)]
pub struct Seen(pub(super) State);

/// What a change rests on, and what goes with it.
#[derive(Debug, Default)]
pub(super) struct Terms {
    /// The list must be as it was then.
    pub since: Option<State>,
    /// Update operators for other fields of the owner, which are applied by the write that decides.
    pub also: Document,
}

impl Terms {
    /// Whether the list is as it was, as far as a look can tell.
    pub fn allow(&self, now: &State) -> bool {
        let Some(since) = &self.since else { return true };
        (now.rev, &now.born) == (since.rev, &since.born)
    }

    /// A change with what goes with it.
    pub fn with(&self, mut change: Document) -> Document {
        for (operator, fields) in self.also.clone() {
            match (change.get_mut(&operator), fields) {
                (Some(Bson::Document(there)), Bson::Document(more)) => there.extend(more),
                (_, fields) => _ = change.insert(operator, fields),
            }
        }
        change
    }
}

impl OverflowList<'_> {
    /// Looks at the list.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when the owner does not exist.
    pub async fn look(&self, owner: &Owner) -> Result<Seen> {
        self.state(owner, Head::Whole).await.map(Seen)
    }

    /// Changes other fields of the owner, and looks at the list as it is then: one command. `guard` selects the owner.
    /// A write after it is on disk only together with it.
    ///
    /// # Errors
    /// [`Error::NoOwner`] when no owner is as the guard says.
    pub async fn look_after(
        &self,
        owner: &Owner,
        guard: Document,
        change: Document,
    ) -> Result<(Seen, Document)> {
        let mut fields = self.fields(Head::Whole);
        let fields_changed = change.iter().filter_map(|(_, fields)| fields.as_document());
        for field in fields_changed.flat_map(Document::keys) {
            fields.insert(field, 1);
        }
        let change = FindAndModify::after(guard, change).project(fields);
        let found = self.engine.find_and_modify(self.owners(), change).await?;
        let found = found.ok_or_else(|| Error::NoOwner(owner.to_string()))?;
        let state = if matches!(found.get(self.relation.as_str()), Some(Bson::Document(_))) {
            State::read(found.clone(), self)?
        } else {
            self.state(owner, Head::Whole).await?
        };
        Ok((Seen(state), found))
    }

    /// As [`OverflowList::append`], unless something was taken out of the list since it was seen, or somebody else
    /// confirmed what it holds; then nothing, and nothing is changed. `also` is applied in the same write, to other
    /// fields of the owner.
    ///
    /// # Errors
    /// As [`OverflowList::append`].
    pub async fn append_if(
        &self,
        owner: &Owner,
        item: Item,
        seen: Seen,
        also: Document,
    ) -> Result<Option<Appended>> {
        item.check_size()?;
        let key = self.key_of(&item)?;
        let terms = Terms {
            since: Some(seen.0),
            also,
        };
        self.append_alone(owner, key, item, terms).await
    }

    /// As [`OverflowList::remove`], under the same condition.
    ///
    /// # Errors
    /// As [`OverflowList::remove`].
    pub async fn remove_if(
        &self,
        owner: &Owner,
        key: &Key,
        seen: Seen,
        also: Document,
    ) -> Result<Option<Removed>> {
        let terms = Terms {
            since: Some(seen.0),
            also,
        };
        let mut last = None;
        let removed = self.remove_beside_others(owner, key, &terms, &mut last).await?;
        self.finish_what_others_left(owner, last).await;
        Ok(removed)
    }
}
