use std::net::SocketAddr;
use std::sync::Arc;

use app::feed::{Environment, Feed};
use app::{BEGIN_ANEW, Teacher};
use axum::Router;
use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::post;
use model::{Kind, Problem};
use tokio::sync::RwLock;

use crate::http::{Refusal, is_sent_to_this_machine};
use crate::town;

/// What proxies and tunnels add.
const FORWARDED: [&str; 4] = ["forwarded", "via", "x-forwarded-for", "x-real-ip"];

/// Lets the teacher begin anew: the town as it was at the start, and the same class in it.
#[derive(Clone)]
pub struct Anew {
    feed: Feed,
    environment: Environment,
    /// Whoever reads or changes something holds it until their answer begins; beginning anew holds it alone.
    town: Arc<RwLock<()>>,
}

impl Anew {
    /// For the class of this feed.
    pub fn new(feed: Feed, environment: Environment) -> Self {
        Self {
            feed,
            environment,
            town: Arc::default(),
        }
    }

    async fn begin(&self) -> Result<(), Problem> {
        let _alone = self.town.write().await;
        let members = self.feed.class_members().await?;
        let id = self.environment.ids.uuid(self.environment.now());
        let reload = async {
            let (claim, recipe) = town::claim_anew(self.feed.store(), id).await?;
            let made = {
                let recipe = recipe.clone();
                tokio::task::spawn_blocking(move || recipe.make()).await
            };
            let made = made.map_err(|error| store::Error::Unavailable(error.to_string()))?;
            town::load(&claim, &made, &recipe, &|_, _| ()).await
        };
        reload.await.map_err(|error| {
            tracing::error!(%error, "the town was not loaded anew");
            // Then nothing was changed.
            if let store::Error::Refused { message, .. } = error {
                return Problem::new(Kind::Conflict, message);
            }
            Problem::new(
                Kind::Internal,
                "The town was not loaded to its end. Stop the server and start it again: it begins anew by itself.",
            )
        })?;
        self.feed.reopen_class(members).await
    }
}

/// Whether a request comes from a browser on this very machine, by an address that leads nowhere else. What a proxy or a
/// tunnel on this machine sends on comes from elsewhere; so may what a foreign name was made to lead here.
fn is_teachers(request: &Request) -> bool {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    let from_here = peer.is_some_and(|ConnectInfo(peer)| peer.ip().to_canonical().is_loopback());
    let forwarded = FORWARDED.iter().any(|name| request.headers().contains_key(*name));
    from_here && !forwarded && is_sent_to_this_machine(request)
}

/// The teacher's route.
pub fn router(anew: Anew) -> Router {
    Router::new().route(BEGIN_ANEW, post(begin)).with_state(anew)
}

async fn begin(State(anew): State<Anew>, request: Request) -> Response {
    if !is_teachers(&request) {
        let elsewhere = Problem::new(
            Kind::Forbidden,
            "Only a browser on the server's own machine, at its address http://127.0.0.1, can begin anew.",
        );
        return Refusal::from(elsewhere).into_response();
    }
    match anew.begin().await {
        Ok(()) => Redirect::to("/lab/class").into_response(),
        Err(problem) => Refusal::from(problem).into_response(),
    }
}

/// Middleware around everything that touches the town: waits while it is loaded, and marks who teaches.
pub async fn take_part(State(anew): State<Anew>, mut request: Request, next: Next) -> Response {
    if is_teachers(&request) {
        request.extensions_mut().insert(Teacher);
    }
    let _with_others = anew.town.read().await;
    next.run(request).await
}
