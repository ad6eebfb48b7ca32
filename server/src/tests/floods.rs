//! What one peer, or all together, may keep open: bodies that do not arrive, answers that nobody reads, event streams
//! and exports. Each refusal says when to try again, and keeps out nobody who has less.

use std::io;
use std::net::SocketAddr;
use std::num::NonZeroU32;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::header::{CONTENT_TYPE, COOKIE, USER_AGENT};
use axum::http::{Method, Request};
use axum::response::Response;
use feed::{Client, PostList, SecurityEvent};
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, stream};
use model::{Handle, Kind, Topic};
use tower::ServiceExt as _;

use super::stage::{Call, JSON, Stage};

const ONE: [u8; 4] = [192, 0, 2, 1];
const OTHER: [u8; 4] = [192, 0, 2, 2];

/// The application where no quota of requests is met.
fn limited(stage: &Stage) -> Router {
    stage.limited(|quotas| &mut quotas.shared_tries)
}

fn get(peer: [u8; 4], path: &str) -> Call {
    Call::new(Method::GET, path).from(peer)
}

#[track_caller]
fn is_refusal(answer: &Response, status: u16) {
    assert_eq!(answer.status(), status, "{answer:?}");
    let wait = answer.headers()["retry-after"].to_str().unwrap();
    assert_ne!(wait.parse::<u64>().unwrap(), 0);
}

/// A request whose body begins and never ends, as far as it is answered at once.
fn half_sent(app: &Router, peer: [u8; 4]) -> Result<Response, BoxFuture<'static, Response>> {
    let beginning = stream::once(async { Ok::<_, io::Error>("{") });
    let request = Request::post("/api/v1/session")
        .header(CONTENT_TYPE, JSON)
        .extension(ConnectInfo(SocketAddr::from((peer, 4711))))
        .body(Body::from_stream(beginning.chain(stream::pending())));
    let answer = app.clone().oneshot(request.unwrap());
    let mut answer = answer.map(Result::unwrap).boxed();
    (&mut answer).now_or_never().ok_or(answer)
}

#[tokio::test]
async fn bodies_that_do_not_arrive_are_bounded_for_a_peer_and_in_all() {
    let stage = Stage::new().await;
    let app = limited(&stage);
    let mut of_one: Vec<_> = (0..64).map(|_| half_sent(&app, ONE).err().unwrap()).collect();
    let refused = half_sent(&app, ONE).ok().unwrap();
    is_refusal(&refused, 429);
    assert_eq!(refused.headers()["connection"], "close");
    of_one.pop();
    of_one.push(half_sent(&app, ONE).err().unwrap());

    let peers = (0..15).flat_map(|peer| [[198, 51, 100, peer]; 64]);
    let others: Vec<_> = peers.map(|peer| half_sent(&app, peer).err().unwrap()).collect();
    is_refusal(&half_sent(&app, OTHER).ok().unwrap(), 429);
    drop(others);
    assert!(half_sent(&app, OTHER).is_err(), "there is room again");
}

#[tokio::test]
async fn answers_that_a_peer_does_not_read_are_bounded() {
    let stage = Stage::new().await;
    for (path, accepted) in [("/healthz", "identity"), ("/explore", "gzip")] {
        let app = limited(&stage);
        let asks = async |peer| {
            let call = get(peer, path).header("accept-encoding", accepted);
            call.answered(&app).await
        };
        let mut unread = Vec::new();
        for _ in 0..128 {
            unread.push(asks(ONE).await);
        }
        assert!(unread.iter().all(|answer| answer.status() == 200));
        is_refusal(&asks(ONE).await, 429);
        assert_eq!(asks(OTHER).await.status(), 200);
        unread.pop();
        let answer = asks(ONE).await;
        assert_eq!(answer.status(), 200);
        assert!(answer.headers().get("connection").is_none());
    }
}

