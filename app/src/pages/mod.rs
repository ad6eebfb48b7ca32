//! The pages, rendered on the server. Home and explore are streamed in order, which needs no JavaScript either; every
//! other route loads what it shows before the first byte is sent, so that a missing post or person is answered with the
//! right status.

mod accounts;
mod api;
mod document;
mod home;
mod lab;
mod layout;
mod lists;
mod post;
mod profile;
mod request;
mod settings;
mod stored;

use leptos::prelude::*;
use leptos_meta::provide_meta_context;
use leptos_router::components::{FlatRoutes, Route, Router};
use leptos_router::{SsrMode, path};

pub use api::Description;
pub use document::shell;
pub use lab::{DESK, RESET, Teacher, workshop};
pub use request::{OLDEST, Obstacle, Place};

use accounts::{SignInPage, SignUpPage};
use api::ApiPage;
use home::{ExplorePage, HomePage, TagPage};
use lab::{
    ClassPage, CrashPage, DecidePage, ExercisesPage, InspectPage, InspectStartPage, LabPage, LayoutsPage,
    MigratePage, RacePage, StormPage, TracePage, TunePage,
};
use layout::{Banner, Legend, Masthead};
use lists::{ActivityPage, FollowersPage, FollowingPage, LikesPage, SharesPage};
use post::PostPage;
use profile::ProfilePage;
use settings::SettingsPage;
use stored::{StoredPersonPage, StoredPostPage};
use ui::components::Drawings;
use ui::problem::NotFound;

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
            <Drawings />
            <Masthead />
            <div class="columns">
                <main id="main" tabindex="-1">
                    <Banner />
                    <FlatRoutes fallback=NotFound>
                        <Route path=path!("/") view=HomePage ssr=SsrMode::InOrder />
                        <Route path=path!("/explore") view=ExplorePage ssr=SsrMode::InOrder />
                        <Route path=path!("/signup") view=SignUpPage ssr=SsrMode::Async />
                        <Route path=path!("/login") view=SignInPage ssr=SsrMode::Async />
                        <Route path=path!("/tags/:tag") view=TagPage ssr=SsrMode::Async />
                        <Route path=path!("/api") view=ApiPage ssr=SsrMode::Async />
                        <Route path=path!("/settings") view=SettingsPage ssr=SsrMode::Async />
                        <Route path=path!("/post/:id") view=PostPage ssr=SsrMode::Async />
                        <Route path=path!("/post/:id/comments") view=PostPage ssr=SsrMode::Async />
                        <Route path=path!("/post/:id/likes") view=LikesPage ssr=SsrMode::Async />
                        <Route path=path!("/post/:id/shares") view=SharesPage ssr=SsrMode::Async />
                        <Route path=path!("/post/:id/stored") view=StoredPostPage ssr=SsrMode::Async />
                        <Route path=path!("/lab") view=LabPage ssr=SsrMode::Async />
                        <Route path=path!("/lab/inspect") view=InspectStartPage ssr=SsrMode::Async />
                        <Route path=path!("/lab/inspect/:owner") view=InspectPage ssr=SsrMode::Async />
                        <Route path=path!("/lab/race") view=RacePage ssr=SsrMode::Async />
                        <Route path=path!("/lab/crash") view=CrashPage ssr=SsrMode::Async />
                        <Route path=path!("/lab/class") view=ClassPage ssr=SsrMode::Async />
                        <Route path=path!("/lab/exercises") view=ExercisesPage ssr=SsrMode::Async />
                        <Route path=path!("/lab/trace") view=TracePage ssr=SsrMode::Async />
                        <Route path=path!("/lab/decide") view=DecidePage ssr=SsrMode::Async />
                        <Route path=path!("/lab/storm") view=StormPage ssr=SsrMode::Async />
                        <Route path=path!("/lab/layouts") view=LayoutsPage ssr=SsrMode::Async />
                        <Route path=path!("/lab/migrate") view=MigratePage ssr=SsrMode::Async />
                        <Route path=path!("/lab/tune") view=TunePage ssr=SsrMode::Async />
                        <Route path=path!("/:handle") view=ProfilePage ssr=SsrMode::Async />
                        <Route path=path!("/:handle/followers") view=FollowersPage ssr=SsrMode::Async />
                        <Route path=path!("/:handle/following") view=FollowingPage ssr=SsrMode::Async />
                        <Route path=path!("/:handle/activity") view=ActivityPage ssr=SsrMode::Async />
                        <Route path=path!("/:handle/stored") view=StoredPersonPage ssr=SsrMode::Async />
                    </FlatRoutes>
                </main>
                <Legend />
            </div>
            <p id="connection" class="connection" role="status"></p>
        </Router>
    }
}
