//! What people change about themselves, by the API and by plain forms, including leaving.

use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE, REFERER};
use serde_json::{Value, json};

use super::stage::{Answer, Call, JSON, PAGE, Stage};

const FORM: &str = "application/x-www-form-urlencoded";

struct Somebody<'a> {
    stage: &'a Stage,
    cookie: String,
}

impl<'a> Somebody<'a> {
    async fn joins(stage: &'a Stage, handle: &str) -> Self {
        let cookie = stage.joins(handle).await;
        Self { stage, cookie }
    }

    fn calls(&self, method: &str, path: &str) -> Call {
        let method: Method = method.parse().unwrap();
        Call::new(method, path).header(COOKIE.as_str(), &self.cookie)
    }

    async fn request(&self, method: &str, path: &str) -> Answer {
        self.calls(method, path).send(&self.stage.open()).await
    }

    async fn sends(&self, method: &str, path: &str, body: &Value) -> Answer {
        let call = self.calls(method, path).body(JSON, body.to_string());
        call.send(&self.stage.open()).await
    }

    /// Sends a plain form from a page; returns the page that the answer leads to.
    async fn fills_in(&self, page: &str, form: &str, fields: &str) -> Answer {
        let call = self
            .calls("POST", form)
            .body(FORM, fields)
            .header(ACCEPT.as_str(), PAGE)
            .header(REFERER.as_str(), &format!("http://localhost:3000{page}"));
        let answer = call.send(&self.stage.open()).await;
        assert!(matches!(answer.status, 302 | 303), "{answer:?}");
        let next = answer.header("location").replace("http://localhost:3000", "");
        let cookie = answer.cookies_after(&self.cookie);
        let next = Call::new(Method::GET, &next).header(COOKIE.as_str(), &cookie);
        next.header(ACCEPT.as_str(), PAGE).send(&self.stage.open()).await
    }
}

async fn sign_in(stage: &Stage, handle: &str, password: &str) -> Answer {
    let body = json!({"handle": handle, "password": password}).to_string();
    let call = Call::new(Method::POST, "/api/v1/session").body(JSON, body);
    call.send(&stage.open()).await
}

#[tokio::test]
async fn a_name_and_a_bio_are_changed_together_or_alone() {
    let stage = Stage::new().await;
    let ada = Somebody::joins(&stage, "ada").await;
    let both = json!({"name": "Ada Lovelace", "bio": "Numbers."});
    let answer = ada.sends("PATCH", "/api/v1/me", &both).await;
    assert_eq!(
        answer.body,
        json!({"handle": "ada", "name": "Ada Lovelace", "bio": "Numbers."})
    );
    let answer = ada.sends("PATCH", "/api/v1/me", &json!({"bio": ""})).await;
    assert_eq!(answer.body["name"], "Ada Lovelace");
    assert_eq!(ada.request("GET", "/api/v1/users/ada").await.body["bio"], "");

    let wrong = json!({"name": "", "bio": "x".repeat(161)});
    let answer = ada.sends("PATCH", "/api/v1/me", &wrong).await;
    assert_eq!((answer.status, &answer.body["field"]), (422, &json!("name")));
    assert_eq!(answer.body["also"][0]["field"], "bio");
    let page = ada.fills_in("/settings", "/api/describe", "name=&bio=Kept").await;
    assert!(
        page.text.contains("A name is empty") && page.text.contains("Kept"),
        "{page:?}"
    );
    let page = ada
        .fills_in("/settings", "/api/describe", "name=Ada&bio=Looms.")
        .await;
    assert!(page.text.contains("Your profile is saved."), "{page:?}");
    assert!(page.text.contains("Looms."));
}

#[tokio::test]
async fn a_new_password_ends_every_other_session() {
    let stage = Stage::new().await;
    let ada = Somebody::joins(&stage, "ada").await;
    let elsewhere = sign_in(&stage, "ada", "correct horse").await.cookie();
    let wrong = json!({"password": "wrong horse", "newPassword": "battery staple"});
    let answer = ada.sends("PUT", "/api/v1/me/password", &wrong).await;
    assert_eq!((answer.status, &answer.body["field"]), (422, &json!("password")));
    for refused in ["short", "iloveyou"] {
        let new = json!({"password": "correct horse", "newPassword": refused});
        let answer = ada.sends("PUT", "/api/v1/me/password", &new).await;
        assert_eq!(
            (answer.status, &answer.body["field"]),
            (422, &json!("newPassword"))
        );
    }

    let right = json!({"password": "correct horse", "newPassword": "battery staple"});
    let answer = ada.sends("PUT", "/api/v1/me/password", &right).await;
    assert_eq!(answer.status, 204, "{answer:?}");
    let cookie = answer.cookie();
    for (cookie, status) in [(&elsewhere, 401), (&ada.cookie, 401), (&cookie, 200)] {
        let me = Call::new(Method::GET, "/api/v1/me").header(COOKIE.as_str(), cookie);
        assert_eq!(me.send(&stage.open()).await.status, status);
    }
    assert_eq!(sign_in(&stage, "ada", "correct horse").await.status, 401);
    assert_eq!(sign_in(&stage, "ada", "battery staple").await.status, 200);
}

