//! The operator reads reports at the terminal, and decides.

use serde_json::json;

use crate::support::{Server, ended, spillway};

/// What `spillway moderate` prints to each of its outputs.
fn moderate(server: &Server, arguments: &[&str]) -> (Option<i32>, String, String) {
    let store = format!("embedded:{}", server.data().join("store").display());
    let mut command = spillway();
    command.arg("moderate").args(arguments);
    command
        .env("RUST_LOG", "security=info")
        .env("SPILLWAY_STORE", store);
    ended(&mut command)
}

#[test]
fn reports_are_listed_and_decided_and_each_decision_is_in_the_log() {
    let mut server = Server::start();
    let (ada, bob) = (server.member("ada"), server.member("bob"));
    let post = bob.post("/posts", &json!({ "text": "Buy\n\nnow" }));
    let post = format!("post:{}", post.body["id"].as_str().unwrap());
    for target in [&*post, "user:bob"] {
        let sent = ada.post(
            "/reports",
            &json!({ "target": target, "text": "An advertisement" }),
        );
        assert_eq!(sent.status, 201, "{sent:?}");
    }
    server.crash();

    let (code, listed, said) = moderate(&server, &[]);
    assert_eq!(code, Some(0), "{said}");
    for line in [
        &*format!("{post}\n  1 report, about @bob\n  It says: Buy now\n"),
        "@ada: An advertisement\n",
        &format!("spillway moderate remove {post}\n"),
        "spillway moderate suspend bob\n",
        "spillway moderate dismiss user:bob\n",
    ] {
        assert!(listed.contains(line), "{line} in {listed}");
    }
    for (arguments, printed, event) in [
        (
            ["remove", &*post],
            "by @bob is deleted.",
            format!("content-removed handle=bob about={post}"),
        ),
        (
            ["suspend", "bob"],
            "@bob is suspended, and 1 report has ended.",
            "account-suspended handle=bob".to_owned(),
        ),
        (
            ["reinstate", "@bob"],
            "@bob is not suspended.",
            "account-reinstated handle=bob".to_owned(),
        ),
    ] {
        let (code, decided, said) = moderate(&server, &arguments);
        assert_eq!(code, Some(0), "{said}");
        assert!(decided.contains(printed), "{printed} in {decided}");
        assert!(said.contains(&format!("security: {event}")), "{event} in {said}");
    }
    assert_eq!(moderate(&server, &[]).1, "Nothing is reported.\n");
    let (code, decided, said) = moderate(&server, &["dismiss", "user:bob"]);
    assert_eq!((code, decided.as_str()), (Some(1), ""), "{said}");
    assert!(said.contains("Nobody has reported user:bob"), "{said}");
    let (code, _, said) = moderate(&server, &["remove", "bob"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("user:{handle}, post:{id}"), "{said}");
}
