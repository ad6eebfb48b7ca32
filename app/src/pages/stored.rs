//! How a post or a person is stored, in numbers and documents.

use leptos::prelude::*;
use model::{Problem, Topic};
use ui::request::{feed, loaded};
use ui::session;
use ui::title::PageTitle;

use super::request::{person_in_path, post_in_path};
use crate::components::Stored;

/// How a post is stored.
#[component]
pub fn StoredPostPage() -> impl IntoView {
    loaded(async {
        let id = post_in_path()?;
        let post = feed()?.posts().get(id, None).await?.post;
        let about = format!("the post by {}", post.author.name);
        stored_page(Topic::Post(id), about, format!("/post/{id}")).await
    })
}

/// How a person is stored.
#[component]
pub fn StoredPersonPage() -> impl IntoView {
    loaded(async {
        let handle = person_in_path()?;
        let about = feed()?.people().profile(&handle, None).await?.name.to_string();
        let path = format!("/@{handle}");
        stored_page(Topic::User(handle), about, path).await
    })
}

async fn stored_page(owner: Topic, about: String, path: String) -> Result<impl IntoView, Problem> {
    let (feed, reader) = (feed()?, session::viewer());
    let reader = reader.as_ref().map(|account| &account.handle);
    let (overflow, documents) = feed.storage(reader).documents(&owner).await?;
    Ok(view! {
        <PageTitle text=format!("How {about} is stored") />
        <header class="page-head">
            <h1>"How this is stored"</h1>
            <p>
                <a href=path>{about}</a>
            </p>
        </header>
        <Stored of=owner overflow documents />
    })
}
