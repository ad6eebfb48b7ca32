use leptos::prelude::*;
use model::{Handle, Mark, Tag, marks, search};

/// What somebody wrote: plain text, in which web addresses, @mentions of people who exist and #tags are links. Each is
/// isolated, so that right-to-left text does not move its `@` or `#` to the other end.
#[component]
pub fn Body(
    /// The text as typed.
    text: String,
    /// Those whom it mentions and who have an account. Other mentions are only isolated.
    #[prop(optional)]
    mentions: Vec<Handle>,
    /// Whether there are links; without them, what would be one is only isolated.
    #[prop(default = true)]
    linked: bool,
    /// Words to mark, as search compares them.
    #[prop(optional)]
    found: Vec<String>,
) -> impl IntoView {
    parts(&text)
        .into_iter()
        .map(|part| {
            let mut is_linked = linked;
            let (href, rel, dir, shown) = match part {
                Part::Text(text) => return marked(text, &found).into_any(),
                Part::Mention(handle) => {
                    is_linked = linked && mentions.contains(&handle);
                    (format!("/@{handle}"), None, None, format!("@{handle}"))
                }
                Part::Tag(typed, tag) => (format!("/tags/{tag}"), None, None, typed),
                Part::Address(address) => (address.clone(), Some(FOREIGN), Some("ltr"), address),
            };
            let shown = view! { <bdi dir=dir>{marked(shown, &found)}</bdi> };
            if is_linked {
                view! { <a href=href rel=rel>{shown}</a> }.into_any()
            } else {
                shown.into_any()
            }
        })
        .collect_view()
}

/// A text in which these words are marked. A tag is marked without its `#`.
fn marked(text: String, found: &[String]) -> AnyView {
    if found.is_empty() {
        return text.into_any();
    }
    // Leptos shows an empty text as a space.
    let plain = |text: &str| (!text.is_empty()).then(|| text.to_owned().into_any());
    let mut shown = Vec::new();
    let mut rest = 0;
    for (place, word) in search::words(&text) {
        if found.iter().any(|found| found.trim_start_matches('#') == word) {
            shown.extend(plain(&text[rest..place.start]));
            rest = place.end;
            let word = text[place].to_owned();
            shown.push(view! { <mark>{word}</mark> }.into_any());
        }
    }
    shown.extend(plain(&text[rest..]));
    shown.into_any()
}

/// How a link to an address that somebody wrote is marked.
const FOREIGN: &str = "nofollow ugc noopener noreferrer";

#[derive(Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Mention(Handle),
    /// The tag as typed, and in its normal form.
    Tag(String, Tag),
    Address(String),
}

fn parts(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = 0;
    let tags = Tag::all_of(text);
    for (place, mark) in marks(text) {
        let marked = text[place.clone()].to_owned();
        let linked = match mark {
            Mark::Mention(handle) => Part::Mention(handle),
            Mark::Tag(tag) if tags.contains(&tag) => Part::Tag(marked, tag),
            Mark::Tag(_) => continue,
            Mark::Address => Part::Address(marked),
        };
        parts.extend(plain(&text[rest..place.start]));
        parts.push(linked);
        rest = place.end;
    }
    parts.extend(plain(&text[rest..]));
    parts
}

fn plain(text: &str) -> Option<Part> {
    (!text.is_empty()).then(|| Part::Text(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Part {
        Part::Text(text.to_owned())
    }

    #[test]
    fn mentions_and_addresses_become_links_and_punctuation_stays_outside() {
        assert_eq!(
            parts("Ask @ada, or see https://example.org/a?b=c.\nBye"),
            [
                text("Ask "),
                Part::Mention("ada".parse().unwrap()),
                text(", or see "),
                Part::Address("https://example.org/a?b=c".to_owned()),
                text(".\nBye"),
            ]
        );
    }

    #[test]
    fn tags_become_links_up_to_the_limit() {
        let weir: Tag = "weir".parse().unwrap();
        assert_eq!(parts("#Weir!"), [Part::Tag("#Weir".to_owned(), weir), text("!")]);
        let many: Vec<String> = (0..9).map(|number| format!("#tag{number}")).collect();
        assert_eq!(parts(&many.join(" ")).pop(), Some(text(" #tag8")));
    }

    #[test]
    fn nothing_else_becomes_a_link() {
        for plain in [
            "javascript:alert(1)",
            "mail me@example.org",
            "@",
            "https://",
            "data:text/html,x",
            "#1 # C#",
        ] {
            assert_eq!(parts(plain), [text(plain)]);
        }
    }
}
