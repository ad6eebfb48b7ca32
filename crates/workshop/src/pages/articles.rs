//! The articles that the project started from: each with its idea, what it gets right, and where it breaks.

use leptos::prelude::*;

use crate::Protocol;

struct Article {
    /// The fragment of its address.
    id: &'static str,
    title: &'static str,
    idea: &'static str,
    right: &'static str,
    breaks: &'static str,
    /// Where that is seen, and what.
    seen: &'static [(&'static str, &'static str)],
}

const ARTICLES: [Article; 4] = [
    Article {
        id: "unbounded-growth",
        title: "Unbounded Growth: The Outlier Pattern",
        idea: "A document keeps up to 1,000 items. Later ones go into overflow documents.",
        right: "It says what an array without a bound costs: the wall of 16 MB, writing all of it, and reading all of it.",
        breaks: "It reads the count first and pushes afterwards. Two writers who read at the same moment both push, and \
                 the document holds more than it may.",
        seen: &[
            (
                "/lab/race?layout=check-then-act&clicks=abab",
                "two writers at once",
            ),
            (
                "/lab/crash?operation=append-that-spills&layout=check-then-act&after=1",
                "a crash before the count",
            ),
        ],
    },
    Article {
        id: "safe-overflow",
        title: "Implementing the Outlier Pattern with Safe Overflow",
        idea: "One command pushes only while the count is below the threshold.",
        right: "The condition is in the command, so the document never holds too much, however many write.",
        breaks: "The overflow and the count are two writes. A crash between them leaves a wrong count, and a writer who \
                 tries again stores the item twice.",
        seen: &[
            ("/lab/race?layout=guarded-append&clicks=abbbbbb", "the race, won"),
            (
                "/lab/crash?operation=append-again&layout=guarded-append&after=1",
                "a crash, and a second attempt",
            ),
        ],
    },
    Article {
        id: "guide",
        title: "How to Create MongoDB Outlier Patterns",
        idea: "A flag says whether there are more of a person’s followers in numbered batches.",
        right: "It has a chart of when to use the pattern, and when to use buckets, subsets or plain arrays.",
        breaks: "A follower is in a batch before the document says that there is one. After a crash in between, readers do \
                 not look there.",
        seen: &[
            (
                "/lab/crash?operation=follow&layout=add-follower&after=1",
                "a follower who is lost",
            ),
            ("/lab/decide", "the chart, as questions"),
        ],
    },
    Article {
        id: "viral-posts",
        title: "Outlier Pattern - Handling Viral Posts in Social Media Platforms",
        idea: "A viral post has a second document for further likes, comments and shares.",
        right: "It shows the pattern for three lists of one document, and names sensors and ledgers as further uses.",
        breaks: "It has no code, and a post has one overflow document at most, which meets the same wall.",
        seen: &[("/lab/layouts", "what happens to one long array")],
    },
];

/// All of them.
#[component]
pub fn Articles() -> impl IntoView {
    let articles = ARTICLES.map(|article| {
        let seen = article.seen.iter().map(|(href, what)| {
            view! {
                <li>
                    <a href=*href>{*what}</a>
                </li>
            }
        });
        view! {
            <li class="article" id=article.id>
                <h3>
                    <cite>{article.title}</cite>
                </h3>
                <p>{article.idea}</p>
                <p class="holds">{article.right}</p>
                <p class="article-breaks">{article.breaks}</p>
                <ul>{seen.collect_view()}</ul>
            </li>
        }
    });
    view! {
        <section aria-labelledby="articles">
            <h2 id="articles" class="section-head">
                "Four articles about the pattern"
            </h2>
            <p class="lab-source">
                "The stations run their code as it is printed. Each is right about something, and each breaks somewhere."
            </p>
            <ol class="articles">{articles.into_iter().collect_view()}</ol>
        </section>
    }
}

/// The source of a protocol, with a link to what is said of its article here.
#[component]
pub(super) fn SourceOf(protocol: Protocol) -> impl IntoView {
    let article = match protocol {
        Protocol::CheckThenAct => Some("/lab#unbounded-growth"),
        Protocol::GuardedAppend => Some("/lab#safe-overflow"),
        Protocol::AddFollower => Some("/lab#guide"),
        Protocol::Ours => None,
    };
    view! {
        <p class="lab-source">
            {if article.is_some() { "The code of an article: " } else { "" }} {protocol.source()} "."
            {article
                .map(|href| {
                    view! {
                        " "
                        <a href=href>"About this article"</a>
                    }
                })}
        </p>
    }
}
