use serde_json::json;

use crate::support::Server;

#[test]
fn signing_up_signs_in_and_signing_out_ends_the_session() {
    let server = Server::start();
    let ada = server.visitor();
    ada.get("/me").is_problem(401, None);
    let new = json!({"handle": "Ada", "name": "Ada Lovelace", "password": "correct horse"});
    let answer = ada.post("/accounts", &new);
    assert_eq!(answer.status, 201);
    assert_eq!(answer.headers["location"], "/api/v1/users/ada");
    assert_eq!(
        answer.body,
        json!({"handle": "ada", "name": "Ada Lovelace", "bio": ""})
    );

    let ada = ada.with("cookie", &answer.cookie());
    assert_eq!(ada.get("/me").body["handle"], "ada");
    let out = ada.delete("/session");
    assert_eq!(out.status, 204);
    assert!(out.headers["set-cookie"].contains("Max-Age=0"), "{out:?}");
    ada.get("/me").is_problem(401, None);
    assert_eq!(
        ada.delete("/session").status,
        204,
        "signing out again changes nothing"
    );
}

#[test]
fn signing_up_takes_no_common_password() {
    let server = Server::start();
    for password in ["password", "12345678"] {
        let new = json!({"handle": "ada", "name": "Ada", "password": password});
        server
            .visitor()
            .post("/accounts", &new)
            .is_problem(422, Some("password"));
    }
}

#[test]
fn the_session_cookie_is_guarded() {
    let server = Server::start();
    let new = json!({"handle": "ada", "name": "Ada", "password": "correct horse"});
    let cookie = server.visitor().post("/accounts", &new).headers["set-cookie"].clone();
    assert!(cookie.starts_with("spillway="), "{cookie}");
    for guard in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=2592000"] {
        assert!(cookie.contains(guard), "{guard} in {cookie}");
    }
}

#[test]
fn behind_https_the_cookie_is_secure_and_bound_to_the_host() {
    let server = Server::start_behind_https();
    let new = json!({"handle": "ada", "name": "Ada", "password": "correct horse"});
    let cookie = server.visitor().post("/accounts", &new).headers["set-cookie"].clone();
    assert!(
        cookie.starts_with("__Host-spillway=") && cookie.contains("; Secure"),
        "{cookie}"
    );
}

#[test]
fn signing_in_takes_the_right_password_and_starts_a_new_session() {
    let server = Server::start();
    let ada = server.member("ada");
    let signed_in = ada.post(
        "/session",
        &json!({"handle": "@Ada", "password": "correct horse"}),
    );
    assert_eq!(signed_in.status, 200);
    assert_eq!(signed_in.body["handle"], "ada");
    assert_ne!(Some(signed_in.cookie()), ada.cookie);
    ada.get("/me").is_problem(401, None);
    assert_eq!(
        server
            .visitor()
            .with("cookie", &signed_in.cookie())
            .get("/me")
            .status,
        200
    );
}

#[test]
fn a_wrong_password_and_an_unknown_handle_get_the_same_answer() {
    let server = Server::start();
    server.member("ada");
    let visitor = server.visitor();
    let wrong = visitor.post("/session", &json!({"handle": "ada", "password": "wrong horse"}));
    let unknown = visitor.post("/session", &json!({"handle": "bob", "password": "correct horse"}));
    let impossible = visitor.post("/session", &json!({"handle": "?", "password": ""}));
    for answer in [&wrong, &unknown, &impossible] {
        answer.is_problem(401, Some("password"));
        assert_eq!(answer.body, wrong.body);
        assert!(!answer.headers.contains_key("set-cookie"));
    }
}

#[test]
fn a_taken_handle_is_refused_however_it_is_spelled() {
    let server = Server::start();
    server.member("ada");
    for handle in ["ada", "ADA", " @ada "] {
        let answer = server.visitor().post(
            "/accounts",
            &json!({"handle": handle, "name": "Other", "password": "correct horse"}),
        );
        answer.is_problem(409, Some("handle"));
    }
    assert_eq!(server.visitor().get("/users/ada").body["name"], "ada");
}

#[test]
fn a_forged_or_broken_cookie_signs_nobody_in() {
    let server = Server::start();
    for cookie in [
        "spillway=",
        "spillway=nonsense",
        "spillway=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        ";;=",
    ] {
        let forger = server.visitor().with("cookie", cookie);
        forger.get("/me").is_problem(401, None);
        assert_eq!(forger.get("/feed").status, 200, "reading is open to everyone");
    }
}
