//! The number of unread notifications.

use std::time::Duration;

use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE};
use futures::StreamExt as _;
use model::{NotificationKind, Relation, Timestamp, Topic};
use serde_json::Value;
use store::notifications::News;
use uuid::Uuid;

use tokio::time::timeout;

use super::notifications::{send, told};
use super::stage::{Call, JSON, PAGE, Stage};

/// How long the number in an open page may take on a machine that is busy.
const LONG: Duration = Duration::from_mins(1);

#[tokio::test]
async fn the_masthead_counts_what_is_unread_until_it_is_marked_as_read() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    let app = stage.open();
    let post = stage.creates(&ada, "/api/v1/posts").await;
    let like = format!("/api/v1/posts/{post}/like");
    send(&stage, &app, &bob, (Method::PUT, &like, "")).await;
    let page = async || {
        let page = Call::new(Method::GET, "/@ada/notifications").header(ACCEPT.as_str(), PAGE);
        page.header(COOKIE.as_str(), &ada).send(&app).await.text
    };
    let before = page().await;
    assert!(
        before.contains("data-number=\"notifications\" data-count=\"1\""),
        "{before}"
    );
    assert!(before.contains("New: "), "{before}");
    let (_, until) = before.split_once("name=\"until\" value=\"").unwrap();
    let (until, _) = until.split_once('"').unwrap();
    let form = Call::new(Method::POST, "/api/mark_notifications_read")
        .header(ACCEPT.as_str(), PAGE)
        .header(COOKIE.as_str(), &ada)
        .header("referer", "http://localhost:3000/@ada/notifications")
        .body("application/x-www-form-urlencoded", format!("until={until}"));
    let answer = form.send(&app).await;
    assert_eq!(
        (answer.status, answer.header("location")),
        (303, "/@ada/notifications")
    );
    let after = page().await;
    assert!(
        after.contains("data-number=\"notifications\" data-count=\"0\""),
        "{after}"
    );
    for (reader, sees) in [(&ada, true), (&bob, false)] {
        let stored = Call::new(Method::GET, "/@ada/stored").header(ACCEPT.as_str(), PAGE);
        let stored = stored.header(COOKIE.as_str(), reader).send(&app).await.text;
        assert_eq!(stored.contains("notificationsRead"), sees);
    }
    assert!(
        !after.contains("New: ") && !after.contains("Mark all as read"),
        "{after}"
    );

    // What is not in the list is not counted.
    let note = r#"{"text":"@ada, look"}"#;
    let path = "/api/v1/posts";
    let second = send(&stage, &app, &bob, (Method::POST, path, note)).await;
    let second = format!("{path}/{}", second.body["id"].as_str().unwrap());
    assert!(
        page()
            .await
            .contains("data-number=\"notifications\" data-count=\"1\"")
    );
    let away = r#"{"text":"Look"}"#;
    send(&stage, &app, &bob, (Method::PATCH, &second, away)).await;
    stage.clock.wait(20_000);
    assert!(
        page()
            .await
            .contains("data-number=\"notifications\" data-count=\"0\"")
    );
    assert_eq!(told(&stage, &app, (&ada, "ada")).await.1, 0);
    let all = (Method::POST, "/api/v1/notifications/read", "null");
    send(&stage, &app, &ada, all).await;

    // The next like is told again, and both are one line.
    send(&stage, &app, &bob, (Method::DELETE, &like, "")).await;
    send(&stage, &app, &bob, (Method::PUT, &like, "")).await;
    let (lines, unread) = told(&stage, &app, (&ada, "ada")).await;
    assert_eq!((lines.len(), unread), (1, 1));
    let wrong = Call::new(Method::POST, "/api/v1/notifications/read")
        .header(COOKIE.as_str(), &ada)
        .body(JSON, r#"{"until":"yesterday"}"#);
    let wrong = wrong.send(&app).await;
    assert_eq!((wrong.status, &wrong.body["field"]), (422, &Value::from("until")));

    // Without a time, all of them; and without a handle, the reader's own.
    let all = Call::new(Method::POST, "/api/v1/notifications/read").header(COOKIE.as_str(), &ada);
    let all = all.send(&app).await;
    assert_eq!((all.status, &all.body["unread"]), (200, &0.into()), "{all:?}");
    let null = Call::new(Method::POST, "/api/v1/notifications/read").header(COOKIE.as_str(), &ada);
    assert_eq!(null.body(JSON, "null").send(&app).await.status, 200);
    let own = send(&stage, &app, &ada, (Method::GET, "/api/v1/notifications", "")).await;
    assert_eq!((&own.body["unread"], &own.body["total"]), (&0.into(), &3.into()));
    let visitor = Call::new(Method::GET, "/api/v1/notifications").send(&app).await;
    assert_eq!(visitor.status, 401);
}

