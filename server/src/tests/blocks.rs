//! What a block hides, over the API and on pages.

use axum::Router;
use axum::http::Method;
use axum::http::header::COOKIE;
use model::{Relation, Timestamp, Topic};
use store::overflow::Item;
use uuid::Uuid;

use super::restrictions::{Scene, listed, put, sees, send, write};
use super::stage::{Call, JSON, Stage};

#[tokio::test]
async fn two_of_whom_one_blocks_the_other_neither_see_nor_reach_each_other() {
    let scene = Scene::new().await;
    let Scene {
        app, ada, bob, post, ..
    } = &scene;
    put(app, ada, "/api/v1/users/bob/block").await;
    for (reader, other) in [(ada, "bob"), (bob, "ada")] {
        assert_eq!(sees(app, reader, other).await, [false; 5], "{other}");
        assert!(!scene.follows(reader, other).await);
        let follow = send(app, reader, Method::PUT, &format!("/api/v1/users/{other}/follow")).await;
        assert_eq!(follow.status, 403, "{follow:?}");
        let people = listed_people(app, reader, other).await;
        assert!(people.is_empty(), "{people:?}");
    }
    let everybody = scene.page("", "/@ada").await.text;
    assert!(everybody.contains("I love the"), "{everybody}");

    for action in ["like", "share"] {
        let path = format!("/api/v1/posts/{post}/{action}");
        let answer = send(app, ada, Method::PUT, &path).await;
        assert_eq!(answer.status, 404, "{action}: {answer:?}");
    }
    let comment = Call::new(Method::POST, &format!("/api/v1/posts/{post}/comments"))
        .header(COOKIE.as_str(), ada)
        .body(JSON, r#"{"text":"Hello"}"#);
    assert_eq!(comment.send(app).await.status, 404);
    for path in [format!("/api/v1/posts/{post}"), format!("/post/{post}")] {
        assert_eq!(scene.page(ada, &path).await.status, 404, "{path}");
        assert_eq!(scene.page("", &path).await.status, 200, "{path}");
    }
    let blocked = scene.page(ada, "/@bob").await.text;
    assert!(
        blocked.contains("You block @bob.") && !blocked.contains("is open"),
        "{blocked}"
    );
    let theirs = scene.page(bob, "/@ada").await.text;
    assert!(
        theirs.contains("@ada blocks you.") && !theirs.contains("I love the"),
        "{theirs}"
    );

    for path in ["/api/v1/users/bob/activity", "/@bob/activity"] {
        assert_eq!(scene.page(ada, path).await.status, 403, "{path}");
        assert_eq!(scene.page("", path).await.status, 200, "{path}");
    }
    assert!(!blocked.contains("follow-button") && !theirs.contains("follow-button"));

    // Nobody reads who blocks them, not even the person.
    for list in ["blocks", "blockers", "muters"] {
        let path = format!("/api/v1/users/ada/{list}");
        assert!(
            [401, 403, 404].contains(&send(app, bob, Method::GET, &path).await.status),
            "{list}"
        );
    }
    let export = send(app, bob, Method::GET, "/api/v1/me/export").await;
    assert!(!export.text.contains("ada"), "{}", export.text);
    let export = send(app, ada, Method::GET, "/api/v1/me/export").await;
    assert_eq!(export.body["blocks"][0]["handle"], "bob");

    let answer = send(app, ada, Method::DELETE, "/api/v1/users/bob/block").await;
    assert_eq!((answer.status, &answer.body["count"]), (200, &0.into()));
    assert!(!scene.follows(ada, "bob").await && !scene.follows(bob, "ada").await);
    put(app, bob, "/api/v1/users/ada/follow").await;
    put(app, ada, &format!("/api/v1/posts/{post}/like")).await;
    assert_eq!(sees(app, ada, "bob").await[1..], [true; 4]);
}

#[tokio::test]
async fn a_block_hides_lists_too() {
    let scene = Scene::new().await;
    let Scene {
        app, ada, bob, post, ..
    } = &scene;
    let cat = scene.stage.joins("cat").await;
    let of_cat = write(app, &cat, "/api/v1/posts", "Mine").await;
    for action in ["like", "share"] {
        put(app, ada, &format!("/api/v1/posts/{of_cat}/{action}")).await;
        put(app, bob, &format!("/api/v1/posts/{of_cat}/{action}")).await;
    }
    put(app, ada, "/api/v1/users/cat/follow").await;
    put(app, bob, "/api/v1/users/cat/follow").await;
    put(app, bob, &format!("/api/v1/posts/{post}/like")).await;
    put(app, &cat, "/api/v1/users/bob/follow").await;
    write(app, &cat, &format!("/api/v1/posts/{post}/comments"), "Hello").await;

    let lists = |post: &str| ["likes", "shares"].map(|list| format!("/api/v1/posts/{post}/{list}"));
    let mut seen = lists(&of_cat).to_vec();
    seen.push("/api/v1/users/cat/followers".to_owned());
    for list in &seen {
        assert_eq!(listed(app, ada, list, "user").await, ["bob", "ada"], "{list}");
    }
    put(app, ada, "/api/v1/users/bob/block").await;
    for list in &seen {
        assert_eq!(listed(app, ada, list, "user").await, ["ada"], "{list}");
        assert_eq!(listed(app, bob, list, "user").await, ["bob"], "{list}");
        assert_eq!(listed(app, "", list, "user").await, ["bob", "ada"], "{list}");
    }
    assert_eq!(
        listed(app, ada, "/api/v1/users/ada/blocks", "user").await,
        ["bob"]
    );

    let mut of_post = lists(post).to_vec();
    of_post.extend(["comments", "overflow"].map(|list| format!("/api/v1/posts/{post}/{list}")));
    of_post.extend(["likes", "shares", "comments", "stored"].map(|page| format!("/post/{post}/{page}")));
    of_post.extend(["inspect/", "trace?owner="].map(|page| format!("/lab/{page}post:{post}")));
    for path in of_post {
        let answer = scene.page(ada, &path).await;
        assert_eq!(
            (answer.status, answer.text.contains("is open")),
            (404, false),
            "{path}"
        );
        assert_eq!(scene.page(&cat, &path).await.status, 200, "{path}");
    }
    for list in ["followers", "following", "activity", "stored"] {
        for path in [format!("/@bob/{list}"), format!("/api/v1/users/bob/{list}")] {
            if list == "stored" && path.starts_with("/api") {
                continue;
            }
            assert_eq!(scene.page(ada, &path).await.status, 403, "{path}");
            assert_eq!(scene.page(&cat, &path).await.status, 200, "{path}");
        }
    }
    write(app, bob, &format!("/api/v1/posts/{of_cat}/comments"), "A secret").await;
    for (page, reader, shows) in [("stored", ada, false), ("stored", &cat, true)] {
        let path = format!("/post/{of_cat}/{page}");
        assert_eq!(
            scene.page(reader, &path).await.text.contains("A secret"),
            shows,
            "{path}"
        );
    }
    for list in ["bookmark", "hidden"] {
        let path = format!("/api/v1/posts/{post}/{list}");
        assert_eq!(send(app, ada, Method::PUT, &path).await.status, 404, "{path}");
    }
    let found = send(app, ada, Method::GET, "/api/v1/search?q=open").await;
    assert_eq!(found.body["total"], 0, "{found:?}");
}

async fn listed_people(app: &Router, cookie: &str, name: &str) -> Vec<String> {
    let found = send(
        app,
        cookie,
        Method::GET,
        &format!("/api/v1/search?q={name}&kind=people"),
    )
    .await;
    let items = found.body["items"].as_array().unwrap().iter();
    items
        .map(|person| person["handle"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn a_block_that_was_interrupted_is_none_until_the_blockers_own_list_has_it() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    let app = stage.open();
    let post = write(&app, &bob, "/api/v1/posts", "Hello").await;
    let left = Item::new(
        Uuid::from_u128(7),
        "bob".parse().unwrap(),
        Timestamp::from_millis(0),
    );
    stage
        .lists_only(&Topic::User("ada".parse().unwrap()), Relation::Blockers, left)
        .await;
    let like = format!("/api/v1/posts/{post}/like");
    for path in [like.as_str(), "/api/v1/users/bob/follow"] {
        put(&app, &ada, path).await;
    }
    assert_eq!(
        send(&app, &ada, Method::GET, &format!("/api/v1/posts/{post}"))
            .await
            .status,
        200
    );
    put(&app, &bob, "/api/v1/users/ada/block").await;
    assert_eq!(send(&app, &ada, Method::PUT, &like).await.status, 404);
}

#[tokio::test]
async fn nobody_reads_over_the_api_what_somebody_shared_of_whom_one_blocks_the_other() {
    let scene = async |blocker: &str, blocked: &str| {
        let stage = Stage::new().await;
        let (ada, bob, cleo) = (
            stage.joins("ada").await,
            stage.joins("bob").await,
            stage.joins("cleo").await,
        );
        let app = stage.open();
        let post = write(&app, &cleo, "/api/v1/posts", "Hello").await;
        for cookie in [&ada, &bob] {
            put(&app, cookie, &format!("/api/v1/posts/{post}/share")).await;
        }
        let cookies = [("ada", &ada), ("bob", &bob)];
        let of = |name: &str| cookies.iter().find(|(known, _)| *known == name).unwrap().1;
        put(&app, of(blocker), &format!("/api/v1/users/{blocked}/block")).await;
        for (reader, other) in [("ada", "bob"), ("bob", "ada")] {
            let path = format!("/api/v1/users/{other}/posts");
            let shared = send(&app, of(reader), Method::GET, &path).await;
            assert_eq!(
                shared.body["items"],
                serde_json::json!([]),
                "{reader} reads {other}"
            );
        }
    };
    scene("ada", "bob").await;
    scene("bob", "ada").await;
}
