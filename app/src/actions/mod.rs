//! The server functions: what the browser may ask for and do. Each is the address of a plain form and, in an
//! island, an ordinary async call. They parse the input, call the feed, and answer both kinds of caller.

pub mod accounts;
pub mod classroom;
pub mod comments;
pub mod layouts;
pub mod migration;
pub mod people;
pub mod posts;
pub mod settings;
pub mod storm;
pub mod tune;

#[cfg(feature = "ssr")]
pub mod reply;

#[cfg(feature = "ssr")]
mod context {
    use leptos::prelude::use_context;
    use model::{Kind, Problem};

    use feed::Feed;

    /// The feed of this request.
    pub fn feed() -> Result<Feed, Problem> {
        use_context()
            .ok_or_else(|| Problem::new(Kind::Internal, "The server lost its data layer. Try again."))
    }
}

#[cfg(feature = "ssr")]
pub use context::feed;
