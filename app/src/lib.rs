//! Pages, islands and server functions, and the feed they call.
//!
//! A page is rendered on the server ([`pages`]). What must react in it is an island ([`islands`]), which the browser
//! wakes; islands talk to the server through server functions ([`actions`]) and hear of changes through one event
//! connection per tab ([`live`]). Server functions and the JSON API call the same `feed`.

#![recursion_limit = "256"]

pub mod actions;
pub mod browser;
pub mod components;
pub mod escape;
pub mod islands;
pub mod live;
pub mod refusal;

#[cfg(feature = "ssr")]
pub mod feed;
#[cfg(feature = "ssr")]
pub mod pages;
#[cfg(feature = "ssr")]
pub mod session;

#[cfg(feature = "ssr")]
pub use pages::{App, shell};