#[tokio::test]
async fn what_was_read_is_not_new_again_after_somebody_took_the_same_back() {
    let stage = Stage::new().await;
    let (ada, bob, cleo) = (
        stage.joins("ada").await,
        stage.joins("bob").await,
        stage.joins("cleo").await,
    );
    let app = stage.open();
    let post = stage.creates(&ada, "/api/v1/posts").await;
    let like = format!("/api/v1/posts/{post}/like");
    for action in [like.as_str(), "/api/v1/users/ada/follow"] {
        send(&stage, &app, &bob, (Method::PUT, action, "")).await;
        stage.clock.wait(1_000);
    }
    let read_all = async || {
        let all = (Method::POST, "/api/v1/notifications/read", "null");
        send(&stage, &app, &ada, all).await;
        stage.clock.wait(1_000);
    };
    read_all().await;
    let of_bob = ["follow bob+0 -", "like bob+0 Hello"];
    for action in [like.as_str(), "/api/v1/users/ada/follow"] {
        send(&stage, &app, &cleo, (Method::PUT, action, "")).await;
        stage.clock.wait(1_000);
        assert_eq!(told(&stage, &app, (&ada, "ada")).await.1, 1, "{action}");
        send(&stage, &app, &cleo, (Method::DELETE, action, "")).await;
        stage.clock.wait(10_000);
        let (lines, unread) = told(&stage, &app, (&ada, "ada")).await;
        assert_eq!(
            (lines.as_slice(), unread),
            (of_bob.map(str::to_owned).as_slice(), 0),
            "{action}"
        );
    }
    send(&stage, &app, &cleo, (Method::PUT, &like, "")).await;
    let (lines, unread) = told(&stage, &app, (&ada, "ada")).await;
    assert_eq!((lines[0].as_str(), unread), ("like cleo+1 Hello", 1));
}

