use std::sync::Arc;

use app::feed::{Environment, Feed};
use app::{BEGIN_ANEW, Teacher};
use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::post;
use model::{Kind, Problem};
use tokio::sync::RwLock;

use crate::http::{Refusal, peer};
use crate::town;

/// Lets the teacher begin anew: the town as it was at the start, and the same class in it.
#[derive(Clone)]
pub struct Anew {
    feed: Feed,
    environment: Environment,
    proxies: usize,
    /// Whoever reads or changes something holds it for as long as their request takes; beginning anew holds it alone.
    town: Arc<RwLock<()>>,
}

impl Anew {
    /// For the class of this feed, behind so many proxies.
    pub fn new(feed: Feed, environment: Environment, proxies: usize) -> Self {
        Self {
            feed,
            environment,
            proxies,
            town: Arc::default(),
        }
    }

    /// Whether a request comes from this very machine.
    fn is_teachers(&self, request: &Request) -> bool {
        peer::of(request, self.proxies).is_loopback()
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
            Problem::new(
                Kind::Internal,
                "The town was not loaded to its end. Stop the server and start it again: it begins anew by itself.",
            )
        })?;
        self.feed.reopen_class(members).await
    }
}

/// The teacher's route.
pub fn router(anew: Anew) -> Router {
    Router::new().route(BEGIN_ANEW, post(begin)).with_state(anew)
}

async fn begin(State(anew): State<Anew>, request: Request) -> Response {
    if !anew.is_teachers(&request) {
        let elsewhere = Problem::new(
            Kind::Forbidden,
            "Only a browser on the server's own machine can begin anew.",
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
    if anew.is_teachers(&request) {
        request.extensions_mut().insert(Teacher);
    }
    let _with_others = anew.town.read().await;
    next.run(request).await
}
