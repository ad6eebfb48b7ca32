use leptos::prelude::*;
use model::{FoundPerson, Handle, Problem};
use ui::components::{Avatar, FollowButton, grouped};
use ui::request::feed;

/// Somebody who was found, with how many people follow them.
#[component]
pub fn FoundPersonRow(
    /// The person.
    person: FoundPerson,
    /// Whether they are suggested, instead of searched for.
    #[prop(optional)]
    suggested: bool,
    /// Whether the reader follows them; `None` where they cannot.
    followed: Option<bool>,
) -> impl IntoView {
    let FoundPerson {
        handle,
        name,
        bio,
        followers,
    } = person;
    let followers = match followers {
        1 => "1 follower".to_owned(),
        count => format!("{} followers", grouped(count)),
    };
    view! {
        <div class="member" data-testid=if suggested { "suggestion" } else { "search-result" }>
            <Avatar handle=handle.clone() />
            <div class="found-person">
                <p class="byline">
                    <a class="byline-name" href=format!("/@{handle}")>
                        <bdi>{name.to_string()}</bdi>
                    </a>
                    <span class="byline-handle">{format!("@{handle}")}</span>
                    <span class="moment">{followers}</span>
                </p>
                {(!bio.is_empty()).then(|| view! { <p class="found-bio" dir="auto">{bio}</p> })}
            </div>
            {followed.map(|followed| view! { <FollowButton handle followed signed_in=true /> })}
        </div>
    }
}

/// People whom a reader may want to follow; nothing where there is nobody.
pub async fn suggestions(reader: &Handle, most: usize, why: &'static str) -> Result<AnyView, Problem> {
    let people = feed()?.people().suggestions(reader, most).await?;
    if people.is_empty() {
        return Ok(().into_any());
    }
    let rows = people
        .into_iter()
        .map(|person| view! { <li><FoundPersonRow person suggested=true followed=Some(false) /></li> })
        .collect_view();
    Ok(view! {
        <section class="people-to-follow" aria-labelledby="people-to-follow" data-testid="suggestions">
            <h2 id="people-to-follow">"People to follow"</h2>
            <p>{why}</p>
            <ul>{rows}</ul>
        </section>
    }
    .into_any())
}
