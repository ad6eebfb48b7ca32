//! The faults in the articles' code, one test each: first the article's code failing, then the same scenario with ours.
//!
//! The articles are the four that the pattern was learned from:
//!
//! * S0, "Implementing the Outlier Pattern with Safe Overflow": `safe_overflow`
//! * S1, "Unbounded Growth: The Outlier Pattern": `unbounded_growth`
//! * S3, "How to Create `MongoDB` Outlier Patterns": `following`, `follower_pages` and `migration`
//! * S4, "Outlier Pattern - Handling Viral Posts in Social Media Platforms": `viral_posts`
//!
//! A threshold of 4 replaces their 1,000. Nothing here depends on luck: the commands of two operations are interleaved
//! by hand, and a crash is an operation of which only the first commands are sent.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod articles;
mod follower_pages;
mod following;
mod migration;
mod ours;
mod safe_overflow;
mod support;
mod unbounded_growth;
mod viral_posts;
