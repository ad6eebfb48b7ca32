//! Rising posts: many likes for their age.
//!
//! A post's rank is the time when it was written, moved on by half a day for each tenfold of its likes. So the rank changes
//! only with the likes, and the order of two posts does not depend on when they are compared: a cursor stays where it is,
//! and no post has to be ranked again as time passes. Reddit's ranking by "hot" is of this form.
//!
//! There is no index of ranks, which each like would have to change. The ranks come from the two indexes that there are, by
//! time and by likes, as in the threshold algorithm of Fagin, Lotem and Naor ("Optimal aggregation algorithms for
//! middleware", 2003): both are read from the top, side by side, until no post further down in both can have a place in
//! what is asked for.

use std::collections::HashMap;
use std::time::Duration;

use model::{Cursor, Timestamp};

use super::{Order, Posts, StoredPost};
use crate::search::FoundPosts;
use document::{Error, Result};

/// By how much ten times the likes move a post up.
const TENFOLD: Duration = Duration::from_mins(750);
/// How many posts of each order are read at most, and how many at a time.
const MOST: usize = 500;
const AT_A_TIME: usize = 100;

impl Posts<'_> {
    /// Everybody's posts, the highest rank first, after a cursor. Of a long list only the 500 newest and the 500 most liked
    /// posts are ranked.
    ///
    /// # Errors
    /// [`Error::ForeignCursor`] when another list gave the cursor out.
    pub async fn rising(&self, after: Option<Cursor>, limit: usize) -> Result<FoundPosts> {
        if after.is_some_and(|after| after.list != list()) {
            return Err(Error::ForeignCursor);
        }
        let (mut posts, mut read) = (HashMap::new(), 0);
        let (mut last_newest, mut last_liked) = (None, None);
        loop {
            let (newest, liked) = futures::try_join!(
                self.list(None, Order::Newest, last_newest, AT_A_TIME),
                self.list(None, Order::MostLiked, last_liked, AT_A_TIME)
            )?;
            read += AT_A_TIME;
            let more = newest.len() == AT_A_TIME && liked.len() == AT_A_TIME && read < MOST;
            let ends = newest.last().zip(liked.last());
            // Whatever has not been read is no newer and no more liked than these two.
            let bound = ends.map(|(newest, liked)| rank(newest.at, liked.likes.count));
            last_newest = newest.last().map(|post| Order::Newest.cursor_after(post));
            last_liked = liked.last().map(|post| Order::MostLiked.cursor_after(post));
            posts.extend(newest.into_iter().chain(liked).map(|post| (post.id, post)));

            let settled = posts.values().map(cursor_after).filter(|cursor| {
                Some(cursor.key) > bound && after.is_none_or(|after| cursor.order() < after.order())
            });
            if !more || settled.count() > limit {
                return Ok(FoundPosts::ranked(
                    posts.into_values().collect(),
                    cursor_after,
                    after,
                    limit,
                ));
            }
        }
    }
}

/// What identifies the list that the cursors belong to.
fn list() -> u32 {
    Cursor::list_named("rising")
}

/// The cursor just after a post.
fn cursor_after(post: &StoredPost) -> Cursor {
    Cursor {
        list: list(),
        key: rank(post.at, post.likes.count),
        id: post.id.uuid(),
        page: None,
    }
}

/// Milliseconds since 1970. Without likes, it is the time when the post was written.
fn rank(at: Timestamp, likes: u64) -> i64 {
    let likes = f64::from(u32::try_from(likes).unwrap_or(u32::MAX));
    let moved = TENFOLD.mul_f64((1.0 + likes).log10()).as_millis();
    at.millis()
        .saturating_add(i64::try_from(moved).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_times_the_likes_are_worth_half_a_day() {
        let at = Timestamp::from_millis(1_000);
        assert_eq!(rank(at, 0), 1_000);
        assert_eq!(rank(at, 9), 45_001_000);
        assert_eq!(rank(at, 99), 90_001_000);
        assert!(rank(at, u64::MAX) > rank(at, 1_000_000));
    }
}
