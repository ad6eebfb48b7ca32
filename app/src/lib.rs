//! Pages, islands and server functions, and the feed they call.

#[cfg(feature = "ssr")]
pub mod feed;
