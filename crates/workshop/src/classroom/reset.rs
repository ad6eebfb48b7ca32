use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{FromRequest as _, Request, State};
use axum::http::Method;
use axum::http::header::SET_COOKIE;
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use axum::{Form, Router};
use feed::{Client, SecurityEvent};
use futures::future::BoxFuture;
use model::{Kind, Problem};
use serde::Deserialize;
use tokio::sync::RwLock;
use web::{ErrorResponse, Peer};

use super::address::invitation;
use super::teacher::{self, Token};
use crate::Workshop;
use crate::pages::{DESK, LESSON, NOW, RESET, Teacher, WITHHOLD};

/// The page of the class.
const CLASS: &str = "/lab/class";

/// Removes everybody and everything from the store, and loads the town again that was there at the start.
pub type Reload = Arc<dyn Fn() -> BoxFuture<'static, document::Result<()>> + Send + Sync>;

/// Lets the teacher reset the class: the town as it was at the start, with the same students.
#[derive(Clone)]
pub struct Reset {
    workshop: Workshop,
    token: Token,
    reload: Reload,
    /// Requests hold it for reading until their answer begins; a reset holds it alone.
    town: Arc<RwLock<()>>,
}

impl Reset {
    /// For the class of this workshop. The secret becomes the teacher's token.
    pub fn new(workshop: Workshop, secret: [u8; 32], reload: Reload) -> Self {
        Self {
            workshop,
            token: Token::made_of(&secret),
            reload,
            town: Arc::default(),
        }
    }

    /// The text that a server prints when it starts and listens here: the addresses of the class and of the
    /// teacher.
    pub fn invitation(&self, addresses: &[String], listening: SocketAddr) -> String {
        let mut text = invitation(addresses);
        if let Some(link) = self.token.link(listening) {
            text.push_str("The teacher opens ");
            text.push_str(&link);
            text.push('\n');
        }
        text
    }

    async fn begin(&self) -> Result<(), Problem> {
        let _alone = self.town.write().await;
        let members = self.workshop.class_members().await?;
        (self.reload)().await.map_err(|error| {
            tracing::error!(%error, "the town was not reset");
            // In this case nothing was changed.
            if let document::Error::Refused { message, .. } = error {
                return Problem::new(Kind::Conflict, message);
            }
            Problem::new(
                Kind::Internal,
                "The town was not loaded completely. Stop the server and start it again: it then loads the town from the beginning.",
            )
        })?;
        self.workshop.reopen_class(members).await
    }
}

/// The teacher's routes.
pub fn router(reset: Reset) -> Router {
    Router::new()
        .route(DESK, get(enter))
        .route(RESET, post(begin))
        .route(WITHHOLD, post(withhold))
        .route(LESSON, post(lead))
        .route(NOW, get(now))
        .with_state(reset)
}

/// Turns a browser that presents the token into the teacher's.
async fn enter(State(reset): State<Reset>, request: Request) -> Response {
    if !teacher::is_at_the_server(&request) {
        return teacher::elsewhere().respond(true);
    }
    match reset.token.cookie_for(&request) {
        Some(cookie) => ([(SET_COOKIE, cookie)], Redirect::to(CLASS)).into_response(),
        None => ErrorResponse::from(Problem::new(
            Kind::Forbidden,
            "That is not the token that the server printed when it started. Open the link in its terminal after \
             “The teacher opens”.",
        ))
        .respond(true),
    }
}

async fn begin(State(reset): State<Reset>, request: Request) -> Response {
    if let Err(refusal) = reset.token.require(&request) {
        return refusal.into_response();
    }
    let peer = request.extensions().get().map(|Peer(address)| *address);
    let client = Client { device: None, peer };
    match reset.begin().await {
        Ok(()) => {
            let log = reset.workshop.feed().security();
            log.record(SecurityEvent::ClassReset, None, &client);
            Redirect::to(CLASS).into_response()
        }
        Err(problem) => ErrorResponse::from(problem).into_response(),
    }
}

/// The form beside a post on the teacher's page.
#[derive(Deserialize)]
struct Withheld {
    post: String,
    on: bool,
}

async fn withhold(State(reset): State<Reset>, request: Request) -> Response {
    if let Err(refusal) = reset.token.require(&request) {
        return refusal.into_response();
    }
    let form = Form::<Withheld>::from_request(request, &()).await;
    let done = async {
        let Form(Withheld { post, on }) =
            form.map_err(|error| Problem::invalid("post", error.body_text()))?;
        reset.workshop.withhold(post.parse()?, on).await
    };
    match done.await {
        Ok(()) => Redirect::to(CLASS).into_response(),
        Err(problem) => ErrorResponse::from(problem).into_response(),
    }
}

/// What the class sees next: a station, nothing if it is empty, or the answers to its question.
#[derive(Deserialize)]
struct Shown {
    station: String,
    #[serde(default)]
    reveal: bool,
}

async fn lead(State(reset): State<Reset>, request: Request) -> Response {
    if let Err(refusal) = reset.token.require(&request) {
        return refusal.into_response();
    }
    let form = Form::<Shown>::from_request(request, &()).await;
    let done = async {
        let Form(Shown { station, reveal }) =
            form.map_err(|error| Problem::invalid("station", error.body_text()))?;
        let station = Some(station).filter(|station| !station.is_empty());
        match &station {
            Some(station) if reveal => reset.workshop.reveal(station).await?,
            station => reset.workshop.show_class(station.as_deref()).await?,
        }
        Ok::<_, Problem>(station.map_or(CLASS.to_owned(), |station| format!("/lab/{station}")))
    };
    match done.await {
        Ok(page) => Redirect::to(&page).into_response(),
        Err(problem) => ErrorResponse::from(problem).into_response(),
    }
}

/// The state of the lesson, as a text to compare: whether a browser has to show something else.
async fn now(State(reset): State<Reset>, request: Request) -> Response {
    let is_teacher = reset.token.teacher(&request) == Some(Teacher::Proven);
    match reset.workshop.lesson().await {
        Ok(lesson) => lesson.state(is_teacher).into_response(),
        Err(problem) => ErrorResponse::from(problem).into_response(),
    }
}

/// Middleware around everything that touches the town: waits while it is being loaded, and marks requests by the
/// teacher. Pages of the workshop get the lesson.
pub async fn take_part(State(reset): State<Reset>, mut request: Request, next: Next) -> Response {
    if let Some(teacher) = reset.token.teacher(&request) {
        request.extensions_mut().insert(teacher);
    }
    let _with_others = reset.town.read().await;
    if request.method() == Method::GET && request.uri().path().starts_with("/lab/") {
        match reset.workshop.lesson().await {
            Ok(lesson) => drop(request.extensions_mut().insert(lesson)),
            // The page says what is wrong, if it needs the store.
            Err(problem) => tracing::warn!(problem = problem.message, "the lesson could not be read"),
        }
    }
    next.run(request).await
}