/// The write that changes the password ends the sessions, not the deletion of their documents after it.
#[tokio::test]
async fn a_session_that_survived_the_change_of_a_password_is_worth_nothing() {
    let stage = Stage::new().await;
    let ada = Somebody::joins(&stage, "ada").await;
    let sessions = stage.documents("sessions").await;
    let right = json!({"password": "correct horse", "newPassword": "battery staple"});
    ada.sends("PUT", "/api/v1/me/password", &right).await;
    stage.puts_back("sessions", sessions).await;
    assert_eq!(ada.request("GET", "/api/v1/me").await.status, 401);
}

#[tokio::test]
async fn everything_of_a_person_can_be_downloaded() {
    let stage = Stage::new().await;
    let ada = Somebody::joins(&stage, "ada").await;
    let bob = Somebody::joins(&stage, "bob").await;
    let (own, other) = (
        stage.creates(&ada.cookie, "/api/v1/posts").await,
        stage.creates(&bob.cookie, "/api/v1/posts").await,
    );
    stage
        .creates(&ada.cookie, &format!("/api/v1/posts/{other}/comments"))
        .await;
    ada.request("PUT", &format!("/api/v1/posts/{other}/like")).await;
    ada.request("PUT", &format!("/api/v1/posts/{own}/share")).await;
    ada.request("PUT", "/api/v1/users/bob/follow").await;
    bob.request("PUT", "/api/v1/users/ada/follow").await;

    let file = ada.request("GET", "/api/v1/me/export").await;
    assert_eq!(file.status, 200);
    assert_eq!(
        file.header("content-disposition"),
        "attachment; filename=\"spillway-ada.json\""
    );
    assert_eq!(file.body["profile"]["handle"], "ada", "{file:?}");
    assert_eq!(file.body["sessions"].as_array().unwrap().len(), 1);
    assert_eq!(file.body["posts"][0]["id"], own);
    assert_eq!(file.body["comments"][0]["post"], other);
    assert_eq!(file.body["comments"][0]["text"], "Hello");
    assert_eq!(file.body["likes"][0]["post"], other);
    assert_eq!(file.body["shares"][0]["post"], own);
    assert_eq!(file.body["following"][0]["handle"], "bob");
    assert_eq!(file.body["followers"][0]["handle"], "bob");
    assert!(!file.text.contains("argon2"), "the password's hash stays here");
    let smaller = ada
        .calls("GET", "/api/v1/me/export")
        .header("accept-encoding", "gzip");
    let smaller = smaller.bytes(&stage.open()).await;
    assert!(smaller.starts_with(&[0x1f, 0x8b]) && smaller.len() < file.text.len());
    let nobody = Call::new(Method::GET, "/api/v1/me/export");
    assert_eq!(nobody.send(&stage.open()).await.status, 401);
}

