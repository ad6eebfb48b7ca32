//! Muting and blocking over the API and on pages.

use axum::Router;
use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE};

use super::stage::{Answer, Call, JSON, PAGE, Stage};

pub(super) async fn send(app: &Router, cookie: &str, method: Method, path: &str) -> Answer {
    let call = Call::new(method, path).header(COOKIE.as_str(), cookie);
    call.send(app).await
}

pub(super) async fn put(app: &Router, cookie: &str, path: &str) -> Answer {
    let answer = send(app, cookie, Method::PUT, path).await;
    assert_eq!(answer.status, 200, "{path}: {answer:?}");
    answer
}

pub(super) async fn write(app: &Router, cookie: &str, path: &str, text: &str) -> String {
    let call = Call::new(Method::POST, path)
        .header(COOKIE.as_str(), cookie)
        .body(JSON, format!(r#"{{"text":"{text}"}}"#));
    let answer = call.send(app).await;
    assert_eq!(answer.status, 201, "{path}: {answer:?}");
    answer.body["id"].as_str().unwrap().to_owned()
}

/// The handles in a list, by this field of its items.
pub(super) async fn listed(app: &Router, cookie: &str, path: &str, field: &str) -> Vec<String> {
    let list = send(app, cookie, Method::GET, path).await;
    assert_eq!(list.status, 200, "{path}: {list:?}");
    let items = list.body["items"].as_array().unwrap().iter();
    let handle = |item: &serde_json::Value| item[field]["handle"].as_str().unwrap().to_owned();
    items.map(handle).collect()
}

/// The lists of posts in which ada and bob meet.
const LISTS: [&str; 5] = [
    "/api/v1/feed",
    "/api/v1/explore",
    "/api/v1/tags/weir",
    "/api/v1/search?q=weir",
    "/api/v1/search?q=weir&order=liked",
];

pub(super) async fn sees(app: &Router, cookie: &str, author: &str) -> Vec<bool> {
    let mut seen = Vec::new();
    for list in LISTS {
        let authors = listed(app, cookie, list, "author").await;
        seen.push(authors.iter().any(|by| by == author));
    }
    seen
}

pub(super) struct Scene {
    pub stage: Stage,
    pub app: Router,
    pub ada: String,
    pub bob: String,
    /// A post by bob.
    pub post: String,
}

impl Scene {
    /// Ada and bob follow each other, and each has a post.
    pub async fn new() -> Self {
        let stage = Stage::new().await;
        let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
        let app = stage.open();
        put(&app, &ada, "/api/v1/users/bob/follow").await;
        put(&app, &bob, "/api/v1/users/ada/follow").await;
        write(&app, &ada, "/api/v1/posts", "I love the #weir").await;
        let post = write(&app, &bob, "/api/v1/posts", "The #weir is open").await;
        let scene = Self {
            stage,
            app,
            ada,
            bob,
            post,
        };
        assert_eq!(sees(&scene.app, &scene.ada, "bob").await, [true; 5]);
        assert_eq!(sees(&scene.app, &scene.bob, "ada").await, [true; 5]);
        scene
    }

    pub async fn follows(&self, cookie: &str, handle: &str) -> bool {
        let person = send(&self.app, cookie, Method::GET, &format!("/api/v1/users/{handle}")).await;
        person.body["followed"] == true
    }

    pub async fn page(&self, cookie: &str, path: &str) -> Answer {
        let call = Call::new(Method::GET, path)
            .header(ACCEPT.as_str(), PAGE)
            .header(COOKIE.as_str(), cookie);
        call.send(&self.app).await
    }
}

#[tokio::test]
async fn posts_of_a_muted_person_are_only_on_their_own_page_and_they_do_not_learn_of_it() {
    let scene = Scene::new().await;
    let Scene { app, ada, bob, .. } = &scene;
    for _ in 0..2 {
        let muted = put(app, ada, "/api/v1/users/bob/mute").await;
        assert_eq!(
            (&muted.body["active"], &muted.body["count"]),
            (&true.into(), &1.into())
        );
    }
    assert_eq!(sees(app, ada, "bob").await, [false; 5]);
    assert_eq!(sees(app, bob, "ada").await, [true; 5]);
    assert_eq!(sees(app, "", "bob").await[1..], [true; 4]);
    assert_eq!(listed(app, ada, "/api/v1/users/ada/mutes", "user").await, ["bob"]);
    for cookie in [&**bob, ""] {
        let theirs = send(app, cookie, Method::GET, "/api/v1/users/ada/mutes").await;
        assert!([401, 403].contains(&theirs.status), "{theirs:?}");
    }
    assert!(scene.follows(ada, "bob").await && scene.follows(bob, "ada").await);
    let page = scene.page(ada, "/@bob").await.text;
    assert!(
        page.contains("You mute @bob.") && page.contains("Unmute @bob") && page.contains("is open"),
        "{page}"
    );
    let page = scene.page(bob, "/@ada").await.text;
    assert!(
        !page.contains("mutes you") && page.contains("I love the"),
        "{page}"
    );

    for _ in 0..2 {
        let answer = send(app, ada, Method::DELETE, "/api/v1/users/bob/mute").await;
        assert_eq!((answer.status, &answer.body["count"]), (200, &0.into()));
    }
    assert_eq!(sees(app, ada, "bob").await, [true; 5]);
}

#[tokio::test]
async fn a_share_of_a_muted_person_s_post_is_not_on_the_sharer_s_page() {
    let scene = Scene::new().await;
    let (app, ada) = (&scene.app, &scene.ada);
    let cat = scene.stage.joins("cat").await;
    put(app, &cat, &format!("/api/v1/posts/{}/share", scene.post)).await;
    let by = |handle: &str| format!("/api/v1/users/{handle}/posts");
    assert_eq!(listed(app, ada, &by("cat"), "author").await, ["bob"]);
    put(app, ada, "/api/v1/users/bob/mute").await;
    assert_eq!(listed(app, ada, &by("cat"), "author").await, [""; 0]);
    assert_eq!(listed(app, ada, &by("bob"), "author").await, ["bob"]);
    assert_eq!(listed(app, "", &by("cat"), "author").await, ["bob"]);
}

#[tokio::test]
async fn the_activity_of_a_third_person_does_not_show_what_is_restricted() {
    let scene = Scene::new().await;
    let cat = scene.stage.joins("cat").await;
    let (app, ada) = (&scene.app, &scene.ada);
    put(app, &cat, &format!("/api/v1/posts/{}/like", scene.post)).await;
    put(app, &cat, "/api/v1/users/bob/follow").await;
    let (text, follow) = ("</bdi> is open", "Followed");
    let shown = scene.page(ada, "/@cat/activity").await.text;
    assert!(shown.contains(text) && shown.contains("@bob"), "{shown}");

    put(app, ada, "/api/v1/users/bob/mute").await;
    let shown = scene.page(ada, "/@cat/activity").await.text;
    assert!(!shown.contains(text) && shown.contains(follow), "{shown}");
    send(app, ada, Method::DELETE, "/api/v1/users/bob/mute").await;

    for (blocker, other) in [(ada, "bob"), (&scene.bob, "ada")] {
        put(app, blocker, &format!("/api/v1/users/{other}/block")).await;
        let shown = scene.page(ada, "/@cat/activity").await.text;
        assert!(!shown.contains(text), "{shown}");
        assert!(shown.contains("a post that is not here"), "{shown}");
        send(
            app,
            blocker,
            Method::DELETE,
            &format!("/api/v1/users/{other}/block"),
        )
        .await;
    }
}

#[tokio::test]
async fn nobody_restricts_themselves_or_somebody_who_is_not_there() {
    let scene = Scene::new().await;
    for action in ["mute", "block"] {
        let own = send(
            &scene.app,
            &scene.ada,
            Method::PUT,
            &format!("/api/v1/users/ada/{action}"),
        )
        .await;
        assert_eq!(
            (own.status, &own.body["field"]),
            (422, &"handle".into()),
            "{own:?}"
        );
        let nobody = send(
            &scene.app,
            &scene.ada,
            Method::PUT,
            &format!("/api/v1/users/eve/{action}"),
        )
        .await;
        assert_eq!(nobody.status, 404, "{nobody:?}");
        let path = format!("/api/v1/users/eve/{action}");
        let nobody = send(&scene.app, &scene.ada, Method::DELETE, &path).await;
        assert_eq!(nobody.status, 404, "{nobody:?}");
        let list = format!("/api/v1/users/ada/{action}s");
        assert!(listed(&scene.app, &scene.ada, &list, "user").await.is_empty());
    }
}

#[tokio::test]
async fn comments_and_notifications_of_a_restricted_person_are_hidden_and_later_ones_not_told() {
    for (action, hidden_from_bob) in [("mute", false), ("block", true)] {
        let scene = Scene::new().await;
        let Scene {
            app, ada, bob, stage, ..
        } = &scene;
        let cleo = stage.joins("cleo").await;
        let post = write(app, &cleo, "/api/v1/posts", "Who is there?").await;
        let comments = format!("/api/v1/posts/{post}/comments");
        write(app, bob, &comments, "Me, and @ada").await;
        write(app, ada, &comments, "Me").await;
        stage.feed().notifications().are_told().await;
        let told = "/api/v1/users/ada/notifications";
        let before = send(app, ada, Method::GET, told).await;
        assert_eq!(before.body["unread"], 2, "a follow and a mention: {before:?}");

        put(app, ada, &format!("/api/v1/users/bob/{action}")).await;
        assert_eq!(listed(app, ada, &comments, "user").await, ["ada"]);
        let seen_by_bob = listed(app, bob, &comments, "user").await;
        assert_eq!(seen_by_bob.len(), if hidden_from_bob { 1 } else { 2 }, "{action}");
        assert_eq!(listed(app, &cleo, &comments, "user").await, ["ada", "bob"]);
        assert!(listed(app, ada, told, "by").await.is_empty(), "{action}");

        write(app, bob, "/api/v1/posts", "Where is @ada?").await;
        write(app, bob, &comments, "Yes, where is @ada?").await;
        stage.feed().notifications().are_told().await;
        let after = send(app, ada, Method::GET, told).await;
        assert_eq!(after.body["unread"], 0, "{action}: {after:?}");
    }
}

#[tokio::test]
async fn a_hidden_post_is_in_no_feed_of_its_reader_and_everywhere_else() {
    let scene = Scene::new().await;
    let Scene {
        app, ada, bob, post, ..
    } = &scene;
    let path = format!("/api/v1/posts/{post}/hidden");
    for _ in 0..2 {
        assert_eq!(put(app, ada, &path).await.body["count"], 1);
    }
    assert_eq!(sees(app, ada, "bob").await, [false; 5]);
    assert_eq!(sees(app, bob, "bob").await, [true; 5]);
    assert_eq!(
        listed(app, ada, "/api/v1/users/ada/hidden", "author").await,
        ["bob"]
    );
    assert!(scene.page(ada, "/@bob").await.text.contains("is open"));
    let own = scene.page(ada, &format!("/post/{post}")).await;
    assert!(
        own.status == 200 && own.text.contains("Show in my feeds again"),
        "{}",
        own.text
    );
    assert_eq!(
        send(app, bob, Method::GET, "/api/v1/users/ada/hidden")
            .await
            .status,
        403
    );
    for _ in 0..2 {
        let answer = send(app, ada, Method::DELETE, &path).await;
        assert_eq!((answer.status, &answer.body["count"]), (200, &0.into()));
    }
    assert_eq!(sees(app, ada, "bob").await, [true; 5]);
}

#[tokio::test]
async fn posts_of_a_muted_person_are_not_announced() {
    let scene = Scene::new().await;
    let announced = async || {
        let call = Call::new(Method::GET, "/api/v1/events?posts=home").header(COOKIE.as_str(), &scene.ada);
        call.first_event(&scene.app).await.text
    };
    let before = announced().await;
    assert!(before.contains(r#"{"newer":2}"#), "{before}");
    put(&scene.app, &scene.ada, "/api/v1/users/bob/mute").await;
    let after = announced().await;
    assert!(after.contains(r#"{"newer":1}"#), "{after}");
}

#[tokio::test]
async fn posts_that_nobody_sees_are_not_announced() {
    let scene = Scene::new().await;
    let announced = async |list: &str| {
        let call = Call::new(Method::GET, &format!("/api/v1/events?posts={list}"));
        call.first_event(&scene.app).await.text
    };
    let moderation = scene.stage.feed().moderation();
    assert!(announced("home").await.contains(r#"{"newer":2}"#));
    moderation
        .withhold(scene.post.parse().unwrap(), true)
        .await
        .unwrap();
    let hidden = [announced("home").await, announced("bob").await];
    assert!(
        hidden[0].contains(r#"{"newer":1}"#) && hidden[1].contains(r#"{"newer":0}"#),
        "{hidden:?}"
    );
    let ada: model::Handle = "ada".parse().unwrap();
    scene.stage.feed().moderation().suspend(&ada).await.unwrap();
    let suspended = announced("home").await;
    assert!(suspended.contains(r#"{"newer":0}"#), "{suspended}");
}

#[tokio::test]
async fn a_home_whose_newest_posts_are_all_hidden_continues_below_them() {
    let scene = Scene::new().await;
    let newest = listed(&scene.app, &scene.ada, "/api/v1/feed?limit=1", "author").await;
    assert_eq!(newest, ["bob"]);
    put(&scene.app, &scene.ada, "/api/v1/users/bob/mute").await;
    let left = listed(&scene.app, &scene.ada, "/api/v1/feed?limit=1", "author").await;
    assert_eq!(left, ["ada"]);
}

#[tokio::test]
async fn forms_work_without_javascript_and_say_what_they_did() {
    let scene = Scene::new().await;
    for (action, on, said) in [
        ("set_mute", true, "You no longer see their posts."),
        ("set_mute", false, "You see their posts again."),
        ("set_block", true, "Neither of you sees"),
        ("set_block", false, "You can see each other"),
    ] {
        let form = Call::new(Method::POST, &format!("/api/{action}"))
            .header(ACCEPT.as_str(), PAGE)
            .header(COOKIE.as_str(), &scene.ada)
            .header("referer", "http://localhost:3000/@bob")
            .body("application/x-www-form-urlencoded", format!("handle=bob&on={on}"));
        let answer = form.send(&scene.app).await;
        assert_eq!(
            (answer.status, answer.header("location")),
            (303, "/@bob"),
            "{answer:?}"
        );
        let cookies = answer.cookies_after(&scene.ada);
        let page = scene.page(&cookies, "/@bob").await.text;
        assert!(page.contains(said), "{action} {on}: {page}");
    }
}

#[tokio::test]
async fn somebody_who_leaves_is_in_nobodys_lists() {
    let scene = Scene::new().await;
    let Scene {
        app, ada, bob, stage, ..
    } = &scene;
    let cleo = stage.joins("cleo").await;
    for action in ["mute", "block"] {
        put(app, ada, &format!("/api/v1/users/bob/{action}")).await;
        put(app, bob, &format!("/api/v1/users/cleo/{action}")).await;
        put(app, &cleo, &format!("/api/v1/users/ada/{action}")).await;
    }
    let leave = Call::new(Method::DELETE, "/api/v1/me")
        .header(COOKIE.as_str(), bob)
        .body(JSON, r#"{"password":"correct horse"}"#);
    assert_eq!(leave.send(app).await.status, 204);
    stage.finish_account_deletions().await;
    for document in stage.documents("users").await {
        assert!(!document.to_string().contains("bob"), "{document}");
    }
    assert_eq!(
        listed(app, &cleo, "/api/v1/users/cleo/blocks", "user").await,
        ["ada"]
    );
}
