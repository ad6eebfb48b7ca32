//! Notifications over the API and on pages.

use axum::Router;
use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE};
use serde_json::Value;

use super::stage::{Answer, Call, JSON, PAGE, Stage};

pub(super) async fn send(stage: &Stage, app: &Router, cookie: &str, call: (Method, &str, &str)) -> Answer {
    let (method, path, body) = call;
    let call = Call::new(method, path).header(COOKIE.as_str(), cookie);
    let call = if body.is_empty() {
        call
    } else {
        call.body(JSON, body)
    };
    let answer = call.send(app).await;
    assert!((200..300).contains(&answer.status), "{path}: {answer:?}");
    stage.feed().notifications().are_told().await;
    answer
}

/// What somebody is told, one line for each, and how much of it is unread.
pub(super) async fn told(stage: &Stage, app: &Router, (cookie, handle): (&str, &str)) -> (Vec<String>, u64) {
    let path = format!("/api/v1/users/{handle}/notifications");
    let list = send(stage, app, cookie, (Method::GET, &path, "")).await;
    let line = |told: &Value| {
        let text = told["text"].as_str().unwrap_or("-");
        let (kind, by) = (
            told["kind"].as_str().unwrap(),
            told["by"]["handle"].as_str().unwrap(),
        );
        format!("{kind} {by}+{} {text}", told["others"])
    };
    let lines = list.body["items"].as_array().unwrap().iter().map(line).collect();
    (lines, list.body["unread"].as_u64().unwrap())
}

