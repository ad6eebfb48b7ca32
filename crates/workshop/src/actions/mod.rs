//! The server functions that the stations' forms are sent to.

pub mod classroom;
pub mod layouts;
pub mod migration;
pub mod storm;
pub mod tune;
