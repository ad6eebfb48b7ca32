//! Back into an account whose password is lost: codes and links, by the API and by plain forms.

use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE, REFERER};
use feed::Client;
use model::Kind;
use serde_json::{Value, json};

use super::stage::{Answer, Call, JSON, PAGE, Stage};

const FORM: &str = "application/x-www-form-urlencoded";
const DAY: i64 = 24 * 60 * 60 * 1000;

impl Stage {
    /// A new recovery code of somebody who joined, and the token of a new link.
    pub async fn recovery_of(&self, handle: &str) -> (String, String) {
        let accounts = self.feed().accounts();
        let handle = handle.parse().unwrap();
        let client = Client::default();
        let codes = accounts.make_recovery_codes(&handle, "correct horse", &client);
        let code = codes.await.unwrap().swap_remove(0);
        let link = accounts.make_recovery_link(&handle).await.unwrap();
        let (_, token) = link.path.split_once("token=").unwrap();
        (code, token.to_owned())
    }

    /// Whether the operator gets no link for somebody.
    pub async fn makes_no_link_for(&self, handle: &str) -> bool {
        let handle = handle.parse().unwrap();
        let made = self.feed().accounts().make_recovery_link(&handle);
        made.await.is_err_and(|problem| problem.kind == Kind::NotFound)
    }
}

async fn sends(stage: &Stage, cookie: &str, method: &str, path: &str, body: &Value) -> Answer {
    let call = Call::new(method.parse().unwrap(), path).header(COOKIE.as_str(), cookie);
    call.body(JSON, body.to_string()).send(&stage.open()).await
}

async fn gets(stage: &Stage, cookie: &str, path: &str) -> Answer {
    let call = Call::new(Method::GET, path).header(COOKIE.as_str(), cookie);
    call.send(&stage.open()).await
}

async fn codes_of(stage: &Stage, cookie: &str) -> Vec<String> {
    let password = json!({"password": "correct horse"});
    let made = sends(stage, cookie, "PUT", "/api/v1/me/recovery-codes", &password).await;
    assert_eq!(made.status, 200, "{made:?}");
    serde_json::from_value(made.body["codes"].clone()).unwrap()
}

async fn recovers(stage: &Stage, handle: &str, code: &str, new: &str) -> Answer {
    let body = json!({"handle": handle, "code": code, "newPassword": new});
    sends(stage, "", "POST", "/api/v1/recovery", &body).await
}

async fn signs_in(stage: &Stage, password: &str) -> u16 {
    let body = json!({"handle": "ada", "password": password});
    sends(stage, "", "POST", "/api/v1/session", &body).await.status
}

/// Sends a plain form from a page; returns the page that the answer leads to, and its address.
async fn fills_in(stage: &Stage, cookie: &str, page: &str, form: &str, fields: &str) -> (String, Answer) {
    let call = Call::new(Method::POST, form)
        .header(COOKIE.as_str(), cookie)
        .header(ACCEPT.as_str(), PAGE)
        .header(REFERER.as_str(), &format!("http://localhost:3000{page}"));
    let answer = call.body(FORM, fields).send(&stage.open()).await;
    assert_eq!(answer.status, 303, "{answer:?}");
    let next = answer.header("location").replace("http://localhost:3000", "");
    let cookie = answer.cookies_after(cookie);
    let call = Call::new(Method::GET, &next).header(COOKIE.as_str(), &cookie);
    let shown = call.header(ACCEPT.as_str(), PAGE).send(&stage.open()).await;
    (next, shown)
}

async fn by_link(stage: &Stage, handle: &str, token: &str, new: &str) -> (String, Answer) {
    let page = format!("/recover?handle={handle}&token={token}");
    let fields = format!("handle={handle}&token={token}&new_password={new}");
    fills_in(stage, "", &page, "/api/reset_password", &fields).await
}

#[tokio::test]
async fn a_code_sets_a_new_password_once_and_ends_all_sessions() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    let left = async |stage: &Stage, cookie: &str| {
        let answer = gets(stage, cookie, "/api/v1/me/recovery-codes").await;
        answer.body["left"].as_u64().unwrap()
    };
    assert_eq!(left(&stage, &cookie).await, 0);
    let codes = codes_of(&stage, &cookie).await;
    assert_eq!((codes.len(), left(&stage, &cookie).await), (8, 8));

    let common = recovers(&stage, "ada", &codes[0], "iloveyou").await;
    assert_eq!(
        (common.status, &common.body["field"]),
        (422, &json!("newPassword"))
    );
    let typed = codes[0].to_uppercase().replace('-', " ");
    let recovered = recovers(&stage, "@Ada", &typed, "battery staple").await;
    assert_eq!(recovered.status, 204, "{recovered:?}");
    assert!(!recovered.headers.contains_key("set-cookie"));
    assert_eq!(gets(&stage, &cookie, "/api/v1/me").await.status, 401);
    assert_eq!(signs_in(&stage, "correct horse").await, 401);
    assert_eq!(signs_in(&stage, "battery staple").await, 200);

    let again = recovers(&stage, "ada", &codes[0], "another staple").await;
    assert_eq!((again.status, &again.body["field"]), (422, &json!("code")));
    let credentials = json!({"handle": "ada", "password": "battery staple"});
    let cookie = sends(&stage, "", "POST", "/api/v1/session", &credentials)
        .await
        .cookie();
    assert_eq!(left(&stage, &cookie).await, 7);
    let sessions = gets(&stage, &cookie, "/api/v1/sessions").await;
    assert!(sessions.body["passwordChanged"].is_string(), "{sessions:?}");
    let export = gets(&stage, &cookie, "/api/v1/me/export").await;
    assert_eq!(export.body["profile"]["recoveryCodesLeft"], 7, "{export:?}");
}

