//! The chart: questions whose answers lead to another question or to a way to store a list. The first three are
//! those of “How to Create MongoDB Outlier Patterns”; where that article only says “reconsider the data model”, a
//! fourth question continues.

use model::Problem;

use super::patterns::Pattern;

/// A question.
#[derive(Debug, PartialEq)]
pub struct Question {
    /// Its name in addresses.
    pub key: &'static str,
    /// The text.
    pub asks: &'static str,
    /// How to find the answer.
    pub hint: &'static str,
    /// The possible answers.
    pub answers: &'static [Answer],
}

/// An answer.
#[derive(Debug, PartialEq)]
pub struct Answer {
    /// Its name in addresses.
    pub name: &'static str,
    /// As a person would say it.
    pub words: &'static str,
    /// Where it leads.
    pub next: Next,
}

/// The target of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Next {
    /// To another question.
    Ask(&'static Question),
    /// To a pattern.
    Use(Pattern),
}

/// The first question.
pub static FIRST: Question = Question {
    key: "sizes",
    asks: "Can the lists in your documents grow without a limit?",
    hint: "Look at the longest lists that you have, and at what could make them longer. In this feed anybody may like a post.",
    answers: &[
        Answer {
            name: "alike",
            words: "No, every list has a fixed maximum",
            next: Next::Use(Pattern::Plain),
        },
        Answer {
            name: "differ",
            words: "Yes, they can",
            next: Next::Ask(&LARGEST),
        },
    ],
};

static LARGEST: Question = Question {
    key: "largest",
    asks: "Are some lists more than ten times as long as a typical one?",
    hint: "Here a typical post has a dozen likes, and one has 25,000.",
    answers: &[
        Answer {
            name: "tenfold",
            words: "Yes, ten times and more",
            next: Next::Ask(&SHARE),
        },
        Answer {
            name: "less",
            words: "No: all are about the same length",
            next: Next::Use(Pattern::Bucket),
        },
    ],
};

static SHARE: Question = Question {
    key: "share",
    asks: "Are such long lists rare: fewer than one in ten?",
    hint: "Count them. In the demo town of this feed, a few of 1,500 posts have more likes than one head holds.",
    answers: &[
        Answer {
            name: "few",
            words: "Yes: they are the exception",
            next: Next::Use(Pattern::Outlier),
        },
        Answer {
            name: "many",
            words: "No: long lists are the rule",
            next: Next::Ask(&READS),
        },
    ],
};

static READS: Question = Question {
    key: "reads",
    asks: "Then most lists need another model: what do readers ask for?",
    hint: "The article’s chart ends here. The most frequent query decides what should be together in one document.",
    answers: &[
        Answer {
            name: "newest",
            words: "The newest few items of one owner",
            next: Next::Use(Pattern::Subset),
        },
        Answer {
            name: "either-side",
            words: "Single items, or both directions: who follows whom",
            next: Next::Use(Pattern::Edge),
        },
        Answer {
            name: "ranges",
            words: "Totals over a period",
            next: Next::Use(Pattern::Bucket),
        },
    ],
};

/// The path through the chart so far.
#[derive(Debug, PartialEq)]
pub struct Way {
    /// The questions and answers.
    pub answered: Vec<(&'static Question, &'static Answer)>,
    /// Where the path leads.
    pub next: Next,
}

impl Way {
    /// Follows the answers that an address gives; each question is asked for by its key.
    ///
    /// # Errors
    /// A problem with the field of a question that has no such answer.
    pub fn of(mut answer: impl FnMut(&str) -> Option<String>) -> Result<Self, Problem> {
        let mut way = Self {
            answered: Vec::new(),
            next: Next::Ask(&FIRST),
        };
        while let Next::Ask(question) = way.next
            && let Some(name) = answer(question.key)
        {
            let found = question.answers.iter().find(|answer| answer.name == name);
            let Some(answer) = found else {
                let names: Vec<&str> = question.answers.iter().map(|answer| answer.name).collect();
                let (key, names) = (question.key, names.join(", "));
                let message = format!("“{name}” is not an answer. `{key}` is one of: {names}.");
                return Err(Problem::invalid(key, message));
            };
            way.answered.push((question, answer));
            way.next = answer.next;
        }
        Ok(way)
    }

    /// The address after the first this many answers.
    pub fn href_after(&self, answers: usize) -> String {
        let pairs = self.answered.iter().take(answers);
        address(pairs.map(|(question, answer)| (question.key, answer.name)))
    }

    /// The address after one more answer.
    pub fn href_with(&self, question: &Question, answer: &Answer) -> String {
        let pairs = self
            .answered
            .iter()
            .map(|(question, answer)| (question.key, answer.name));
        address(pairs.chain([(question.key, answer.name)]))
    }
}

fn address<'a>(pairs: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let pairs: Vec<String> = pairs.map(|(key, name)| format!("{key}={name}")).collect();
    format!("?{}", pairs.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The path of an address.
    fn way(href: &str) -> Result<Way, Problem> {
        Way::of(|key| {
            let pairs = href
                .trim_start_matches('?')
                .split('&')
                .filter_map(|pair| pair.split_once('='));
            let mut of_key = pairs.filter(|(name, _)| *name == key);
            of_key.next().map(|(_, value)| value.to_owned())
        })
    }

    /// Every complete path, by its address.
    fn ends(way: &Way) -> Vec<(String, Pattern)> {
        match way.next {
            Next::Use(pattern) => vec![(way.href_after(usize::MAX), pattern)],
            Next::Ask(question) => {
                let hrefs = question
                    .answers
                    .iter()
                    .map(|answer| way.href_with(question, answer));
                hrefs
                    .flat_map(|href| ends(&super::tests::way(&href).unwrap()))
                    .collect()
            }
        }
    }

    #[test]
    fn the_articles_chart_is_reproduced() {
        for (href, pattern) in [
            ("?sizes=alike", Pattern::Plain),
            ("?sizes=differ&largest=less", Pattern::Bucket),
            ("?sizes=differ&largest=tenfold&share=few", Pattern::Outlier),
        ] {
            assert_eq!(way(href).unwrap().next, Next::Use(pattern), "{href}");
        }
    }

    #[test]
    fn every_path_ends_and_every_pattern_is_reached() {
        use Pattern::{Bucket, Edge, Outlier, Plain, Subset};
        let ends = ends(&way("").unwrap());
        for pattern in [Plain, Outlier, Bucket, Subset, Edge] {
            assert!(ends.iter().any(|(_, reached)| *reached == pattern), "{pattern:?}");
        }
        for (href, pattern) in ends {
            assert_eq!(way(&href).unwrap().next, Next::Use(pattern), "{href}");
        }
    }

    #[test]
    fn an_answer_that_a_question_does_not_have_is_refused_by_its_key() {
        let problem = way("?sizes=differ&largest=tiny").unwrap_err();
        assert_eq!(problem.field.as_deref(), Some("largest"));
        assert!(problem.message.contains("tenfold, less"), "{problem}");
    }

    #[test]
    fn answers_to_questions_that_are_not_asked_are_ignored() {
        let way = way("?sizes=alike&share=nonsense").unwrap();
        assert_eq!(way.href_after(usize::MAX), "?sizes=alike");
    }
}
