//! The pages that show one long list.

use leptos::prelude::*;
use model::{Handle, Listing, Member, PostId, Problem};

use super::document::PageTitle;
use super::request::{Place, loaded, now, person_in_path, post_in_path};
use crate::actions::feed;
use crate::components::{ActivityRow, List, MemberRow, grouped};

/// Who likes a post.
#[component]
pub fn LikesPage() -> impl IntoView {
    loaded(async {
        let (id, place) = (post_in_path()?, Place::of_this_request()?);
        let listing = feed()?.likes(id, place.paging).await?;
        of_a_post(id, "Likes", "Nobody likes this yet.", place, listing).await
    })
}

/// Who shared a post.
#[component]
pub fn SharesPage() -> impl IntoView {
    loaded(async {
        let (id, place) = (post_in_path()?, Place::of_this_request()?);
        let listing = feed()?.shares(id, place.paging).await?;
        of_a_post(id, "Shares", "Nobody has shared this yet.", place, listing).await
    })
}

/// Who follows a person.
#[component]
pub fn FollowersPage() -> impl IntoView {
    loaded(async {
        let (handle, place) = (person_in_path()?, Place::of_this_request()?);
        let listing = feed()?.followers(&handle, place.paging).await?;
        of_a_person(handle, "Followers", "No followers yet.", place, listing).await
    })
}

/// Whom a person follows.
#[component]
pub fn FollowingPage() -> impl IntoView {
    loaded(async {
        let (handle, place) = (person_in_path()?, Place::of_this_request()?);
        let listing = feed()?.following(&handle, place.paging).await?;
        of_a_person(handle, "Following", "Follows nobody yet.", place, listing).await
    })
}

/// What a person did.
#[component]
pub fn ActivityPage() -> impl IntoView {
    loaded(async {
        let (handle, place) = (person_in_path()?, Place::of_this_request()?);
        let listing = feed()?.activity(&handle, place.paging).await?;
        let name = feed()?.profile(&handle, None).await?.name;
        let now = now();
        let total = listing.total;
        let row = move |activity| view! { <ActivityRow activity now /> };
        Ok(view! {
            <ListHead what="Activity" about=name.to_string() owner=format!("/@{handle}") place total />
            <List listing before=place.before label="Activity" empty="Nothing done yet." row />
        })
    })
}

async fn of_a_post(
    id: PostId,
    what: &'static str,
    empty: &'static str,
    place: Place,
    listing: Listing<Member>,
) -> Result<impl IntoView, Problem> {
    let post = feed()?.post(id, None).await?.post;
    let about = format!("the post by {}", post.author.name);
    Ok(members(what, empty, about, format!("/post/{id}"), place, listing))
}

async fn of_a_person(
    handle: Handle,
    what: &'static str,
    empty: &'static str,
    place: Place,
    listing: Listing<Member>,
) -> Result<impl IntoView, Problem> {
    let name = feed()?.profile(&handle, None).await?.name;
    Ok(members(
        what,
        empty,
        name.to_string(),
        format!("/@{handle}"),
        place,
        listing,
    ))
}

fn members(
    what: &'static str,
    empty: &'static str,
    about: String,
    owner: String,
    place: Place,
    listing: Listing<Member>,
) -> impl IntoView {
    let now = now();
    let total = listing.total;
    let row = move |member| view! { <MemberRow member now /> };
    view! {
        <ListHead what about owner place total />
        <List listing before=place.before label=what empty row />
    }
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
