//! The door to the workshop. Without the feature `workshop` it is closed (`no_wing.rs`): there is nothing at `/lab`, and
//! no link to it.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::middleware::from_fn_with_state;
use axum::{Extension, Router};
use feed::{Environment, Feed};
use workshop::Workshop;
use workshop::classroom::{self, Reload, Reset};

pub use workshop::api::{EXAMPLES, routes as api};
pub use workshop::{PRIVATE, STARTS};

use crate::cli::ServeOptions;
use crate::error::CliError;
use crate::opening::every_minute;
use crate::town;

/// Adds the stations' pages and forms to the site, in the context of a page.
pub fn provide_pages() {
    leptos::prelude::provide_context(app::Wing {
        routes: workshop::pages::routes,
        fields_of: workshop::pages::fields_of,
    });
}

/// The workshop of this server, and the class that it serves.
pub struct Wing {
    workshop: Workshop,
    reset: Option<Reset>,
    /// What is printed for the class.
    pub invitation: Option<String>,
}

impl Wing {
    /// The workshop over this feed. Where a class meets, its students find this server at the address `classroom`.
    pub fn over(feed: &Feed, classroom: Option<String>) -> Self {
        Self {
            workshop: Workshop::new(feed.clone(), classroom),
            reset: None,
            invitation: None,
        }
    }

    /// The same, where a teacher who shows this secret resets the class.
    pub fn taught(self, secret: [u8; 32], reload: Reload) -> Self {
        let reset = Reset::new(self.workshop.clone(), secret, reload);
        Self {
            reset: Some(reset),
            ..self
        }
    }

    /// The same for a server that listens here. It opens the class that the options ask for, and starts to remove
    /// unused sandboxes and leftovers of a crash.
    pub async fn open(
        feed: &Feed,
        environment: &Environment,
        options: &ServeOptions,
        listening: SocketAddr,
    ) -> Result<Self, CliError> {
        let swept = feed.clone();
        every_minute("removing unused sandboxes", move || {
            let feed = swept.clone();
            async move { workshop::sweep_sandboxes(&feed).await }
        });
        let over = |address| {
            let wing = Self::over(feed, address);
            if options.limited() {
                let workshop = wing.workshop.one_job_at_a_time();
                Self { workshop, ..wing }
            } else {
                wing
            }
        };
        // Without the demo town, a classroom only means that the network is trusted.
        if !options.serves_a_class() {
            return Ok(over(None));
        }
        let addresses = classroom::addresses(listening, options.public_url.as_deref());
        // The likeliest one, or where the server listens.
        let address = addresses.first().cloned();
        let wing = over(address.or_else(|| Some(format!("http://{listening}"))));
        let opened = wing.workshop.open_class().await;
        opened.map_err(|problem| CliError::failed("The classroom cannot be opened", problem.message))?;
        let feed = feed.clone();
        let reload: Reload = Arc::new(move || Box::pin(reload(feed.clone())));
        let mut wing = wing.taught(environment.ids.secret(), reload);
        let invitation = |reset: &Reset| reset.invitation(&addresses, listening);
        wing.invitation = wing.reset.as_ref().map(invitation);
        Ok(wing)
    }

    /// Gives every request to these routes the workshop, and adds the teacher's routes.
    pub fn around(self, routes: Router) -> Router {
        let routes = routes.layer(Extension(self.workshop));
        match self.reset {
            // Around the sessions: they are created and deleted here, too.
            Some(reset) => routes
                .layer(from_fn_with_state(reset.clone(), classroom::take_part))
                .merge(classroom::router(reset)),
            None => routes,
        }
    }
}

/// Loads the same town again: everybody and everything in it is removed, including people who signed up.
async fn reload(feed: Feed) -> document::Result<()> {
    let (claim, recipe) = town::claim_again(feed.store(), feed.fresh_id(feed.now())).await?;
    let town = recipe.make_aside().await;
    let town = town.map_err(|error| document::Error::Unavailable(error.to_string()))?;
    town::load(&claim, &town, &recipe, &|_, _| ()).await
}
