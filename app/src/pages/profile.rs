use leptos::prelude::*;
use model::{Handle, Problem};

use super::document::PageTitle;
use super::home;
use super::request::{loaded, person_in_path};
use crate::actions::feed;
use crate::actions::lists::Posts;
use crate::islands::ProfileCard;
use crate::session;

/// A person and their posts.
#[component]
pub fn ProfilePage() -> impl IntoView {
    loaded(async { profile_page(person_in_path()?).await })
}

async fn profile_page(handle: Handle) -> Result<impl IntoView, Problem> {
    let reader = session::viewer().map(|account| account.handle);
    let profile = feed()?.profile(&handle, reader.as_ref()).await?;
    let posts = home::feed(Posts::By(handle.clone()), false).await?;

    let title = format!("{} (@{handle})", profile.name);
    let own = reader.as_ref() == Some(&handle);
    Ok(view! {
        <PageTitle text=title />
        <ProfileCard profile signed_in=reader.is_some() own />
        <nav class="tabs" aria-label=format!("About @{handle}")>
            <a href=format!("/@{handle}") aria-current="page">
                "Posts"
            </a>
            <a href=format!("/@{handle}/activity")>"Activity"</a>
            <a href=format!("/@{handle}/followers")>"Followers"</a>
            <a href=format!("/@{handle}/following")>"Following"</a>
        </nav>
        {posts}
    })
}
