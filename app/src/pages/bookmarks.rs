use leptos::prelude::*;
use model::Relation;
use ui::request::loaded;
use ui::title::PageTitle;

use super::home::{Posts, posts};
use super::request::{ListPosition, person_in_path};

/// The posts that the reader keeps for themselves, the latest bookmark first.
#[component]
pub fn BookmarksPage() -> impl IntoView {
    loaded(async {
        let (handle, place) = (person_in_path()?, ListPosition::of_this_request()?);
        let posts = posts(Posts::Bookmarks(handle), place).await?;
        let title = Relation::Bookmarks.description().title;
        Ok(view! {
            <PageTitle text=title.to_owned() />
            <header class="page-head">
                <h1>{title}</h1>
                <p>"Only you see this list. It overflows into pages like any other."</p>
            </header>
            {posts}
        })
    })
}
