//! The pages that show one long list.

use leptos::prelude::*;
use model::{Handle, PostId, Problem};

use super::document::PageTitle;
use super::request::{Place, loaded, now, person_in_path, post_in_path};
use crate::actions::feed;
use crate::actions::lists::{People, people_after};
use crate::components::grouped;
use crate::islands::{ActivityFeed, MemberFeed};

/// Who likes a post.
#[component]
pub fn LikesPage() -> impl IntoView {
    loaded(async { of_a_post(post_in_path()?, "Likes", People::Likes).await })
}

/// Who shared a post.
#[component]
pub fn SharesPage() -> impl IntoView {
    loaded(async { of_a_post(post_in_path()?, "Shares", People::Shares).await })
}

/// Who follows a person.
#[component]
pub fn FollowersPage() -> impl IntoView {
    loaded(async { of_a_person(person_in_path()?, "Followers", People::Followers).await })
}

/// Whom a person follows.
#[component]
pub fn FollowingPage() -> impl IntoView {
    loaded(async { of_a_person(person_in_path()?, "Following", People::Following).await })
}

/// What a person did.
#[component]
pub fn ActivityPage() -> impl IntoView {
    loaded(async { activity(person_in_path()?).await })
}

async fn of_a_post(
    id: PostId,
    what: &'static str,
    list: impl FnOnce(PostId) -> People,
) -> Result<impl IntoView, Problem> {
    let post = feed()?.post(id, None).await?.post;
    let about = format!("the post by {}", post.author.name);
    members(list(id), what, about, format!("/post/{id}")).await
}

async fn of_a_person(
    handle: Handle,
    what: &'static str,
    list: impl FnOnce(Handle) -> People,
) -> Result<impl IntoView, Problem> {
    let name = feed()?.profile(&handle, None).await?.name;
    let owner = format!("/@{handle}");
    members(list(handle), what, name.to_string(), owner).await
}

async fn members(
    list: People,
    what: &'static str,
    about: String,
    owner: String,
) -> Result<impl IntoView, Problem> {
    let place = Place::of_this_request()?;
    let first = people_after(&list, place.paging).await?;
    Ok(view! {
        <ListHead what about owner place total=first.total />
        <MemberFeed list first before=place.before now=now() />
    })
}

async fn activity(handle: Handle) -> Result<impl IntoView, Problem> {
    let place = Place::of_this_request()?;
    let feed = feed()?;
    let name = feed.profile(&handle, None).await?.name;
    let first = feed.activity(&handle, place.paging).await?;
    let owner = format!("/@{handle}");
    Ok(view! {
        <ListHead what="Activity" about=name.to_string() owner place total=first.total />
        <ActivityFeed handle first before=place.before now=now() />
    })
}

#[component]
fn ListHead(what: &'static str, about: String, owner: String, place: Place, total: u64) -> impl IntoView {
    view! {
        <PageTitle text=format!("{what}, {about}") />
        <header class="page-head">
            <h1>{what} <span class="page-head-count">{grouped(total)}</span></h1>
            <p>
                <a href=owner>{about}</a>
            </p>
            {(!place.is_beginning()).then(|| view! { <p><a href="?">"Back to the newest"</a></p> })}
        </header>
    }
}
