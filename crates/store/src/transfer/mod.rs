//! A whole store as a file, to move it from one engine to another.
//!
//! ```text
//!   canonical  values as Extended JSON that keeps their types
//!   lines      the file: its first line, a line for each document, its last line
//!   export     writing it, each owner together with its pages
//!   import     reading it into a store, as often as it takes
//! ```
//!
//! The file begins with `{"format":"spillway-export","version":1}`. Each further line is one document,
//! `{"collection":"users","document":{…}}`, and the pages of an owner come before it, as in a spill. The last line,
//! `{"end":{"users":3,…}}`, has the number of documents of each collection, so that a truncated file is never mistaken
//! for a complete one.
//!
//! Handles that are held for people who have left are exported too, so that nobody gets them at the new place, and so are reports, the new texts of
//! comments, and shares as they are listed. Sessions are
//! not: a sign-in at one store is not valid at another.

mod canonical;
mod export;
mod import;
mod lines;

pub use export::{ExportError, export};
pub use import::{ImportError, ImportReport, import, is_under_way};
pub use lines::{Counts, LineError, Lines};

use crate::overflow::PAGES;
use crate::town::META;
use crate::{comments, held_handles, people, posts, reports, shared_posts};

/// Documents that are no part of a list.
const OTHERS: [&str; 5] = [
    META,
    held_handles::COLLECTION,
    reports::COLLECTION,
    comments::COLLECTION,
    shared_posts::COLLECTION,
];

/// The collections that move, in the order in which a batch of an import is written: pages before their owners.
const COLLECTIONS: [&str; 8] = [
    META,
    held_handles::COLLECTION,
    reports::COLLECTION,
    comments::COLLECTION,
    shared_posts::COLLECTION,
    PAGES,
    people::COLLECTION,
    posts::COLLECTION,
];
