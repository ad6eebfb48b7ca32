//! The security log.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use axum::http::header::{ACCEPT, COOKIE, HOST};
use axum::http::{Method, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

use super::stage::{Call, JSON, PAGE, Stage};
use crate::http::record_refusals;

/// Everything that is logged.
#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Written {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Written {
    fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut *self.0.lock().unwrap())).unwrap()
    }
}

/// What is logged from now on, of what the filter lets through, until the guard is dropped.
fn written(filter: &str) -> (Written, DefaultGuard) {
    let log = Written::default();
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(false)
        .with_writer(log.clone())
        .finish();
    (log, tracing::subscriber::set_default(subscriber))
}

const FORM: &str = "application/x-www-form-urlencoded";

#[tokio::test]
async fn recovery_is_logged_without_the_codes_and_the_token() {
    let (log, _guard) = written("trace");
    let stage = Stage::new().await;
    stage.joins("ada").await;
    let (code, token) = stage.recovery_of("ada").await;
    let made = log.take();
    for event in ["recovery-codes-made", "recovery-link-made"] {
        assert!(made.contains(&format!(" security: {event} handle=ada")), "{made}");
    }
    let page = format!("/recover?handle=ada&token={token}");
    Call::new(Method::GET, &page).send(&stage.open()).await;
    let with_a_code = |code: &str| format!("handle=ada&code={code}&new_password=battery+staple");
    for (form, fields, event) in [
        (
            "/api/recover",
            with_a_code("9999-9999-9999-9999-9999-9999"),
            "recovery-failed",
        ),
        ("/api/recover", with_a_code(&code), "recovered"),
        (
            "/api/reset_password",
            format!("handle=ada&token={token}&new_password=battery+staple"),
            // The code has used it up.
            "recovery-failed",
        ),
    ] {
        let call = Call::new(Method::POST, form).from([192, 0, 2, 7]);
        call.body(FORM, fields).send(&stage.open()).await;
        let written = log.take();
        let line = format!(" security: {event} handle=ada peer=192.0.2.7");
        assert!(written.contains(&line), "{line} in {written}");
        for secret in [&code, &code.replace('-', ""), &token, "staple"] {
            assert!(!written.contains(secret), "{secret} in {written}");
        }
    }
}

#[tokio::test]
async fn what_happens_to_accounts_is_logged_with_who_and_from_where_and_without_secrets() {
    let (log, _guard) = written("trace");
    let stage = Stage::new().await;
    let mut cookie = stage.joins("ada").await;
    stage.joins("bob").await;
    log.take();
    for (method, path, body, event, who) in [
        (
            "POST",
            "/api/v1/session",
            r#"{"handle":"ada","password":"correct horse"}"#,
            "sign-in",
            "handle=ada ",
        ),
        (
            "POST",
            "/api/v1/session",
            r#"{"handle":"ada","password":"wrong horse"}"#,
            "sign-in-failed",
            "handle=ada ",
        ),
        // Somebody's password, in the wrong field.
        (
            "POST",
            "/api/v1/session",
            r#"{"handle":"horse-battery","password":"wrong horse"}"#,
            "sign-in-failed",
            "",
        ),
        (
            "POST",
            "/api/v1/accounts",
            r#"{"handle":"carol","name":"Carol","password":"correct horse"}"#,
            "sign-up",
            "handle=carol ",
        ),
        (
            "POST",
            "/api/sign_in_as_demo",
            "handle=bob",
            "sign-in",
            "handle=bob ",
        ),
        (
            "PUT",
            "/api/v1/me/password",
            r#"{"password":"wrong horse","newPassword":"battery staple"}"#,
            "password-wrong",
            "handle=ada ",
        ),
        (
            "PUT",
            "/api/v1/me/password",
            r#"{"password":"correct horse","newPassword":"battery staple"}"#,
            "password-changed",
            "handle=ada ",
        ),
        ("DELETE", "/api/v1/sessions", "", "sessions-ended", "handle=ada "),
        ("DELETE", "/api/v1/session", "", "sign-out", "handle=ada "),
        (
            "POST",
            "/api/v1/session",
            r#"{"handle":"ada","password":"battery staple"}"#,
            "sign-in",
            "handle=ada ",
        ),
        (
            "DELETE",
            "/api/v1/me",
            r#"{"password":"battery staple"}"#,
            "account-deleted",
            "handle=ada ",
        ),
    ] {
        let method: Method = method.parse().unwrap();
        let own = !path.ends_with("/session") && method != Method::POST || event == "sign-out";
        let mut call = Call::new(method, path).from([192, 0, 2, 7]);
        if own {
            call = call.header(COOKIE.as_str(), &cookie);
        }
        if !body.is_empty() {
            call = call.body(if body.starts_with('{') { JSON } else { FORM }, body);
        }
        let answer = call.send(&stage.open()).await;
        let written = log.take();
        let line = format!(" security: {event} {who}peer=192.0.2.7");
        assert!(written.contains(&line), "{line} in {written}, {answer:?}");
        for secret in ["horse", "battery", "staple"] {
            assert!(!written.contains(secret), "{secret} in {written}");
        }
        if own && answer.headers.contains_key("set-cookie") || event == "sign-in" && who.contains("ada") {
            cookie = answer.cookie();
        }
        let (_, token) = cookie.split_once('=').unwrap();
        assert!(token.is_empty() || !written.contains(token), "{written}");
    }
}

