//! Changes that are ready to be written, and those that are held back to be written with later ones.

use std::collections::BTreeMap;
use std::rc::Rc;

use bson::{Bson, RawDocumentBuf};

use super::index::Entries;

/// How many bytes of documents a collection may hold back.
const MOST_HELD: usize = 4 * 1024 * 1024;

/// A change of a document that is ready to be written.
pub(super) struct Staged {
    /// The document's key.
    pub(super) id: Vec<u8>,
    /// The document's `_id`.
    pub(super) own_id: Bson,
    /// The new version; none removes the document.
    pub(super) document: Option<Rc<RawDocumentBuf>>,
    /// One per index of the collection; none where the document's entries stay as they are.
    pub(super) moves: Vec<Option<Move>>,
}

/// The change of a document's entries in one index.
pub(super) struct Move {
    /// As the index has them.
    pub(super) from: Entries,
    /// As it is to have them.
    pub(super) to: Entries,
}

impl Staged {
    /// This change followed by another one of the same document, as one change.
    fn followed_by(mut self, next: Self) -> Self {
        self.document = next.document;
        for (done, next) in self.moves.iter_mut().zip(next.moves) {
            match (done.as_mut(), next) {
                (Some(done), Some(next)) => done.to = next.to,
                (None, Some(next)) => *done = Some(next),
                (_, None) => {}
            }
        }
        self
    }

    fn size(&self) -> usize {
        self.document
            .as_ref()
            .map_or(0, |document| document.as_bytes().len())
    }
}

impl Move {
    /// Keys to remove.
    pub(super) fn removed(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.from.keys.difference(&self.to.keys)
    }

    /// Keys to add.
    pub(super) fn added(&self) -> impl Iterator<Item = &Vec<u8>> {
        self.to.keys.difference(&self.from.keys)
    }

    /// Keys that stay, but give back values of other types.
    pub(super) fn retyped(&self) -> impl Iterator<Item = &Vec<u8>> {
        let retyped = self.from.recipe != self.to.recipe;
        self.to
            .keys
            .intersection(&self.from.keys)
            .filter(move |_| retyped)
    }
}

/// Changes of documents that the tables do not show yet, by the documents' keys.
#[derive(Default)]
pub(super) struct Held {
    changes: BTreeMap<Vec<u8>, Staged>,
    bytes: usize,
}

impl Held {
    /// A document as the last change that is held back left it.
    pub(super) fn document(&self, id: &[u8]) -> Option<Rc<RawDocumentBuf>> {
        self.changes.get(id)?.document.clone()
    }

    /// Holds a change back.
    pub(super) fn add(&mut self, next: Staged) {
        let staged = match self.changes.remove(&next.id) {
            Some(before) => {
                self.bytes -= before.size();
                before.followed_by(next)
            }
            None => next,
        };
        self.bytes += staged.size();
        self.changes.insert(staged.id.clone(), staged);
    }

    /// Whether nothing is held back.
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Whether it is time to write.
    pub(super) fn is_full(&self) -> bool {
        self.bytes > MOST_HELD
    }

    /// Removes and returns everything, to be written.
    pub(super) fn take(&mut self) -> impl Iterator<Item = Staged> + use<> {
        std::mem::take(self).changes.into_values()
    }
}
