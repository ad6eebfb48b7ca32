//! The document port: the few single-document commands of MongoDB that the outlier pattern needs from an engine.
//!
//! Every operation means exactly what MongoDB's command of the same name means. Filters, updates, projections and
//! sort orders are BSON documents in MongoDB's query language, so code above the port reads like MongoDB code and
//! runs unchanged on any engine. One call touches documents of one collection, and changes to one document are
//! atomic; nothing above the port assumes more than that.

mod attempts;
pub mod catalogue;
#[cfg(feature = "contract")]
pub mod contract;
mod error;
pub mod extjson;
pub mod gate;
pub mod identity;
mod index;
mod layer;
mod port;
mod prefixed;
pub mod trace;

pub use attempts::{Attempts, deadline, until, with_deadline};
pub use error::{Error, Result, dup_key, shown};
pub use index::Index;
pub use layer::Layer;
pub use port::{
    Capabilities, Change, Changed, Changes, Consistency, DocumentEngine, Engine, Find, FindAndModify, Return,
    Update, Updated, session_of,
};
pub use prefixed::Prefixed;
