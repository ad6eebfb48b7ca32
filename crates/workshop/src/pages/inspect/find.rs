//! Finding the owner to inspect: from typed or pasted text, and from suggestions.

use feed::Notable;
use leptos::prelude::*;
use model::{Problem, Topic};
use ui::components::{beginning, grouped};

use super::super::owner::{self, address};
use super::super::sheets::Sheet;

/// How many pages of a list are drawn.
const DRAWN: u64 = 4;

/// The owner that a typed handle or post id means, or the pasted address of a page about it.
pub fn sought(text: &str) -> Result<Topic, Problem> {
    let unclear = || {
        Problem::invalid(
            "find",
            "Type somebody’s handle, such as @ada, or paste the address of a post.",
        )
    };
    let text = text.trim();
    if let Ok(topic) = text.parse() {
        return Ok(topic);
    }
    let path = text.split_once("://").map_or(text, |(_, rest)| rest);
    let path = path.split(['?', '#']).next().unwrap_or_default();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let after_post = parts.iter().skip_while(|part| **part != "post").nth(1);
    if let Some(id) = after_post.or(parts.first()).and_then(|id| id.parse().ok()) {
        return Ok(Topic::Post(id));
    }
    let named = parts.iter().find(|part| part.starts_with('@'));
    let alone = parts.first().filter(|_| parts.len() == 1);
    let handle = named.or(alone).and_then(|handle| handle.parse().ok());
    handle.map(Topic::User).ok_or_else(unclear)
}

/// The form to find an owner by.
#[component]
pub fn Finder(
    /// The text typed before.
    typed: String,
    /// The error in it.
    problem: Option<Problem>,
) -> impl IntoView {
    let wrong = problem.is_some();
    view! {
        <form class="finder" method="get" action=owner::INSPECT role="search">
            <div class="field">
                <label for="find">"A handle, or the address of a post"</label>
                <input
                    id="find"
                    name="find"
                    type="text"
                    value=typed
                    autocomplete="off"
                    autocapitalize="none"
                    spellcheck="false"
                    aria-invalid=wrong.then_some("true")
                    aria-describedby=wrong.then_some("find-problem")
                />
                {problem
                    .map(|problem| {
                        view! {
                            <p class="field-problem" id="find-problem" role="alert">
                                {problem.message}
                            </p>
                        }
                    })}
            </div>
            <button class="button button-primary">"Inspect"</button>
        </form>
    }
}

/// Links to suggested owners.
#[component]
pub fn Suggestions(notable: Notable) -> impl IntoView {
    let Notable {
        viral,
        celebrity,
        quiet,
    } = notable;
    let many = |count: u64, one: &str, more: &str| {
        let what = if count == 1 { one } else { more };
        format!("{} {what}", grouped(count))
    };
    let where_they_are = |meter: &model::Meter| match meter.pages {
        0 => "all in the head".to_owned(),
        1 => format!("{} in the head, the others in 1 page", grouped(meter.head)),
        pages => format!(
            "{} in the head, the others in {} pages",
            grouped(meter.head),
            grouped(pages)
        ),
    };
    let post = |what: &'static str, card: model::PostCard| {
        // In a demo town anybody may have written the text of an edited post.
        let words = match card.post.edited_at {
            None => format!(": “{}”", beginning(card.post.text.as_str())),
            Some(_) => String::new(),
        };
        let about = format!(
            "{}, {}{words}",
            many(card.post.likes, "like", "likes"),
            where_they_are(&card.meter)
        );
        (what, Topic::Post(card.post.id), about, card.meter)
    };
    let links = [
        viral.map(|card| post("The most liked post", card)),
        celebrity.map(|person| {
            let about = format!(
                "{}: {}, {}",
                person.name,
                many(person.followers, "follower", "followers"),
                where_they_are(&person.meter)
            );
            (
                "The most followed author",
                Topic::User(person.handle),
                about,
                person.meter,
            )
        }),
        quiet.map(|card| post("A quiet post", card)),
    ];
    let links: Vec<_> = links.into_iter().flatten().collect();
    if links.is_empty() {
        return view! { <p class="lab-source">"There are no posts yet. Write one, and come back to look inside."</p> }
            .into_any();
    }
    let links = links.into_iter().map(|(what, owner, about, meter)| {
        let pages =
            (0..meter.pages.min(DRAWN)).map(|_| view! { <Sheet items=1 most=1 class="meter-water" /> });
        let more = meter.pages.checked_sub(DRAWN).filter(|more| *more > 0);
        let more = more.map(|more| format!("and {} more", grouped(more)));
        view! {
            <li class="suggestion">
                <div class="station-drawn">
                    <Sheet items=meter.head most=meter.threshold class="meter-water" />
                    {pages.collect_view()}
                    {more.map(|more| view! { <span>{more}</span> })}
                </div>
                <a href=address(&owner)>{what}</a>
                <p>{about}</p>
            </li>
        }
    });
    view! { <ul class="suggestions">{links.collect_view()}</ul> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0198c0de-7000-8000-a1b2-c3d4e5f60718";

    #[test]
    fn every_name_of_a_post_or_a_person_finds_it() {
        for text in [
            ID.to_owned(),
            format!("post:{ID}"),
            format!("/post/{ID}"),
            format!(" http://127.0.0.1:3000/post/{ID}/likes?order=oldest#likes "),
        ] {
            assert_eq!(sought(&text), Ok(Topic::Post(ID.parse().unwrap())), "{text}");
        }
        for text in [
            "ada",
            "@Ada",
            "user:ada",
            "/@ada/followers",
            "https://feed.example.org/@ada",
        ] {
            assert_eq!(sought(text), Ok(Topic::User("ada".parse().unwrap())), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused_by_name() {
        for text in [
            "",
            "a",
            "/explore/more",
            "https://example.org/post/seven",
            "two words",
        ] {
            assert_eq!(sought(text).unwrap_err().field.as_deref(), Some("find"), "{text}");
        }
    }
}
