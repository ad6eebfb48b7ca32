//! Ordinary likes, shares, follows and comments.

use std::collections::HashSet;

use model::Timestamp;

use super::comments::Talk;
use super::dice::Dice;
use super::people::{self, CAST, CELEBRITY, NEWCOMER, POWER_USER, Residents, VIRAL_AUTHOR};
use super::popularity::{Zipf, share};
use super::posts::Posts;
use super::rhythm::{self, DAY, HOUR, MINUTE, SECOND};
use super::words::Slots;
use super::{Follow, Reaction, Remark, Resident, Sizes, Town, TownPost};

/// A town under construction: its people and posts, and what has happened so far.
pub(super) struct Crowd<'a> {
    pub sizes: &'a Sizes,
    pub slots: &'a Slots,
    pub open: Timestamp,
    pub now: Timestamp,
    pub people: Vec<Resident>,
    pub residents: usize,
    pub posts: Vec<TownPost>,
    pub topics: Vec<&'static str>,
    pub viral: usize,
    pub talk: Talk<'a>,
    likes: Vec<Reaction>,
    comments: Vec<Remark>,
    shares: Vec<Reaction>,
    follows: Vec<Follow>,
    liked: HashSet<(usize, usize)>,
    shared: HashSet<(usize, usize)>,
    followed: HashSet<(usize, usize)>,
    /// When each quiet account was first seen.
    seen: Vec<Timestamp>,
    /// How often each resident acts: the rank, by index.
    active: Zipf,
}

/// How many of a large crowd are residents, at most two thirds of them; the rest of it are quiet accounts.
fn residents_in(crowd: usize, residents: usize) -> usize {
    crowd.min(residents * 2 / 3)
}

/// How many quiet accounts the outliers need.
pub(super) fn quiet_needed(sizes: &Sizes) -> usize {
    let largest = sizes.viral_likes.max(sizes.celebrity_followers);
    largest - residents_in(largest, sizes.users)
}

impl<'a> Crowd<'a> {
    pub(super) fn new(
        sizes: &'a Sizes,
        (open, now): (Timestamp, Timestamp),
        residents: Residents,
        quiet: Vec<Resident>,
        written: Posts,
        slots: &'a Slots,
    ) -> Self {
        let mut people = residents.people;
        let residents = people.len();
        people.extend(quiet);
        Self {
            sizes,
            slots,
            open,
            now,
            seen: vec![now; people.len()],
            people,
            residents,
            posts: written.list,
            topics: written.topics,
            viral: written.viral,
            talk: Talk::new(slots),
            likes: Vec::new(),
            comments: Vec::new(),
            shares: Vec::new(),
            follows: Vec::new(),
            liked: HashSet::new(),
            shared: HashSet::new(),
            followed: HashSet::new(),
            active: Zipf::new(residents, 40),
        }
    }

    /// Everything that happens to ordinary posts and people, and the celebrity's followers.
    pub(super) fn react(&mut self, dice: &mut Dice) {
        self.grow_fame(dice);
        self.follow_each_other(dice);
        let mut ranked: Vec<usize> = (0..self.posts.len()).filter(|post| *post != self.viral).collect();
        dice.shuffle(&mut ranked);
        // The celebrity's posts are among the most liked.
        ranked.sort_by_key(|post| self.posts[*post].author != CELEBRITY);
        let famous = ranked
            .iter()
            .filter(|post| self.posts[**post].author == CELEBRITY)
            .count();
        if let Some(top) = ranked.get_mut(..famous * 4) {
            dice.shuffle(top);
        }
        for (rank, post) in ranked.into_iter().enumerate() {
            self.react_to(post, rank, dice);
        }
    }

