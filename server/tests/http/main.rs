//! Tests of the real binary over HTTP.

#![expect(clippy::unwrap_used, reason = "what fails here fails a test")]

mod accounts;
mod class;
#[path = "../conformity/mod.rs"]
mod conformity;
mod crash;
mod description;
mod events;
mod forgery;
mod input;
mod inspect;
mod lab;
mod limits;
mod lists;
mod live;
mod metrics;
mod migration;
mod notices;
mod outage;
mod pages;
mod plain_http;
mod posts;
mod process;
mod protocol;
mod proxies;
mod reactions;
mod storm;
mod support;
mod trace;
mod transfer;
mod tune;
mod upkeep;
