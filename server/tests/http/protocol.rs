use crate::support::Server;

#[test]
fn a_body_must_be_json_that_can_be_read() {
    let server = Server::start();
    let ada = server.member("ada");
    let json = ada.with("content-type", "application/json");
    for broken in [
        "",
        "{",
        "{\"text\": \"a\"} x",
        "nonsense",
        "{\"text\": \"\\ud800\"}",
    ] {
        json.send("POST", "/posts", Some(broken.into()))
            .is_problem(400, None);
    }
    json.send("POST", "/posts", Some("[\"a\"]".into()))
        .is_problem(422, None);
    json.send("POST", "/posts", Some(b"{\"text\": \"\xff\"}".to_vec()))
        .is_problem(400, None);
    let good = b"{\"text\": \"a\"}".to_vec();
    ada.send("POST", "/posts", Some(good.clone()))
        .is_problem(415, None);
    for other in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
    ] {
        ada.with("content-type", other)
            .send("POST", "/posts", Some(good.clone()))
            .is_problem(415, None);
    }
    assert_eq!(ada.get("/explore").body["total"], 0);
    let charset = ada.with("content-type", "application/json; charset=utf-8");
    assert_eq!(charset.send("POST", "/posts", Some(good)).status, 201);
}

#[test]
fn a_body_past_64_kb_is_refused() {
    let server = Server::start();
    let ada = server.member("ada");
    let padded = |spaces: usize| format!("{{\"text\": \"a\"{}}}", " ".repeat(spaces)).into_bytes();
    let json = ada.with("content-type", "application/json");
    json.send("POST", "/posts", Some(padded(64 * 1024)))
        .is_problem(413, None);
    assert_eq!(ada.get("/explore").body["total"], 0);
    assert_eq!(json.send("POST", "/posts", Some(padded(60 * 1024))).status, 201);
}

#[test]
fn an_unknown_route_or_method_of_the_api_is_a_problem_too() {
    let server = Server::start();
    let visitor = server.visitor();
    let root = visitor.at_root();
    for path in [
        "/api/v1",
        "/api/v1/",
        "/api/v1/nonsense",
        "/api/v1/posts/a/b/c",
        "/api/v2/feed",
    ] {
        root.get(path).is_problem(404, None);
        root.delete(path).is_problem(404, None);
    }
    let wrong = visitor.delete("/feed");
    wrong.is_problem(405, None);
    assert_eq!(wrong.headers["allow"], "GET,HEAD");
    let wrong = visitor.put("/session");
    wrong.is_problem(405, None);
    assert_eq!(wrong.headers["allow"], "POST,DELETE");
    visitor.get("/posts").is_problem(405, None);
}

#[test]
fn every_answer_carries_the_id_of_its_request() {
    let server = Server::start();
    let visitor = server.visitor();
    let id = |answer: crate::support::Answer| answer.headers["x-request-id"].clone();
    assert_ne!(id(visitor.get("/feed")), id(visitor.get("/feed")));
    let naming = visitor.with("x-request-id", "mine");
    let named = id(naming.get("/feed"));
    assert_ne!(named, "mine", "it is not the client's choice");
    assert_ne!(named, id(naming.get("/feed")));
}

#[test]
fn json_is_compressed_for_those_who_can_read_it() {
    let server = Server::start();
    let ada = server.member("ada");
    for _ in 0..10 {
        ada.writes("The same again");
    }
    let compressed = ada.with("accept-encoding", "br;q=0.5, gzip").headers_of("/feed");
    assert_eq!(compressed["content-encoding"], "gzip");
    let plain = ada.with("accept-encoding", "identity").headers_of("/feed");
    assert!(!plain.contains_key("content-encoding"), "{plain:?}");
}