    fn react_to(&mut self, post: usize, rank: usize, dice: &mut Dice) {
        let age = self.now.millis() - self.posts[post].at.millis();
        // A post that is hours old has not been seen by everyone who will like it.
        let seen = |count: usize| {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            usize::try_from(count * age / (age + 5 * HOUR)).unwrap_or_default()
        };
        for _ in 0..seen(share(59, 50, rank)) {
            let person = self.somebody(70, dice);
            let at = rhythm::soon_after(dice, self.since(post, person), self.now, 3 * HOUR);
            self.like(post, person, at, dice);
        }
        for _ in 0..seen(share(18, 30, rank)) {
            let person = self.somebody(85, dice);
            let at = rhythm::soon_after(dice, self.since(post, person), self.now, 6 * HOUR);
            self.share(post, person, at, dice);
        }
        let talkative = dice.index(3);
        for _ in 0..seen(share(9, 80, rank) + talkative) {
            self.discuss(post, dice);
        }
    }

    /// A comment, and sometimes the author's thanks.
    fn discuss(&mut self, post: usize, dice: &mut Dice) {
        let person = self.somebody(92, dice);
        if person == self.posts[post].author {
            return;
        }
        let at = rhythm::soon_after(dice, self.since(post, person), self.now, 4 * HOUR);
        self.remark(post, person, at, dice);
        let author = self.posts[post].author;
        if author != POWER_USER && dice.percent(14) && rhythm::later(at, HOUR) < self.now {
            let text = self.talk.thanks(&self.people[person].handle, dice);
            let at = rhythm::soon_after(dice, rhythm::later(at, MINUTE), self.now, HOUR);
            self.comment(post, author, at, text, dice);
        }
    }

    fn grow_fame(&mut self, dice: &mut Dice) {
        let wanted = self.sizes.celebrity_followers;
        let fans = self.gather(wanted, &[CELEBRITY, POWER_USER, NEWCOMER], dice);
        for fan in fans {
            let from = self.people[CELEBRITY].joined.max(self.known_since(fan));
            let at = rhythm::soon_after(dice, from, self.now, 9 * DAY);
            self.follow(fan, CELEBRITY, at, dice);
        }
    }

    /// Residents by popularity: the viral author and the baker first; without the newcomer.
    fn follow_each_other(&mut self, dice: &mut Dice) {
        for person in 0..self.residents {
            if person == CELEBRITY || person == NEWCOMER {
                continue;
            }
            for _ in 0..share(self.residents * 3 / 5, 9, person) + 2 {
                let follower = self.somebody(80, dice);
                let from = self.known_since(follower).max(self.people[person].joined);
                let at = rhythm::soon_after(dice, from, self.now, 6 * DAY);
                self.follow(follower, person, at, dice);
            }
        }
        // The newcomer's findings so far; the celebrity must not gain followers beyond the requested number.
        for person in [VIRAL_AUTHOR, CAST - 2, CAST] {
            let at = rhythm::soon_after(dice, self.people[NEWCOMER].joined, self.now, 3 * HOUR);
            self.follow(NEWCOMER, person, at, dice);
        }
    }

    /// This many different people except some: mostly quiet accounts where there are any, in any order.
    pub(super) fn gather(&self, count: usize, except: &[usize], dice: &mut Dice) -> Vec<usize> {
        let mut residents: Vec<usize> = (0..self.residents)
            .filter(|person| !except.contains(person))
            .collect();
        let mut quiet: Vec<usize> = (self.residents..self.people.len()).collect();
        dice.shuffle(&mut residents);
        dice.shuffle(&mut quiet);
        residents.truncate(residents_in(count, self.residents));
        let mut crowd: Vec<usize> = residents.into_iter().chain(quiet).take(count).collect();
        dice.shuffle(&mut crowd);
        crowd
    }

    /// Anybody who acts in the ordinary course of things: with this probability, in percent, a resident. The power
    /// user and the newcomer are handled separately.
    fn somebody(&self, residents: u64, dice: &mut Dice) -> usize {
        let quiet = self.people.len() - self.residents;
        if quiet > 0 && !dice.percent(residents) {
            return self.residents + dice.index(quiet);
        }
        let mut person = self.active.rank(dice);
        while person == POWER_USER || person == NEWCOMER {
            person = self.active.rank(dice);
        }
        person
    }

