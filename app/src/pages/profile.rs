use leptos::prelude::*;
use model::{Handle, Problem, Profile, Relation, Topic};
use store::posts::Order;
use ui::components::{Avatar, Body, FollowButton, Meter, MeterSize, StoredDrawer, excerpt, grouped};
use ui::islands::Numbers;
use ui::preview::{PageKind, PublicPage};
use ui::request::{feed, loaded, now};
use ui::session;

use super::home::{Posts, posts};
use super::request::{ListPosition, person_in_path};
use crate::components::{PinnedPost, RestrictionForms};

/// A person and their posts.
#[component]
pub fn ProfilePage() -> impl IntoView {
    loaded(async { profile_page(person_in_path()?).await })
}

async fn profile_page(handle: Handle) -> Result<impl IntoView, Problem> {
    let reader = session::viewer().map(|account| account.handle);
    let (feed, place) = (feed()?, ListPosition::of_posts(Order::Newest)?);
    let profile = feed.people().profile(&handle, reader.as_ref()).await?;
    let pinned = feed.posts().pinned(&profile, reader.as_ref()).await?;
    let above = pinned.as_ref().map(|card| card.post.id);
    let posts = posts(Posts::By(handle.clone(), above), place).await?;
    let title = format!("{} (@{handle})", profile.name);
    let description = match excerpt(&profile.bio) {
        bio if bio.is_empty() => format!("Posts by {}.", profile.name),
        bio => bio,
    };
    let own = reader.as_ref() == Some(&handle);
    let restrictions =
        (reader.is_some() && !own).then(|| view! { <RestrictionForms profile=profile.clone() /> });
    let posts = (!profile.blocked && !profile.blocked_by).then_some(posts);
    Ok(view! {
        <PublicPage title description kind=PageKind::Profile path=format!("/@{handle}") feed=true />
        <ProfileHeader profile signed_in=reader.is_some() own />
        {restrictions}
        <nav class="tabs" aria-label=format!("About @{handle}")>
            <a href=format!("/@{handle}") aria-current="page">
                "Posts"
            </a>
            <a href=format!("/@{handle}/activity")>"Activity"</a>
            <a href=format!("/@{handle}/followers")>"Followers"</a>
            <a href=format!("/@{handle}/following")>"Following"</a>
        </nav>
        {pinned
            .map(|card| view! { <PinnedPost card now=now() signed_in=reader.is_some() own /> })}
        {posts}
    })
}

/// The person, their numbers, and how their followers are stored.
#[component]
fn ProfileHeader(profile: Profile, signed_in: bool, own: bool) -> impl IntoView {
    let Profile {
        handle,
        name,
        bio,
        at,
        followers,
        following,
        followed,
        blocked,
        blocked_by,
        meter,
        ..
    } = profile;
    let topic = Topic::User(handle.clone()).to_string();
    let (avatar, at_handle) = (handle.clone(), format!("@{handle}"));
    let joined = at.date(now());
    view! {
        <header class="profile" data-topic=topic>
            <Avatar handle=avatar />
            <h1 class="profile-name" dir="auto">
                {name.to_string()}
            </h1>
            <p class="profile-handle">
                <span>{at_handle}</span>
                " "
                <span>
                    "joined " <time datetime=at.to_the_minute() title=at.exact()>
                        {joined}
                    </time>
                </span>
            </p>
            {(!bio.is_empty())
                .then(|| {
                    view! {
                        <p class="profile-bio" dir="auto">
                            <Body text=bio linked=false />
                        </p>
                    }
                })}
            <Numbers>
                {if own {
                    view! {
                        <p class="profile-own">
                            <a class="button" href=format!("/@{handle}/bookmarks")>
                                "Bookmarks"
                            </a>
                            <a class="button" href="/settings">
                                "Settings"
                            </a>
                        </p>
                    }
                    .into_any()
                } else if blocked || blocked_by {
                    ().into_any()
                } else {
                    view! { <FollowButton handle=handle.clone() followed signed_in /> }.into_any()
                }}
                <ul class="profile-facts">
                    <li>
                        <a href=format!("/@{handle}/followers")>
                            <b
                                data-testid="follower-count"
                                data-count=followers
                                data-number="followers"
                            >
                                {grouped(followers)}
                            </b>
                            <span>
                                " follower" <span class="plural">"s"</span>
                            </span>
                        </a>
                    </li>
                    <li>
                        <a href=format!("/@{handle}/following")>
                            <b data-number="following">{grouped(following)}</b>
                            " following"
                        </a>
                    </li>
                </ul>
                <Meter relation=Relation::Followers of=name.to_string() meter size=MeterSize::Large />
                <StoredDrawer owner=Topic::User(handle) about=name.to_string() />
            </Numbers>
        </header>
    }
}