#[tokio::test]
async fn a_deleted_account_is_gone_at_once_and_leaves_nothing_behind() {
    let stage = Stage::new().await;
    let ada = Somebody::joins(&stage, "ada").await;
    let bob = Somebody::joins(&stage, "bob").await;
    let (own, other) = (
        stage.creates(&ada.cookie, "/api/v1/posts").await,
        stage.creates(&bob.cookie, "/api/v1/posts").await,
    );
    ada.request("PUT", &format!("/api/v1/posts/{other}/like")).await;
    ada.request("PUT", "/api/v1/users/bob/follow").await;
    bob.request("PUT", "/api/v1/users/ada/follow").await;

    let wrong = json!({"password": "wrong horse"});
    let answer = ada.sends("DELETE", "/api/v1/me", &wrong).await;
    assert_eq!((answer.status, &answer.body["field"]), (422, &json!("password")));
    let elsewhere = sign_in(&stage, "ada", "correct horse").await.cookie();
    let answer = ada
        .sends("DELETE", "/api/v1/me", &json!({"password": "correct horse"}))
        .await;
    assert_eq!(answer.status, 204, "{answer:?}");

    for (who, method, path, status) in [
        (&ada, "GET", "/api/v1/me", 401),
        (&bob, "GET", "/api/v1/users/ada", 404),
        (&bob, "GET", &format!("/api/v1/posts/{own}"), 404),
    ] {
        assert_eq!(who.request(method, path).await.status, status, "{path}");
    }
    assert_eq!(sign_in(&stage, "ada", "correct horse").await.status, 401);
    stage.finish_account_deletions().await;
    assert_eq!(
        bob.request("GET", &format!("/api/v1/posts/{other}")).await.body["likes"],
        0
    );
    let of_bob = bob.request("GET", "/api/v1/users/bob").await.body;
    assert_eq!(
        (&of_bob["followers"], &of_bob["following"]),
        (&json!(0), &json!(0))
    );
    for (collection, documents) in stage.everything().await {
        let told = format!("{documents:?}");
        assert!(!told.contains("ada"), "{collection}: {told}");
    }

    // Another Ada, whom the first one's sessions must not reach.
    stage.releases_handles().await;
    Somebody::joins(&stage, "ada").await;
    let me = Call::new(Method::GET, "/api/v1/me").header(COOKIE.as_str(), &elsewhere);
    assert_eq!(me.send(&stage.open()).await.status, 401);
}

#[tokio::test]
async fn nobody_gets_the_handle_of_somebody_who_left_for_thirty_days() {
    const DAY: i64 = 24 * 60 * 60 * 1000;
    let stage = Stage::new().await;
    let first = Somebody::joins(&stage, "ada").await;
    let farewell = json!({"password": "correct horse"});
    assert_eq!(first.sends("DELETE", "/api/v1/me", &farewell).await.status, 204);
    stage.finish_account_deletions().await;
    let asks = || async {
        let account = json!({"handle": "ada", "name": "Another Ada", "password": "correct horse"});
        let call = Call::new(Method::POST, "/api/v1/accounts").body(JSON, account.to_string());
        call.send(&stage.open()).await
    };
    stage.clock.wait(29 * DAY);
    let refused = asks().await;
    assert_eq!((refused.status, &refused.body["field"]), (409, &json!("handle")));
    stage.clock.wait(DAY);
    assert_eq!(asks().await.status, 201);
}

#[tokio::test]
async fn a_session_of_an_earlier_holder_of_a_handle_is_worth_nothing() {
    let stage = Stage::new().await;
    let first = Somebody::joins(&stage, "ada").await;
    let sessions = stage.documents("sessions").await;
    let farewell = json!({"password": "correct horse"});
    first.sends("DELETE", "/api/v1/me", &farewell).await;
    stage.finish_account_deletions().await;
    stage.releases_handles().await;
    stage.puts_back("sessions", sessions).await;
    Somebody::joins(&stage, "ada").await;
    assert_eq!(first.request("GET", "/api/v1/me").await.status, 401);
}

#[tokio::test]
async fn actions_of_an_actor_who_left_meanwhile_are_undone() {
    for path in ["like", "share", "comments"] {
        let stage = Stage::new().await;
        let bob = Somebody::joins(&stage, "bob").await;
        let post = stage.creates(&bob.cookie, "/api/v1/posts").await;
        let before = stage.documents("posts").await;
        stage.acts_for_somebody_gone(path, &post).await;
        let count = |documents: &[bson::Document]| {
            ["likes", "shares", "comments"]
                .map(|list| documents[0].get_document(list).unwrap().get("count").cloned())
        };
        assert_eq!(count(&stage.documents("posts").await), count(&before), "{path}");
    }
}

#[tokio::test]
async fn leaving_by_the_form_takes_the_handle_and_the_password() {
    let stage = Stage::new().await;
    let ada = Somebody::joins(&stage, "ada").await;
    for (fields, message) in [
        ("handle=bob&password=correct+horse", "Type your handle, ada"),
        ("handle=ada&password=wrong+horse", "not your current password"),
    ] {
        let page = ada.fills_in("/settings", "/api/leave", fields).await;
        assert!(page.text.contains(message), "{page:?}");
        assert_eq!(ada.request("GET", "/api/v1/me").await.status, 200);
    }
    let page = ada
        .fills_in("/settings", "/api/leave", "handle=%40ada&password=correct+horse")
        .await;
    assert!(page.text.contains("Your account is deleted."), "{page:?}");
    assert_eq!(ada.request("GET", "/api/v1/me").await.status, 401);
}

