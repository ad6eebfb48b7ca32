//! Finding posts and people.

use feed::Paging;
use leptos::prelude::*;
use model::{FoundPerson, Listing, PostCard, Problem, Search};
use store::posts::Order;
use ui::request::{feed, loaded, now, query, query_string};
use ui::session;
use ui::title::PageTitle;

use super::lists::is_followed;
use super::request::ListPosition;
use crate::components::{FoundPersonRow, List, found_post, suggestions};

/// What the page shows of a search.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Results {
    Newest,
    MostLiked,
    People,
}

impl Results {
    const ALL: [Self; 3] = [Self::Newest, Self::MostLiked, Self::People];

    /// What the address asks for.
    fn of_this_request() -> Self {
        match (query("kind").as_deref(), query("order").as_deref()) {
            (Some("people"), _) => Self::People,
            (_, Some("liked")) => Self::MostLiked,
            _ => Self::Newest,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Newest => "Newest posts",
            Self::MostLiked => "Most liked",
            Self::People => "People",
        }
    }

    /// The parameter that asks for it, unless nothing has to.
    fn parameter(self) -> Option<(&'static str, &'static str)> {
        match self {
            Self::Newest => None,
            Self::MostLiked => Some(("order", "liked")),
            Self::People => Some(("kind", "people")),
        }
    }

    /// The query of its page, without the `?`.
    fn query(self, search: &Search) -> String {
        let search = search.to_string();
        let mut parameters = vec![("q", search.as_str())];
        parameters.extend(self.parameter());
        query_string(&parameters)
    }
}

/// The form, and the posts or people with the words in the address.
#[component]
pub fn SearchPage() -> impl IntoView {
    loaded(search_page())
}

async fn search_page() -> Result<impl IntoView, Problem> {
    let results = Results::of_this_request();
    let Some(search) = query("q") else {
        let to_follow = match session::viewer() {
            Some(reader) => Some(
                suggestions(
                    &reader.handle,
                    10,
                    "People followed by people you follow, and popular authors.",
                )
                .await?,
            ),
            None => None,
        };
        return Ok(view! {
            <PageTitle text="Search" />
            <SearchForm typed=String::new() results />
            <p class="empty">"Find posts by their words and #tags, and people by the beginning of their handle or name."</p>
            {to_follow}
        }
        .into_any());
    };
    let search: Search = search.parse()?;
    let found = match results {
        Results::People => people(&search).await?.into_any(),
        Results::Newest => posts(&search, results, Order::Newest).await?.into_any(),
        Results::MostLiked => posts(&search, results, Order::MostLiked).await?.into_any(),
    };
    let tabs = Results::ALL.map(|one| {
        view! {
            <a
                href=format!("/search?{}", one.query(&search))
                aria-current=(one == results).then_some("page")
            >
                {one.name()}
            </a>
        }
    });
    Ok(view! {
        <PageTitle text=format!("{search}, Search") />
        <SearchForm typed=search.to_string() results />
        <nav class="tabs" aria-label="What was found">
            {tabs}
        </nav>
        {found}
    }
    .into_any())
}

#[component]
fn SearchForm(typed: String, results: Results) -> impl IntoView {
    let parameter = results
        .parameter()
        .map(|(name, value)| view! { <input type="hidden" name=name value=value /> });
    view! {
        <h1 class="sr-only">"Search"</h1>
        <form class="search" role="search" action="/search">
            <label class="sr-only" for="search-text">
                "Search for"
            </label>
            <input
                id="search-text"
                type="search"
                name="q"
                maxlength=Search::MAX
                placeholder="A word, a #tag or a name"
                autocomplete="off"
                data-completes="search"
                autofocus=typed.is_empty()
                data-testid="search-input"
                value=typed
            />
            {parameter}
            <button class="button button-primary">"Search"</button>
        </form>
    }
}

async fn posts(search: &Search, results: Results, order: Order) -> Result<impl IntoView, Problem> {
    let place = ListPosition::of_posts(order)?.with_query(format!("{}&", results.query(search)));
    let reader = session::viewer().map(|account| account.handle);
    let feed = feed()?;
    let found = feed.posts().search(search, order, reader.as_ref(), place.paging);
    let listing = found.await?;
    if let Some(next) = listing.next.as_ref().filter(|_| listing.items.is_empty()) {
        // Each page reads a bounded number of posts.
        let further = format!("/search{}", place.href_after(next, 0));
        let none = match search.words() {
            [_] => "The newest posts with this word are by people who have left or are hidden from you. ",
            _ => "The newest posts have some of these words, but not all. ",
        };
        return Ok(view! {
            <p class="empty">
                {none}
                <a href=further>"Search older posts"</a>
            </p>
        }
        .into_any());
    }
    let listing = without_lower_bound(listing);
    let (nothing, searcher) = (listing.items.is_empty(), reader.clone());
    let (signed_in, words) = (reader.is_some(), search.words().to_vec());
    let now = now();
    let row = move |card: PostCard| {
        let own = reader.as_ref() == Some(&card.post.author.handle);
        view! {
            <div class="search-result" data-testid="search-result">
                {found_post(card, now, signed_in, own, words.clone())}
            </div>
        }
    };
    let is_a_name = nothing
        && !feed
            .people()
            .search(search, searcher.as_ref(), 1)
            .await?
            .items
            .is_empty();
    let people = is_a_name.then(|| {
        let href = format!("/search?{}", Results::People.query(search));
        view! {
            <p class="empty">
                <a href=href>"Look for handles and names that begin like this"</a>
            </p>
        }
    });
    let empty = "No post has all of these words.";
    Ok(view! {
        <List listing place label="Posts" empty row />
        {people}
    }
    .into_any())
}

/// A listing whose `total` is what was found so far: 0, for unknown, if there may be more.
pub fn without_lower_bound<T>(mut listing: Listing<T>) -> Listing<T> {
    if listing.next.is_some() {
        listing.total = 0;
    }
    listing
}

async fn people(search: &Search) -> Result<impl IntoView, Problem> {
    let feed = feed()?;
    let reader = session::viewer().map(|account| account.handle);
    let listing = feed
        .people()
        .search(search, reader.as_ref(), Paging::MAX_LIMIT)
        .await?;
    let place = ListPosition::default().with_query(format!("{}&", Results::People.query(search)));
    let handles = listing.items.iter().map(|person| &person.handle);
    let followed = feed.people().followed_among(reader.as_ref(), handles).await?;
    let row = move |person: FoundPerson| {
        let is_followed = is_followed(reader.as_ref(), &person.handle, &followed);
        view! { <FoundPersonRow person followed=is_followed /> }
    };
    let empty = "Nobody\u{2019}s handle or name begins like this.";
    Ok(view! { <List listing place label="People" empty row /> })
}
