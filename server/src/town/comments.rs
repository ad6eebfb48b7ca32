//! The comments of the town.

use std::collections::HashSet;

use super::dice::Dice;
use super::words::{Book, Slots};

/// Writes comments that fit a post.
pub(super) struct Talk<'a> {
    slots: &'a Slots,
    book: Book,
    seen: HashSet<String>,
}

/// Writes comments on the viral post, in the order in which they were made.
pub(super) struct Wonder<'a> {
    slots: &'a Slots,
    book: Book,
    /// Handwritten comments that are still unused, each with its replies.
    whole: Vec<Vec<&'static str>>,
    answers: Vec<&'static str>,
    seen: HashSet<String>,
}

/// How many texts to consider before repeating one.
const TRIES: usize = 6;

impl<'a> Talk<'a> {
    pub(super) fn new(slots: &'a Slots) -> Self {
        Self {
            slots,
            book: Book::parse(include_str!("words/comments.txt")),
            seen: HashSet::new(),
        }
    }

    /// A comment on a post with this topic and text. `mention` is a person who knows about such things.
    pub(super) fn remark(&mut self, topic: &str, post: &str, mention: &str, dice: &mut Dice) -> String {
        let lost = ["Lost", "LOST", "Missing", "Left", "Has anyone seen"]
            .iter()
            .any(|word| post.starts_with(word));
        let heading = if topic == "welcome" {
            topic
        } else if post.contains('?') && post.ends_with('?') && dice.percent(70) {
            "question"
        } else if lost && dice.percent(70) {
            "lost"
        } else if dice.percent(66) {
            topic
        } else {
            "any"
        };
        self.say(heading, mention, dice)
    }

    /// The author's answer to somebody's comment.
    pub(super) fn thanks(&mut self, to: &str, dice: &mut Dice) -> String {
        self.say("thanks", to, dice)
    }

    fn say(&mut self, heading: &str, mention: &str, dice: &mut Dice) -> String {
        let templates = self.book.section(heading);
        fresh(&mut self.seen, || {
            self.slots.fill(dice.word(templates), mention, dice)
        })
    }
}

impl<'a> Wonder<'a> {
    pub(super) fn new(slots: &'a Slots) -> Self {
        let book = Book::parse(include_str!("words/viral.txt"));
        let mut whole: Vec<Vec<&'static str>> = Vec::new();
        for text in book.section("whole") {
            match (text.strip_prefix("> "), whole.last_mut()) {
                (Some(answer), Some(thread)) => thread.push(answer),
                _ => whole.push(vec![text]),
            }
        }
        whole.reverse();
        Self {
            slots,
            book,
            whole,
            answers: Vec::new(),
            seen: HashSet::new(),
        }
    }

    /// The next comment when `left` are still to come, including this one. `late` ones look back.
    pub(super) fn next(&mut self, left: usize, late: bool, dice: &mut Dice) -> String {
        if let Some(answer) = self.answers.pop() {
            return answer.to_owned();
        }
        let by_hand: usize = self.whole.iter().map(Vec::len).sum();
        if dice.index(left.max(1)) < by_hand
            && let Some(mut thread) = self.whole.pop()
        {
            thread.reverse();
            let first = thread.pop().unwrap_or_default();
            self.answers = thread;
            return first.to_owned();
        }
        let heading = match dice.below(100) {
            0..12 => "quick",
            12..45 if late => "late",
            _ => "grammar",
        };
        let templates = self.book.section(heading);
        if heading == "quick" {
            return self.slots.fill(dice.word(templates), "", dice);
        }
        fresh(&mut self.seen, || self.slots.fill(dice.word(templates), "", dice))
    }
}

/// A text that was not used before, if one turns up soon.
fn fresh(seen: &mut HashSet<String>, mut text: impl FnMut() -> String) -> String {
    let mut last = text();
    for _ in 0..TRIES {
        if seen.insert(last.clone()) {
            break;
        }
        last = text();
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::town::dice::Stream;

    fn slots() -> Slots {
        Slots::new(vec!["Ada"])
    }

    #[test]
    fn enough_comments_on_the_goose_are_written_by_hand_and_all_of_them_come() {
        let slots = slots();
        let mut dice = Dice::new(1, Stream::Viral);
        let mut wonder = Wonder::new(&slots);
        let by_hand: Vec<&str> = wonder.whole.iter().flatten().copied().collect();
        assert!(by_hand.len() >= 60, "{}", by_hand.len());
        let said: HashSet<String> = (1..=3_000)
            .rev()
            .map(|left| wonder.next(left, left < 1_000, &mut dice))
            .collect();
        for text in by_hand {
            assert!(said.contains(text), "{text}");
        }
    }

    #[test]
    fn comments_on_the_goose_seldom_repeat() {
        let slots = slots();
        let mut dice = Dice::new(1, Stream::Viral);
        let mut wonder = Wonder::new(&slots);
        let said: HashSet<String> = (1..=3_000)
            .rev()
            .map(|left| wonder.next(left, left < 1_000, &mut dice))
            .collect();
        assert!(said.len() > 2_500, "{}", said.len());
    }

    #[test]
    fn an_answer_follows_what_it_answers() {
        let slots = slots();
        let mut dice = Dice::new(1, Stream::Viral);
        let mut wonder = Wonder::new(&slots);
        let said: Vec<String> = (1..=400)
            .rev()
            .map(|left| wonder.next(left, false, &mut dice))
            .collect();
        let asked = said
            .iter()
            .position(|text| text.starts_with("Please tell me that the ticket inspector"))
            .unwrap();
        assert!(said[asked + 1].starts_with("He does."), "{}", said[asked + 1]);
    }
}