#[tokio::test]
async fn a_refused_form_of_the_settings_leads_to_where_it_says_why() {
    let stage = Stage::new().await;
    let ada = Somebody::joins(&stage, "ada").await;
    for (form, fields, place) in [
        ("/api/leave", "handle=ada&password=wrong+horse", "leave"),
        (
            "/api/change_password",
            "password=wrong+horse&new_password=battery+staple",
            "password",
        ),
    ] {
        let call = ada.calls("POST", form).body(FORM, fields);
        let call = call.header(ACCEPT.as_str(), PAGE);
        let call = call.header(REFERER.as_str(), "http://localhost:3000/settings");
        let answer = call.send(&stage.open()).await;
        assert_eq!(answer.header("location"), format!("/settings#{place}"));
        let page = ada.fills_in("/settings", form, fields).await;
        assert!(page.text.contains(&format!("id=\"{place}\"")), "{page:?}");
    }
}

#[tokio::test]
async fn people_of_the_demo_town_stay() {
    let stage = Stage::new().await;
    let bob = Somebody::joins(&stage, "bob").await;
    stage.forgets_the_password_of("bob").await;
    let answer = bob
        .sends("DELETE", "/api/v1/me", &json!({"password": "correct horse"}))
        .await;
    assert_eq!((answer.status, &answer.body["field"]), (403, &json!("password")));
}

#[tokio::test]
async fn settings_require_a_session() {
    let stage = Stage::new().await;
    let visitor = Call::new(Method::GET, "/settings").header(ACCEPT.as_str(), PAGE);
    let answer = visitor.send(&stage.open()).await;
    assert_eq!(answer.status, 303);
    assert_eq!(answer.header("location"), "/login?next=/settings");
}

#[tokio::test]
async fn signing_up_reports_every_wrong_field_at_once_and_keeps_the_typed_text() {
    let stage = Stage::new().await;
    let nobody = Somebody {
        stage: &stage,
        cookie: String::new(),
    };
    let page = nobody
        .fills_in("/signup", "/api/sign_up", "handle=a+b&name=+&password=secret")
        .await;
    for told in [
        "A handle starts with",
        "A name is empty",
        "A password has",
        "value=\"a b\"",
    ] {
        assert!(page.text.contains(told), "{told}: {}", page.text);
    }
    assert!(!page.text.contains("secret"), "a password is not shown again");
}

#[tokio::test]
async fn a_plain_form_without_a_field_is_refused_by_the_name_of_the_field() {
    let stage = Stage::new().await;
    let ada = Somebody::joins(&stage, "ada").await;
    for (page, form, fields, told) in [
        ("/", "/api/compose", "id=", "without “text”"),
        (
            "/signup",
            "/api/sign_up",
            "handle=carol&name=Carol",
            "without “password”",
        ),
        ("/login", "/api/sign_in", "password=x", "without “handle”"),
        ("/explore", "/api/set_like", "on=true", "without “post”"),
        ("/explore", "/api/set_follow", "handle=bob", "without “on”"),
    ] {
        let page = ada.fills_in(page, form, fields).await;
        assert_eq!(page.status, 200);
        assert!(page.text.contains(told), "{form}: {}", page.text);
    }
}

#[tokio::test]
async fn a_post_and_a_comment_are_deleted_by_their_author_s_forms() {
    let stage = Stage::new().await;
    let ada = Somebody::joins(&stage, "ada").await;
    let post = stage.creates(&ada.cookie, "/api/v1/posts").await;
    let on_it = format!("/api/v1/posts/{post}/comments");
    let comment = stage.creates(&ada.cookie, &on_it).await;
    let its_page = format!("/post/{post}");
    let fields = format!("post={post}&comment={comment}");
    let page = ada.fills_in(&its_page, "/api/delete_comment", &fields).await;
    assert!(page.text.contains("Your comment is deleted."), "{page:?}");
    assert_eq!(
        ada.request("GET", &format!("/api/v1/posts/{post}")).await.body["comments"],
        0
    );
    let fields = format!("post={post}");
    let page = ada.fills_in(&its_page, "/api/delete_post", &fields).await;
    assert!(page.text.contains("Your post is deleted."), "{page:?}");
    assert!(page.text.contains("@ada"), "it leads to one's own page");
    assert_eq!(ada.request("GET", &its_page).await.status, 404);
}