#[tokio::test]
async fn event_streams_are_bounded_for_a_peer_and_in_all() {
    let stage = Stage::new().await;
    let app = stage.open();
    let opens = async |peer| get(peer, "/api/v1/events?posts=home").answered(&app).await;
    let mut open = Vec::new();
    for peer in 1..=6 {
        for _ in 0..1_000 {
            let answer = opens([192, 0, 2, peer]).await;
            assert_eq!(answer.status(), 200);
            open.push(answer);
        }
        if peer == 1 {
            is_refusal(&opens(ONE).await, 429);
        }
    }
    is_refusal(&opens([192, 0, 2, 9]).await, 503);
    let log = stage.feed().security();
    assert_eq!(log.count(SecurityEvent::StreamRefused), 2);
    open.clear();
    assert_eq!(opens([192, 0, 2, 9]).await.status(), 200);
}

/// The path of an event stream with so many topics, of which one exists.
fn topics(many: usize) -> String {
    let nobodies = (1..many).map(|nth| format!("&topic=user:nobody-{nth}"));
    let nobodies: String = nobodies.collect();
    format!("/api/v1/events?topic=user:ada{nobodies}")
}

#[tokio::test]
async fn the_topics_of_a_peers_event_streams_are_bounded_together() {
    let stage = Stage::new().await;
    stage.joins("ada").await;
    let app = stage.open();
    let path = topics(100);
    let mut open = Vec::new();
    for _ in 0..160 {
        open.push(get(ONE, &path).answered(&app).await);
    }
    assert!(open.iter().all(|answer| answer.status() == 200));
    is_refusal(&get(ONE, &topics(1)).answered(&app).await, 429);
    assert_eq!(get(OTHER, &path).answered(&app).await.status(), 200);
    open.pop();
    assert_eq!(get(ONE, &path).answered(&app).await.status(), 200);
}

#[tokio::test]
async fn the_different_topics_that_are_watched_are_bounded() {
    let stage = Stage::new().await;
    let live = stage.feed().live();
    let person = |nth: u32| Topic::User(format!("person{nth}").parse().unwrap());
    let topics: Vec<Topic> = (0..24_000).map(person).collect();
    let watching = live.watch(&topics, None).unwrap();
    let refused = live.watch(&[person(24_000)], None).err().unwrap();
    assert_eq!(refused.kind, Kind::Unavailable);
    assert!(refused.wait.is_some() && live.watch(&[person(7)], None).is_ok());
    drop(watching);
}

#[tokio::test]
async fn an_event_stream_counts_as_more_reads_the_more_topics_it_has() {
    let stage = Stage::new().await;
    stage.joins("ada").await;
    for (many, status) in [(9, 200), (10, 429), (100, 429)] {
        let one_read = stage.limited(|quotas| &mut quotas.reads);
        let answer = get(ONE, &topics(many)).answered(&one_read).await;
        assert_eq!(answer.status(), status, "{many} topics");
    }
}

#[tokio::test]
async fn a_search_a_ranking_or_a_picture_counts_as_ten_reads() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    let post = stage.creates(&cookie, "/api/v1/posts").await;
    let card = format!("/post/{post}/card.png");
    let limited = |reads: u32| stage.limited_to(|quotas| &mut quotas.reads, NonZeroU32::new(reads).unwrap());
    for path in [
        "/search?q=the",
        "/search/people?q=the",
        "/api/v1/search?q=the",
        "/explore?order=rising",
        &card,
        "/api/v1/explore?order=%72ising",
    ] {
        assert_eq!(
            get(ONE, path).answered(&limited(10)).await.status(),
            200,
            "{path}"
        );
        is_refusal(&get(ONE, path).answered(&limited(9)).await, 429);
    }
}

