//! The town's posts.

use std::collections::{HashMap, HashSet};

use model::Timestamp;

use super::dice::Dice;
use super::people::{CAST, NEWCOMER, POWER_USER, Part, Residents, VIRAL_AUTHOR, cast};
use super::popularity::Zipf;
use super::rhythm::{self, Daypart, HOUR, MINUTE};
use super::words::{Book, Slots};
use super::{Sizes, TownPost};

/// The post that everybody likes.
pub(super) const VIRAL: &str = include_str!("words/goose.txt");

/// The topic of everything about the goose.
pub(super) const GOOSE: &str = "goose";

/// The topic of the retired postmistress.
const POSTAL: [&str; 6] = ["small", "library", "river", "choir", "market", "found"];

/// The posts, oldest first, and the topic of each.
pub(super) struct Posts {
    pub list: Vec<TownPost>,
    pub topics: Vec<&'static str>,
    /// The index of the viral post among them.
    pub viral: usize,
}

/// A post that has an author and a topic but no time yet.
struct Draft {
    author: usize,
    topic: &'static str,
    text: String,
}

struct Writing<'a> {
    residents: &'a Residents,
    slots: &'a Slots,
    dice: &'a mut Dice,
    seen: HashSet<String>,
    by_topic: HashMap<&'static str, Vec<usize>>,
    grammar: Book,
    activity: Zipf,
}

/// Writes `sizes.posts` posts: the viral one, those of the cast, those written by hand, and the rest from the
/// grammar. `postal` of them are by the power user.
pub(super) fn write(
    sizes: &Sizes,
    postal: usize,
    (open, now): (Timestamp, Timestamp),
    residents: &Residents,
    slots: &Slots,
    dice: &mut Dice,
) -> Posts {
    let went_viral = rhythm::later(rhythm::days_before(now, 9, 8 * HOUR + 12 * MINUTE), 7_301);
    let mut by_topic: HashMap<_, Vec<usize>> = HashMap::new();
    for person in CAST..residents.people.len() {
        by_topic.entry(residents.topics[person]).or_default().push(person);
    }
    let activity = Zipf::new(residents.people.len() - CAST, 30);
    let grammar = Book::parse(include_str!("words/grammar.txt"));
    let mut writing = Writing {
        residents,
        slots,
        dice,
        seen: HashSet::new(),
        by_topic,
        grammar,
        activity,
    };
    let drafts = writing.drafts(sizes.posts - 1, postal);
    let mut posts: Vec<(TownPost, &'static str)> = drafts
        .into_iter()
        .map(|draft| {
            let joined = residents.people[draft.author].joined;
            let from = if about_the_goose(&draft) {
                rhythm::later(went_viral, 3 * HOUR)
            } else {
                open
            };
            let at = rhythm::during(
                dice,
                Daypart::of(&draft.text),
                from.max(joined),
                rhythm::later(now, -MINUTE),
            );
            (
                TownPost {
                    id: dice.id(at),
                    author: draft.author,
                    text: draft.text,
                    at,
                },
                draft.topic,
            )
        })
        .collect();
    let viral = TownPost {
        id: dice.id(went_viral),
        author: VIRAL_AUTHOR,
        text: VIRAL.to_owned(),
        at: went_viral,
    };
    let viral_id = viral.id;
    posts.push((viral, GOOSE));
    posts.sort_by_key(|(post, _)| (post.at, post.id));
    let viral = posts
        .iter()
        .position(|(post, _)| post.id == viral_id)
        .unwrap_or_default();
    let (posts, topics) = posts.into_iter().unzip();
    Posts {
        list: posts,
        topics,
        viral,
    }
}

/// Nobody writes about the goose before the town knows her.
fn about_the_goose(draft: &Draft) -> bool {
    draft.topic == GOOSE || draft.text.contains("goose") || draft.text.contains("tea towels")
}

impl Writing<'_> {
    fn drafts(&mut self, count: usize, postal: usize) -> Vec<Draft> {
        let mut drafts = of_the_cast(count / 4);
        let own = drafts.iter().filter(|draft| draft.author == POWER_USER).count();
        if own > postal {
            drafts.retain(|draft| draft.author != POWER_USER);
        }
        let own = if own > postal { 0 } else { own };
        for _ in own..postal {
            let topic = self.dice.word(&POSTAL);
            let text = self.compose(topic, POWER_USER);
            drafts.push(Draft {
                author: POWER_USER,
                topic,
                text,
            });
        }
        let book = Book::parse(include_str!("words/posts.txt"));
        let mut whole: Vec<(&'static str, &'static str)> = book
            .sections()
            .flat_map(|(topic, texts)| texts.iter().map(move |text| (topic, *text)))
            .collect();
        self.dice.shuffle(&mut whole);
        for (topic, text) in whole.into_iter().take(count.saturating_sub(drafts.len())) {
            let author = self.author(topic);
            self.seen.insert(text.to_owned());
            drafts.push(Draft {
                author,
                topic,
                text: text.to_owned(),
            });
        }
        let topics: Vec<&'static str> = book.sections().map(|(topic, _)| topic).collect();
        while drafts.len() < count {
            let mut topic = self.dice.word(&topics);
            if topic == GOOSE && self.dice.percent(30) {
                topic = "ferry";
            }
            let author = self.author(topic);
            let text = self.compose(topic, author);
            drafts.push(Draft { author, topic, text });
        }
        drafts
    }

    /// Mostly a person who cares about the topic; some write more than others.
    fn author(&mut self, topic: &str) -> usize {
        let circle = self.by_topic.get(topic).filter(|_| self.dice.percent(60));
        match circle.and_then(|circle| self.dice.pick(circle)) {
            Some(author) => *author,
            None => CAST + self.activity.rank(self.dice),
        }
    }

    /// A new text from the grammar, unless the grammar runs out.
    fn compose(&mut self, topic: &str, author: usize) -> String {
        let templates = self.grammar.section(topic);
        let mut text = String::new();
        for _ in 0..20 {
            let mut friend = self.dice.index(self.residents.people.len());
            if friend == author || friend == NEWCOMER {
                friend = if author == VIRAL_AUTHOR {
                    POWER_USER
                } else {
                    VIRAL_AUTHOR
                };
            }
            text = self.slots.fill(
                self.dice.word(templates),
                &self.residents.people[friend].handle,
                self.dice,
            );
            if self.seen.insert(text.clone()) {
                break;
            }
        }
        text
    }
}

