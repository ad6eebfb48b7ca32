use serde_json::json;

use crate::support::{Answer, Client, Server};

/// Far more than the limit allows at once.
const MANY: usize = 400;

fn guess(client: &Client) -> Answer {
    // An invalid handle, so that no hash is computed; it counts like any other.
    client.post("/session", &json!({"handle": "?", "password": "a guess"}))
}

fn limited() -> Server {
    Server::start_with(&[("SPILLWAY_RATE_LIMIT", "on"), ("SPILLWAY_PROXIES", "1")])
}

#[test]
fn a_peer_that_guesses_has_to_wait_and_cannot_pretend_to_be_another() {
    let server = limited();
    let from = |addresses: &str| server.visitor().with("x-forwarded-for", addresses);
    let refused = (0..MANY)
        .map(|_| guess(&from("1.2.3.4")))
        .find(|answer| answer.status == 429);
    let refused = refused.unwrap();
    refused.is_problem(429, None);
    let wait: u64 = refused.headers["retry-after"].parse().unwrap();
    assert!((1..=6).contains(&wait), "{refused:?}");
    assert_eq!(guess(&from("1.2.3.5")).status, 401, "others are not kept waiting");
    let pretending = (0..MANY).any(|n| guess(&from(&format!("9.9.9.{}, 1.2.3.4", n % 250))).status == 429);
    assert!(
        pretending,
        "what a client writes before the proxy does is ignored"
    );
    assert_eq!(
        from("1.2.3.4").get("/explore").status,
        200,
        "reading has a limit of its own"
    );
}

#[test]
fn a_person_who_does_too_much_has_to_wait_at_every_address() {
    let server = limited();
    let ada = server.member("ada");
    let refused = (0..MANY).find_map(|n| {
        let elsewhere = ada.with("x-forwarded-for", &format!("1.{}.{}.4", n / 250, n % 250));
        let answer = elsewhere.delete("/users/nobody/follow");
        (answer.status == 429).then_some(answer)
    });
    refused.unwrap().is_problem(429, None);
}

#[test]
fn without_limits_nobody_has_to_wait() {
    let server = Server::start();
    assert!((0..MANY).all(|_| guess(&server.visitor()).status == 401));
}
