//! Pages, islands and server functions.
//!
//! A page is rendered on the server ([`pages`], made of [`components`]). The interactive parts are islands
//! ([`islands`]), which the browser wakes; islands send the page's forms to server functions ([`actions`]) and
//! receive changes through one event connection per tab. Server functions and the JSON API call the same methods of the
//! crate `feed`.

#![recursion_limit = "256"]

pub mod actions;
pub mod components;
pub mod escape;
pub mod islands;
pub mod refusal;

#[cfg(feature = "ssr")]
pub mod notice;
#[cfg(feature = "ssr")]
pub mod pages;
#[cfg(feature = "ssr")]
pub mod session;

#[cfg(feature = "ssr")]
pub use pages::{App, DESK, Description, Obstacle, RESET, Teacher, shell};
