use serde_json::json;

use crate::support::Server;

#[test]
fn liking_counts_once_and_can_be_taken_back() {
    let server = Server::start();
    let (ada, bob) = (server.member("ada"), server.member("bob"));
    let post = ada.writes("Like me");
    let like = format!("/posts/{post}/like");
    for _ in 0..3 {
        let answer = bob.put(&like);
        assert_eq!(
            (answer.status, answer.body),
            (200, json!({"active": true, "count": 1}))
        );
    }
    assert_eq!(ada.put(&like).body["count"], 2);
    let seen = |by: &crate::support::Client| by.get(&format!("/posts/{post}")).body;
    assert_eq!(
        (&seen(&bob)["liked"], &seen(&bob)["likes"]),
        (&json!(true), &json!(2))
    );
    assert_eq!(seen(&server.visitor())["liked"], false);
    for _ in 0..2 {
        let answer = bob.delete(&like);
        assert_eq!(
            (answer.status, answer.body),
            (200, json!({"active": false, "count": 1}))
        );
    }
    assert_eq!(
        (&seen(&bob)["liked"], &seen(&bob)["likes"]),
        (&json!(false), &json!(1))
    );
    assert_eq!(bob.get("/users/bob/activity").body["total"], 0);
}

#[test]
fn sharing_counts_once_and_can_be_taken_back() {
    let server = Server::start();
    let ada = server.member("ada");
    let share = format!("/posts/{}/share", ada.writes("Share me"));
    assert_eq!(ada.put(&share).body, json!({"active": true, "count": 1}));
    assert_eq!(ada.put(&share).body, json!({"active": true, "count": 1}));
    assert_eq!(
        ada.get(&format!("{share}s")).body["items"][0]["user"]["handle"],
        "ada"
    );
    assert_eq!(ada.delete(&share).body, json!({"active": false, "count": 0}));
    assert_eq!(ada.delete(&share).body, json!({"active": false, "count": 0}));
}

#[test]
fn following_shows_on_both_sides_and_can_be_taken_back() {
    let server = Server::start();
    let (ada, _bob) = (server.member("ada"), server.member("bob"));
    assert_eq!(
        ada.put("/users/bob/follow").body,
        json!({"active": true, "count": 1})
    );
    assert_eq!(
        ada.put("/users/@Bob/follow").body,
        json!({"active": true, "count": 1})
    );
    assert_eq!(ada.get("/users/bob").body["followed"], true);
    assert_eq!(ada.get("/users/bob").body["followers"], 1);
    assert_eq!(ada.get("/users/ada").body["following"], 1);
    assert_eq!(
        ada.get("/users/bob/followers").body["items"][0]["user"]["handle"],
        "ada"
    );
    assert_eq!(
        ada.get("/users/ada/following").body["items"][0]["user"]["handle"],
        "bob"
    );
    assert_eq!(
        ada.delete("/users/bob/follow").body,
        json!({"active": false, "count": 0})
    );
    assert_eq!(ada.get("/users/ada/following").body["total"], 0);
    ada.put("/users/ada/follow").is_problem(422, Some("handle"));
}

#[test]
fn a_like_in_a_page_is_found_by_its_second_click_and_by_its_removal() {
    let server = Server::with_small_pages();
    let ada = server.member("ada");
    let post = ada.writes("Popular");
    let like = format!("/posts/{post}/like");
    assert_eq!(ada.put(&like).body["count"], 1);
    for n in 0..8 {
        assert_eq!(server.member(&format!("fan{n}")).put(&like).body["count"], n + 2);
    }
    let pages = ada.get(&format!("/posts/{post}/overflow")).body["likes"]["pages"].clone();
    assert!(
        pages.as_u64().unwrap() >= 1,
        "the first like has been spilled: {pages}"
    );
    assert_eq!(ada.put(&like).body, json!({"active": true, "count": 9}));
    assert_eq!(ada.get(&format!("/posts/{post}")).body["liked"], true);
    assert_eq!(ada.delete(&like).body, json!({"active": false, "count": 8}));
    assert_eq!(ada.get(&format!("/posts/{post}")).body["liked"], false);
}
