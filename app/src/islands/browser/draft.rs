//! What somebody has begun to write, kept on this device until it is sent, they sign out, or somebody else writes here.

use leptos::prelude::window;
use web_sys::{Element, Storage};

use super::dom::attribute;

/// Where this device keeps whose drafts it holds.
const AUTHOR: &str = "author";
/// Where it keeps that single keys are off: the only thing here that is nobody's own.
pub const KEYS: &str = "keys";

/// Where one form keeps what is typed into it.
pub struct Draft {
    key: String,
    storage: Storage,
}

impl Draft {
    /// The draft of a form, which says whose it is and what it is about. Those of other people go.
    pub fn of(form: &Element) -> Option<Self> {
        let (author, key) = (attribute(form, "data-author")?, attribute(form, "data-draft")?);
        let storage = storage()?;
        if storage.get_item(AUTHOR).ok()?.as_ref() != Some(&author) {
            forget_all();
            drop(storage.set_item(AUTHOR, &author));
        }
        Some(Self { key, storage })
    }

    /// What was kept: the id under which it was being sent when the page was left, or nothing, and the text.
    pub fn read(&self) -> Option<(String, String)> {
        let kept = self.storage.get_item(&self.key).ok()??;
        let (id, text) = kept.split_once(' ')?;
        Some((id.to_owned(), text.to_owned()))
    }

    /// Keeps a text, with the id under which it is being sent if it is. No text is no draft.
    pub fn keep(&self, id: &str, text: &str) {
        // A full storage costs the draft, nothing else.
        drop(if text.is_empty() {
            self.storage.remove_item(&self.key)
        } else {
            self.storage.set_item(&self.key, &format!("{id} {text}"))
        });
    }
}

/// Leaves nothing behind for who comes next.
pub fn forget_all() {
    if let Some(storage) = storage() {
        let keys = storage.get_item(KEYS).ok().flatten();
        drop(storage.clear());
        if let Some(keys) = keys {
            drop(storage.set_item(KEYS, &keys));
        }
    }
}

/// What is kept on this device; nothing where the reader forbids it.
pub fn storage() -> Option<Storage> {
    window().local_storage().ok()?
}
