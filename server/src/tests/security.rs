//! The security log.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use axum::http::Method;
use axum::http::header::COOKIE;
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

use super::stage::{Call, JSON, Stage};

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
