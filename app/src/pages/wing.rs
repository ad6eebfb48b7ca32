//! Pages that another crate adds to the site.

use axum::http::request::Parts;
use leptos::prelude::*;
use leptos::tachys::view::iterators::StaticVec;
use leptos_router::any_nested_route::{AnyNestedRoute, IntoAnyNestedRoute};
use ui::request::feed;

/// What the site needs to know of the workshop, whose front page is at `/lab`. The server provides it in the context
/// of every page; without it, no page links there.
#[derive(Clone, Copy)]
pub struct Wing {
    /// Its routes.
    pub routes: fn() -> Vec<AnyNestedRoute>,
    /// The fields of one of its forms that show their own errors.
    pub fields_of: fn(form: &str) -> &'static [&'static str],
}

impl Wing {
    /// Whether this server has it.
    pub fn is_open() -> bool {
        use_context::<Self>().is_some()
    }

    /// The fields of a form that show their own errors, if it is one of the workshop's.
    pub fn fields_of(form: &str) -> &'static [&'static str] {
        use_context::<Self>().map_or(&[], |wing| (wing.fields_of)(form))
    }
}

/// The routes, if there are any and the request may be for one of them: the router makes its routes for each request.
///
/// They are one route of the site, as every other child of its list: cargo-leptos builds
/// for development with erased types, where all children have one type.
#[component(transparent)]
pub fn WingRoutes() -> AnyNestedRoute {
    // While the server asks which routes there are, there is no feed.
    let request = use_context::<Parts>().filter(|_| feed().is_ok());
    let is_elsewhere = request.is_some_and(|parts| !parts.uri.path().starts_with("/lab"));
    let wing = use_context::<Wing>().filter(|_| !is_elsewhere);
    let routes = wing.map(|wing| (wing.routes)());
    StaticVec::from(routes.unwrap_or_default()).into_any_nested_route()
}