#[tokio::test]
async fn people_are_told_of_what_others_do_and_not_of_what_they_do_themselves() {
    let stage = Stage::new().await;
    let (ada, bob, cleo) = (
        stage.joins("ada").await,
        stage.joins("bob").await,
        stage.joins("cleo").await,
    );
    let app = stage.open();
    let post = stage.creates(&ada, "/api/v1/posts").await;
    let (like, share) = (
        format!("/api/v1/posts/{post}/like"),
        format!("/api/v1/posts/{post}/share"),
    );
    for cookie in [&ada, &bob, &cleo] {
        send(&stage, &app, cookie, (Method::PUT, &like, "")).await;
    }
    send(&stage, &app, &bob, (Method::PUT, &share, "")).await;
    send(&stage, &app, &cleo, (Method::PUT, "/api/v1/users/ada/follow", "")).await;
    let comments = format!("/api/v1/posts/{post}/comments");
    let comment = r#"{"text":"Look, @cleo and @ada"}"#;
    send(&stage, &app, &bob, (Method::POST, &comments, comment)).await;
    send(
        &stage,
        &app,
        &ada,
        (Method::POST, &comments, r#"{"text":"Thanks"}"#),
    )
    .await;
    let mentioning = r#"{"text":"Hello @bob, @bob and @ada"}"#;
    send(&stage, &app, &ada, (Method::POST, "/api/v1/posts", mentioning)).await;

    let text = "Hello";
    let (lines, unread) = told(&stage, &app, (&ada, "ada")).await;
    let expected = [
        "comment bob+0 Look, @cleo and @ada".to_owned(),
        "follow cleo+0 -".to_owned(),
        format!("share bob+0 {text}"),
        format!("like cleo+1 {text}"),
    ];
    assert_eq!((lines, unread), (expected.to_vec(), 4));
    let (lines, _) = told(&stage, &app, (&bob, "bob")).await;
    assert_eq!(lines, ["mention ada+0 Hello @bob, @bob and @ada"]);
    let (lines, _) = told(&stage, &app, (&cleo, "cleo")).await;
    assert_eq!(lines, ["mention bob+0 Look, @cleo and @ada"]);

    // What is gone is not shown.
    send(&stage, &app, &cleo, (Method::DELETE, &like, "")).await;
    send(&stage, &app, &bob, (Method::DELETE, &like, "")).await;
    send(
        &stage,
        &app,
        &cleo,
        (Method::DELETE, "/api/v1/users/ada/follow", ""),
    )
    .await;
    let (lines, _) = told(&stage, &app, (&ada, "ada")).await;
    assert_eq!(
        lines,
        expected[..1]
            .iter()
            .chain(&expected[2..3])
            .cloned()
            .collect::<Vec<_>>()
    );
    send(
        &stage,
        &app,
        &ada,
        (Method::DELETE, &format!("/api/v1/posts/{post}"), ""),
    )
    .await;
    assert_eq!(told(&stage, &app, (&ada, "ada")).await, (Vec::new(), 0));
    // It can be marked as read all the same.
    let list = send(
        &stage,
        &app,
        &ada,
        (Method::GET, "/api/v1/users/ada/notifications", ""),
    )
    .await;
    let read = format!(r#"{{"until":{}}}"#, list.body["until"]);
    let left = send(
        &stage,
        &app,
        &ada,
        (Method::POST, "/api/v1/notifications/read", &read),
    )
    .await;
    assert_eq!(left.body["unread"], 0);
}

#[tokio::test]
async fn somebody_who_liked_their_own_viral_post_is_none_of_the_others() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    let app = stage.open();
    let post = stage.creates(&ada, "/api/v1/posts").await;
    let like = format!("/api/v1/posts/{post}/like");
    send(&stage, &app, &ada, (Method::PUT, &like, "")).await;
    for number in 1..=21 {
        let somebody = stage.joins(&format!("somebody{number}")).await;
        send(&stage, &app, &somebody, (Method::PUT, &like, "")).await;
    }
    let (lines, _) = told(&stage, &app, (&ada, "ada")).await;
    assert_eq!(lines, ["like somebody21+20 Hello"]);
}

#[tokio::test]
async fn pages_of_ones_own_lists_have_an_address_without_a_handle() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    let app = stage.open();
    for page in ["notifications", "bookmarks"] {
        let path = format!("/{page}");
        let call = || Call::new(Method::GET, &path).header(ACCEPT.as_str(), PAGE);
        let own = call().header(COOKIE.as_str(), &ada).send(&app).await;
        assert_eq!(
            (own.status, own.header("location")),
            (303, &*format!("/@ada/{page}"))
        );
        let visitor = call().send(&app).await;
        assert_eq!(
            (visitor.status, visitor.header("location")),
            (303, &*format!("/login?next=/{page}"))
        );
        let place = Call::new(Method::GET, &format!("/{page}?cursor=x&from=2")).header(ACCEPT.as_str(), PAGE);
        let place = place.header(COOKIE.as_str(), &ada).send(&app).await;
        assert_eq!(place.header("location"), format!("/@ada/{page}?cursor=x&from=2"));
        let list = Call::new(Method::GET, &format!("/api/v1/{page}")).header(COOKIE.as_str(), &ada);
        assert_eq!(list.send(&app).await.status, 200);
    }
}

