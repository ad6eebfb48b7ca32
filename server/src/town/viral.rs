//! How the viral post spread.

use super::comments::Wonder;
use super::crowd::Crowd;
use super::dice::Dice;
use super::people::{NEWCOMER, POWER_USER, VIRAL_AUTHOR};
use super::rhythm::{self, DAY, HOUR};

/// The time after which half of the reactions had happened.
const MEDIAN: i64 = 11 * HOUR;

/// The likes, comments and shares of the viral post.
pub(super) fn spread(crowd: &mut Crowd<'_>, dice: &mut Dice) {
    let post = crowd.viral;
    let others = [VIRAL_AUTHOR, POWER_USER, NEWCOMER];
    let mut likers = crowd.gather(crowd.sizes.viral_likes, &others, dice);
    // The power user has read this, too.
    if crowd.sizes.power_activities >= 100
        && let Some(last) = likers.last_mut()
    {
        *last = POWER_USER;
    }
    for person in likers {
        let at = rhythm::in_wave(dice, crowd.since(post, person), crowd.now, MEDIAN);
        crowd.like(post, person, at, dice);
    }
    for person in crowd.gather(crowd.sizes.viral_likes / 28, &others, dice) {
        let at = rhythm::in_wave(dice, crowd.since(post, person), crowd.now, MEDIAN);
        crowd.share(post, person, at, dice);
    }
    let count = crowd.sizes.viral_comments;
    let from = rhythm::later(crowd.posts[post].at, HOUR / 4);
    let mut moments: Vec<_> = (0..count)
        .map(|_| rhythm::in_wave(dice, from, crowd.now, MEDIAN))
        .collect();
    moments.sort_unstable();
    let mut wonder = Wonder::new(crowd.slots);
    let talkers = crowd.gather(count, &others, dice);
    for (index, at) in moments.into_iter().enumerate() {
        // The next person; when there are fewer people than comments, some write several.
        let talker = if talkers.is_empty() {
            VIRAL_AUTHOR
        } else {
            talkers[index % talkers.len()]
        };
        let late = at.millis() - crowd.posts[post].at.millis() > 2 * DAY;
        let text = wonder.next(count - index, late, dice);
        crowd.comment(post, talker, at, text, dice);
    }
}
