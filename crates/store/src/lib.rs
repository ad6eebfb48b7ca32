//! The data layer: overflow lists over the [document port](document).
//!
//! [`overflow`] is the outlier pattern, written once against the port. The other modules keep the documents of the
//! feed: [`people`], [`posts`], [`sessions`] and the home feeds of [`timeline`]; [`reactions`] keeps lists of two
//! documents in step, [`restrictions`] says who mutes and blocks whom, and [`account_deletion`] removes a person and everything that is theirs. [`search`] finds posts and people
//! by words. [`comments`] are read with what their authors changed, and [`shared_posts`] says where shares put posts into feeds. [`reports`] are for the operator. [`town`] and [`class`] are facts about the store as a whole.

pub mod account_deletion;
pub mod changes;
pub mod class;
pub mod comments;
#[cfg(feature = "contract")]
pub mod contract;
mod digest_id;
mod held_handles;
mod holding;
pub mod inspect;
mod keys;
pub mod notifications;
pub mod overflow;
pub mod people;
pub mod posts;
mod raw;
pub mod reactions;
pub mod recovery;
pub mod reports;
pub mod restrictions;
pub mod schema;
pub mod search;
pub mod sessions;
mod settings;
pub mod sharding;
pub mod shared_posts;
mod store;
mod suspensions;
pub mod timeline;
pub mod town;
pub mod transfer;
pub mod upkeep;

pub use outlier::Limits;
pub use settings::Settings;
pub use store::Store;
