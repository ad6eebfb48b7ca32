use leptos::config::LeptosOptions;
use leptos::hydration::HydrationScripts;
use leptos::prelude::*;
use leptos_meta::{HashedStylesheet, MetaTags};

use super::App;

/// The HTML document around the app. Its type is erased, so that it is compiled here, and not again for each kind of
/// route in the server.
pub fn shell(options: LeptosOptions) -> AnyView {
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <meta name="theme-color" media="(prefers-color-scheme: light)" content="#fbfaf7" />
                <meta name="theme-color" media="(prefers-color-scheme: dark)" content="#10171b" />
                <meta
                    name="description"
                    content="A social feed that shows how MongoDB's outlier pattern keeps documents small: watch the head of a list fill, and its pages stack up."
                />
                <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
                <HashedStylesheet options=options.clone() />
                <HydrationScripts options islands=true />
                <MetaTags />
            </head>
            <body>
                <App />
            </body>
        </html>
    }
    .into_any()
}