#[tokio::test]
async fn a_home_that_many_pages_wait_for_is_read_once_for_each_announcement() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    stage.creates(&cookie, "/api/v1/posts").await;
    let ada: Handle = "ada".parse().unwrap();
    // So that nothing is announced again meanwhile, however busy the machine is.
    tokio::time::pause();
    let operations = async |pages: usize| {
        let waiting = (0..pages).map(|_| {
            stage
                .feed()
                .live()
                .watch_posts(PostList::Home, Some(ada.clone()), None)
        });
        let before = stage.operations();
        for mut page in waiting.collect::<Vec<_>>() {
            assert_eq!(page.next().await, Some(1));
        }
        stage.operations() - before
    };
    let (one, many) = (operations(1).await, operations(50).await);
    assert!(many <= one + 5, "{one} operations for one page, {many} for fifty");
}

#[tokio::test]
async fn exports_are_bounded_for_a_person_for_a_peer_and_in_all() {
    let stage = Stage::new().await;
    let app = stage.open();
    let mut cookies = Vec::new();
    for nth in 0..9 {
        cookies.push(stage.joins(&format!("person{nth}")).await);
    }
    let exports = async |peer: u8, cookie: &String| {
        let call = get([192, 0, 2, peer], "/api/v1/me/export").header(COOKIE.as_str(), cookie);
        call.answered(&app).await
    };
    let mut unread = vec![exports(1, &cookies[0]).await];
    is_refusal(&exports(2, &cookies[0]).await, 429);
    unread.push(exports(1, &cookies[1]).await);
    is_refusal(&exports(1, &cookies[2]).await, 429);
    for (nth, cookie) in (2..8).zip(&cookies[2..8]) {
        unread.push(exports(nth, cookie).await);
    }
    assert!(unread.iter().all(|answer| answer.status() == 200));
    is_refusal(&exports(9, &cookies[8]).await, 503);
    let log = stage.feed().security();
    assert_eq!(log.count(SecurityEvent::Limited), 3);
    unread.clear();
    for cookie in [&cookies[0], &cookies[8]] {
        let whole = get(ONE, "/api/v1/me/export").header(COOKIE.as_str(), cookie);
        assert_eq!(whole.send(&app).await.status, 200);
    }
}

/// Somebody who signs in as bob of the demo town.
async fn stranger(stage: &Stage, browser: &str) -> String {
    let call = Call::new(Method::POST, "/api/sign_in_as_demo").header(USER_AGENT.as_str(), browser);
    let form = call.body("application/x-www-form-urlencoded", "handle=bob");
    form.send(&stage.open()).await.cookie()
}

#[tokio::test]
async fn the_export_of_a_demo_person_has_the_session_of_whoever_asks_and_no_strangers() {
    let stage = Stage::new().await;
    stage.joins("bob").await;
    stage.forgets_the_password_of("bob").await;
    stranger(
        &stage,
        "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    )
    .await;
    let cookie = stranger(&stage, "curl/8.5.0").await;
    let call = get(ONE, "/api/v1/me/export").header(COOKIE.as_str(), &cookie);
    let export = call.send(&stage.open()).await;
    let sessions = export.body["sessions"].as_array().unwrap();
    assert_eq!(sessions.len(), 1, "{sessions:?}");
    let device = sessions[0]["device"].as_str().unwrap();
    assert!(device.contains("curl"), "{sessions:?}");
}

#[tokio::test]
async fn a_demo_person_has_about_a_thousand_sessions_and_the_oldest_end() {
    let stage = Stage::new().await;
    stage.joins("bob").await;
    stage.forgets_the_password_of("bob").await;
    let (bob, client) = ("bob".parse().unwrap(), Client::default());
    let accounts = stage.feed().accounts();
    let mut tokens = Vec::new();
    for _ in 0..1_300 {
        let (_, token) = accounts.sign_in_as_demo(&bob, &client).await.unwrap();
        stage.clock.wait(1);
        tokens.push(token);
    }
    let kept = stage.documents("sessions").await.len();
    assert!((1_000..1_200).contains(&kept), "{kept}");
    assert!(accounts.session(&tokens[0]).await.unwrap().is_none());
    let newest = tokens.last().unwrap();
    assert!(accounts.session(newest).await.unwrap().is_some());
}