    /// The time from which somebody may act.
    pub(super) fn known_since(&self, person: usize) -> Timestamp {
        if self.people[person].quiet {
            rhythm::later(self.open, 2 * HOUR)
        } else {
            self.people[person].joined
        }
    }

    /// The time from which somebody may react to a post.
    pub(super) fn since(&self, post: usize, person: usize) -> Timestamp {
        rhythm::later(self.posts[post].at, 5 * SECOND).max(self.known_since(person))
    }

    /// When a quiet account was first seen.
    pub(super) fn first_seen(&self, person: usize) -> Timestamp {
        if self.people[person].quiet {
            self.seen[person]
        } else {
            self.people[person].joined
        }
    }

    /// A like, unless it exists or the post is the person's own.
    pub(super) fn like(&mut self, post: usize, person: usize, at: Timestamp, dice: &mut Dice) -> bool {
        let new = self.posts[post].author != person && self.liked.insert((post, person));
        if new {
            self.notice(person, at);
            self.likes.push(Reaction {
                id: dice.id(at),
                post,
                person,
                at,
            });
        }
        new
    }

    /// A share, unless it exists or the post is the person's own.
    pub(super) fn share(&mut self, post: usize, person: usize, at: Timestamp, dice: &mut Dice) -> bool {
        let new = self.posts[post].author != person && self.shared.insert((post, person));
        if new {
            self.notice(person, at);
            self.shares.push(Reaction {
                id: dice.id(at),
                post,
                person,
                at,
            });
        }
        new
    }

    /// A follow, unless it exists or the person would follow themselves.
    pub(super) fn follow(&mut self, follower: usize, target: usize, at: Timestamp, dice: &mut Dice) -> bool {
        let new = follower != target && self.followed.insert((follower, target));
        if new {
            self.notice(follower, at);
            self.notice(target, at);
            self.follows.push(Follow {
                id: dice.id(at),
                follower,
                followed: target,
                at,
            });
        }
        new
    }

    /// A comment with a text that fits an ordinary post.
    pub(super) fn remark(&mut self, post: usize, person: usize, at: Timestamp, dice: &mut Dice) {
        let expert = self.active.rank(dice);
        let expert = if expert == person || expert == NEWCOMER {
            VIRAL_AUTHOR
        } else {
            expert
        };
        let mention = &self.people[expert].handle;
        let text = self
            .talk
            .remark(self.topics[post], &self.posts[post].text, mention, dice);
        self.comment(post, person, at, text, dice);
    }

    /// A comment.
    pub(super) fn comment(
        &mut self,
        post: usize,
        person: usize,
        at: Timestamp,
        text: String,
        dice: &mut Dice,
    ) {
        self.notice(person, at);
        self.comments.push(Remark {
            id: dice.id(at),
            post,
            person,
            at,
            text,
        });
    }

    /// How many activities somebody has.
    pub(super) fn activities(&self, person: usize) -> usize {
        self.posts.iter().filter(|post| post.author == person).count()
            + self.likes.iter().filter(|like| like.person == person).count()
            + self.shares.iter().filter(|share| share.person == person).count()
            + self
                .comments
                .iter()
                .filter(|comment| comment.person == person)
                .count()
            + self
                .follows
                .iter()
                .filter(|follow| follow.follower == person)
                .count()
    }

    fn notice(&mut self, person: usize, at: Timestamp) {
        self.seen[person] = self.seen[person].min(at);
    }

    /// Decides when the quiet accounts joined; the town is then complete.
    pub(super) fn settle(mut self, dice: &mut Dice) -> Town {
        for (person, seen) in self
            .people
            .iter_mut()
            .zip(&self.seen)
            .filter(|(person, _)| person.quiet)
        {
            person.joined = people::joined_before(*seen, self.open, dice);
        }
        Town {
            people: self.people,
            posts: self.posts,
            likes: self.likes,
            comments: self.comments,
            shares: self.shares,
            follows: self.follows,
            viral: self.viral,
        }
    }
}
