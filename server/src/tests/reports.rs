//! What people report, and what the operator does about it.

use axum::Router;
use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE, REFERER};
use bson::{Document, doc};
use model::{Handle, Kind, ReportTarget};
use serde_json::json;

use super::stage::{Answer, Call, JSON, PAGE, Stage};

const FORM: &str = "application/x-www-form-urlencoded";

/// Ada, bob, and what bob wrote.
struct Scene {
    stage: Stage,
    app: Router,
    ada: String,
    bob: String,
    post: String,
    comment: String,
}

impl Scene {
    async fn new() -> Self {
        let stage = Stage::new().await;
        let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
        let own = stage.creates(&ada, "/api/v1/posts").await;
        let post = stage.creates(&bob, "/api/v1/posts").await;
        let comments = format!("/api/v1/posts/{own}/comments");
        let comment = format!("comment:{own}:{}", stage.creates(&bob, &comments).await);
        stage.feed().notifications().are_told().await;
        let app = stage.open();
        Self {
            stage,
            app,
            ada,
            bob,
            post: format!("post:{post}"),
            comment,
        }
    }

    async fn sends(&self, cookie: &str, method: Method, path: &str) -> Answer {
        let call = Call::new(method, path).header(COOKIE.as_str(), cookie);
        call.send(&self.app).await
    }

    async fn gets(&self, cookie: &str, path: &str) -> Answer {
        self.sends(cookie, Method::GET, path).await
    }

    async fn reports(&self, cookie: &str, target: &str, text: &str) -> Answer {
        let call = Call::new(Method::POST, "/api/v1/reports").header(COOKIE.as_str(), cookie);
        let body = json!({ "target": target, "text": text });
        call.body(JSON, body.to_string()).send(&self.app).await
    }

    async fn signs_in(&self, handle: &str, password: &str) -> Answer {
        let call = Call::new(Method::POST, "/api/v1/session");
        let body = json!({ "handle": handle, "password": password });
        call.body(JSON, body.to_string()).send(&self.app).await
    }

    /// The `_id`s of the stored reports.
    async fn stored(&self) -> Vec<String> {
        let reports = self.stage.documents("reports").await;
        let id = |report: &Document| report.get_str("_id").unwrap().to_owned();
        reports.iter().map(id).collect()
    }

    /// What is reported, with how often, in the operator's order.
    async fn reported(&self) -> Vec<(String, usize)> {
        let reported = self.stage.feed().moderation().reported().await.unwrap();
        let pair = |reported: &feed::Reported| (reported.target.to_string(), reported.count);
        reported.iter().map(pair).collect()
    }
}

fn target(written: &str) -> ReportTarget {
    written.parse().unwrap()
}

fn handle(written: &str) -> Handle {
    written.parse().unwrap()
}

#[tokio::test]
async fn people_posts_and_comments_are_reported_once_by_each_and_nobody_learns_of_it() {
    let scene = Scene::new().await;
    for about in ["user:bob", &scene.post, &scene.comment] {
        for text in ["Spam", "More spam"] {
            let sent = scene.reports(&scene.ada, about, text).await;
            assert_eq!(
                (sent.status, &sent.body["target"]),
                (201, &about.into()),
                "{sent:?}"
            );
            assert_eq!(sent.body["text"], "Spam");
        }
    }
    assert_eq!(scene.stored().await.len(), 3);
    let export = scene.gets(&scene.ada, "/api/v1/me/export").await;
    assert_eq!(export.body["reports"].as_array().unwrap().len(), 3, "{export:?}");
    let of_bob = scene.gets(&scene.bob, "/api/v1/me/export").await;
    assert_eq!(of_bob.body["reports"], json!([]));
    assert!(!of_bob.text.contains("Spam"));
}

#[tokio::test]
async fn what_is_ones_own_is_not_there_or_is_no_target_is_not_reported() {
    let scene = Scene::new().await;
    let nowhere = "0198c0de-7000-8000-a1b2-c3d4e5f60718";
    let (gone, other) = (format!("post:{nowhere}"), format!("comment:{nowhere}:{nowhere}"));
    for (about, text, status, field) in [
        ("user:ada", "Me", 422, "target"),
        ("ada", "Me", 422, "target"),
        ("user:bob", " ", 422, "text"),
        ("user:nobody", "Rude", 404, ""),
        (&gone, "Rude", 404, ""),
        (&other, "Rude", 404, ""),
    ] {
        let refused = scene.reports(&scene.ada, about, text).await;
        assert_eq!(refused.status, status, "{about}: {refused:?}");
        if !field.is_empty() {
            assert_eq!(refused.body["field"], field, "{about}: {refused:?}");
        }
    }
    for own in [&scene.post, &scene.comment] {
        assert_eq!(scene.reports(&scene.bob, own, "Mine").await.status, 422);
    }
    assert_eq!(scene.stored().await, [""; 0]);
}

