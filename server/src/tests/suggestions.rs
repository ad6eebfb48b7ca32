//! Whom to follow, over the API and on the home page.

use axum::Router;
use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE};

use super::stage::{Answer, Call, PAGE, Stage};

async fn send(app: &Router, cookie: &str, method: Method, path: &str) -> Answer {
    let call = Call::new(method, path).header(COOKIE.as_str(), cookie);
    call.send(app).await
}

async fn suggested(app: &Router, cookie: &str) -> Vec<String> {
    let answer = send(app, cookie, Method::GET, "/api/v1/suggestions").await;
    let items = answer.body["items"].as_array().unwrap();
    items
        .iter()
        .map(|person| person["handle"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn first_come_those_whom_the_followed_follow_then_the_authors_of_liked_posts() {
    let stage = Stage::new().await;
    let app = stage.open();
    let ada = stage.joins("ada").await;
    assert_eq!(suggested(&app, &ada).await, [""; 0]);

    let (bob, cem) = (stage.joins("bob").await, stage.joins("cem").await);
    for handle in ["dora", "emil", "fay"] {
        stage.joins(handle).await;
    }
    let gus = stage.joins("gus").await;
    stage.creates(&gus, "/api/v1/posts").await;
    stage.creates(&ada, "/api/v1/posts").await;
    assert_eq!(
        suggested(&app, &ada).await,
        ["gus"],
        "nobody is followed yet, and ada is ada"
    );

    let follow = async |who: &str, whom: &str| {
        let path = format!("/api/v1/users/{whom}/follow");
        assert_eq!(send(&app, who, Method::PUT, &path).await.status, 200);
    };
    for (who, whom) in [
        (&ada, "bob"),
        (&ada, "cem"),
        (&bob, "dora"),
        (&bob, "emil"),
        (&bob, "ada"),
        (&cem, "emil"),
        (&cem, "bob"),
        (&gus, "fay"),
    ] {
        follow(who, whom).await;
    }
    assert_eq!(suggested(&app, &ada).await, ["emil", "dora", "gus"]);
    follow(&ada, "emil").await;
    assert_eq!(suggested(&app, &ada).await, ["dora", "gus"]);
    assert_eq!(
        send(&app, "", Method::GET, "/api/v1/suggestions").await.status,
        401
    );
}

#[tokio::test]
async fn a_home_that_fills_no_page_names_people_to_follow() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    stage.creates(&bob, "/api/v1/posts").await;
    let home = Call::new(Method::GET, "/").header(ACCEPT.as_str(), PAGE);
    let shows = async |cookie: &str| {
        let home = home.clone().header(COOKIE.as_str(), cookie);
        let page = home.send(&stage.open()).await.text;
        page.contains("data-testid=\"suggestions\"")
    };
    assert!(shows(&ada).await);
    assert!(!shows(&bob).await, "there is nobody else with a post");
    assert!(!shows("").await);
    for _ in 0..20 {
        stage.creates(&ada, "/api/v1/posts").await;
    }
    assert!(!shows(&ada).await);
}

#[tokio::test]
async fn people_in_lists_can_be_followed_where_they_are_listed() {
    let stage = Stage::new().await;
    let app = stage.open();
    let ada = stage.joins("ada").await;
    let post = stage.creates(&ada, "/api/v1/posts").await;
    for handle in ["bob", "bobby"] {
        let cookie = stage.joins(handle).await;
        let like = format!("/api/v1/posts/{post}/like");
        assert_eq!(send(&app, &cookie, Method::PUT, &like).await.status, 200);
        let follow = "/api/v1/users/ada/follow";
        assert_eq!(send(&app, &cookie, Method::PUT, follow).await.status, 200);
    }
    for path in [
        format!("/api/v1/posts/{post}/like"),
        "/api/v1/users/bob/follow".to_owned(),
    ] {
        assert_eq!(send(&app, &ada, Method::PUT, &path).await.status, 200);
    }
    let buttons = async |cookie: &str, path: &str| {
        let call = Call::new(Method::GET, path).header(COOKIE.as_str(), cookie);
        let page = call.header(ACCEPT.as_str(), PAGE).send(&app).await;
        assert_eq!(page.status, 200, "{path}");
        let rows = page.text.split("class=\"member\"").skip(1);
        let pressed = rows.map(|row| {
            let button = row.split("follow-button").nth(1)?;
            Some(button.split("aria-pressed=\"").nth(1)?.starts_with("true"))
        });
        pressed.collect::<Vec<_>>()
    };
    let likes = format!("/post/{post}/likes");
    assert_eq!(buttons(&ada, &likes).await, [None, Some(false), Some(true)]);
    assert_eq!(buttons("", &likes).await, [None, None, None]);
    assert_eq!(buttons(&ada, "/@ada/followers").await, [Some(false), Some(true)]);
    assert_eq!(
        buttons(&ada, "/search?q=bob&kind=people").await,
        [Some(true), Some(false)]
    );
}

#[tokio::test]
async fn home_asks_until_three_are_followed_or_their_posts_fill_it() {
    let stage = Stage::new().await;
    let app = stage.open();
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    let cem = stage.joins("cem").await;
    for somebody in [&cem, &stage.joins("dora").await, &stage.joins("emil").await] {
        stage.creates(somebody, "/api/v1/posts").await;
    }
    let mut latest = String::new();
    for _ in 0..25 {
        latest = stage.creates(&bob, "/api/v1/posts").await;
    }
    let asks = async || {
        let home = Call::new(Method::GET, "/").header(ACCEPT.as_str(), PAGE);
        let home = home.header(COOKIE.as_str(), &ada).send(&app).await.text;
        home.contains("data-testid=\"suggestions\"")
    };
    assert!(asks().await);
    for (handle, still) in [("bob", true), ("cem", true), ("dora", false)] {
        let path = format!("/api/v1/users/{handle}/follow");
        assert_eq!(send(&app, &ada, Method::PUT, &path).await.status, 200);
        assert_eq!(asks().await, still, "after {handle}");
    }
    // The page then has a post less, because the one that was shared is not shown again below.
    let share = format!("/api/v1/posts/{latest}/share");
    assert_eq!(send(&app, &cem, Method::PUT, &share).await.status, 200);
    assert!(!asks().await, "there is more to read");
}
