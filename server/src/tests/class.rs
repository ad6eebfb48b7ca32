//! The seats of a class.

use axum::http::Method;
use axum::http::header::COOKIE;
use feed::Clock as _;
use model::Timestamp;
use workshop::class::SEATS;

use super::stage::{Call, JSON, PAGE, Stage};

const FORM: &str = "application/x-www-form-urlencoded";

/// Joins the class; the status, and the cookie of the session or nothing.
async fn joins(stage: &Stage, name: &str) -> (u16, String) {
    let call = Call::new(Method::POST, "/api/join_class").body(FORM, format!("name={name}"));
    let answer = call.send(&stage.open()).await;
    let cookie = if answer.status == 200 {
        answer.cookie()
    } else {
        String::new()
    };
    (answer.status, cookie)
}

#[tokio::test]
async fn a_student_who_goes_gives_the_seat_back() {
    let stage = Stage::new().await;
    stage.joins("bob").await;
    stage.opens_a_class_with("bob").await;
    let mut cookies = Vec::new();
    for nth in 0..SEATS {
        let (status, cookie) = joins(&stage, &format!("Student+{nth}")).await;
        assert_eq!(status, 200, "{nth}");
        cookies.push(cookie);
    }
    assert_eq!(joins(&stage, "Late").await.0, 409);

    let signs_out = Call::new(Method::POST, "/api/sign_out").header(COOKIE.as_str(), &cookies[7]);
    assert_eq!(signs_out.body(FORM, "").send(&stage.open()).await.status, 200);
    assert_eq!(joins(&stage, "Late").await.0, 200);
    assert_eq!(joins(&stage, "Later").await.0, 409);

    let signs_out = Call::new(Method::DELETE, "/api/v1/session").header(COOKIE.as_str(), &cookies[8]);
    assert_eq!(signs_out.send(&stage.open()).await.status, 204);
    assert_eq!(joins(&stage, "Later").await.0, 200);

    // Nobody was there for a week, so all sessions have expired.
    stage.clock.wait(8 * 24 * 60 * 60 * 1000);
    assert_eq!(joins(&stage, "Next+week").await.0, 200);
    let class = stage.documents("meta").await;
    let class = class
        .iter()
        .find(|document| document.get_str("_id").is_ok_and(|id| id == "class"));
    let students = class.unwrap().get_document("students").unwrap();
    assert_eq!(students.keys().collect::<Vec<_>>(), ["next-week"]);
}

#[tokio::test]
async fn a_student_does_not_get_the_handle_of_somebody_who_left() {
    let stage = Stage::new().await;
    stage.joins("bob").await;
    stage.opens_a_class_with("bob").await;
    let until = Timestamp::from_millis(stage.clock.now().millis() + 1_000_000);
    let held = stage.feed().store().held_handles();
    held.hold(&"ada-lovelace".parse().unwrap(), until).await.unwrap();
    let (_, cookie) = joins(&stage, "Ada+Lovelace").await;
    let me = Call::new(Method::GET, "/api/v1/me").header(COOKIE.as_str(), &cookie);
    let me = me.header("accept", JSON).send(&stage.open()).await;
    assert_eq!(me.body["handle"], "ada-lovelace-2", "{me:?}");
}

#[tokio::test]
async fn the_page_of_a_class_stays_for_somebody_whom_the_author_of_its_post_blocks() {
    let stage = Stage::new().await;
    let bob = stage.joins("bob").await;
    stage.opens_a_class_with("bob").await;
    let ada = stage.joins("ada").await;
    let block = Call::new(Method::PUT, "/api/v1/users/ada/block").header(COOKIE.as_str(), &bob);
    assert_eq!(block.send(&stage.open()).await.status, 200);
    for reader in [&bob, &ada] {
        let class = Call::new(Method::GET, "/lab/class").header("accept", PAGE);
        let page = class.header(COOKIE.as_str(), reader).send(&stage.open()).await;
        assert_eq!(page.status, 200, "{page:?}");
    }
}
