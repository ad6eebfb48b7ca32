//! The feed's pages and server functions.
//!
//! A page is rendered on the server ([`pages`], made of [`components`] and those of the crate `ui`). Its islands send
//! the page's forms to server functions ([`actions`]). Server functions and the JSON API call the same methods of the
//! crate `feed`.

#![recursion_limit = "256"]

pub mod actions;
pub mod components;
pub mod pages;
mod render;

pub use pages::{App, Description, Links, Wing, shell};
pub use ui::{notice, session};