#[tokio::test]
async fn refusals_by_limits_are_logged() {
    let (log, _guard) = written("security=info");
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    let limited = [
        (stage.limited(|quotas| &mut quotas.peer), ""),
        (stage.limited(|quotas| &mut quotas.account), "handle=ada "),
    ];
    for (app, who) in limited {
        let call = Call::new(Method::DELETE, "/api/v1/users/bob/follow").header(COOKIE.as_str(), &ada);
        let call = call.from([192, 0, 2, 7]);
        call.send(&app).await;
        log.take();
        assert_eq!(call.send(&app).await.status, 429);
        let written = log.take();
        let line = format!(" security: limited {who}peer=192.0.2.7");
        assert!(written.contains(&line), "{line} in {written}");
    }
}

#[tokio::test]
async fn what_is_forbidden_is_logged_with_who_and_from_where() {
    let (log, _guard) = written("security=info");
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    let bob = stage.joins("bob").await;
    let post = stage.creates(&bob, "/api/v1/posts").await;
    let deletes = || {
        let call = Call::new(Method::DELETE, &format!("/api/v1/posts/{post}"));
        call.header(COOKIE.as_str(), &ada).from([192, 0, 2, 7])
    };
    let form = Call::new(Method::POST, "/api/delete_post")
        .header(COOKIE.as_str(), &ada)
        .header(ACCEPT.as_str(), PAGE)
        .body(FORM, format!("post={post}"))
        .from([192, 0, 2, 7]);
    for (what, call, app, status, who) in [
        ("somebody else's", deletes(), stage.open(), 403, "handle=ada "),
        ("the same by a form", form, stage.open(), 303, "handle=ada "),
        (
            "from another site",
            deletes().header("sec-fetch-site", "cross-site"),
            stage.open(),
            403,
            "",
        ),
        (
            "over plain HTTP",
            deletes().header(HOST.as_str(), "192.168.1.5:3000"),
            stage.for_this_machine(),
            403,
            "",
        ),
    ] {
        log.take();
        assert_eq!(call.send(&app).await.status, status, "{what}");
        let written = log.take();
        let line = format!(" security: refused {who}peer=192.0.2.7");
        assert!(written.contains(&line), "{what}: {line} in {written}");
        assert_eq!(written.lines().count(), 1, "{what}: {written}");
    }
}

#[tokio::test]
async fn requests_that_do_not_arrive_in_time_are_logged() {
    let (log, _guard) = written("security=info");
    let stage = Stage::new().await;
    let late = get(async || StatusCode::REQUEST_TIMEOUT);
    let app = axum::Router::new()
        .route("/late", late)
        .layer(from_fn_with_state((stage.feed().clone(), 0), record_refusals));
    let call = Call::new(Method::GET, "/late").from([192, 0, 2, 7]);
    assert_eq!(call.send(&app).await.status, 408);
    assert!(log.take().contains(" security: timed-out peer=192.0.2.7"));
}

#[tokio::test]
async fn a_path_cannot_imitate_other_fields_of_a_line() {
    let (log, _guard) = written("info");
    let stage = Stage::new().await;
    let path = "/caf\u{e9}\u{a0}status=200\u{2028}ms=1";
    Call::new(Method::GET, path).send(&stage.open()).await;
    let written = log.take();
    let line = written.lines().find(|line| line.contains("answered")).unwrap();
    assert!(line.is_ascii(), "{line}");
    assert!(
        line.contains("path=/caf%C3%A9%C2%A0status=200%E2%80%A8ms=1 "),
        "{line}"
    );
}

#[cfg(feature = "workshop")]
#[tokio::test]
async fn a_reset_of_the_class_is_logged() {
    let (log, _guard) = written("security=info");
    let stage = Stage::new().await;
    stage.joins("bob").await;
    stage.opens_a_class_with("nobody").await;
    let resets = Call::new(Method::POST, "/lab/class/anew");
    let proven = resets
        .clone()
        .header(COOKIE.as_str(), "spillway-teacher=0707070707070707");
    log.take();
    assert_eq!(resets.send(&stage.open()).await.status, 403);
    assert!(log.take().contains(" security: refused peer=127.0.0.1"));
    assert_eq!(proven.send(&stage.open()).await.status, 303);
    assert!(log.take().contains(" security: class-reset peer=127.0.0.1"));
}
