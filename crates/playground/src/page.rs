//! The document of a page.

use any_spawner::Executor;
use axum::http::Request;
use futures::stream::{StreamExt as _, once};
use leptos::prelude::*;
use leptos_integration_utils::build_response;
use leptos_meta::{MetaTags, ServerMetaContext, provide_meta_context};
use ui::components::{ICON, Wordmark};
use ui::problem::NotFound;
use workshop::pages::{Tour, page_without_a_server};

use crate::front::FrontPage;

/// The page of an address.
///
/// # Errors
/// It is not an address.
pub async fn html(address: &str) -> Result<String, axum::http::Error> {
    let (request, ()) = Request::get(address).body(())?.into_parts();
    let station = request.uri.path().to_owned();
    let tokio_is_set_once = Executor::init_tokio();
    debug_assert!(tokio_is_set_once.is_ok(), "one page per process");
    let (meta, head) = ServerMetaContext::new();
    let context = move || {
        provide_context(request);
        provide_context(meta);
        provide_context(Tour::WITHOUT_A_SERVER);
    };
    let (owner, stream) = build_response(
        move || view! { <Document station /> },
        context,
        |page, _, _| Box::pin(async move { Box::pin(page.to_html_stream_in_order()) as _ }),
        false,
    );
    // What belongs into the head is known once everything is rendered.
    let body: String = stream.await.collect().await;
    let whole = Box::pin(once(async move { body }));
    let html: String = head.inject_meta_context(whole).await.collect().await;
    owner.unset_with_forced_cleanup();
    // No island finds its texts by these marks here.
    Ok(html.replace("<!>", ""))
}

#[component]
fn Document(
    /// The address without its query.
    station: String,
) -> impl IntoView {
    provide_meta_context();
    let page = match station.as_str() {
        "/lab" => FrontPage().into_any(),
        path => page_without_a_server(path).unwrap_or_else(|| NotFound().into_any()),
    };
    view! {
        <!DOCTYPE html>
        <html lang="en" data-station=station>
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <link rel="icon" href=ICON type="image/svg+xml" />
                <link rel="stylesheet" href="/playground.css" />
                <script src="/waiting.js"></script>
                <script type="module" src="/playground.js"></script>
                <MetaTags />
            </head>
            <body>
                <a class="skip" href="#main">
                    "Skip to the content"
                </a>
                <Masthead />
                <div class="columns">
                    <main id="main" tabindex="-1">
                        <noscript>
                            <p class="banner">
                                "Without JavaScript, each page here shows only how it begins: your browser does the work that a server would do."
                            </p>
                        </noscript>
                        <p id="failure" class="banner" role="alert" hidden></p>
                        {page}
                    </main>
                </div>
            </body>
        </html>
    }
}

#[component]
fn Masthead() -> impl IntoView {
    view! {
        <header class="masthead">
            <div class="masthead-inner">
                <a class="wordmark" href="/lab" aria-label="Spillway, front page of the playground">
                    <Wordmark />
                </a>
                <nav class="masthead-nav" aria-label="Main">
                    <a href="/lab/race">"Race"</a>
                    <a href="/lab/crash">"Crash"</a>
                    <a href="/lab/trace">"Trace"</a>
                    <a href="/lab/decide">"Decide"</a>
                </nav>
            </div>
        </header>
    }
}
