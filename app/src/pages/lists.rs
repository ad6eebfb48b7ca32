//! The pages that show one long list.

use leptos::prelude::*;
use model::{Listing, Member, Post, Profile, Relation, Topic};
use ui::components::grouped;
use ui::request::{feed, loaded, now};
use ui::title::PageTitle;

use super::request::{ListPosition, person_in_path, post_in_path};
use crate::components::{ActivityRow, List, MemberRow, UpdateSource};

/// The people who like a post.
#[component]
pub fn LikesPage() -> impl IntoView {
    loaded(async {
        let (id, place) = (post_in_path()?, ListPosition::in_short_rows()?);
        let feed = feed()?;
        let (listing, card) = futures::try_join!(
            feed.reactions().likes(id, place.paging),
            feed.posts().get(id, None)
        )?;
        let listing = feed
            .storage()
            .with_costs(&Topic::Post(id), Relation::Likes, listing)
            .await?;
        Ok(of_a_post(
            &card.post,
            "Likes",
            Relation::Likes,
            "Nobody likes this yet. You could be the first.",
            place,
            listing,
        ))
    })
}

/// The people who shared a post.
#[component]
pub fn SharesPage() -> impl IntoView {
    loaded(async {
        let (id, place) = (post_in_path()?, ListPosition::in_short_rows()?);
        let feed = feed()?;
        let (listing, card) = futures::try_join!(
            feed.reactions().shares(id, place.paging),
            feed.posts().get(id, None)
        )?;
        let listing = feed
            .storage()
            .with_costs(&Topic::Post(id), Relation::Shares, listing)
            .await?;
        Ok(of_a_post(
            &card.post,
            "Shares",
            Relation::Shares,
            "Nobody has shared this yet. You could be the first.",
            place,
            listing,
        ))
    })
}

/// The followers of a person.
#[component]
pub fn FollowersPage() -> impl IntoView {
    loaded(async {
        let (handle, place) = (person_in_path()?, ListPosition::in_short_rows()?);
        let feed = feed()?;
        let (listing, person) = futures::try_join!(
            feed.people().followers(&handle, place.paging),
            feed.people().profile(&handle, None)
        )?;
        let owner = Topic::User(handle.clone());
        let listing = feed
            .storage()
            .with_costs(&owner, Relation::Followers, listing)
            .await?;
        Ok(of_a_person(
            &person,
            "Followers",
            Relation::Followers,
            "No followers yet.",
            place,
            listing,
        ))
    })
}

/// The people whom a person follows.
#[component]
pub fn FollowingPage() -> impl IntoView {
    loaded(async {
        let (handle, place) = (person_in_path()?, ListPosition::in_short_rows()?);
        let feed = feed()?;
        let (listing, person) = futures::try_join!(
            feed.people().following(&handle, place.paging),
            feed.people().profile(&handle, None)
        )?;
        let owner = Topic::User(handle.clone());
        let listing = feed
            .storage()
            .with_costs(&owner, Relation::Following, listing)
            .await?;
        Ok(of_a_person(
            &person,
            "Following",
            Relation::Following,
            "Follows nobody yet. Explore has plenty of people to follow.",
            place,
            listing,
        ))
    })
}

/// The activities of a person.
#[component]
pub fn ActivityPage() -> impl IntoView {
    loaded(async {
        let (handle, place) = (person_in_path()?, ListPosition::in_short_rows()?);
        let feed = feed()?;
        let (listing, person) = futures::try_join!(
            feed.people().activity_entries(&handle, place.paging),
            feed.people().profile(&handle, None)
        )?;
        let owner = Topic::User(handle.clone());
        let listing = feed
            .storage()
            .with_costs(&owner, Relation::Activities, listing)
            .await?;
        let now = now();
        let total = listing.total;
        let fresh = Some(UpdateSource::Items {
            topic: owner,
            relation: Relation::Activities,
        });
        let row = move |entry| view! { <ActivityRow entry now /> };
        Ok(view! {
            <ListHead what="Activity" about=person.name.to_string() owner=format!("/@{handle}") total />
            <List listing place fresh=fresh label="Activity" empty="Nothing yet. Their posts, likes, shares, comments and follows appear here." row />
        })
    })
}

fn of_a_post(
    post: &Post,
    what: &'static str,
    relation: Relation,
    empty: &'static str,
    place: ListPosition,
    listing: Listing<Member>,
) -> impl IntoView + use<> {
    let about = format!("The post by {}", post.author.name);
    let fresh = UpdateSource::Items {
        topic: Topic::Post(post.id),
        relation,
    };
    members(
        what,
        fresh,
        empty,
        about,
        format!("/post/{}", post.id),
        place,
        listing,
    )
}

fn of_a_person(
    person: &Profile,
    what: &'static str,
    relation: Relation,
    empty: &'static str,
    place: ListPosition,
    listing: Listing<Member>,
) -> impl IntoView + use<> {
    let owner = format!("/@{}", person.handle);
    let fresh = UpdateSource::Items {
        topic: Topic::User(person.handle.clone()),
        relation,
    };
    members(what, fresh, empty, person.name.to_string(), owner, place, listing)
}

fn members(
    what: &'static str,
    fresh: UpdateSource,
    empty: &'static str,
    about: String,
    owner: String,
    place: ListPosition,
    listing: Listing<Member>,
) -> impl IntoView {
    let now = now();
    let total = listing.total;
    let row = move |member| view! { <MemberRow member now /> };
    view! {
        <ListHead what about owner total />
        <List listing place fresh=Some(fresh) label=what empty row />
    }
}

#[component]
fn ListHead(what: &'static str, about: String, owner: String, total: u64) -> impl IntoView {
    view! {
        <PageTitle text=format!("{what}, {about}") />
        <header class="page-head">
            <h1>{what} " " <span class="page-head-count">{grouped(total)}</span></h1>
            <p>
                <a href=owner>{about}</a>
            </p>
        </header>
    }
}
