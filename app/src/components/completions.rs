use feed::Feed;
use leptos::prelude::*;
use model::{Handle, Problem, Search};
use ui::components::Avatar;

/// How many people are offered.
const OFFERED: usize = 6;

/// The people whom somebody may mean who has typed this, as the options of a list box: a piece of HTML for
/// `public/completion.js`.
pub async fn completions(feed: &Feed, reader: Option<&Handle>, typed: &Search) -> Result<String, Problem> {
    let found = feed.people().search(typed, reader, OFFERED).await?;
    let options = found.items.into_iter().zip(1..).map(|(person, nth)| {
        let (handle, name) = (person.handle, person.name.to_string());
        view! {
            <li id=format!("completion-{nth}") role="option" aria-selected="false" data-handle=handle.to_string()>
                <Avatar handle=handle.clone() />
                <span>
                    <b>
                        <bdi>{name}</bdi>
                    </b>
                    <small>{format!("@{handle}")}</small>
                </span>
            </li>
        }
        .to_html()
    });
    Ok(options.collect())
}