#[tokio::test]
async fn somebody_with_many_reports_that_wait_sends_no_more() {
    let scene = Scene::new().await;
    let report = |nth: i32| {
        let target = format!("user:somebody-{nth}");
        doc! {
            "_id": format!("ada {target}"), "by": "ada", "about": format!("somebody-{nth}"), "target": target,
            "text": "Spam", "at": bson::DateTime::from_millis(0),
        }
    };
    scene
        .stage
        .puts_back("reports", (0..99).map(report).collect())
        .await;
    assert_eq!(scene.reports(&scene.ada, "user:bob", "Spam").await.status, 201);
    let refused = scene.reports(&scene.ada, &scene.post, "Spam").await;
    assert_eq!(refused.status, 429, "{refused:?}");
    assert_eq!(scene.reports(&scene.bob, "user:ada", "Spam").await.status, 201);
    // The first look at the list removes those about people who are gone.
    assert_eq!(scene.reported().await.len(), 2);
    assert_eq!(scene.reports(&scene.ada, &scene.post, "Spam").await.status, 201);
}

#[tokio::test]
async fn the_form_leads_back_to_what_was_reported_or_says_what_is_missing() {
    let scene = Scene::new().await;
    let page = async |cookie: &str, path: &str| {
        let call = Call::new(Method::GET, path).header(ACCEPT.as_str(), PAGE);
        call.header(COOKIE.as_str(), cookie).send(&scene.app).await
    };
    let (_, id) = scene.post.split_once(':').unwrap();
    for (at, about) in [("/@bob", "user:bob"), (&format!("/post/{id}"), &scene.post)] {
        let href = format!("/report?target={about}");
        assert!(page(&scene.ada, at).await.text.contains(&href), "{at}");
        assert!(!page(&scene.bob, at).await.text.contains(&href), "{at}");
        assert!(!page("", at).await.text.contains(&href), "{at}");
        let form = page(&scene.ada, &href).await;
        assert!(
            form.text.contains("@bob") && form.text.contains(about),
            "{form:?}"
        );
        let visitor = page("", &href).await;
        let login = format!("/login?next=/report%3Ftarget%3D{}", about.replace(':', "%3A"));
        assert_eq!(
            (visitor.status, visitor.header("location")),
            (303, login.as_str())
        );
        let submit = async |text: &str| {
            let call = Call::new(Method::POST, "/api/report")
                .header(COOKIE.as_str(), &scene.ada)
                .header(ACCEPT.as_str(), PAGE)
                .header(REFERER.as_str(), &format!("http://127.0.0.1:3000{href}"));
            call.body(FORM, format!("target={about}&text={text}"))
                .send(&scene.app)
                .await
        };
        let refused = submit("").await;
        assert_eq!((refused.status, refused.header("location")), (303, href.as_str()));
        let sent = submit("Spam").await;
        assert_eq!((sent.status, sent.header("location")), (303, at));
    }
    assert_eq!(scene.stored().await.len(), 2);
    assert_eq!(page(&scene.ada, "/report?target=bob").await.status, 422);
    assert_eq!(page(&scene.ada, "/report?target=user:nobody").await.status, 404);
}

