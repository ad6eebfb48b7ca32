use std::collections::HashSet;

use feed::PrivateList;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use model::{Handle, Listing, PostCard, PostId, PostText, Problem, Tag, Topic};
use store::posts::Order;
use ui::components::{BookmarkButton, TextForm};
use ui::preview::{PageKind, PublicPage};
use ui::problem::ProblemPage;
use ui::request::{feed, loaded, now, query, rejected_form_of};
use ui::session;
use ui::title::DESCRIPTION;

use super::accounts::DEMO_SIGN_IN;
use super::request::{ListPosition, tag_in_path};
use super::search::without_lower_bound;
use crate::actions::posts::Compose;
use crate::components::{HideForm, List, UpdateSource, post, suggestions};

/// The address of the posts with many likes for their age.
const RISING: &str = "/explore?order=rising";

/// Posts by the people whom the reader follows; everyone's, with an introduction, for readers who are not signed
/// in.
#[component]
pub fn HomePage() -> impl IntoView {
    let place = match ListPosition::of_posts(Order::Newest) {
        Ok(place) => place,
        Err(problem) => return view! { <ProblemPage problem /> }.into_any(),
    };
    let signed_in = session::viewer().is_some();
    view! {
        <PublicPage title="Home" description=DESCRIPTION kind=PageKind::Website path="/" />
        {if signed_in {
            view! { <h1 class="sr-only">"Home"</h1> }.into_any()
        } else {
            loaded(introduction()).into_any()
        }}
        {loaded(posts(Posts::Home, place))}
    }
    .into_any()
}

/// Everyone's posts, most liked first; with `?order=rising`, those with the most likes for their age.
#[component]
pub fn ExplorePage() -> impl IntoView {
    let rising = query("order").as_deref() == Some("rising");
    let place = if rising {
        ListPosition::of_this_request().map(|place| place.with_query("order=rising&"))
    } else {
        ListPosition::of_posts(Order::MostLiked)
    };
    let place = match place {
        Ok(place) => place,
        Err(problem) => return view! { <ProblemPage problem /> }.into_any(),
    };
    let (list, title, path, description) = if rising {
        (
            Posts::Rising,
            "Rising",
            RISING,
            "Everyone's posts, by likes relative to their age.",
        )
    } else {
        (
            Posts::Explore,
            "Explore",
            "/explore",
            "Everyone's posts, most liked first. The outliers are at the top.",
        )
    };
    let tabs = [("/explore", "Most liked"), (RISING, "Rising")].map(|(href, name)| {
        view! {
            <a href=href aria-current=(href == path).then_some("page")>
                {name}
            </a>
        }
    });
    view! {
        <PublicPage title description kind=PageKind::Website path feed=!rising />
        <header class="page-head">
            <h1>"Explore"</h1>
            <p>{description}</p>
        </header>
        <nav class="tabs" aria-label="Order of the posts">
            {tabs}
        </nav>
        {loaded(posts(list, place))}
    }
    .into_any()
}

/// Everyone's posts with a tag, newest first.
#[component]
pub fn TagPage() -> impl IntoView {
    let (tag, place) = match (tag_in_path(), ListPosition::of_posts(Order::Newest)) {
        (Ok(tag), Ok(place)) => (tag, place),
        (Err(problem), _) | (_, Err(problem)) => return view! { <ProblemPage problem /> }.into_any(),
    };
    let name = format!("#{tag}");
    view! {
        <PublicPage
            title=name.clone()
            description=format!("Everyone's posts with the tag {name}, newest first.")
            kind=PageKind::Website
            path=format!("/tags/{tag}")
            feed=true
        />
        <header class="page-head">
            <h1 dir="auto">{name}</h1>
            <p>"Everyone's posts with this tag, newest first."</p>
        </header>
        {loaded(posts(Posts::Tagged(tag), place))}
    }
    .into_any()
}

/// A list of posts.
pub enum Posts {
    /// Posts by the people whom the reader follows; everyone's for a reader who is not signed in.
    Home,
    /// Everyone's, most liked first.
    Explore,
    /// Everyone's, those with many likes for their age first.
    Rising,
    /// One person's, without the one that stands above them.
    By(Handle, Option<PostId>),
    /// Everyone's with a tag.
    Tagged(Tag),
    /// Those in a private list of a person, which overflows.
    Private(Handle, PrivateList),
}

