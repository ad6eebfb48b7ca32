use feed::PrivateList;
use leptos::prelude::*;
use ui::request::loaded;
use ui::title::PageTitle;

use super::home::{Posts, posts};
use super::request::{ListPosition, person_in_path};

/// The posts that the reader keeps for themselves, the latest bookmark first.
#[component]
pub fn BookmarksPage() -> impl IntoView {
    private_page(PrivateList::Bookmarks)
}

/// The posts that the reader hides, the latest first.
#[component]
pub fn HiddenPage() -> impl IntoView {
    private_page(PrivateList::Hidden)
}

fn private_page(list: PrivateList) -> impl IntoView {
    loaded(async move {
        let (handle, place) = (person_in_path()?, ListPosition::of_this_request()?);
        let posts = posts(Posts::Private(handle, list), place).await?;
        let title = list.relation().description().title;
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