#[tokio::test]
async fn a_suspended_person_is_not_there_until_they_are_reinstated() {
    let scene = Scene::new().await;
    let put = async |path: &str| {
        let put = scene.sends(&scene.ada, Method::PUT, path).await;
        assert_eq!(put.status, 200, "{put:?}");
    };
    put("/api/v1/users/bob/follow").await;
    let (_, id) = scene.post.split_once(':').unwrap();
    let mut parts = scene.comment.split(':').skip(1);
    let own = parts.next().unwrap();
    let sights = [
        "/api/v1/feed".to_owned(),
        "/api/v1/explore".to_owned(),
        "/api/v1/search?q=hello".to_owned(),
        "/api/v1/search?q=bob&kind=people".to_owned(),
        format!("/api/v1/posts/{own}/comments"),
    ];
    let seen = async || {
        let mut seen = Vec::new();
        for path in &sights {
            let answer = scene.gets(&scene.ada, path).await;
            assert_eq!(answer.status, 200, "{path}: {answer:?}");
            seen.push(answer.text.contains(r#""handle":"bob""#));
        }
        for path in ["/api/v1/users/bob", &format!("/api/v1/posts/{id}")] {
            seen.push(scene.gets(&scene.ada, path).await.status == 200);
        }
        seen.push(scene.gets(&scene.bob, "/api/v1/me").await.status == 200);
        seen
    };
    assert_eq!(seen().await, [true; 8]);
    scene.reports(&scene.ada, "user:bob", "Spam").await;
    scene.reports(&scene.ada, &scene.post, "Spam").await;
    let before = scene.stage.documents("posts").await;
    let moderation = scene.stage.feed().moderation();
    assert_eq!(moderation.suspend(&handle("bob")).await.unwrap(), 2);
    assert_eq!(seen().await, [false; 8]);
    let refused = scene.signs_in("bob", "correct horse").await;
    assert_eq!(
        (refused.status, &refused.body["field"]),
        (403, &"handle".into()),
        "{refused:?}"
    );
    assert!(refused.text.contains("suspended"));
    // Somebody who does not know the password learns nothing.
    assert_eq!(scene.signs_in("bob", "battery staple").await.status, 401);
    let taken = json!({ "handle": "bob", "name": "Bob", "password": "battery staple" });
    let taken = Call::new(Method::POST, "/api/v1/accounts").body(JSON, taken.to_string());
    assert_eq!(taken.send(&scene.app).await.status, 409);

    moderation.reinstate(&handle("bob")).await.unwrap();
    assert_eq!(seen().await, [true; 8]);
    assert_eq!(scene.signs_in("bob", "correct horse").await.status, 200);
    assert_eq!(scene.stage.documents("posts").await, before);
    for missing in [
        moderation.suspend(&handle("nobody")).await.map(drop),
        moderation.reinstate(&handle("nobody")).await,
    ] {
        assert_eq!(missing.unwrap_err().kind, Kind::NotFound);
    }
}

#[tokio::test]
async fn the_operator_sees_what_most_people_reported_first_and_decides_each_once() {
    let scene = Scene::new().await;
    let carol = scene.stage.joins("carol").await;
    for (cookie, about) in [
        (&scene.ada, "user:bob"),
        (&scene.ada, &*scene.post),
        (&carol, &*scene.post),
        (&carol, &*scene.comment),
    ] {
        assert_eq!(scene.reports(cookie, about, "Spam").await.status, 201);
    }
    let reported = scene.reported().await;
    assert_eq!(reported[0], (scene.post.clone(), 2));
    assert_eq!(reported.len(), 3);
    let moderation = scene.stage.feed().moderation();
    let all = moderation.reported().await.unwrap();
    assert_eq!(
        (all[0].about.as_str(), all[0].says.as_deref()),
        ("bob", Some("Hello"))
    );
    assert_eq!(all[0].latest.len(), 2);

    assert_eq!(
        moderation.remove(&target(&scene.post)).await.unwrap(),
        handle("bob")
    );
    assert_eq!(
        moderation.remove(&target(&scene.comment)).await.unwrap(),
        handle("bob")
    );
    assert_eq!(scene.reported().await, [("user:bob".to_owned(), 1)]);
    let (_, id) = scene.post.split_once(':').unwrap();
    assert_eq!(scene.gets("", &format!("/api/v1/posts/{id}")).await.status, 404);
    let own = scene.comment.split(':').nth(1).unwrap();
    let comments = scene.gets("", &format!("/api/v1/posts/{own}/comments")).await;
    assert_eq!(comments.body["total"], 0, "{comments:?}");

    let person = moderation.remove(&target("user:bob")).await.unwrap_err();
    assert!(person.message.contains("suspend bob"), "{person:?}");
    assert_eq!(moderation.dismiss(&target("user:bob")).await.unwrap(), 1);
    let again = moderation.dismiss(&target("user:bob")).await.unwrap_err();
    assert_eq!(again.kind, Kind::NotFound);
    assert_eq!(scene.reported().await, []);
    assert_eq!(scene.gets("", "/api/v1/users/bob").await.status, 200);
}

#[tokio::test]
async fn reports_by_and_about_somebody_go_with_their_account_and_those_of_others_stay() {
    let scene = Scene::new().await;
    let carol = scene.stage.joins("carol").await;
    let bobs = scene.stage.joins("bob-two").await;
    for (cookie, about) in [
        (&scene.ada, "user:bob"),
        (&scene.ada, &*scene.post),
        (&scene.bob, "user:carol"),
        (&bobs, "user:carol"),
        (&carol, "user:ada"),
    ] {
        assert_eq!(scene.reports(cookie, about, "Spam").await.status, 201);
    }
    let leave = Call::new(Method::DELETE, "/api/v1/me").header(COOKIE.as_str(), &scene.bob);
    let left = leave
        .body(JSON, r#"{"password":"correct horse"}"#)
        .send(&scene.app)
        .await;
    assert_eq!(left.status, 204, "{left:?}");
    scene.stage.finish_account_deletions().await;
    assert_eq!(scene.stored().await, ["bob-two user:carol", "carol user:ada"]);
}

/// A report that is stored while its target leaves, after the departure removed all that were there.
#[tokio::test]
async fn no_report_outlives_a_departure_that_it_met() {
    let scene = Scene::new().await;
    let feed = scene.stage.feed();
    let hash = feed
        .store()
        .people()
        .get(&handle("bob"))
        .await
        .unwrap()
        .unwrap()
        .password
        .unwrap();
    feed.store()
        .account_deletions()
        .begin(&handle("bob"), &hash)
        .await
        .unwrap();
    // The post is still there, and so its author can be looked up.
    let ada = handle("ada");
    let sent = feed
        .reports()
        .send(&ada, target(&scene.post), "Spam".parse().unwrap());
    assert_eq!(sent.await.unwrap_err().kind, Kind::NotFound);
    assert_eq!(scene.stored().await, [""; 0]);
}
