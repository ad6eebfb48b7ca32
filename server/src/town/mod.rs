//! The demo town: a small river town whose feed has everything that the outlier pattern is about.
//!
//! Most of its lists are short. Three are not: one post went viral, one person is famous, and one reads and
//! answers everything. The town is generated from a seed, without the clock or any other source of randomness: the
//! same seed, sizes and `now` make the same town on every machine.

mod comments;
mod crowd;
mod dice;
mod load;
mod names;
mod notifications;
mod people;
mod popularity;
mod posts;
mod power;
mod recipe;
mod rhythm;
mod viral;
mod words;

use model::Timestamp;
use uuid::Uuid;

pub use load::load;
pub use recipe::{Recipe, claim_again, recipe_of};
pub use store::town::{Claim, Patience, claim, is_half_loaded, is_loaded};

use dice::{Dice, Stream};
use names::Register;
use rhythm::DAY;
use words::Slots;

/// The size of the town to make. Towns have at least ten people and ten posts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes {
    /// People with a name, a bio and posts of their own.
    pub users: usize,
    /// Posts by these people.
    pub posts: usize,
    /// Likes of the viral post.
    pub viral_likes: usize,
    /// Comments on the viral post.
    pub viral_comments: usize,
    /// Followers of the celebrity.
    pub celebrity_followers: usize,
    /// Activities of the power user: posts, likes, comments, shares and follows together.
    pub power_activities: usize,
}

/// Everybody and everything in the town. People and posts are identified by their index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Town {
    /// The named residents first, then the quiet accounts that the likes and follows need.
    pub people: Vec<Resident>,
    /// The posts, oldest first.
    pub posts: Vec<TownPost>,
    /// The likes, each pair once.
    pub likes: Vec<Reaction>,
    /// The comments.
    pub comments: Vec<Remark>,
    /// The shares, each pair once.
    pub shares: Vec<Reaction>,
    /// The follows, each pair once.
    pub follows: Vec<Follow>,
    /// The index of the viral post.
    pub viral: usize,
}

/// A person with an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resident {
    /// Their unique handle.
    pub handle: String,
    /// The displayed name.
    pub name: String,
    /// The bio; empty for quiet accounts.
    pub bio: String,
    /// When they joined: before anything they do, and before anybody follows them.
    pub joined: Timestamp,
    /// Whether they never post.
    pub quiet: bool,
}

/// A post by a resident.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TownPost {
    /// Its id.
    pub id: Uuid,
    /// Index of the author.
    pub author: usize,
    /// Its text.
    pub text: String,
    /// When it was written.
    pub at: Timestamp,
}

/// A like or a share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaction {
    /// Its id.
    pub id: Uuid,
    /// Index of the post.
    pub post: usize,
    /// Index of the person.
    pub person: usize,
    /// The time.
    pub at: Timestamp,
}

/// A comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Its id.
    pub id: Uuid,
    /// Index of the post.
    pub post: usize,
    /// Index of the author.
    pub person: usize,
    /// The time.
    pub at: Timestamp,
    /// Its text.
    pub text: String,
}

/// A follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Follow {
    /// Its id.
    pub id: Uuid,
    /// Index of the follower.
    pub follower: usize,
    /// Index of the followed person.
    pub followed: usize,
    /// The time.
    pub at: Timestamp,
}

impl Default for Sizes {
    fn default() -> Self {
        Self {
            users: 300,
            posts: 1_500,
            viral_likes: 25_000,
            viral_comments: 3_000,
            celebrity_followers: 12_500,
            power_activities: 6_000,
        }
    }
}

/// How long ago the feed started.
const AGE: i64 = 35 * DAY;

impl Town {
    /// Generates a town that is five weeks old at `now`.
    pub fn generate(sizes: &Sizes, seed: u64, now: Timestamp) -> Self {
        let sizes = Sizes {
            users: sizes.users.max(10),
            posts: sizes.posts.max(10),
            ..sizes.clone()
        };
        let open = rhythm::later(now, -AGE);
        let mut dice = Dice::new(seed, Stream::People);
        let mut register = Register::new();
        let slots = Slots::new(register.first_names().to_vec());
        let residents = people::residents(&sizes, open, now, &mut register, &slots, &mut dice);
        let quiet = people::quiet(crowd::quiet_needed(&sizes), now, &mut register, &mut dice);

        let mut dice = Dice::new(seed, Stream::Posts);
        let postal = power::posts(&sizes);
        let written = posts::write(&sizes, postal, (open, now), &residents, &slots, &mut dice);

        let mut crowd = crowd::Crowd::new(&sizes, (open, now), residents, quiet, written, &slots);
        crowd.react(&mut Dice::new(seed, Stream::Crowd));
        viral::spread(&mut crowd, &mut Dice::new(seed, Stream::Viral));
        power::act(&mut crowd, &mut Dice::new(seed, Stream::PowerUser));
        crowd.settle(&mut Dice::new(seed, Stream::Joining))
    }

    /// The handles of interesting people for signing in with one click: the celebrity, the author of the viral
    /// post, the power user, an ordinary baker, and a newcomer who follows few people.
    pub fn demo_people(&self) -> Vec<&str> {
        self.people
            .iter()
            .take(people::CAST)
            .map(|person| person.handle.as_str())
            .collect()
    }
}

#[cfg(test)]
mod tests;
