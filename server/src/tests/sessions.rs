//! How sessions begin, last and end.

use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE, USER_AGENT};
use serde_json::{Value, json};

use super::stage::{Answer, Call, JSON, PAGE, Stage};

const DAY: i64 = 24 * 60 * 60 * 1000;

async fn me(stage: &Stage, cookie: &str) -> u16 {
    let call = Call::new(Method::GET, "/api/v1/me").header(COOKIE.as_str(), cookie);
    call.send(&stage.open()).await.status
}

async fn sign_in(stage: &Stage, path: &str, kind: &str, body: &str, cookie: &str) -> Answer {
    let call = Call::new(Method::POST, path).header(COOKIE.as_str(), cookie);
    call.body(kind, body).send(&stage.open()).await
}

#[tokio::test]
async fn a_session_that_nobody_uses_for_a_week_ends() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    stage.clock.wait(6 * DAY);
    assert_eq!(me(&stage, &cookie).await, 200);
    stage.clock.wait(6 * DAY);
    assert_eq!(me(&stage, &cookie).await, 200, "each use counts");
    stage.clock.wait(7 * DAY);
    assert_eq!(me(&stage, &cookie).await, 401);
}

#[tokio::test]
async fn a_session_ends_after_thirty_days_however_much_it_is_used() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    for _ in 0..28 {
        stage.clock.wait(DAY);
        assert_eq!(me(&stage, &cookie).await, 200);
    }
    stage.clock.wait(DAY / 2);
    assert_eq!(me(&stage, &cookie).await, 200);
    stage.clock.wait(DAY + DAY / 2);
    assert_eq!(me(&stage, &cookie).await, 401);
}

#[tokio::test]
async fn using_a_session_is_written_down_once_a_day() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    let before = stage.everything().await;
    stage.clock.wait(DAY / 2);
    assert_eq!(me(&stage, &cookie).await, 200);
    assert_eq!(stage.everything().await, before);
    stage.clock.wait(DAY / 2);
    assert_eq!(me(&stage, &cookie).await, 200);
    assert_ne!(stage.everything().await, before);
}

#[tokio::test]
async fn every_way_to_sign_in_ends_the_session_before_it() {
    const FORM: &str = "application/x-www-form-urlencoded";
    let credentials = r#"{"handle":"ada","password":"correct horse"}"#;
    for (path, kind, body) in [
        ("/api/v1/session", JSON, credentials),
        ("/api/sign_in", FORM, "handle=ada&password=correct+horse"),
        ("/api/sign_in_as_demo", FORM, "handle=bob"),
        (
            "/api/sign_up",
            FORM,
            "handle=carol&name=Carol&password=correct+horse",
        ),
    ] {
        let stage = Stage::new().await;
        let old = stage.joins("ada").await;
        stage.joins("bob").await;
        let new = sign_in(&stage, path, kind, body, &old).await.cookie();
        assert_ne!(new, old, "{path}");
        assert_eq!(me(&stage, &new).await, 200, "{path}");
        assert_eq!(me(&stage, &old).await, 401, "{path}");
    }
}

const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";

fn call(method: Method, path: &str, cookie: &str) -> Call {
    Call::new(method, path).header(COOKIE.as_str(), cookie)
}

