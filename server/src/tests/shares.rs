//! Shares, as feeds and pages list them.

use std::time::Duration;

use axum::Router;
use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE};
use feed::PostList;
use futures::StreamExt as _;
use tokio::time::timeout;

use super::stage::{Answer, Call, PAGE, Stage};

/// How long an announcement may take on a machine that is busy.
const LONG: Duration = Duration::from_mins(1);

const FEED: &str = "/api/v1/feed";

/// Ada, who writes; bob and cem, who share; and dua, who looks and follows bob and cem.
struct Scene {
    stage: Stage,
    app: Router,
    ada: String,
    bob: String,
    cem: String,
    dua: String,
}

impl Scene {
    async fn new() -> Self {
        let stage = Stage::new().await;
        let app = stage.open();
        let scene = Self {
            ada: stage.joins("ada").await,
            bob: stage.joins("bob").await,
            cem: stage.joins("cem").await,
            dua: stage.joins("dua").await,
            stage,
            app,
        };
        for author in ["bob", "cem"] {
            scene.puts(&scene.dua, &format!("/users/{author}/follow")).await;
        }
        scene
    }

    async fn send(&self, cookie: &str, method: Method, path: &str) -> Answer {
        let call = Call::new(method, path).header(COOKIE.as_str(), cookie);
        call.send(&self.app).await
    }

    async fn puts(&self, cookie: &str, path: &str) {
        let answer = self.send(cookie, Method::PUT, &format!("/api/v1{path}")).await;
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
    }

    async fn takes_back(&self, cookie: &str, path: &str) {
        let answer = self.send(cookie, Method::DELETE, &format!("/api/v1{path}")).await;
        assert!([200, 204].contains(&answer.status), "{path}: {answer:?}");
    }

    async fn writes(&self, cookie: &str) -> String {
        self.stage.creates(cookie, "/api/v1/posts").await
    }

    async fn page(&self, cookie: &str, path: &str) -> String {
        let call = Call::new(Method::GET, path).header(ACCEPT.as_str(), PAGE);
        call.header(COOKIE.as_str(), cookie).send(&self.app).await.text
    }

    /// The posts of a page.
    async fn shows(&self, cookie: &str, path: &str) -> Vec<String> {
        let page = self.page(cookie, path).await;
        let parts = page.split("<article").skip(1);
        let id = |part: &str| Some(part.split_once("id=\"post-")?.1.split_once('"')?.0.to_owned());
        parts.filter_map(id).collect()
    }

    /// The posts of a list, each with the handle of its sharer.
    async fn lists(&self, cookie: &str, path: &str) -> Vec<(String, Option<String>)> {
        let list = self.send(cookie, Method::GET, path).await;
        assert_eq!(list.status, 200, "{path}: {list:?}");
        let items = list.body["items"].as_array().unwrap().iter();
        items
            .map(|item| {
                let by = item["sharedBy"]["handle"].as_str().map(str::to_owned);
                assert_eq!(by.is_some(), item["sharedAt"].is_string(), "{item}");
                (item["id"].as_str().unwrap().to_owned(), by)
            })
            .collect()
    }
}

fn plain(post: &str) -> (String, Option<String>) {
    (post.to_owned(), None)
}

fn shared(post: &str, by: &str) -> (String, Option<String>) {
    (post.to_owned(), Some(by.to_owned()))
}

#[tokio::test]
async fn a_share_is_on_the_sharers_page_and_in_their_followers_homes_until_it_is_taken_back() {
    let scene = Scene::new().await;
    assert_eq!(scene.lists(&scene.dua, FEED).await, []);
    let post = scene.writes(&scene.ada).await;
    let own = scene.writes(&scene.bob).await;
    let share = format!("/posts/{post}/share");
    for _ in 0..2 {
        scene.puts(&scene.bob, &share).await;
        let listed = [shared(&post, "bob"), plain(&own)];
        assert_eq!(scene.lists(&scene.dua, FEED).await, listed);
        assert_eq!(scene.shows(&scene.dua, "/@bob").await, [&*post, &own]);
    }
    // Not for the one who shared it, nor for the author.
    assert_eq!(scene.lists(&scene.bob, FEED).await, [plain(&own)]);
    assert_eq!(scene.lists(&scene.ada, FEED).await, [plain(&post)]);
    assert_eq!(scene.shows(&scene.dua, "/@ada").await, [&*post]);
    for path in ["/", "/@bob"] {
        let page = scene.page(&scene.dua, path).await;
        assert_eq!(page.matches("data-testid=\"shared-by\"").count(), 1, "{path}");
    }
    let page = scene.send(&scene.dua, Method::GET, "/@bob/feed.atom").await.text;
    assert!(page.contains(&own) && !page.contains(&post), "{page}");

    scene.takes_back(&scene.bob, &share).await;
    assert_eq!(scene.lists(&scene.dua, FEED).await, [plain(&own)]);
    assert_eq!(scene.shows(&scene.dua, "/@bob").await, [&*own]);
    assert_eq!(scene.stage.documents("sharedPosts").await, []);
}