#[tokio::test]
async fn an_unknown_handle_is_refused_like_a_wrong_code() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    let codes = codes_of(&stage, &cookie).await;
    stage.joins("carol").await;
    let wrong = "9999-0000-0000-0000-0000-0000";
    let mut answers = Vec::new();
    for (handle, code) in [
        ("ada", wrong),
        ("nobody", wrong),
        ("carol", &codes[0]),
        ("ada", "x"),
        ("a b", wrong),
    ] {
        let answer = recovers(&stage, handle, code, "battery staple").await;
        answers.push((answer.status, answer.body));
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(answers[0].0, 422);
}

#[tokio::test]
async fn new_codes_replace_the_old_ones_and_need_the_password() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    let old = codes_of(&stage, &cookie).await;
    let wrong = json!({"password": "wrong horse"});
    let refused = sends(&stage, &cookie, "PUT", "/api/v1/me/recovery-codes", &wrong).await;
    assert_eq!(
        (refused.status, &refused.body["field"]),
        (422, &json!("password"))
    );
    let new = codes_of(&stage, &cookie).await;
    assert_eq!(
        recovers(&stage, "ada", &old[0], "battery staple").await.status,
        422
    );
    assert_eq!(
        recovers(&stage, "ada", &new[0], "battery staple").await.status,
        204
    );
}

#[tokio::test]
async fn tries_at_codes_are_limited_together_with_those_at_passwords() {
    let stage = Stage::new().await.limiting_tries();
    let cookie = stage.joins("ada").await;
    // Giving the password for them is the first try.
    let codes = codes_of(&stage, &cookie).await;
    for nth in 0..5 {
        let wrong = format!("9{nth:023}");
        assert_eq!(
            recovers(&stage, "ada", &wrong, "battery staple").await.status,
            422
        );
    }
    let refused = recovers(&stage, "ada", &codes[0], "battery staple").await;
    assert_eq!(refused.status, 429, "{refused:?}");
    let wait: u64 = refused.header("retry-after").parse().unwrap();
    assert!((540..=600).contains(&wait), "{refused:?}");
    assert_eq!(signs_in(&stage, "correct horse").await, 429);
}

#[tokio::test]
async fn somebody_with_a_session_guesses_no_faster_than_others() {
    let wrong = json!({"password": "wrong horse", "newPassword": "battery staple"});
    for (method, path) in [
        ("PUT", "/api/v1/me/password"),
        ("PUT", "/api/v1/me/recovery-codes"),
        ("DELETE", "/api/v1/me"),
    ] {
        let stage = Stage::new().await.limiting_tries();
        let cookie = stage.joins("ada").await;
        let mut body = wrong.clone();
        if !path.ends_with("/password") {
            body.as_object_mut().unwrap().remove("newPassword");
        }
        for nth in 0..6 {
            let answer = sends(&stage, &cookie, method, path, &body).await;
            assert_eq!(answer.status, 422, "{path} {nth}: {answer:?}");
        }
        let refused = sends(&stage, &cookie, method, path, &body).await;
        assert_eq!(refused.status, 429, "{path}: {refused:?}");
        let wait: u64 = refused.header("retry-after").parse().unwrap();
        assert!((540..=600).contains(&wait), "{path}: {refused:?}");
    }
}

/// Somebody who had the account for a while may have made codes and a link, and must not come back with them.
#[tokio::test]
async fn codes_do_not_outlive_a_change_of_the_password_or_the_operators_link() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    let (code, _) = stage.recovery_of("ada").await;
    let change = json!({"password": "correct horse", "newPassword": "battery staple"});
    let changed = sends(&stage, &cookie, "PUT", "/api/v1/me/password", &change).await;
    assert_eq!(changed.status, 204, "{changed:?}");
    assert_eq!(recovers(&stage, "ada", &code, "another staple").await.status, 422);
    assert_eq!(signs_in(&stage, "battery staple").await, 200);

    stage.joins("carol").await;
    let (code, token) = stage.recovery_of("carol").await;
    by_link(&stage, "carol", &token, "battery+staple").await;
    assert_eq!(
        recovers(&stage, "carol", &code, "another staple").await.status,
        422
    );
}

