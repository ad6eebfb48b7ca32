use std::sync::Arc;

use leptos::config::LeptosOptions;
use leptos::nonce::{provide_nonce, use_nonce};
use leptos::prelude::*;
use leptos::tachys::html::InertElement;
use leptos_meta::{HashedStylesheet, MetaTags};

use ui::components::ICON;

use super::App;
use super::scripts::Scripts;
use crate::render::outside_of_requests;

/// The links to the style sheet and the scripts. Leptos would read their names from the disk for each page.
#[derive(Debug, Clone)]
pub struct Links(Arc<[String]>);

impl Links {
    /// The links to the files that the options name.
    pub fn new(options: LeptosOptions) -> Self {
        let mut stand_in = String::new();
        let html = outside_of_requests(|| {
            provide_nonce();
            stand_in = nonce();
            view! {
                <HashedStylesheet options=options.clone() />
                <Scripts options />
            }
        });
        Self(html.split(&stand_in).map(str::to_owned).collect())
    }

    /// The links, with the nonce of this answer.
    fn view(&self) -> impl IntoView {
        // What follows is static, except for islands.
        if let Some(context) = Owner::current_shared_context() {
            context.set_is_hydrating(false);
        }
        InertElement::new(self.0.join(&nonce()))
    }
}

/// The nonce of the answer that is being rendered.
fn nonce() -> String {
    use_nonce().map(|nonce| nonce.to_string()).unwrap_or_default()
}

/// The HTML document around the app. Its type is erased, so that it is compiled here, and not again for each kind of
/// route in the server.
pub fn shell(links: &Links) -> AnyView {
    view! {
        <!DOCTYPE html>
        <html lang="en">
            <head>
                <meta charset="utf-8" />
                <meta name="viewport" content="width=device-width, initial-scale=1" />
                <meta name="color-scheme" content="light dark" />
                <meta name="theme-color" media="(prefers-color-scheme: light)" content="#fbfaf7" />
                <meta name="theme-color" media="(prefers-color-scheme: dark)" content="#10171b" />
                <link rel="icon" href=ICON type="image/svg+xml" />
                <link rel="apple-touch-icon" href="/apple-touch-icon.png" />
                <link rel="manifest" href="/manifest.webmanifest" />
                {links.view()}
                <MetaTags />
            </head>
            <body>
                <App />
            </body>
        </html>
    }
    .into_any()
}
