//! Text that somebody has begun to write, kept on this device until it is sent, they sign out, or another account
//! writes here.

use web_sys::{Element, Storage};

use super::dom::{attribute, window};

/// The storage key for the owner of the drafts on this device.
const AUTHOR: &str = "author";
/// The storage key for switching single keys off: the only entry here that belongs to no account.
pub const KEYS: &str = "keys";

/// The storage key for the text of one form.
pub struct Draft {
    key: String,
    storage: Storage,
}

impl Draft {
    /// The draft of a form, identified by its writer and its subject. Drafts of other people are deleted.
    pub fn of(form: &Element) -> Option<Self> {
        let (author, key) = (attribute(form, "data-author")?, attribute(form, "data-draft")?);
        let storage = storage()?;
        if storage.get_item(AUTHOR).ok()?.as_ref() != Some(&author) {
            forget_all();
            drop(storage.set_item(AUTHOR, &author));
        }
        Some(Self { key, storage })
    }

    /// The stored draft: the id under which it was being sent when the page was left, or nothing, and the text.
    pub fn read(&self) -> Option<(String, String)> {
        let kept = self.storage.get_item(&self.key).ok()??;
        let (id, text) = kept.split_once(' ')?;
        Some((id.to_owned(), text.to_owned()))
    }

    /// Stores a text, with the id under which it is being sent, if it is. An empty text deletes the draft.
    pub fn keep(&self, id: &str, text: &str) {
        // If the storage is full, only the draft is lost.
        drop(if text.is_empty() {
            self.storage.remove_item(&self.key)
        } else {
            self.storage.set_item(&self.key, &format!("{id} {text}"))
        });
    }
}

/// Deletes everything, so that the next user of the device finds nothing.
pub fn forget_all() {
    if let Some(storage) = storage() {
        let keys = storage.get_item(KEYS).ok().flatten();
        drop(storage.clear());
        if let Some(keys) = keys {
            drop(storage.set_item(KEYS, &keys));
        }
    }
}

/// The device's storage; nothing where the reader forbids it.
pub fn storage() -> Option<Storage> {
    window().local_storage().ok()?
}
