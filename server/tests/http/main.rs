//! Tests of the real binary over HTTP.

#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

mod accounts;
mod attack;
#[cfg(feature = "workshop")]
mod class;
mod client;
#[path = "../conformity/mod.rs"]
mod conformity;
#[cfg(feature = "workshop")]
mod console;
mod crash;
mod description;
mod dice;
mod events;
mod forgery;
mod images;
mod input;
#[cfg(feature = "workshop")]
mod inspect;
#[cfg(feature = "workshop")]
mod lab;
#[cfg(feature = "workshop")]
mod lesson;
mod limits;
mod lists;
mod live;
mod metrics;
#[cfg(feature = "workshop")]
mod migration;
mod moderate;
mod notices;
mod outage;
mod outside;
mod pages;
mod plain_http;
mod posts;
mod process;
mod protocol;
mod proxies;
mod reactions;
mod recovery;
mod soak;
#[cfg(feature = "workshop")]
mod storm;
mod support;
#[cfg(feature = "workshop")]
mod trace;
mod transfer;
#[cfg(feature = "workshop")]
mod tune;
mod upkeep;
