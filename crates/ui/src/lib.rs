//! What the pages of the feed and of the workshop share.
//!
//! A page is rendered on the server, from `components`. The interactive parts are [`islands`], which the browser
//! wakes; they send the page's forms to server functions and receive changes through one event connection per tab.
//! For the server there are also the session, waiting for a page's data, and the answers to forms.

pub mod forms;
pub mod islands;
pub mod meter_words;
pub mod number;

#[cfg(feature = "ssr")]
pub mod components;
#[cfg(feature = "ssr")]
pub mod escape;
#[cfg(feature = "ssr")]
pub mod notice;
#[cfg(feature = "ssr")]
pub mod preview;
#[cfg(feature = "ssr")]
pub mod problem;
#[cfg(feature = "ssr")]
pub mod refusal;
#[cfg(feature = "ssr")]
pub mod reply;
#[cfg(feature = "ssr")]
pub mod request;
#[cfg(feature = "ssr")]
pub mod session;
#[cfg(feature = "ssr")]
pub mod title;
