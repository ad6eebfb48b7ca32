//! The whole application in this process, over engines of every kind, with a deterministic clock and ids.

mod blocks;
mod bookmarks;
mod call;
mod cards;
#[cfg(feature = "workshop")]
mod class;
mod clock;
mod comments;
#[path = "../../tests/conformity/mod.rs"]
mod conformity;
mod description;
mod edits;
mod engines;
mod equal_answers;
mod examples;
mod floods;
mod headers;
mod held_handles;
mod inspection;
mod kept_pages;
mod mentions;
mod mutations;
mod notifications;
mod outside;
mod pins;
pub mod player;
mod quotes;
mod readiness;
mod reading;
mod recovery;
mod relations;
mod reports;
mod restrictions;
mod rising;
mod round_trips;
mod search;
mod security;
mod sessions;
mod settings;
mod shares;
mod stage;
mod suggestions;
mod suspensions;
mod tap;
mod unread;
mod weight;
mod words;