#[tokio::test]
async fn a_link_works_once_for_a_day_and_only_the_last_one() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    stage.joins("carol").await;
    let (_, replaced) = stage.recovery_of("ada").await;
    let (_, token) = stage.recovery_of("ada").await;
    let dead = "This link is not valid";
    for (handle, token) in [("ada", &replaced), ("carol", &token), ("nobody", &token)] {
        let (at, page) = by_link(&stage, handle, token, "battery+staple").await;
        assert!(page.text.contains(dead) && at.contains("/recover?"), "{page:?}");
    }
    let (_, page) = by_link(&stage, "ada", &token, "iloveyou").await;
    assert!(page.text.contains("too easy to guess"), "{page:?}");
    let (at, page) = by_link(&stage, "ada", &token, "battery+staple").await;
    assert_eq!(at, "/login");
    assert!(page.text.contains("all your sessions have ended"), "{page:?}");
    assert_eq!(gets(&stage, &cookie, "/api/v1/me").await.status, 401);
    assert_eq!(signs_in(&stage, "battery staple").await, 200);
    let (_, page) = by_link(&stage, "ada", &token, "another+staple").await;
    assert!(page.text.contains(dead), "{page:?}");

    let (_, late) = stage.recovery_of("carol").await;
    stage.clock.wait(DAY);
    let (_, page) = by_link(&stage, "carol", &late, "battery+staple").await;
    assert!(page.text.contains(dead), "{page:?}");
}

#[tokio::test]
async fn a_link_does_not_outlive_a_change_of_the_password_or_the_account() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    let (code, token) = stage.recovery_of("ada").await;
    let change = json!({"password": "correct horse", "newPassword": "battery staple"});
    let changed = sends(&stage, &cookie, "PUT", "/api/v1/me/password", &change).await;
    let (_, page) = by_link(&stage, "ada", &token, "another+staple").await;
    assert!(page.text.contains("This link is not valid"), "{page:?}");

    let password = json!({"password": "battery staple"});
    let left = sends(&stage, &changed.cookie(), "DELETE", "/api/v1/me", &password).await;
    assert_eq!(left.status, 204, "{left:?}");
    stage.finish_account_deletions().await;
    stage.releases_handles().await;
    stage.joins("ada").await;
    assert_eq!(recovers(&stage, "ada", &code, "another staple").await.status, 422);
}

#[tokio::test]
async fn people_without_a_password_cannot_be_locked_out() {
    let stage = Stage::new().await;
    let cookie = stage.joins("bob").await;
    let (code, token) = stage.recovery_of("bob").await;
    stage.forgets_the_password_of("bob").await;
    let password = json!({"password": "correct horse"});
    let refused = sends(&stage, &cookie, "PUT", "/api/v1/me/recovery-codes", &password).await;
    assert_eq!(
        (refused.status, &refused.body["field"]),
        (403, &json!("password"))
    );
    assert!(stage.makes_no_link_for("bob").await);
    assert!(stage.makes_no_link_for("nobody").await);
    assert_eq!(recovers(&stage, "bob", &code, "battery staple").await.status, 422);
    let (_, page) = by_link(&stage, "bob", &token, "battery+staple").await;
    assert!(page.text.contains("This link is not valid"), "{page:?}");
}

#[tokio::test]
async fn codes_are_shown_once_and_the_store_has_none_of_the_secrets() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    let (old, token) = stage.recovery_of("ada").await;
    let (at, page) = fills_in(
        &stage,
        &cookie,
        "/settings",
        "/api/make_recovery_codes",
        "password=correct+horse",
    )
    .await;
    assert_eq!(
        (at.as_str(), page.header("cache-control")),
        ("/settings", "no-store")
    );
    let codes: Vec<_> = page
        .text
        .split("<code>")
        .skip(1)
        .map(|rest| &rest[..29])
        .collect();
    assert_eq!(codes.len(), 8, "{page:?}");
    let again = Call::new(Method::GET, "/settings").header(COOKIE.as_str(), &cookie);
    let again = again.header(ACCEPT.as_str(), PAGE).send(&stage.open()).await;
    assert!(!again.text.contains(codes[0]) && again.text.contains("8 recovery codes left"));
    let stored = format!("{:?}", stage.everything().await);
    let seen = gets(&stage, "", "/api/v1/users/ada/stored").await;
    for secret in [codes[0], &codes[0].replace('-', ""), &old, &token] {
        assert!(
            !stored.contains(secret) && !seen.text.contains(secret),
            "{secret}"
        );
    }
    for path in ["/@ada/stored", "/api/v1/users/ada/overflow", "/@ada"] {
        let seen = gets(&stage, &cookie, path).await;
        assert!(!seen.text.contains("digest"), "{path}: {seen:?}");
    }
    assert_eq!(
        recovers(&stage, "ada", codes[0], "battery staple").await.status,
        204
    );
}

#[tokio::test]
async fn the_page_with_the_token_is_kept_by_nobody() {
    let stage = Stage::new().await;
    let call = Call::new(Method::GET, "/recover?handle=ada&token=abc").header(ACCEPT.as_str(), PAGE);
    let page = call.send(&stage.open()).await;
    assert_eq!(page.status, 200);
    assert_eq!(page.header("cache-control"), "no-store");
    assert_eq!(page.header("referrer-policy"), "same-origin");
    assert!(page.text.contains("name=\"token\""), "{page:?}");
}