#[tokio::test]
async fn people_are_told_of_what_they_choose() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    let app = stage.open();
    let settings = "/api/v1/notifications/settings";
    let all = ["like", "comment", "reply", "share", "quote", "follow", "mention"];
    let chosen = send(&stage, &app, &ada, (Method::GET, settings, "")).await;
    assert_eq!(chosen.body["told"], serde_json::json!(all));
    let post = stage.creates(&ada, "/api/v1/posts").await;
    let act = async |what: &str| {
        let path = format!("/api/v1/posts/{post}/{what}");
        send(&stage, &app, &bob, (Method::PUT, &path, "")).await;
    };
    act("like").await;
    let some = r#"{"told":["share","follow","share"]}"#;
    let chosen = send(&stage, &app, &ada, (Method::PUT, settings, some)).await;
    assert_eq!(chosen.body["told"], serde_json::json!(["share", "follow"]));
    act("share").await;
    let comments = format!("/api/v1/posts/{post}/comments");
    send(
        &stage,
        &app,
        &bob,
        (Method::POST, &comments, r#"{"text":"Hello"}"#),
    )
    .await;
    // The like was told before.
    let (lines, unread) = told(&stage, &app, (&ada, "ada")).await;
    assert_eq!(
        (lines, unread),
        (
            vec!["share bob+0 Hello".to_owned(), "like bob+0 Hello".to_owned()],
            2
        )
    );
    let untold = stage.documents("posts").await;
    assert!(
        untold.iter().all(|post| !post.contains_key("untold")),
        "{untold:?}"
    );

    // The form sends the boxes that are ticked.
    let page = async || {
        let page = Call::new(Method::GET, "/settings/notifications").header(ACCEPT.as_str(), PAGE);
        page.header(COOKIE.as_str(), &ada).send(&app).await.text
    };
    let ticked = |page: &str| {
        let is_ticked = |kind: &&str| page.contains(&format!("value=\"{kind}\" checked"));
        all.into_iter().filter(is_ticked).collect::<Vec<_>>()
    };
    assert_eq!(ticked(&page().await), ["share", "follow"]);
    let form = Call::new(Method::POST, "/api/choose_notifications")
        .header(ACCEPT.as_str(), PAGE)
        .header(COOKIE.as_str(), &ada)
        .body("application/x-www-form-urlencoded", "told%5B%5D=comment");
    assert_eq!(
        form.send(&app).await.header("location"),
        "/settings/notifications"
    );
    assert_eq!(ticked(&page().await), ["comment"]);
    let chosen = send(&stage, &app, &ada, (Method::GET, settings, "")).await;
    assert_eq!(chosen.body["told"], serde_json::json!(["comment"]));
    send(
        &stage,
        &app,
        &bob,
        (Method::POST, &comments, r#"{"text":"Again"}"#),
    )
    .await;
    assert_eq!(
        told(&stage, &app, (&ada, "ada")).await.0[0],
        "comment bob+0 Again"
    );

    let export = send(&stage, &app, &ada, (Method::GET, "/api/v1/me/export", "")).await;
    assert_eq!(export.body["profile"]["told"], serde_json::json!(["comment"]));

    let wrong = Call::new(Method::PUT, settings)
        .header(COOKIE.as_str(), &ada)
        .body(JSON, r#"{"told":["everything"]}"#);
    let wrong = wrong.send(&app).await;
    assert_eq!((wrong.status, &wrong.body["field"]), (422, &Value::from("told")));
    for (reader, sees) in [(&ada, true), (&bob, false)] {
        let stored = Call::new(Method::GET, "/@ada/stored").header(ACCEPT.as_str(), PAGE);
        let stored = stored.header(COOKIE.as_str(), reader).send(&app).await.text;
        assert_eq!(stored.contains("notTold"), sees);
    }
}

#[tokio::test]
async fn a_mention_is_told_as_one_to_somebody_who_is_told_of_nothing_else() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    let app = stage.open();
    let chosen = r#"{"told":["mention"]}"#;
    let settings = (Method::PUT, "/api/v1/notifications/settings", chosen);
    send(&stage, &app, &ada, settings).await;
    let post = stage.creates(&ada, "/api/v1/posts").await;
    let comments = format!("/api/v1/posts/{post}/comments");
    let own = send(&stage, &app, &ada, (Method::POST, &comments, r#"{"text":"Me"}"#)).await;
    let own = own.body["id"].as_str().unwrap();
    for (path, body) in [
        (&*comments, r#"{"text":"Hello"}"#.to_owned()),
        (&*comments, r#"{"text":"Hello @ada"}"#.to_owned()),
        (&*comments, format!(r#"{{"text":"Yes, @ada","replyTo":"{own}"}}"#)),
        (
            "/api/v1/posts",
            format!(r#"{{"text":"See (@ada)","quote":"{post}"}}"#),
        ),
    ] {
        let sent = send(&stage, &app, &bob, (Method::POST, path, &*body)).await;
        assert_eq!(sent.status, 201, "{sent:?}");
    }
    let (lines, unread) = told(&stage, &app, (&ada, "ada")).await;
    let expected = ["See (@ada)", "Yes, @ada", "Hello @ada"].map(|text| format!("mention bob+0 {text}"));
    assert_eq!((lines, unread), (expected.to_vec(), 3));

    let chosen = r#"{"told":["reply","mention"]}"#;
    let settings = (Method::PUT, "/api/v1/notifications/settings", chosen);
    send(&stage, &app, &ada, settings).await;
    let again = format!(r#"{{"text":"No, @ada","replyTo":"{own}"}}"#);
    send(&stage, &app, &bob, (Method::POST, &comments, &*again)).await;
    let (lines, _) = told(&stage, &app, (&ada, "ada")).await;
    assert_eq!(lines[0], "reply bob+0 No, @ada");
    let export = async |cookie| {
        send(&stage, &app, cookie, (Method::GET, "/api/v1/me/export", ""))
            .await
            .body
    };
    let (of_ada, of_bob) = (export(&ada).await, export(&bob).await);
    assert_eq!(of_ada["notifications"][0]["comment"], of_bob["comments"][0]["id"]);
    assert_eq!(of_bob["comments"][0]["replyTo"], *own);
}

#[tokio::test]
async fn what_happens_on_a_post_that_its_reader_does_not_see_is_not_shown() {
    let stage = Stage::new().await;
    let (ada, bob, cat) = (
        stage.joins("ada").await,
        stage.joins("bob").await,
        stage.joins("cat").await,
    );
    let app = stage.open();
    let post = stage.creates(&bob, "/api/v1/posts").await;
    let comments = format!("/api/v1/posts/{post}/comments");
    let mention = r#"{"text":"What do you say, @ada?"}"#;
    send(&stage, &app, &cat, (Method::POST, &comments, mention)).await;
    assert_eq!(told(&stage, &app, (&ada, "ada")).await.1, 1);
    let block = "/api/v1/users/bob/block";
    send(&stage, &app, &ada, (Method::PUT, block, "")).await;
    assert_eq!(told(&stage, &app, (&ada, "ada")).await, (Vec::new(), 0));
    send(&stage, &app, &ada, (Method::DELETE, block, "")).await;
    assert_eq!(told(&stage, &app, (&ada, "ada")).await.1, 1);
}

#[tokio::test]
async fn a_form_without_its_fields_is_invalid_and_not_a_fault_of_the_server() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    for (form, fields) in [("set_like", ""), ("set_like", "post=x&on=maybe"), ("compose", "")] {
        let call = Call::new(Method::POST, &format!("/api/{form}"))
            .header(ACCEPT.as_str(), JSON)
            .header(COOKIE.as_str(), &ada)
            .body("application/x-www-form-urlencoded", fields);
        let answer = call.answers(&stage.open()).await;
        assert_eq!(answer.status, 422, "{form} {fields}: {answer:?}");
    }
}

/// As the teacher of a class does.
#[tokio::test]
async fn nobody_reads_what_a_post_says_that_is_hidden_from_everybody() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    let app = stage.open();
    let rude = r#"{"text":"Rude, @ada"}"#;
    let post = send(&stage, &app, &bob, (Method::POST, "/api/v1/posts", rude)).await;
    let id = post.body["id"].as_str().unwrap().parse().unwrap();
    let moderation = || stage.feed().moderation();
    let pages = ["/@bob/activity".to_owned(), format!("/post/{id}/stored")];
    for (hidden, lines) in [(false, 1), (true, 0), (false, 1)] {
        moderation().withhold(id, hidden).await.unwrap();
        assert_eq!(told(&stage, &app, (&ada, "ada")).await.0.len(), lines);
        for path in &pages {
            let page = Call::new(Method::GET, path).header(ACCEPT.as_str(), PAGE);
            let page = page.send(&app).await.text;
            assert_eq!(page.contains("Rude, "), !hidden, "{path}: {page}");
        }
    }
}
