//! The door to the workshop. Without the feature `workshop` it is closed: there is nothing at `/lab`, and no link to
//! it.

use axum::Router;
use feed::Feed;
use utoipa_axum::router::OpenApiRouter;

use api::Api;

/// The API of the stations.
#[cfg(feature = "workshop")]
pub fn api() -> OpenApiRouter<Api> {
    crate::api::stations()
}

#[cfg(not(feature = "workshop"))]
pub fn api() -> OpenApiRouter<Api> {
    OpenApiRouter::default()
}

/// Adds the stations' pages to the site, in the context of a page.
pub fn provide_pages() {
    #[cfg(feature = "workshop")]
    leptos::prelude::provide_context(app::Wing(workshop::pages::routes));
}

/// Gives every request the workshop over this feed.
pub fn open(routes: Router, feed: &Feed) -> Router {
    #[cfg(feature = "workshop")]
    let routes = routes.layer(axum::Extension(workshop::Workshop::new(feed.clone())));
    #[cfg(not(feature = "workshop"))]
    let _ = feed;
    routes
}

/// Starts to remove the workshop's unused sandboxes, and leftovers of a crash.
pub fn sweep(feed: &Feed) {
    #[cfg(feature = "workshop")]
    tokio::spawn(sweep_every_minute(feed.clone()));
    #[cfg(not(feature = "workshop"))]
    let _ = feed;
}

/// Sweeps at the start and about once a minute.
#[cfg(feature = "workshop")]
async fn sweep_every_minute(feed: Feed) {
    let mut minute = tokio::time::interval(crate::opening::MINUTE);
    loop {
        minute.tick().await;
        match workshop::sweep_sandboxes(&feed).await {
            Ok(0) => {}
            Ok(sandboxes) => tracing::info!(sandboxes, "unused sandboxes were removed"),
            Err(error) => tracing::warn!(%error, "unused sandboxes could not be removed"),
        }
    }
}
