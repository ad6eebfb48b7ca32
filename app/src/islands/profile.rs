use leptos::prelude::*;
use model::{Profile, Relation, Topic};

use crate::components::{Avatar, FollowButton, Meter, MeterSize, Toggle, grouped};
use crate::live;

/// The opening of a person's page: who they are, whom they draw, and how their followers are stored.
#[island]
pub fn ProfileCard(
    /// The person.
    profile: Profile,
    /// Whether the reader is somebody.
    signed_in: bool,
    /// Whether the reader is this person.
    own: bool,
) -> impl IntoView {
    let followers = Toggle::new(profile.followed, profile.followers);
    let following = RwSignal::new(profile.following);
    let meter = RwSignal::new(profile.meter);
    let news = live::overflow(&Topic::User(profile.handle.clone()));
    Effect::new(move || {
        let Some(overflow) = news.get() else { return };
        if let Some(stored) = overflow.get(&Relation::Followers) {
            followers.heard(stored.count);
            meter.set(stored.into());
        }
        if let Some(stored) = overflow.get(&Relation::Following) {
            following.set(stored.count);
        }
    });

    let Profile {
        handle,
        name,
        bio,
        at,
        ..
    } = profile;
    let joined: String = at.to_string().chars().take(10).collect();
    view! {
        <header class="profile">
            <div class="profile-top">
                <Avatar handle=handle.clone() />
                {(!own).then(|| view! { <FollowButton handle=handle.clone() followers signed_in /> })}
            </div>
            <h1 class="profile-name" dir="auto">{name.to_string()}</h1>
            <p class="profile-handle">{format!("@{handle}")}</p>
            {(!bio.is_empty()).then(|| view! { <p class="profile-bio" dir="auto">{bio}</p> })}
            <ul class="profile-facts">
                <li>
                    <a href=format!("/@{handle}/followers")>
                        <b data-testid="follower-count">{move || grouped(followers.count())}</b>
                        " followers"
                    </a>
                </li>
                <li>
                    <a href=format!("/@{handle}/following")>
                        <b>{move || grouped(following.get())}</b>
                        " following"
                    </a>
                </li>
                <li>"joined " <time datetime=at.to_string()>{joined}</time></li>
            </ul>
            <Meter relation=Relation::Followers meter size=MeterSize::Large />
        </header>
    }
}