/// A list of posts, starting where the address points.
pub async fn posts(list: Posts, place: ListPosition) -> Result<impl IntoView, Problem> {
    let reader = session::viewer().map(|account| account.handle);
    let (feed, signed_in) = (feed()?, reader.is_some());
    let mut listing = match &list {
        Posts::Home => feed.posts().home(reader.as_ref(), place.paging).await?,
        Posts::Explore => feed.posts().explore(reader.as_ref(), place.paging).await?,
        Posts::Rising => without_lower_bound(feed.posts().rising(reader.as_ref(), place.paging).await?),
        Posts::By(author, _) => feed.posts().by(author, reader.as_ref(), place.paging).await?,
        Posts::Tagged(tag) => feed.posts().tagged(tag, reader.as_ref(), place.paging).await?,
        Posts::Private(owner, list) => {
            let lists = feed.lists(reader.as_ref());
            let found = lists.private_posts(owner, *list, place.paging).await?;
            let topic = Topic::User(owner.clone());
            feed.storage(reader.as_ref())
                .with_costs(&topic, list.relation(), found)
                .await?
        }
    };
    let newest = match listing.items.first() {
        Some(card) => Order::Newest.cursor_of(&card.post).to_string(),
        None => String::new(),
    };
    if let Posts::By(_, Some(pinned)) = &list {
        listing.items.retain(|card| card.post.id != *pinned);
        listing.total = listing.total.saturating_sub(1);
    }
    let empty = match &list {
        Posts::Home if signed_in => "Nobody you follow has posted yet. ",
        Posts::Home | Posts::Explore | Posts::Rising => "Nothing here yet. Write the first post.",
        Posts::By(_, Some(_)) => "No other posts yet.",
        Posts::By(author, _) if reader.as_ref() == Some(author) => {
            "You have not written anything yet. Write your first post on the home page."
        }
        Posts::By(..) => "No posts yet. Follow them to see the first one on your home page.",
        Posts::Tagged(_) => "No post has this tag yet. Write the first one.",
        Posts::Private(_, list) => list.relation().description().empty,
    };
    let composer = reader
        .as_ref()
        .filter(|_| matches!(list, Posts::Home) && place.is_at_the_newest());
    let somewhere_to_go = (matches!(list, Posts::Home) && signed_in)
        .then(|| view! { <a href="/explore">"Explore"</a> " has plenty of people to follow." });
    let empty = view! { {empty} {somewhere_to_go} };
    let form = composer.map(|author| {
        view! {
            <TextForm
                test_id="composer"
                action=Compose::url()
                field="compose-text"
                label="Write a post"
                placeholder="What is happening?"
                submit="Post"
                most=PostText::MAX
                id=feed.fresh_id(now())
                author=author.clone()
                draft="draft post".to_owned()
                // The same action quotes a post.
                refusal=rejected_form_of("compose").filter(|refusal| refusal.kept("quote").is_empty())
            />
        }
        .into_any()
    });
    let to_follow = match (&list, &reader) {
        (Posts::Home, Some(reader))
            if place.is_at_the_newest() && !is_full(&listing, reader, place.paging.limit).await? =>
        {
            Some(suggestions(reader, 5, "Follow three to fill this page with their posts.").await?)
        }
        _ => None,
    };
    // Once the first are followed, the others are not below all of their posts.
    let (above, below) = if listing.items.is_empty() {
        (None, to_follow)
    } else {
        (to_follow, None)
    };
    let private = match list {
        Posts::Private(_, list) => Some(list),
        _ => None,
    };
    let fresh = match list {
        Posts::Home => Some("home".to_owned()),
        Posts::By(author, _) => Some(author.to_string()),
        // Where likes count, new posts are nowhere near the top. And there are no notifications of new posts by
        // tag.
        Posts::Explore | Posts::Rising | Posts::Tagged(_) | Posts::Private(..) => None,
    };
    let fresh = fresh.map(|of| UpdateSource::Posts { of, newest });
    let now = now();
    let row = move |card: PostCard| {
        let own = reader.as_ref() == Some(&card.post.author.handle);
        let id = card.post.id;
        let button = private.map(|list| match list {
            PrivateList::Bookmarks => view! { <BookmarkButton post=id kept=true /> }.into_any(),
            PrivateList::Hidden => view! { <HideForm post=id hidden=true /> }.into_any(),
        });
        (post(card, now, signed_in, own), button)
    };
    Ok(view! {
        {above}
        <List listing place fresh label="Posts" empty row form />
        {below}
    })
}

/// How many people fill a home page.
const ENOUGH: usize = 3;

/// Whether a home page needs nobody else: it has as many posts as it can show, or some and more below, and its posts are by
/// enough people, or the reader's own, or the reader follows enough.
async fn is_full(listing: &Listing<PostCard>, reader: &Handle, most: usize) -> Result<bool, Problem> {
    if listing.items.is_empty() || (listing.items.len() < most && listing.next.is_none()) {
        return Ok(false);
    }
    let through = listing.items.iter().map(|card| {
        let sharer = card.post.shared_by.as_ref();
        &sharer.unwrap_or(&card.post.author).handle
    });
    let through: HashSet<&Handle> = through.filter(|by| *by != reader).collect();
    if through.is_empty() || through.len() >= ENOUGH {
        return Ok(true);
    }
    let profile = feed()?.people().profile(reader, Some(reader)).await?;
    Ok(profile.following >= ENOUGH as u64)
}

async fn introduction() -> Result<impl IntoView, Problem> {
    let (first_step, href) = if feed()?.accounts().demo_handles().await?.is_empty() {
        ("Sign up", "/signup")
    } else {
        ("Try the demo town", DEMO_SIGN_IN)
    };
    Ok(view! {
        <header class="introduction">
            <h1>"See what happens when a post goes viral."</h1>
            <p>
                "Spillway is a small social feed built on MongoDB's outlier pattern. The meter under each post shows how its likes are stored. Most lists fit into one document; the few that overflow spill into pages."
            </p>
            <p class="introduction-ways">
                <a class="button button-primary" href=href>
                    {first_step}
                </a>
                <a class="button" href="/explore">
                    "Find the viral post"
                </a>
            </p>
        </header>
    })
}