/// Signs ada in from another browser.
async fn elsewhere(stage: &Stage) -> String {
    let credentials = r#"{"handle":"ada","password":"correct horse"}"#;
    let call = Call::new(Method::POST, "/api/v1/session").header(USER_AGENT.as_str(), FIREFOX);
    let answer = call.body(JSON, credentials).send(&stage.open()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.cookie()
}

async fn listed(stage: &Stage, cookie: &str) -> Value {
    let list = call(Method::GET, "/api/v1/sessions", cookie);
    let answer = list.send(&stage.open()).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.body
}

#[tokio::test]
async fn a_person_sees_their_sessions_and_ends_them() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    let (first, second) = (elsewhere(&stage).await, elsewhere(&stage).await);
    stage.clock.wait(2 * DAY);
    let all = listed(&stage, &ada).await;
    assert_eq!((&all["total"], &all["next"]), (&json!(3), &Value::Null));
    let items = all["items"].as_array().unwrap();
    let shown = |item: &Value| (item["device"].clone(), item["current"].clone());
    assert_eq!(
        shown(&items[0]),
        (Value::Null, json!(true)),
        "this one comes first"
    );
    for item in &items[1..] {
        assert_eq!(shown(item), (json!("Firefox on Linux"), json!(false)));
        assert_eq!(item["used"], item["at"]);
    }
    assert!(
        items[1]["at"].as_str() > items[2]["at"].as_str(),
        "the latest comes first"
    );
    assert_ne!(items[0]["used"], items[0]["at"], "its use was recorded");

    let one = format!("/api/v1/sessions/{}", items[1]["id"].as_str().unwrap());
    let end = |cookie: &str, path: &str| call(Method::DELETE, path, cookie);
    for (cookie, status) in [(&bob, 404), (&ada, 204), (&ada, 404)] {
        assert_eq!(end(cookie, &one).send(&stage.open()).await.status, status);
    }
    assert_eq!((me(&stage, &first).await, me(&stage, &second).await), (200, 401));
    let third = elsewhere(&stage).await;
    let answer = end(&first, "/api/v1/sessions").send(&stage.open()).await;
    assert_eq!(answer.status, 204);
    let of_all = [
        me(&stage, &ada).await,
        me(&stage, &first).await,
        me(&stage, &third).await,
    ];
    assert_eq!(of_all, [401, 200, 401]);
    assert_eq!(me(&stage, &bob).await, 200);
    assert_eq!(listed(&stage, &first).await["total"], 1);
}

#[tokio::test]
async fn sessions_that_began_since_the_last_look_are_marked() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    elsewhere(&stage).await;
    let marked = async |cookie: &str| {
        let page = call(Method::GET, "/settings/sessions", cookie).header("accept", PAGE);
        let page = page.send(&stage.open()).await;
        assert_eq!(page.status, 200, "{page:?}");
        page.text.matches("New since your last visit").count()
    };
    assert_eq!(marked(&ada).await, 1, "it began after this one");
    assert_eq!(marked(&ada).await, 0, "it was seen");
    let later = elsewhere(&stage).await;
    elsewhere(&stage).await;
    assert_eq!(marked(&ada).await, 2);
    assert_eq!(marked(&later).await, 1, "only later ones are new to it");
}

#[tokio::test]
async fn the_page_of_sessions_ends_them_by_plain_forms() {
    const FORM: &str = "application/x-www-form-urlencoded";
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    let others = [
        elsewhere(&stage).await,
        elsewhere(&stage).await,
        elsewhere(&stage).await,
    ];
    let page = || async {
        let page = call(Method::GET, "/settings/sessions", &ada).header(ACCEPT.as_str(), PAGE);
        page.send(&stage.open()).await.text
    };
    let before = page().await;
    assert_eq!(before.matches("Firefox on Linux<").count(), 3, "{before}");
    assert_eq!(before.matches("This browser").count(), 1);
    assert_eq!(before.matches("action=\"/api/end_session\"").count(), 3);
    let (_, id) = before.split_once("name=\"id\" value=\"").unwrap();
    let fields = format!("id={}", id.split('"').next().unwrap());
    for (form, fields, left) in [
        ("/api/end_session", fields.as_str(), [200, 200, 401]),
        ("/api/end_other_sessions", "", [401, 401, 401]),
    ] {
        let form = call(Method::POST, form, &ada).header(ACCEPT.as_str(), PAGE);
        let answer = form.body(FORM, fields).send(&stage.open()).await;
        assert_eq!(answer.status, 303, "{answer:?}");
        assert_eq!(answer.header("location"), "/settings/sessions");
        for (other, status) in others.iter().zip(left) {
            assert_eq!(me(&stage, other).await, status);
        }
    }
    assert!(
        !page().await.contains("/api/end_"),
        "there is nothing left to end"
    );
    let visitor = Call::new(Method::GET, "/settings/sessions").header(ACCEPT.as_str(), PAGE);
    let answer = visitor.send(&stage.open()).await;
    assert_eq!(answer.header("location"), "/login?next=/settings/sessions");
}

