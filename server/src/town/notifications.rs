//! What the town's people were told of, as if each had last looked a day before the town ends.

use std::collections::{HashMap, HashSet};

use model::NotificationKind::{self, Comment, Follow, Like, Mention, Share};
use model::{Handle, PostId, Timestamp};
use store::notifications::{News, Read};
use store::overflow::Item;

use super::Town;
use super::rhythm::{self, DAY};

/// The notifications of one person.
#[derive(Clone, Default)]
pub(super) struct Told {
    pub items: Vec<Item>,
    /// How many of them they have marked as read, if any.
    pub read: Option<Read>,
}

/// The notifications of everybody. `handles` are those of the town's people, in the same order.
pub(super) fn told(town: &Town, handles: &[Handle], now: Timestamp) -> Vec<Told> {
    let mut all = news(town, handles);
    all.sort_by_key(|(_, _, news)| news.at);
    let looked = rhythm::later(now, -DAY);
    let unread = all.split_off(all.partition_point(|(_, _, news)| news.at <= looked));
    let mut told = vec![Told::default(); handles.len()];
    add(&mut told, all);
    for person in &mut told {
        person.read = person.items.last().map(|latest| Read {
            count: i64::try_from(person.items.len()).unwrap_or(i64::MAX),
            at: latest.at,
        });
    }
    add(&mut told, unread);
    told
}

/// Tells people what happened since they last looked. The first news about a post is told, and later ones of the same
/// kind are the same notification.
fn add(told: &mut [Told], all: Vec<(usize, NotificationKind, News)>) {
    let mut known = HashSet::new();
    for (person, kind, news) in all {
        if known.insert((person, kind, news.post, news.comment)) {
            let read = told[person].read.map_or(0, |read| read.count);
            told[person].items.push(news.item(kind, read));
        }
    }
}

/// Everything that happened, with the person whom it concerns.
fn news(town: &Town, handles: &[Handle]) -> Vec<(usize, NotificationKind, News)> {
    let mut all = Vec::new();
    let mut tell = |person: usize, by: usize, kind: NotificationKind, about: About, at: Timestamp| {
        let About { post, comment } = about;
        if person != by {
            let post = post.map(|post| PostId::from(town.posts[post].id));
            all.push((person, kind, News { post, comment, at }));
        }
    };
    let people: HashMap<&Handle, usize> = handles.iter().zip(0..).collect();
    let mentioned_in = |text: &str| {
        let mentioned = Handle::mentioned_in(text).into_iter();
        let mentioned: Vec<usize> = mentioned
            .filter_map(|handle| people.get(&handle).copied())
            .collect();
        mentioned
    };
    for (number, post) in town.posts.iter().enumerate() {
        for mentioned in mentioned_in(&post.text) {
            tell(mentioned, post.author, Mention, About::post(number), post.at);
        }
    }
    for (kind, reactions) in [(Like, &town.likes), (Share, &town.shares)] {
        for one in reactions {
            let author = town.posts[one.post].author;
            tell(author, one.person, kind, About::post(one.post), one.at);
        }
    }
    for remark in &town.comments {
        let author = town.posts[remark.post].author;
        tell(
            author,
            remark.person,
            Comment,
            About::post(remark.post),
            remark.at,
        );
        for mentioned in mentioned_in(&remark.text) {
            // The author is told of the comment itself.
            if mentioned != author {
                let comment = Some(remark.id);
                let about = About {
                    comment,
                    ..About::post(remark.post)
                };
                tell(mentioned, remark.person, Mention, about, remark.at);
            }
        }
    }
    for follow in &town.follows {
        tell(
            follow.followed,
            follow.follower,
            Follow,
            About::default(),
            follow.at,
        );
    }
    all
}

/// What news are about.
#[derive(Clone, Copy, Default)]
struct About {
    /// The index of the post.
    post: Option<usize>,
    comment: Option<uuid::Uuid>,
}

impl About {
    fn post(post: usize) -> Self {
        Self {
            post: Some(post),
            comment: None,
        }
    }
}
