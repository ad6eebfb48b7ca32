//! Pages that another crate adds to the site.

use leptos::prelude::*;
use leptos::tachys::view::iterators::StaticVec;
use leptos_router::any_nested_route::AnyNestedRoute;

/// The routes of the workshop, whose front page is at `/lab`. The server provides them in the context of every page;
/// without them, no page links there.
#[derive(Clone, Copy)]
pub struct Wing(pub fn() -> Vec<AnyNestedRoute>);

impl Wing {
    /// Whether this server has it.
    pub fn is_open() -> bool {
        use_context::<Self>().is_some()
    }
}

/// The routes, if there are any.
#[component(transparent)]
pub fn WingRoutes() -> StaticVec<AnyNestedRoute> {
    use_context::<Wing>()
        .map(|Wing(routes)| routes())
        .unwrap_or_default()
        .into()
}
