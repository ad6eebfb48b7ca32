use leptos::prelude::*;
use model::Problem;

use super::document::PageTitle;
use super::request::{Place, loaded, now, refusal_of};
use crate::actions::lists::{Posts, posts_after};
use crate::islands::PostFeed;
use crate::session;

/// Posts of whom the reader follows; everyone's, with an introduction, for who is not signed in.
#[component]
pub fn HomePage() -> impl IntoView {
    let signed_in = session::viewer().is_some();
    view! {
        <PageTitle text="Home" />
        {if signed_in {
            view! { <h1 class="visually-hidden">"Home"</h1> }.into_any()
        } else {
            view! { <Introduction /> }.into_any()
        }}
        {loaded(feed(Posts::Home, signed_in))}
    }
}

/// Everyone's posts, most liked first.
#[component]
pub fn ExplorePage() -> impl IntoView {
    view! {
        <PageTitle text="Explore" />
        <header class="page-head">
            <h1>"Explore"</h1>
            <p>"Everyone's posts, most liked first. The outliers are at the top."</p>
        </header>
        {loaded(feed(Posts::Explore, false))}
    }
}

/// A feed from where the address points.
pub async fn feed(list: Posts, may_compose: bool) -> Result<impl IntoView, Problem> {
    let place = Place::of_this_request()?;
    let first = posts_after(&list, place.paging).await?;
    let signed_in = session::viewer().is_some();
    let composer = may_compose && place.is_beginning();
    let refusal = refusal_of("compose");
    Ok(view! { <PostFeed list first before=place.before now=now() signed_in composer refusal /> })
}

#[component]
fn Introduction() -> impl IntoView {
    view! {
        <header class="introduction">
            <h1>"See what happens when a post goes viral."</h1>
            <p>
                "Spillway is a small social feed on MongoDB's outlier pattern. Under every post a meter shows how its
                likes are stored: most fit into one document, and the few that overflow spill into pages."
            </p>
            <p class="introduction-ways">
                <a class="button button-primary" href="/login">
                    "Step into the demo town"
                </a>
                <a class="button" href="/explore">
                    "Find the viral post"
                </a>
            </p>
        </header>
    }
}
