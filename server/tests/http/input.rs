use serde_json::{Value, json};

use crate::support::Server;

#[test]
fn bad_input_names_its_field_and_stores_nothing() {
    let server = Server::start();
    let ada = server.member("ada");
    let post = ada.writes("The only one");
    let comments = format!("/posts/{post}/comments");
    let long = "x".repeat(501);
    let account = |handle: &str, name: &str, password: &str| json!({"handle": handle, "name": name, "password": password});
    let good = "correct horse";
    let table: Vec<(&str, Value, &str)> = vec![
        ("/posts", json!({"text": ""}), "text"),
        ("/posts", json!({"text": " \n\t "}), "text"),
        ("/posts", json!({"text": long}), "text"),
        ("/posts", json!({"text": "x".repeat(5000)}), "text"),
        ("/posts", json!({"text": "a\0b"}), "text"),
        ("/posts", json!({"text": 5}), "text"),
        ("/posts", json!({}), "text"),
        ("/posts", json!({"text": "a", "id": "7"}), "id"),
        ("/posts", json!({"text": "a", "likes": 1000}), "likes"),
        (&comments, json!({"text": ""}), "text"),
        (&comments, json!({"text": long}), "text"),
        (&comments, json!({"text": "a", "id": ""}), "id"),
        ("/accounts", account("a", "A", good), "handle"),
        ("/accounts", account("no spaces", "A", good), "handle"),
        ("/accounts", account("../etc", "A", good), "handle"),
        ("/accounts", account("bob", "", good), "name"),
        ("/accounts", account("bob", &"x".repeat(51), good), "name"),
        ("/accounts", account("bob", "Bob", "short"), "password"),
        ("/accounts", account("bob", "Bob", &"x".repeat(201)), "password"),
        ("/accounts", json!({"handle": "bob", "name": "Bob"}), "password"),
        ("/session", json!({"handle": "ada"}), "password"),
        ("/session", json!({"password": good}), "handle"),
    ];
    for (path, body, field) in table {
        let answer = ada.post(path, &body);
        answer.is_problem(422, Some(field));
        assert!(!answer.headers.contains_key("set-cookie"), "{path} {body}");
    }
    assert_eq!(ada.get("/explore").body["total"], 1);
    assert_eq!(ada.get(&comments).body["total"], 0);
    assert_eq!(ada.get("/users/ada/activity").body["total"], 1);
    ada.get("/users/bob").is_problem(404, None);
}

#[test]
fn bad_cursors_and_limits_are_refused_on_every_list() {
    let server = Server::start();
    let ada = server.member("ada");
    let post = ada.writes("One");
    let lists = [
        "/feed".to_owned(),
        "/explore".to_owned(),
        format!("/posts/{post}/likes"),
        format!("/posts/{post}/comments"),
        format!("/posts/{post}/shares"),
        "/users/ada/followers".to_owned(),
        "/users/ada/following".to_owned(),
        "/users/ada/activity".to_owned(),
    ];
    for list in &lists {
        for limit in ["0", "101", "-1", "many", ""] {
            ada.get(&format!("{list}?limit={limit}"))
                .is_problem(422, Some("limit"));
        }
        for cursor in ["nonsense", "", "AAAA", "%00"] {
            ada.get(&format!("{list}?cursor={cursor}"))
                .is_problem(422, Some("cursor"));
        }
        let answer = ada.get(&format!("{list}?limit=100"));
        assert_eq!(answer.status, 200, "{list}");
        let names: Vec<&String> = answer.body.as_object().unwrap().keys().collect();
        assert_eq!(names, ["items", "next", "seams", "total"], "{list}");
    }
}

#[test]
fn missing_resources_are_not_found() {
    let server = Server::start();
    let ada = server.member("ada");
    for post in [
        "00000000-0000-0000-0000-000000000001",
        "nonsense",
        "%FF",
        "%2E%2E",
    ] {
        for list in ["", "/likes", "/comments", "/shares", "/overflow"] {
            ada.get(&format!("/posts/{post}{list}")).is_problem(404, None);
        }
        for action in ["like", "share"] {
            ada.put(&format!("/posts/{post}/{action}")).is_problem(404, None);
            ada.delete(&format!("/posts/{post}/{action}"))
                .is_problem(404, None);
        }
        ada.post(&format!("/posts/{post}/comments"), &json!({"text": "Anybody?"}))
            .is_problem(404, None);
        ada.delete(&format!("/posts/{post}")).is_problem(404, None);
    }
    for handle in ["nobody", "n", "no%20body", "%FF"] {
        for list in ["", "/followers", "/following", "/activity", "/overflow"] {
            ada.get(&format!("/users/{handle}{list}")).is_problem(404, None);
        }
        ada.put(&format!("/users/{handle}/follow")).is_problem(404, None);
        ada.delete(&format!("/users/{handle}/follow"))
            .is_problem(404, None);
    }
    assert_eq!(ada.get("/users/ada/activity").body["total"], 0);
    assert_eq!(ada.get("/users/ada/following").body["total"], 0);
}

#[test]
fn writing_needs_a_session() {
    let server = Server::start();
    let ada = server.member("ada");
    let post = ada.writes("Hands off");
    let visitor = server.visitor();
    visitor
        .post("/posts", &json!({"text": "a"}))
        .is_problem(401, None);
    visitor
        .post(&format!("/posts/{post}/comments"), &json!({"text": "a"}))
        .is_problem(401, None);
    visitor.delete(&format!("/posts/{post}")).is_problem(401, None);
    for path in [
        format!("/posts/{post}/like"),
        format!("/posts/{post}/share"),
        "/users/ada/follow".to_owned(),
    ] {
        visitor.put(&path).is_problem(401, None);
        visitor.delete(&path).is_problem(401, None);
    }
    let seen = visitor.get(&format!("/posts/{post}")).body;
    assert_eq!(
        (&seen["likes"], &seen["comments"], &seen["shares"]),
        (&json!(0), &json!(0), &json!(0))
    );
}