#[tokio::test]
async fn the_number_in_an_open_page_follows_what_is_taken_back_and_repeated() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    let app = stage.open();
    let post = stage.creates(&ada, "/api/v1/posts").await;
    let watch = Call::new(Method::GET, "/api/v1/events?topic=user:ada").header(COOKIE.as_str(), &ada);
    let mut events = watch.answered(&app).await.into_body().into_data_stream();
    let mut shows = async |unread: u64| {
        let expected = format!("\"unread\":{unread}");
        let shown = async {
            while let Some(event) = events.next().await {
                if String::from_utf8_lossy(&event.unwrap()).contains(&expected) {
                    return;
                }
            }
        };
        timeout(LONG, shown).await.expect(&expected);
    };
    shows(0).await;
    let of = |what: &str| format!("/api/v1/posts/{post}/{what}");
    let (like, share, comments) = (of("like"), of("share"), of("comments"));
    for action in [&*like, &share, "/api/v1/users/ada/follow"] {
        for _ in 0..2 {
            send(&stage, &app, &bob, (Method::PUT, action, "")).await;
            shows(1).await;
            send(&stage, &app, &bob, (Method::DELETE, action, "")).await;
            shows(0).await;
        }
    }
    let own = (Method::POST, &*comments, r#"{"text":"First"}"#);
    let first = send(&stage, &app, &ada, own).await.body["id"].clone();
    let answer = format!(r#"{{"text":"Second","replyTo":{first}}}"#);
    for written in [r#"{"text":"Hello"}"#, r#"{"text":"Hello, @ada"}"#, &answer] {
        let comment = send(&stage, &app, &bob, (Method::POST, &comments, written)).await;
        shows(1).await;
        let comment = format!("{comments}/{}", comment.body["id"].as_str().unwrap());
        send(&stage, &app, &bob, (Method::DELETE, &comment, "")).await;
        shows(0).await;
    }
    let mention = (Method::POST, "/api/v1/posts", r#"{"text":"@ada, look"}"#);
    for removal in [Method::PATCH, Method::DELETE] {
        let post = send(&stage, &app, &bob, mention.clone()).await;
        shows(1).await;
        let post = format!("/api/v1/posts/{}", post.body["id"].as_str().unwrap());
        let text = if removal == Method::PATCH {
            r#"{"text":"Look"}"#
        } else {
            ""
        };
        send(&stage, &app, &bob, (removal, &post, text)).await;
        shows(0).await;
    }
    send(&stage, &app, &bob, (Method::PUT, &like, "")).await;
    shows(1).await;
    for (restriction, shown) in [(Method::PUT, 0), (Method::DELETE, 1)] {
        send(&stage, &app, &ada, (restriction, "/api/v1/users/bob/mute", "")).await;
        shows(shown).await;
    }
    send(
        &stage,
        &app,
        &ada,
        (Method::POST, "/api/v1/notifications/read", ""),
    )
    .await;
    shows(0).await;
    send(&stage, &app, &bob, (Method::DELETE, &like, "")).await;
    let dua = stage.joins("dua").await;
    send(&stage, &app, &dua, (Method::PUT, &like, "")).await;
    shows(1).await;
    let leaves = Call::new(Method::DELETE, "/api/v1/me").header(COOKIE.as_str(), &dua);
    let leaves = leaves
        .body(JSON, r#"{"password":"correct horse"}"#)
        .send(&app)
        .await;
    assert_eq!(leaves.status, 204, "{leaves:?}");
    shows(0).await;
}

#[tokio::test]
async fn the_number_of_unread_notifications_is_that_of_the_new_ones_in_the_list() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    let app = stage.open();
    let mut likes = Vec::new();
    for _ in 0..45 {
        let post = stage.creates(&ada, "/api/v1/posts").await;
        likes.push(format!("/api/v1/posts/{post}/like"));
        send(&stage, &app, &bob, (Method::PUT, likes.last().unwrap(), "")).await;
    }
    let unread = async |limit: u32| {
        let path = format!("/api/v1/notifications?limit={limit}");
        let list = send(&stage, &app, &ada, (Method::GET, &path, "")).await;
        list.body["unread"].as_u64().unwrap()
    };
    assert_eq!((unread(5).await, unread(100).await), (45, 45));
    // An old time is before all of them.
    let early = r#"{"until":"2020-01-01T00:00:00.000Z"}"#;
    let left = send(
        &stage,
        &app,
        &ada,
        (Method::POST, "/api/v1/notifications/read", early),
    )
    .await;
    assert_eq!(left.body["unread"], 45);
    for (taken_back, left) in [(0..5, 40), (5..44, 1)] {
        for like in &likes[taken_back] {
            send(&stage, &app, &bob, (Method::DELETE, like, "")).await;
        }
        assert_eq!((unread(5).await, unread(100).await), (left, left));
    }
    let bell = async || {
        let page = Call::new(Method::GET, "/explore").header(ACCEPT.as_str(), PAGE);
        let page = page.header(COOKIE.as_str(), &ada).send(&app).await.text;
        let (_, count) = page.split_once("data-number=\"notifications\"").unwrap();
        let (_, count) = count.split_once("data-count=\"").unwrap();
        count.split_once('"').unwrap().0.parse::<u64>().unwrap()
    };
    assert_eq!(bell().await, 1);
    send(&stage, &app, &bob, (Method::PUT, &likes[0], "")).await;
    assert_eq!(bell().await, 2, "a like that is repeated shows at once");
}

#[tokio::test]
async fn ten_thousand_mentions_take_no_more_to_read_than_two_hundred() {
    let stage = Stage::new().await;
    let (ada, bob, cleo) = (
        stage.joins("ada").await,
        stage.joins("bob").await,
        stage.joins("cleo").await,
    );
    let app = stage.open();
    let notifications = stage.feed().store().list(Relation::Notifications);
    let owner = |handle: &str| Topic::User(handle.parse().unwrap());
    for (handle, earlier) in [("bob", 200), ("cleo", 10_000)] {
        for number in 0..earlier {
            let news = News {
                post: Some(Uuid::from_u64_pair(1, number).into()),
                comment: None,
                at: Timestamp::from_millis(i64::try_from(number).unwrap()),
            };
            let item = news.item(NotificationKind::Mention, 0);
            assert!(notifications.append(&owner(handle), item).await.unwrap().added);
        }
    }
    for number in 0..25 {
        let note = format!(r#"{{"text":"@bob and @cleo, look: {number}"}}"#);
        send(&stage, &app, &ada, (Method::POST, "/api/v1/posts", &note)).await;
    }
    let mut effort = Vec::new();
    for (cookie, handle) in [(&bob, "bob"), (&cleo, "cleo")] {
        let before = (stage.operations(), stage.documents_read());
        let page = Call::new(Method::GET, &format!("/@{handle}/notifications"));
        let page = page.header(ACCEPT.as_str(), PAGE).header(COOKIE.as_str(), cookie);
        let page = page.send(&app).await.text;
        effort.push((stage.operations() - before.0, stage.documents_read() - before.1));
        let shown = page.matches("data-testid=\"notification\"").count();
        assert_eq!(shown, 20, "{handle}: {page}");
    }
    let [few, many] = effort[..] else { unreachable!() };
    // The newest pages of the two lists are not equally full.
    assert!(many.0 <= few.0 + 10 && many.1 <= few.1 + 10, "{few:?}, {many:?}");
    let found = stage.feed().store().overflow(&owner("cleo")).await.unwrap();
    assert_eq!(found[&Relation::Notifications].count, 10_025);
}
