//! The workshop's tuner over HTTP, on the embedded store and over MongoDB's protocol.

use std::time::Instant;

use serde_json::{Value, json};

use crate::support::{Answer, Client, Server, TIMEOUT, words};

/// Sends the station's form as a program.
fn lay_out(client: &Client, fields: &str) -> Answer {
    client.submit("application/json", "/api/lay_out", fields)
}

/// The list once it is complete.
fn laid_out(client: &Client) -> Value {
    let began = Instant::now();
    loop {
        let answer = client.get("/lab/tune");
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_ne!(answer.body["list"]["progress"], "failed", "{answer:?}");
        if answer.body["list"]["progress"] == "finished" {
            return answer.body["list"].clone();
        }
        assert!(began.elapsed() < TIMEOUT, "{answer:?}");
    }
}

fn page(server: &Server, address: &str) -> String {
    let browser = server.visitor().at_root().with("accept", "text/html");
    let page = browser.get(&format!("/lab/tune{address}"));
    assert_eq!(page.status, 200, "{}", words(&page.text));
    words(&page.text)
}

#[test]
fn a_list_costs_what_the_rules_say_on_either_store_and_its_documents_are_shown() {
    let (keeper, address) = Server::for_drivers();
    let through = Server::start_with(&[("SPILLWAY_STORE", &address)]);
    for (server, name) in [(&keeper, "ada"), (&through, "bob")] {
        let before = page(server, "?relation=likes&kb=2");
        assert!(before.contains("Sign in to create a list"), "{before}");
        assert_eq!(server.visitor().get("/lab/tune").body, json!({ "list": null }));
        let member = server.member(name);
        let begun = lay_out(&member, "relation=likes&kb=2");
        assert_eq!(begun.status, 200, "{begun:?}");
        let list = laid_out(&server.visitor());
        assert_eq!((&list["by"], &list["budget"]), (&json!(name), &json!(2_048)));
        let cost = &list["cost"];
        assert_eq!(cost["asPredicted"], true, "{list}");
        assert!(cost["listBytes"].as_u64().unwrap() <= 2_048, "{list}");
        // Only the store's own engine counts what it reads.
        let counted = name == "ada";
        assert_eq!(cost.get("firstPageBytes").is_some(), counted, "{list}");

        let shown = page(server, "?relation=likes&kb=2");
        for told in [
            &format!("@{name} chose 2 KB for likes"),
            "The measurements equal the predictions to the last byte.",
            "Where the bytes are",
            "likes.head",
        ] {
            assert!(shown.contains(told), "{told}: {shown}");
        }
        assert_eq!(shown.contains("not counted by this engine"), !counted, "{shown}");
        let pages = cost["seams"].as_u64().unwrap();
        assert!(
            shown.contains(&format!("db.pages, page {}", pages - 1)),
            "the newest: {shown}"
        );
        let oldest = page(server, "?relation=likes&kb=2&page=0");
        assert!(oldest.contains("db.pages, page 0"), "{oldest}");
    }
}

#[test]
fn a_list_is_laid_out_for_members_with_a_known_budget() {
    let server = Server::start();
    assert_eq!(lay_out(&server.visitor(), "relation=likes&kb=2").status, 401);
    let ada = server.member("ada");
    for (fields, field) in [
        ("relation=likes&kb=90", "kb"),
        ("relation=likes&kb=many", "kb"),
        ("relation=hates&kb=2", "relation"),
    ] {
        let refused = lay_out(&ada, fields);
        assert_eq!(
            (refused.status, &refused.body["field"]),
            (422, &json!(field)),
            "{fields}: {refused:?}"
        );
    }
    assert_eq!(ada.get("/lab/tune").body, json!({ "list": null }));
}
