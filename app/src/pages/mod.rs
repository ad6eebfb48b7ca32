//! The pages, rendered on the server. Each loads what it shows before the first byte is sent, so that a missing post or
//! person, or a store that is away, is answered with the right status.

mod accounts;
mod api;
mod document;
mod home;
mod layout;
mod lists;
mod notifications;
mod post;
mod private_posts;
mod profile;
mod recovery;
mod report;
mod request;
mod scripts;
mod search;
mod sessions;
mod settings;
mod stored;
mod wing;

use leptos::prelude::*;
use leptos_meta::provide_meta_context;
use leptos_router::components::{FlatRoutes, Route, Router};
use leptos_router::{SsrMode, path};

pub use api::Description;
pub use document::{Links, shell};
pub use request::{ListPosition, OLDEST};
pub use wing::Wing;

use accounts::{SignInPage, SignUpPage};
use api::ApiPage;
use home::{ExplorePage, HomePage, TagPage};
use layout::{Banner, Legend, Masthead};
use lists::{ActivityPage, BlocksPage, FollowersPage, FollowingPage, LikesPage, MutesPage, SharesPage};
use notifications::{NotificationSettingsPage, NotificationsPage};
use post::PostPage;
use private_posts::{BookmarksPage, HiddenPage};
use profile::ProfilePage;
use recovery::RecoverPage;
use report::ReportPage;
use search::SearchPage;
use sessions::SessionsPage;
use settings::{SettingsPage, own_list};
use stored::{StoredPersonPage, StoredPostPage};
use ui::components::LandscapeSymbol;
use ui::problem::NotFound;
use wing::WingRoutes;

/// The routes and what surrounds every page.
///
/// A person's page is `/@{handle}`. The router matches whole segments, so its routes take any first segment and the
/// page answers "not found" to one without the `@`.
#[component]
pub fn App() -> impl IntoView {
    provide_meta_context();
    view! {
        <Router>
            <a class="skip" href="#main">
                "Skip to the content"
            </a>
            <LandscapeSymbol />
            <Masthead />
            <div class="columns">
                <main id="main" tabindex="-1">
                    <Banner />
                    <FlatRoutes fallback=NotFound>
                        <WingRoutes />
                        <Route path=path!("/") view=HomePage ssr=SsrMode::Async />
                        <Route path=path!("/explore") view=ExplorePage ssr=SsrMode::Async />
                        <Route path=path!("/search") view=SearchPage ssr=SsrMode::Async />
                        <Route path=path!("/signup") view=SignUpPage ssr=SsrMode::Async />
                        <Route path=path!("/notifications") view=|| own_list("/notifications") ssr=SsrMode::Async />
                        <Route path=path!("/bookmarks") view=|| own_list("/bookmarks") ssr=SsrMode::Async />
                        <Route path=path!("/login") view=SignInPage ssr=SsrMode::Async />
                        <Route path=path!("/recover") view=RecoverPage ssr=SsrMode::Async />
                        <Route path=path!("/report") view=ReportPage ssr=SsrMode::Async />
                        <Route path=path!("/tags/:tag") view=TagPage ssr=SsrMode::Async />
                        <Route path=path!("/api") view=ApiPage ssr=SsrMode::Async />
                        <Route path=path!("/settings") view=SettingsPage ssr=SsrMode::Async />
                        <Route path=path!("/settings/sessions") view=SessionsPage ssr=SsrMode::Async />
                        <Route path=path!("/settings/notifications") view=NotificationSettingsPage ssr=SsrMode::Async />
                        <Route path=path!("/post/:id") view=PostPage ssr=SsrMode::Async />
                        <Route path=path!("/post/:id/comments") view=PostPage ssr=SsrMode::Async />
                        <Route path=path!("/post/:id/likes") view=LikesPage ssr=SsrMode::Async />
                        <Route path=path!("/post/:id/shares") view=SharesPage ssr=SsrMode::Async />
                        <Route path=path!("/post/:id/stored") view=StoredPostPage ssr=SsrMode::Async />
                        <Route path=path!("/:handle") view=ProfilePage ssr=SsrMode::Async />
                        <Route path=path!("/:handle/followers") view=FollowersPage ssr=SsrMode::Async />
                        <Route path=path!("/:handle/following") view=FollowingPage ssr=SsrMode::Async />
                        <Route path=path!("/:handle/activity") view=ActivityPage ssr=SsrMode::Async />
                        <Route path=path!("/:handle/bookmarks") view=BookmarksPage ssr=SsrMode::Async />
                        <Route path=path!("/:handle/notifications") view=NotificationsPage ssr=SsrMode::Async />
                        <Route path=path!("/:handle/hidden") view=HiddenPage ssr=SsrMode::Async />
                        <Route path=path!("/:handle/mutes") view=MutesPage ssr=SsrMode::Async />
                        <Route path=path!("/:handle/blocks") view=BlocksPage ssr=SsrMode::Async />
                        <Route path=path!("/:handle/stored") view=StoredPersonPage ssr=SsrMode::Async />
                    </FlatRoutes>
                </main>
                <Legend />
            </div>
            <p id="connection" class="connection" role="status"></p>
        </Router>
    }
    .into_any()
}