#[tokio::test]
async fn the_twenty_first_session_ends_the_one_that_was_not_used_for_the_longest_time() {
    let stage = Stage::new().await;
    let mut cookies = vec![stage.joins("ada").await];
    while cookies.len() < 20 {
        cookies.push(elsewhere(&stage).await);
    }
    stage.clock.wait(DAY);
    assert_eq!(me(&stage, &cookies[0]).await, 200);
    cookies.push(elsewhere(&stage).await);
    for (nth, cookie) in cookies.iter().enumerate() {
        let status = if nth == 1 { 401 } else { 200 };
        assert_eq!(me(&stage, cookie).await, status, "session {nth}");
    }
    assert_eq!(listed(&stage, &cookies[0]).await["total"], 20);
}

#[tokio::test]
async fn a_new_password_is_told_in_the_list_of_sessions() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    assert_eq!(listed(&stage, &ada).await["passwordChanged"], Value::Null);
    let sessions = stage.documents("sessions").await;
    let new = r#"{"password":"correct horse","newPassword":"battery staple"}"#;
    let change = call(Method::PUT, "/api/v1/me/password", &ada).body(JSON, new);
    let ada = change.send(&stage.open()).await.cookie();
    // Invalid since the change, even if it was not removed.
    stage.puts_back("sessions", sessions).await;
    let after = listed(&stage, &ada).await;
    assert_eq!(
        (&after["total"], &after["items"][0]["at"]),
        (&json!(1), &after["passwordChanged"])
    );
}

/// Everybody may sign in as them, so they must not see or end each other's sessions.
#[tokio::test]
async fn people_of_the_demo_town_have_any_number_of_sessions_and_see_one() {
    let stage = Stage::new().await;
    let first = stage.joins("bob").await;
    stage.forgets_the_password_of("bob").await;
    for _ in 0..21 {
        let answer = sign_in(
            &stage,
            "/api/sign_in_as_demo",
            "application/x-www-form-urlencoded",
            "handle=bob",
            "",
        );
        assert_eq!(answer.await.status, 200);
    }
    let all = listed(&stage, &first).await;
    assert_eq!(
        (&all["total"], &all["items"][0]["current"]),
        (&json!(1), &json!(true))
    );
    let ids: Vec<_> = stage.documents("sessions").await;
    assert_eq!(ids.len(), 22);
    let other = format!("/api/v1/sessions/{}", ids[21].get_str("_id").unwrap());
    for path in ["/api/v1/sessions", &other] {
        let answer = call(Method::DELETE, path, &first).send(&stage.open()).await;
        assert_eq!(answer.status, 403, "{answer:?}");
    }
    assert_eq!(stage.documents("sessions").await.len(), 22);
}

#[tokio::test]
async fn addresses_that_guess_are_slowed_together_and_lock_nobody_out() {
    let stage = Stage::new().await.limiting_tries();
    let home = [192, 0, 2, 1];
    let tries = |handle: &str, password: &str, peer| {
        let credentials = json!({"handle": handle, "password": password}).to_string();
        Call::new(Method::POST, "/api/v1/session")
            .body(JSON, credentials)
            .from(peer)
    };
    for handle in ["ada", "bob"] {
        let account = json!({"handle": handle, "name": handle, "password": "correct horse"}).to_string();
        let joins = Call::new(Method::POST, "/api/v1/accounts")
            .body(JSON, account)
            .from(home);
        assert_eq!(joins.send(&stage.open()).await.status, 201);
    }
    // Whether there is such an account or not: each address has five tries, and both together one more.
    for handle in ["ada", "nobody"] {
        for (last, refused_from) in [(1, 7), (2, 6)] {
            for number in 1..=7 {
                let guess = tries(handle, "wrong horse", [198, 51, 100, last]);
                let status = if number < refused_from { 401 } else { 429 };
                let answer = guess.send(&stage.open()).await;
                assert_eq!(answer.status, status, "{handle} {last} {number}");
                if status == 429 {
                    assert!(answer.body["field"].is_null(), "{answer:?}");
                    // The next one of its own.
                    let wait: u64 = answer.header("retry-after").parse().unwrap();
                    assert!((500..=600).contains(&wait), "{wait}");
                }
            }
        }
    }
    for handle in ["ada", "bob"] {
        let at_home = tries(handle, "correct horse", home);
        assert_eq!(at_home.send(&stage.open()).await.status, 200, "{handle}");
    }
}
