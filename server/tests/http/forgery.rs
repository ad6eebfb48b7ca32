use serde_json::json;

use crate::support::{Client, Server};

fn likes(reader: &Client, post: &str) -> u64 {
    reader.get(&format!("/posts/{post}")).body["likes"]
        .as_u64()
        .unwrap()
}

#[test]
fn another_site_cannot_act_for_somebody() {
    let server = Server::start();
    let ada = server.member("ada");
    let post = ada.writes("Like me");
    let forgeries = [
        ada.with("origin", "https://evil.example"),
        ada.with("origin", "null"),
        ada.with("origin", "http://127.0.0.1:1"),
        ada.with("sec-fetch-site", "cross-site"),
        ada.with("sec-fetch-site", "same-site"),
        ada.with("sec-fetch-site", "cross-site")
            .with("origin", &format!("http://{}", server.address)),
    ];
    for forged in forgeries {
        forged.put(&format!("/posts/{post}/like")).is_problem(403, None);
        forged
            .post("/posts", &json!({"text": "forged"}))
            .is_problem(403, None);
        forged.delete(&format!("/posts/{post}")).is_problem(403, None);
        forged.delete("/session").is_problem(403, None);
        assert_eq!(forged.get("/me").status, 200, "reading is no forgery");
    }
    assert_eq!(likes(&ada, &post), 0);
    assert_eq!(ada.get("/explore").body["total"], 1);
}

#[test]
fn the_site_itself_and_scripts_pass() {
    let server = Server::start();
    let ada = server.member("ada");
    let post = ada.writes("Like me");
    let like = format!("/posts/{post}/like");
    let honest = [
        ada.clone(),
        ada.with("sec-fetch-site", "same-origin"),
        ada.with("sec-fetch-site", "none"),
        ada.with("origin", &format!("http://{}", server.address)),
    ];
    for client in honest {
        assert_eq!(client.put(&like).status, 200);
        assert_eq!(client.delete(&like).status, 200);
    }
}

#[test]
fn the_public_address_is_the_site_itself() {
    let server = Server::start_behind_https();
    let ada = server.member("ada");
    let post = ada.writes("Like me");
    let like = format!("/posts/{post}/like");
    assert_eq!(
        ada.with("origin", "https://feed.example.org").put(&like).status,
        200
    );
    ada.with("origin", "https://example.org")
        .put(&like)
        .is_problem(403, None);
}

#[test]
fn a_page_over_plain_http_with_the_name_of_an_https_site_is_another_site() {
    let server = Server::start_behind_https();
    let ada = server.member("ada").with("host", "feed.example.org");
    let post = ada.writes("Like me");
    let like = format!("/posts/{post}/like");
    ada.with("origin", "http://feed.example.org")
        .put(&like)
        .is_problem(403, None);
    assert_eq!(likes(&ada, &post), 0);
    let by_https = ada.with("origin", "https://feed.example.org");
    assert_eq!(by_https.put(&like).status, 200);
}

#[test]
fn a_person_whose_form_was_forged_reads_a_page() {
    let server = Server::start();
    let forged = server
        .visitor()
        .at_root()
        .with("origin", "https://evil.example")
        .with("accept", "text/html,*/*");
    let answer = forged
        .with("content-type", "application/x-www-form-urlencoded")
        .send("POST", "/login", Some(b"a=b".to_vec()));
    assert_eq!(answer.status, 403);
    assert!(
        answer.headers["content-type"].starts_with("text/html"),
        "{answer:?}"
    );
    assert!(answer.text.contains("nothing was changed"), "{answer:?}");
}
