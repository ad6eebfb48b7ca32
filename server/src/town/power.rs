//! The power user, who reads everything and answers most of it.

use super::Sizes;
use super::crowd::Crowd;
use super::dice::Dice;
use super::people::{CELEBRITY, NEWCOMER, POWER_USER, VIRAL_AUTHOR};
use super::rhythm::{self, DAY, HOUR, MINUTE};

/// How many posts the power user writes: one in a hundred activities, but not the whole feed.
pub(super) fn posts(sizes: &Sizes) -> usize {
    (sizes.power_activities / 100).min(sizes.posts / 20)
}

/// Fills the power user's activities up to exactly the number asked for: likes of most posts, shares of some, a
/// welcome to every newcomer, and comments. Where a small town has too few posts and people for that, more comments.
pub(super) fn act(crowd: &mut Crowd<'_>, dice: &mut Dice) {
    let wanted = crowd.sizes.power_activities;
    let mut left = wanted.saturating_sub(crowd.activities(POWER_USER));
    let mut posts: Vec<usize> = (0..crowd.posts.len())
        .filter(|post| *post != crowd.viral && crowd.posts[*post].author != POWER_USER)
        .collect();
    if posts.is_empty() {
        return;
    }
    dice.shuffle(&mut posts);
    for post in posts
        .iter()
        .copied()
        .take((wanted * 22 / 100).min(posts.len() * 19 / 20))
    {
        let at = rhythm::soon_after(dice, crowd.since(post, POWER_USER), crowd.now, 40 * MINUTE);
        left -= usize::from(left > 0 && crowd.like(post, POWER_USER, at, dice));
    }
    for post in posts
        .iter()
        .copied()
        .take((wanted * 7 / 100).min(posts.len() / 3))
    {
        let at = rhythm::soon_after(dice, crowd.since(post, POWER_USER), crowd.now, 2 * HOUR);
        left -= usize::from(left > 0 && crowd.share(post, POWER_USER, at, dice));
    }
    let mut talk = left.min(wanted * 12 / 100);
    left -= talk;
    let mut people: Vec<usize> = (0..crowd.people.len())
        .filter(|person| ![CELEBRITY, POWER_USER].contains(person))
        .collect();
    dice.shuffle(&mut people);
    people.sort_by_key(|person| crowd.people[*person].quiet);
    for person in people {
        if left == 0 {
            break;
        }
        let from = crowd.first_seen(person).max(crowd.people[POWER_USER].joined);
        if rhythm::later(from, MINUTE) >= crowd.now {
            continue;
        }
        let median = if person == NEWCOMER || person == VIRAL_AUTHOR {
            HOUR
        } else {
            DAY
        };
        let at = rhythm::soon_after(dice, from, crowd.now, median);
        left -= usize::from(crowd.follow(POWER_USER, person, at, dice));
    }
    talk += left;
    for index in 0..talk {
        let post = posts[index % posts.len()];
        let at = rhythm::soon_after(dice, crowd.since(post, POWER_USER), crowd.now, HOUR);
        crowd.remark(post, POWER_USER, at, dice);
    }
}
