//! The workshop: stations at which a class sees where the pattern breaks and where it holds. The contents of a
//! station depend on its address alone, so that every link in it can be sent to the class and Back is undo.

#[cfg(target_family = "wasm")]
mod alone;
mod articles;
mod bars;
#[cfg(feature = "pages")]
mod class;
#[cfg(feature = "pages")]
mod console;
mod controls;
mod crash;
mod decide;
#[cfg(feature = "pages")]
mod each_item;
#[cfg(feature = "pages")]
mod exercises;
#[cfg(feature = "pages")]
mod figures;
#[cfg(feature = "pages")]
mod front;
#[cfg(not(target_family = "wasm"))]
mod in_turn;
#[cfg(feature = "pages")]
mod inspect;
#[cfg(feature = "pages")]
mod layouts;
#[cfg(feature = "pages")]
mod ledger;
#[cfg(feature = "pages")]
mod lesson;
#[cfg(feature = "pages")]
mod migrate;
#[cfg(feature = "pages")]
mod owner;
mod points;
#[cfg(feature = "pages")]
mod progress;
#[cfg(feature = "pages")]
mod qr;
mod race;
#[cfg(feature = "pages")]
mod readings;
#[cfg(feature = "pages")]
mod recorded;
mod sheets;
mod shown;
mod stations;
#[cfg(feature = "pages")]
mod storm;
mod trace;
#[cfg(feature = "pages")]
mod tune;
mod words;

use std::fmt::Display;

#[cfg(feature = "pages")]
use leptos::prelude::use_context;
use leptos::prelude::{AnyView, IntoAny};
#[cfg(feature = "pages")]
use leptos_router::any_nested_route::{AnyNestedRoute, IntoAnyNestedRoute};
#[cfg(feature = "pages")]
use leptos_router::{ChooseView, NestedRoute, PossibleRouteMatch, SsrMode, path};
use model::{Kind, Problem};

use crash::CrashPage;
use decide::DecidePage;
use race::RacePage;
use trace::TracePage;

#[cfg(target_family = "wasm")]
pub(crate) use alone::in_turn;
#[cfg(feature = "pages")]
pub(crate) use console::{COOKIE, key};
#[cfg(not(target_family = "wasm"))]
pub(crate) use in_turn::in_turn;

pub use articles::Articles;
#[cfg(feature = "pages")]
pub use class::{DESK, RESET, Teacher, WITHHOLD};
#[cfg(feature = "pages")]
pub(crate) use exercises::answered;
#[cfg(feature = "pages")]
pub(crate) use lesson::FOLLOWS;
#[cfg(feature = "pages")]
pub use lesson::{LESSON, NOW};
pub use sheets::Sheets;
pub use stations::{Stations, Tour};

/// The routes of all stations. Their types are erased here, so that their pages are compiled in this crate.
#[cfg(feature = "pages")]
pub fn routes() -> Vec<AnyNestedRoute> {
    vec![
        route(path!("/lab"), front::LabPage),
        route(path!("/lab/race"), RacePage),
        route(path!("/lab/crash"), CrashPage),
        route(path!("/lab/trace"), TracePage),
        route(path!("/lab/decide"), DecidePage),
        route(path!("/lab/inspect"), inspect::InspectStartPage),
        route(path!("/lab/inspect/:owner"), inspect::InspectPage),
        route(path!("/lab/class"), class::ClassPage),
        route(path!("/lab/console"), console::ConsolePage),
        route(path!("/lab/readings"), readings::ReadingsPage),
        route(path!("/lab/ledger"), ledger::LedgerPage),
        route(path!("/lab/exercises"), exercises::ExercisesPage),
        route(path!("/lab/storm"), storm::StormPage),
        route(path!("/lab/layouts"), layouts::LayoutsPage),
        route(path!("/lab/migrate"), migrate::MigratePage),
        route(path!("/lab/tune"), tune::TunePage),
    ]
}

/// The page of a station of [`Tour::WITHOUT_A_SERVER`], by its path. Without a router: that would bring the tables of all
/// international domain names.
pub fn page_without_a_server(path: &str) -> Option<AnyView> {
    Some(match path {
        "/lab/race" => RacePage().into_any(),
        "/lab/crash" => CrashPage().into_any(),
        "/lab/trace" => TracePage().into_any(),
        "/lab/decide" => DecidePage().into_any(),
        _ => return None,
    })
}

/// The fields of a form of the workshop that show their own errors.
#[cfg(feature = "pages")]
pub fn fields_of(form: &str) -> &'static [&'static str] {
    match form {
        "start_storm" => &["actors", "rate", "at_once", "seconds", "take_back"],
        "join_class" => &["name"],
        "enter_line" => &["line"],
        _ => &[],
    }
}

/// What a page shows is loaded before the first byte is sent, so that its status is right.
#[cfg(feature = "pages")]
fn route<Path, Page>(path: Path, page: Page) -> AnyNestedRoute
where
    Path: PossibleRouteMatch + std::fmt::Debug + Clone + Send + 'static,
    Page: ChooseView + Clone + Send + 'static,
{
    NestedRoute::new(path, page)
        .ssr_mode(SsrMode::Async)
        .into_any_nested_route()
}

/// The workshop of this request's server.
#[cfg(feature = "pages")]
pub(crate) fn workshop() -> Result<crate::Workshop, Problem> {
    use_context::<axum::http::request::Parts>()
        .and_then(|parts| parts.extensions.get().cloned())
        .ok_or_else(|| Problem::new(Kind::Internal, "Something went wrong on our side. Try again."))
}

/// The problem for a failure on the stage: the stage is in memory and ours, so the server is at fault.
fn faulty(error: &dyn Display) -> Problem {
    tracing::error!(%error, "a station of the workshop failed");
    Problem::new(
        Kind::Internal,
        "The station failed. Start it again. The server’s log has the details.",
    )
}
