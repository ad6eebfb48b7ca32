use serde_json::json;

use crate::support::{Client, Server};

fn elsewhere(server: &Server) -> Client {
    server.visitor().with("host", "192.168.1.5:3000")
}

#[test]
fn a_browser_on_another_machine_reads_and_learns_how_to_sign_in() {
    let server = Server::start();
    server.member("ada");
    assert_eq!(elsewhere(&server).get("/users/ada").status, 200);
    let credentials = json!({"handle": "ada", "password": "correct horse"});
    let refused = elsewhere(&server).post("/session", &credentials);
    refused.is_problem(403, None);
    assert_eq!(refused.body["type"], "urn:spillway:problem:plain-http");
    assert!(!refused.headers.contains_key("set-cookie"), "{refused:?}");
    for remedy in ["SPILLWAY_PUBLIC_URL", "SPILLWAY_CLASSROOM=on"] {
        assert!(refused.text.contains(remedy), "{refused:?}");
    }
}

#[test]
fn a_classroom_and_a_site_behind_https_take_everybody() {
    let new = json!({"handle": "ada", "name": "Ada", "password": "correct horse"});
    let classroom = Server::start_with(&[("SPILLWAY_CLASSROOM", "on")]);
    let answer = elsewhere(&classroom).post("/accounts", &new);
    assert_eq!(answer.status, 201, "{answer:?}");
    assert!(!answer.headers.contains_key("strict-transport-security"));
    let https = Server::start_behind_https();
    let answer = https
        .visitor()
        .with("host", "feed.example.org")
        .post("/accounts", &new);
    assert_eq!(answer.status, 201, "{answer:?}");
    assert!(answer.headers["strict-transport-security"].starts_with("max-age="));
}