#[tokio::test]
async fn a_post_that_several_share_is_shown_once_at_the_newest_place_that_the_reader_sees() {
    let scene = Scene::new().await;
    assert_eq!(scene.lists(&scene.dua, FEED).await, []);
    let post = scene.writes(&scene.ada).await;
    scene.puts(&scene.dua, "/users/ada/follow").await;
    assert_eq!(scene.lists(&scene.dua, FEED).await, [plain(&post)]);
    let share = format!("/posts/{post}/share");
    scene.puts(&scene.bob, &share).await;
    let last = scene.writes(&scene.ada).await;
    assert_eq!(
        scene.lists(&scene.dua, FEED).await,
        [plain(&last), shared(&post, "bob")]
    );
    scene.puts(&scene.cem, &share).await;
    assert_eq!(
        scene.lists(&scene.dua, FEED).await,
        [shared(&post, "cem"), plain(&last)]
    );

    // A page at a time, too.
    let mut path = "/api/v1/feed?limit=1".to_owned();
    let mut seen = Vec::new();
    loop {
        seen.extend(scene.lists(&scene.dua, &path).await);
        let page = scene.send(&scene.dua, Method::GET, &path).await;
        let Some(next) = page.body["next"].as_str() else {
            break;
        };
        path = format!("/api/v1/feed?limit=1&cursor={next}");
    }
    assert_eq!(seen, [shared(&post, "cem"), plain(&last)]);

    scene.takes_back(&scene.cem, &share).await;
    assert_eq!(
        scene.lists(&scene.dua, FEED).await,
        [plain(&last), shared(&post, "bob")]
    );
    scene.puts(&scene.cem, &share).await;
    for (path, newest) in [
        ("/users/cem/mute", shared(&post, "bob")),
        ("/users/bob/mute", plain(&post)),
    ] {
        scene.puts(&scene.dua, path).await;
        assert_eq!(
            scene.lists(&scene.dua, FEED).await,
            [plain(&last), newest],
            "{path}"
        );
    }
}

#[tokio::test]
async fn a_share_by_somebody_who_is_suspended_hides_no_other_place_of_the_post() {
    let scene = Scene::new().await;
    scene.puts(&scene.dua, "/users/ada/follow").await;
    assert_eq!(scene.lists(&scene.dua, FEED).await, []);
    let post = scene.writes(&scene.ada).await;
    scene.puts(&scene.bob, &format!("/posts/{post}/share")).await;
    assert_eq!(scene.lists(&scene.dua, FEED).await, [shared(&post, "bob")]);
    let moderation = scene.stage.feed().moderation();
    moderation.suspend(&"bob".parse().unwrap()).await.unwrap();
    assert_eq!(scene.lists(&scene.dua, FEED).await, [plain(&post)]);
}

#[tokio::test]
async fn one_of_ones_own_posts_is_listed_once_even_if_one_shares_it() {
    let scene = Scene::new().await;
    let post = scene.writes(&scene.bob).await;
    scene.puts(&scene.bob, &format!("/posts/{post}/share")).await;
    for path in ["/", "/@bob"] {
        assert_eq!(scene.shows(&scene.dua, path).await, [&*post], "{path}");
    }
}

#[tokio::test]
async fn what_is_deleted_hidden_or_unfollowed_is_shared_no_longer() {
    let scene = Scene::new().await;
    let posts = [
        scene.writes(&scene.ada).await,
        scene.writes(&scene.ada).await,
        scene.writes(&scene.ada).await,
    ];
    for post in &posts {
        scene.puts(&scene.bob, &format!("/posts/{post}/share")).await;
    }
    let [first, second, third] = &posts;
    let home = scene.lists(&scene.dua, FEED).await;
    assert_eq!(home, [third, second, first].map(|post| shared(post, "bob")));
    scene.takes_back(&scene.ada, &format!("/posts/{second}")).await;
    scene.puts(&scene.dua, &format!("/posts/{third}/hidden")).await;
    assert_eq!(scene.lists(&scene.dua, FEED).await, [shared(first, "bob")]);
    scene.takes_back(&scene.dua, "/users/bob/follow").await;
    assert_eq!(scene.lists(&scene.dua, FEED).await, []);
    scene.puts(&scene.dua, "/users/bob/follow").await;
    assert_eq!(scene.lists(&scene.dua, FEED).await, [shared(first, "bob")]);
    scene.puts(&scene.dua, "/users/ada/mute").await;
    assert_eq!(scene.lists(&scene.dua, FEED).await, []);
}

#[tokio::test]
async fn a_share_is_announced_to_those_who_read_the_sharers_posts() {
    let scene = Scene::new().await;
    let announced = async |cookie: &str, list: &str| {
        let call = Call::new(Method::GET, &format!("/api/v1/events?posts={list}"));
        call.header(COOKIE.as_str(), cookie)
            .first_event(&scene.app)
            .await
            .text
    };
    let post = scene.writes(&scene.ada).await;
    scene.puts(&scene.bob, &format!("/posts/{post}/share")).await;
    for list in ["home", "bob"] {
        let after = announced(&scene.dua, list).await;
        assert!(after.contains(r#"{"newer":1}"#), "{list}: {after}");
    }
    scene.puts(&scene.dua, "/users/ada/block").await;
    for list in ["home", "bob"] {
        let hidden = announced(&scene.dua, list).await;
        assert!(hidden.contains(r#"{"newer":0}"#), "{list}: {hidden}");
    }
}

#[tokio::test]
async fn an_open_page_is_told_of_a_share() {
    let scene = Scene::new().await;
    let post = scene.writes(&scene.ada).await;
    let live = scene.stage.feed().live();
    let mut watched = live.watch_posts(PostList::Home, Some("dua".parse().unwrap()), None);
    assert_eq!(watched.next().await, Some(0));
    scene.puts(&scene.bob, &format!("/posts/{post}/share")).await;
    let told = timeout(LONG, watched.next()).await;
    assert_eq!(told.expect("it is announced"), Some(1));
}
