//! The data layer: overflow lists over a small document port, and the engines that implement it.

pub mod embedded;
pub mod error;
pub mod port;

pub use error::{Error, Result};
