//! The pages that show one long list.

use std::collections::HashSet;

use feed::Feed;
use leptos::prelude::*;
use model::{Description, Handle, Listing, Member, Owners, Problem, Relation, Topic, View};
use ui::components::grouped;
use ui::request::{feed, loaded};
use ui::session;
use ui::title::PageTitle;

use super::request::{ListPosition, person_in_path, post_in_path};
use crate::components::{ActivityRow, BlockForm, Entry, List, MemberRow, MuteForm, UpdateSource};

/// The people who like a post.
#[component]
pub fn LikesPage() -> impl IntoView {
    members_page(Relation::Likes)
}

/// The people who shared a post.
#[component]
pub fn SharesPage() -> impl IntoView {
    members_page(Relation::Shares)
}

/// The followers of a person.
#[component]
pub fn FollowersPage() -> impl IntoView {
    members_page(Relation::Followers)
}

/// The people whom a person follows.
#[component]
pub fn FollowingPage() -> impl IntoView {
    members_page(Relation::Following)
}

/// The people whom the reader mutes.
#[component]
pub fn MutesPage() -> impl IntoView {
    members_page(Relation::Mutes)
}

/// The people whom the reader blocks.
#[component]
pub fn BlocksPage() -> impl IntoView {
    members_page(Relation::Blocks)
}

/// The activities of a person.
#[component]
pub fn ActivityPage() -> impl IntoView {
    loaded(async {
        let (handle, page) = (person_in_path()?, ListPage::of(Relation::Activities)?);
        let (people, paging) = (page.feed.people(), page.place.paging);
        let (listing, about) = futures::try_join!(
            people.activity_entries(&handle, page.reader.as_ref(), paging),
            page.about()
        )?;
        let now = page.feed.now();
        let row = move |entry| view! { <ActivityRow entry now /> };
        page.show(about, listing, row).await
    })
}

fn members_page(relation: Relation) -> impl IntoView {
    loaded(async move {
        let page = ListPage::of(relation)?;
        let (lists, paging) = (page.feed.lists(page.reader.as_ref()), page.place.paging);
        let (listing, about) =
            futures::try_join!(lists.members(&page.owner, relation, paging), page.about())?;
        let now = page.feed.now();
        // Whom one mutes or blocks has another button.
        let reader = page.reader.clone();
        let reader = reader.filter(|_| !matches!(relation, Relation::Mutes | Relation::Blocks));
        let handles = listing.items.iter().map(|member| &member.user.handle);
        let followed = page
            .feed
            .people()
            .followed_among(reader.as_ref(), handles)
            .await?;
        let row = move |member: Member| {
            let handle = member.user.handle.clone();
            let is_followed = is_followed(reader.as_ref(), &handle, &followed);
            let button = match relation {
                Relation::Mutes => Some(view! { <MuteForm handle muted=true /> }.into_any()),
                Relation::Blocks => Some(view! { <BlockForm handle blocked=true /> }.into_any()),
                _ => None,
            };
            view! {
                <MemberRow member now followed=is_followed />
                {button}
            }
        };
        page.show(about, listing, row).await
    })
}

/// Whether a reader follows somebody in a list; `None` for themselves, and for somebody who is not signed in.
pub fn is_followed(reader: Option<&Handle>, person: &Handle, followed: &HashSet<Handle>) -> Option<bool> {
    let other = reader.filter(|reader| *reader != person);
    other.map(|_| followed.contains(person))
}

/// What a page shows a stretch of, and to whom.
struct ListPage {
    feed: Feed,
    reader: Option<Handle>,
    owner: Topic,
    relation: Relation,
    place: ListPosition,
}

/// The owner of a list: in words, and the address of its page.
struct About {
    words: String,
    href: String,
}

impl ListPage {
    fn of(relation: Relation) -> Result<Self, Problem> {
        Ok(Self {
            owner: match relation.owners() {
                Owners::People => Topic::User(person_in_path()?),
                Owners::Posts => Topic::Post(post_in_path()?),
            },
            relation,
            place: ListPosition::in_short_rows()?,
            feed: feed()?,
            reader: session::viewer().map(|account| account.handle),
        })
    }

    async fn about(&self) -> Result<About, Problem> {
        Ok(match &self.owner {
            Topic::Post(id) => {
                let post = self.feed.posts().get(*id, None).await?.post;
                About {
                    words: format!("The post by {}", post.author.name),
                    href: format!("/post/{id}"),
                }
            }
            Topic::User(handle) => About {
                words: self.feed.people().profile(handle, None).await?.name.to_string(),
                href: format!("/@{handle}"),
            },
        })
    }

    async fn show<T, Row, Shown>(
        self,
        about: About,
        listing: Listing<T>,
        row: Row,
    ) -> Result<impl IntoView, Problem>
    where
        T: Entry + Send + 'static,
        Row: Fn(T) -> Shown + Send + 'static,
        Shown: IntoView + 'static,
    {
        let Self { relation, place, .. } = self;
        let storage = self.feed.storage(self.reader.as_ref());
        let listing = storage.with_costs(&self.owner, relation, listing).await?;
        let About { words, href } = about;
        let Description { title, empty, .. } = *relation.description();
        let count = grouped(listing.total);
        let fresh = View::Public.shows(relation).then_some(UpdateSource::Items {
            topic: self.owner,
            relation,
        });
        Ok(view! {
            <PageTitle text=format!("{title}, {words}") />
            <header class="page-head">
                <h1>{title} " " <span class="page-head-count">{count}</span></h1>
                <p>
                    <a href=href>{words}</a>
                </p>
            </header>
            <List listing place fresh label=title empty row />
        })
    }
}