/// The handwritten posts of the cast.
fn of_the_cast(most: usize) -> Vec<Draft> {
    let book = Book::parse(include_str!("words/cast.txt"));
    let own = |(author, part): (usize, Part)| {
        let texts = book.section(part.handle).to_vec();
        texts.into_iter().map(move |text| Draft {
            author,
            topic: part.topic,
            text: text.to_owned(),
        })
    };
    cast().into_iter().enumerate().flat_map(own).take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(file: &'static str) -> Vec<(&'static str, Vec<&'static str>)> {
        Book::parse(file)
            .sections()
            .map(|(topic, texts)| (topic, texts.to_vec()))
            .collect()
    }

    #[test]
    fn enough_posts_are_written_by_hand_and_none_twice() {
        let sections = texts(include_str!("words/posts.txt"));
        let posts: HashSet<&str> = sections.iter().flat_map(|(_, texts)| texts.clone()).collect();
        let all: usize = sections.iter().map(|(_, texts)| texts.len()).sum();
        assert!(
            sections.len() >= 15 && posts.len() >= 250,
            "{} of {all}",
            posts.len()
        );
        assert_eq!(posts.len(), all);
    }

    #[test]
    fn every_topic_has_a_grammar_and_comments_of_its_own() {
        let grammar = Book::parse(include_str!("words/grammar.txt"));
        let comments = Book::parse(include_str!("words/comments.txt"));
        for (topic, _) in texts(include_str!("words/posts.txt")) {
            assert!(grammar.section(topic).len() >= 8, "{topic}");
            assert!(comments.section(topic).len() >= 4, "{topic}");
        }
    }
}
