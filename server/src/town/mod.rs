//! The demo town: a small river town whose feed has everything that the outlier pattern is about.
//!
//! Most of its lists are short. Three are not: one post went viral, one person is famous, and one reads and answers
//! everything. The town is made up from a seed, without a look at the clock or any other chance: the same seed,
//! sizes and `now` make the same town on every machine.

mod claim;
mod comments;
mod crowd;
mod dice;
mod load;
mod names;
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

pub use claim::{Claim, Patience, claim, claim_anew, is_half_loaded, is_loaded, recipe_of};
pub use load::load;
pub use recipe::Recipe;

use dice::{Dice, Stream};
use names::Register;
use rhythm::DAY;
use words::Slots;

/// How large a town to make. Towns have ten people and ten posts at least.
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

/// Everybody and everything in the town. People and posts are told by their index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Town {
    /// The named residents first, then as many quiet accounts as it takes to like and follow so much.
    pub people: Vec<Resident>,
    /// Oldest first.
    pub posts: Vec<TownPost>,
    /// Who likes what, each pair once.
    pub likes: Vec<Reaction>,
    /// Who said what.
    pub comments: Vec<Remark>,
    /// Who shared what, each pair once.
    pub shares: Vec<Reaction>,
    /// Who follows whom, each pair once.
    pub follows: Vec<Follow>,
    /// The index of the viral post.
    pub viral: usize,
}

/// Somebody with an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resident {
    /// Their unique handle.
    pub handle: String,
    /// The name they show.
    pub name: String,
    /// A line about themselves; empty for quiet accounts.
    pub bio: String,
    /// When they joined: before anything they do, and before anybody follows them.
    pub joined: Timestamp,
    /// Whether they never post.
    pub quiet: bool,
}

/// Something that a resident wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TownPost {
    /// Its identity.
    pub id: Uuid,
    /// Index of the person who wrote it.
    pub author: usize,
    /// What it says.
    pub text: String,
    /// When it was written.
    pub at: Timestamp,
}

/// A like or a share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reaction {
    /// Its identity.
    pub id: Uuid,
    /// Index of the post.
    pub post: usize,
    /// Index of the person.
    pub person: usize,
    /// When.
    pub at: Timestamp,
}

/// A comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Its identity.
    pub id: Uuid,
    /// Index of the post.
    pub post: usize,
    /// Index of the person who wrote it.
    pub person: usize,
    /// When.
    pub at: Timestamp,
    /// What it says.
    pub text: String,
}

/// Somebody who follows somebody else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Follow {
    /// Its identity.
    pub id: Uuid,
    /// Index of the person who follows.
    pub follower: usize,
    /// Index of the person who is followed.
    pub followed: usize,
    /// When.
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
    /// Makes up a town that has been living for five weeks at `now`.
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

    /// The handles of people whom it is interesting to be, for signing in with one click: the celebrity, the author
    /// of the viral post, the power user, a baker like anybody else, and a newcomer who follows few.
    pub fn demo_people(&self) -> Vec<&str> {
        self.people
            .iter()
            .take(people::CAST.len())
            .map(|person| person.handle.as_str())
            .collect()
    }
}

#[cfg(test)]
mod tests;
