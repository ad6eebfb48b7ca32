//! The pages, their server functions, and the files that they need.

use std::sync::Arc;

use app::notice::own_path;
use app::{App, Description, Links, components, shell};
use axum::extract::{Query, Request, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, COOKIE, VARY};
use axum::http::{HeaderValue, Method, StatusCode};
use axum::middleware::{Next, from_fn, from_fn_with_state, map_response_with_state};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::get;
use axum::{Extension, Router};
use feed::Feed;
use leptos::config::LeptosOptions;
use leptos::prelude::provide_context;
use leptos_axum::{
    LeptosRoutes, file_and_error_handler_with_context,
    generate_route_list_with_exclusions_and_ssg_and_context,
};
use model::Search;
use serde::Deserialize;
use tower_http::services::{ServeDir, ServeFile};
use web::{ErrorResponse, PublicAddress, Session};

use crate::api::DESCRIPTION;
use crate::http::allow_own_scripts;
use crate::kept_pages::{KeptPages, keep};
use crate::site::Site;
use crate::wing;

/// Everything that browsers display: routes of the app, server functions, static files, and the 404 page.
pub fn router(feed: Feed, site: &Site, public: PublicAddress) -> Router {
    let kept = KeptPages::new(feed.clone(), public.clone());
    let offering = feed.clone();
    let context = move || {
        provide_context(feed.clone());
        provide_context(public.clone());
        provide_context(Description(&DESCRIPTION.value));
        wing::provide_pages();
        allow_own_scripts();
    };
    let options = site.options().clone();
    let links = Links::new(options.clone());
    let page = {
        let links = links.clone();
        move || shell(&links)
    };
    let not_found = move |_| shell(&links);
    let fallback = file_and_error_handler_with_context::<LeptosOptions, _>(context.clone(), not_found);
    let (listed, _) = generate_route_list_with_exclusions_and_ssg_and_context(App, None, wing::provide_pages);
    Router::new()
        .leptos_routes_with_context(&options, listed, context, page)
        .fallback(fallback)
        .with_state(options)
        .route("/search/people", get(completions).with_state(offering))
        .layer(from_fn(without_trailing_slash))
        .layer(from_fn(revalidated))
        .layer(from_fn_with_state(kept, keep))
}

/// `/search/people?q=`: the people whom somebody may mean who is typing, as a piece of HTML. `public/completion.js` asks
/// for it.
async fn completions(
    State(feed): State<Feed>,
    Extension(session): Extension<Arc<Session>>,
    Query(typed): Query<Typed>,
) -> Result<Html<String>, ErrorResponse> {
    let typed: Search = typed.q.parse()?;
    Ok(Html(
        components::completions(&feed, session.handle(), &typed).await?,
    ))
}

#[derive(Deserialize)]
struct Typed {
    #[serde(default)]
    q: String,
}

/// Scripts, styles and WebAssembly, as cargo-leptos wrote and compressed them.
pub fn package(site: &Site) -> Router {
    let files = ServeDir::new(site.package())
        .precompressed_br()
        .precompressed_gzip();
    Router::new()
        .nest_service("/pkg", files)
        .layer(map_response_with_state(site.hashed(), kept))
}

/// The files beside the package, such as the icon. Each has a route of its own, because the routes of the pages take
/// any single segment: `/@ada` is one.
pub fn assets(site: &Site) -> Router {
    let routes = site
        .assets()
        .into_iter()
        .fold(Router::new(), |routes, (name, path)| {
            routes.route_service(&format!("/{name}"), ServeFile::new(path))
        });
    routes.layer(map_response_with_state(false, kept))
}

/// Every page has one address: one with a trailing slash is redirected.
async fn without_trailing_slash(request: Request, next: Next) -> Response {
    let uri = request.uri();
    let path = uri.path().trim_end_matches('/');
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    // Some paths lead to another site where they are an address, such as those that begin with two slashes.
    if !is_read || path == uri.path() || own_path(path).is_none() {
        return next.run(request).await;
    }
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    Redirect::permanent(&format!("{path}{query}")).into_response()
}

/// A page shows what its reader may see now. One that shows what somebody did, such as a like, is asked for again on Back;
/// a visitor's may be restored as it was.
async fn revalidated(request: Request, next: Next) -> Response {
    let policy = if request.headers().contains_key(COOKIE) {
        "no-store"
    } else {
        "private, no-cache"
    };
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    if headers
        .get(CONTENT_TYPE)
        .is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"))
    {
        headers
            .entry(CACHE_CONTROL)
            .or_insert(HeaderValue::from_static(policy));
        headers.append(VARY, HeaderValue::from_static("cookie"));
    }
    response
}

/// A file whose name contains a hash of its contents never changes.
async fn kept(State(hashed): State<bool>, mut response: Response) -> Response {
    let policy = match response.status() {
        StatusCode::OK | StatusCode::PARTIAL_CONTENT | StatusCode::NOT_MODIFIED if hashed => {
            "public, max-age=31536000, immutable"
        }
        _ => "no-cache",
    };
    response
        .headers_mut()
        .insert(CACHE_CONTROL, HeaderValue::from_static(policy));
    response
}
