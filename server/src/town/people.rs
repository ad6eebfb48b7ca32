//! The town's residents, and the quiet accounts.

use std::collections::HashSet;

use model::Timestamp;

use super::dice::Dice;
use super::names::Register;
use super::rhythm::{self, DAY, HOUR, MINUTE, SECOND};
use super::words::{Book, Slots};
use super::{Resident, Sizes};

/// A person with a fixed part in the town.
pub(super) struct Part {
    pub handle: &'static str,
    name: &'static str,
    /// The topic of their posts, for commenters.
    pub topic: &'static str,
    bio: &'static str,
}

pub(super) const CELEBRITY: usize = 0;
pub(super) const VIRAL_AUTHOR: usize = 1;
pub(super) const POWER_USER: usize = 2;
pub(super) const NEWCOMER: usize = 4;
/// How many people have such a part.
pub(super) const CAST: usize = 5;

/// They are the first people of every town, in this order.
pub(super) fn cast() -> Vec<Part> {
    let book = Book::parse(include_str!("words/people.txt"));
    let part = |(handle, lines): (_, &[&'static str])| {
        let line = |number: usize| lines.get(number).copied().unwrap_or_default();
        let (name, topic, bio) = (line(0), line(1), line(2));
        Part {
            handle,
            name,
            topic,
            bio,
        }
    };
    book.sections().map(part).collect()
}

/// The named people and their interests.
pub(super) struct Residents {
    pub people: Vec<Resident>,
    /// The topic that each of them mostly writes about.
    pub topics: Vec<&'static str>,
}

/// Generates the named people: the cast, then the rest. `open` is when the feed started; most joined soon after.
pub(super) fn residents(
    sizes: &Sizes,
    open: Timestamp,
    now: Timestamp,
    register: &mut Register,
    slots: &Slots,
    dice: &mut Dice,
) -> Residents {
    let mut people = Vec::with_capacity(sizes.users);
    let mut topics = Vec::with_capacity(sizes.users);
    for (index, part) in cast().into_iter().enumerate() {
        register.reserve(part.name, part.handle);
        people.push(Resident {
            handle: part.handle.to_owned(),
            name: part.name.to_owned(),
            bio: part.bio.to_owned(),
            joined: cast_joined(index, open, now),
            quiet: false,
        });
        topics.push(part.topic);
    }
    let mut bios = bios(dice);
    let grammar = Book::parse(include_str!("words/bios.txt"));
    let grammar = grammar.section("grammar");
    let others: Vec<&'static str> = bios.iter().map(|(topic, _)| *topic).collect();
    let mut used = HashSet::new();
    let joined_by = rhythm::later(open, 20 * DAY);
    while people.len() < sizes.users {
        let (name, handle) = register.somebody(dice);
        let (topic, bio) = if let Some((topic, bio)) = bios.pop() {
            (topic, bio.to_owned())
        } else {
            let mut bio = slots.fill(dice.word(grammar), "", dice);
            for _ in 0..8 {
                if used.insert(bio.clone()) {
                    break;
                }
                bio = slots.fill(dice.word(grammar), "", dice);
            }
            (dice.word(&others), bio)
        };
        let joined = rhythm::soon_after(dice, rhythm::later(open, HOUR), joined_by, 3 * DAY);
        people.push(Resident {
            handle,
            name,
            bio,
            joined,
            quiet: false,
        });
        topics.push(topic);
    }
    Residents { people, topics }
}

/// The accounts that never post: they like, follow and comment. The time when they joined depends on their first
/// action.
pub(super) fn quiet(count: usize, now: Timestamp, register: &mut Register, dice: &mut Dice) -> Vec<Resident> {
    (0..count)
        .map(|_| {
            let (name, handle) = register.somebody(dice);
            Resident {
                handle,
                name,
                bio: String::new(),
                joined: now,
                quiet: true,
            }
        })
        .collect()
}

/// When a person joined whose first action was at `seen`: mostly just before.
pub(super) fn joined_before(seen: Timestamp, open: Timestamp, dice: &mut Dice) -> Timestamp {
    let lag = SECOND + dice.wait(20 * MINUTE);
    let span = (seen.millis() - open.millis()).max(2);
    rhythm::later(seen, -(if lag < span { lag } else { 1 + lag % (span - 1) }))
}

fn cast_joined(index: usize, open: Timestamp, now: Timestamp) -> Timestamp {
    if index == NEWCOMER {
        return rhythm::later(now, -2 * DAY);
    }
    let order = i64::try_from(index).unwrap_or_default();
    rhythm::later(open, (1 + order) * 11 * MINUTE)
}

/// Every handwritten bio, in random order, with its topic.
fn bios(dice: &mut Dice) -> Vec<(&'static str, &'static str)> {
    let book = Book::parse(include_str!("words/bios.txt"));
    let mut bios: Vec<_> = book
        .sections()
        .filter(|(topic, _)| *topic != "grammar")
        .flat_map(|(topic, texts)| texts.iter().map(move |text| (topic, *text)))
        .collect();
    dice.shuffle(&mut bios);
    bios
}
