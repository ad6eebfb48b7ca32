use serde_json::json;
use uuid::Uuid;

use crate::support::Server;

#[test]
fn a_post_can_be_read_by_everyone_and_shows_up_in_the_feeds() {
    let server = Server::start();
    let ada = server.member("ada");
    let answer = ada.post("/posts", &json!({"text": " Hello, <world> "}));
    assert_eq!(answer.status, 201);
    let id = answer.body["id"].as_str().unwrap();
    assert_eq!(answer.headers["location"], format!("/api/v1/posts/{id}"));

    let post = server.visitor().get(&format!("/posts/{id}"));
    assert_eq!(post.status, 200);
    assert_eq!(post.headers["cache-control"], "no-store");
    let mut expected = answer.body.clone();
    expected["liked"] = json!(false);
    assert_eq!(post.body, expected);
    assert_eq!(post.body["text"], "Hello, <world>");
    assert_eq!(post.body["author"], json!({"handle": "ada", "name": "ada"}));
    let names: Vec<&String> = post.body.as_object().unwrap().keys().collect();
    assert_eq!(
        names,
        [
            "at", "author", "comments", "id", "liked", "likes", "shared", "shares", "text"
        ]
    );
    for feed in ["/feed", "/explore"] {
        let listing = server.visitor().get(feed).body;
        assert_eq!(listing["items"][0]["id"], id, "{feed}");
        assert_eq!(listing["total"], 1, "{feed}");
    }
}

#[test]
fn a_retried_post_lands_once() {
    let server = Server::start();
    let (ada, bob) = (server.member("ada"), server.member("bob"));
    let new = json!({"id": Uuid::from_u128(7), "text": "Once"});
    let first = ada.post("/posts", &new);
    let again = ada.post("/posts", &new);
    assert_eq!((first.status, again.status), (201, 201));
    assert_eq!(first.body, again.body);
    bob.post("/posts", &new).is_problem(409, Some("id"));
    assert_eq!(ada.get("/explore").body["total"], 1);
    assert_eq!(ada.get("/users/ada/activity").body["total"], 1);
    assert_eq!(ada.get("/users/bob/activity").body["total"], 0);
}

#[test]
fn a_retried_comment_lands_once() {
    let server = Server::with_small_pages();
    let ada = server.member("ada");
    let post = ada.writes("Say something");
    let path = format!("/posts/{post}/comments");
    let new = json!({"id": Uuid::from_u128(9), "text": "Something"});
    let first = ada.post(&path, &new);
    assert_eq!(first.status, 201, "{first:?}");
    assert_eq!(
        first.headers["location"],
        format!("/api/v1{path}/{}", Uuid::from_u128(9))
    );
    for n in 0..9 {
        assert_eq!(ada.post(&path, &json!({"text": format!("{n}")})).status, 201);
    }
    let again = ada.post(&path, &new);
    assert_eq!(
        again.body, first.body,
        "also when it has been spilled to a page since"
    );
    assert_eq!(ada.get(&path).body["total"], 10);
    assert_eq!(ada.get(&format!("/posts/{post}")).body["comments"], 10);
}

#[test]
fn only_the_author_deletes() {
    let server = Server::start();
    let (ada, bob) = (server.member("ada"), server.member("bob"));
    let post = ada.writes("Mine");
    let comments = format!("/posts/{post}/comments");
    let comment = bob.post(&comments, &json!({"text": "And this is mine"})).body["id"]
        .as_str()
        .unwrap()
        .to_owned();

    bob.delete(&format!("/posts/{post}")).is_problem(403, None);
    ada.delete(&format!("{comments}/{comment}")).is_problem(403, None);
    assert_eq!(ada.get(&comments).body["total"], 1);

    assert_eq!(bob.delete(&format!("{comments}/{comment}")).status, 204);
    bob.delete(&format!("{comments}/{comment}")).is_problem(404, None);
    assert_eq!(ada.get(&comments).body["total"], 0);
    assert_eq!(ada.delete(&format!("/posts/{post}")).status, 204);
    ada.get(&format!("/posts/{post}")).is_problem(404, None);
    ada.delete(&format!("/posts/{post}")).is_problem(404, None);
}

#[test]
fn the_home_feed_of_a_member_is_of_those_they_follow() {
    let server = Server::start();
    let (ada, bob, eve) = (server.member("ada"), server.member("bob"), server.member("eve"));
    let (of_bob, _of_eve) = (bob.writes("From Bob"), eve.writes("From Eve"));
    assert_eq!(ada.put("/users/bob/follow").status, 200);
    let home = ada.get("/feed").body;
    let ids: Vec<&str> = home["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|post| post["id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, [of_bob]);
    assert_eq!(
        server.visitor().get("/feed").body["items"]
            .as_array()
            .unwrap()
            .len(),
        2
    );
}

#[test]
fn home_follows_whom_the_reader_follows_also_when_the_author_becomes_an_outlier() {
    let server = Server::with_small_pages();
    let (ada, bob) = (server.member("ada"), server.member("bob"));
    let home = || {
        let items = ada.get("/feed").body["items"].clone();
        let text = |post: &serde_json::Value| post["text"].as_str().unwrap().to_owned();
        items.as_array().unwrap().iter().map(text).collect::<Vec<_>>()
    };
    ada.put("/users/bob/follow");
    assert!(home().is_empty());
    bob.writes("To few");
    let second = bob.writes("To few again");
    ada.writes("My own");
    assert_eq!(home(), ["My own", "To few again", "To few"]);
    for number in 0..7 {
        server.member(&format!("fan{number}")).put("/users/bob/follow");
    }
    assert_eq!(
        ada.get("/users/bob/overflow").body["followers"]["hasOverflow"],
        true
    );
    bob.writes("To many");
    assert_eq!(home(), ["To many", "My own", "To few again", "To few"]);
    bob.delete(&format!("/posts/{second}"));
    assert_eq!(home(), ["To many", "My own", "To few"]);
    let (first, rest) = (ada.get("/feed?limit=2").body, ada.walk("/feed", 2).0);
    assert_eq!((&first["total"], rest.len()), (&serde_json::json!(3), 3));
    ada.delete("/users/bob/follow");
    assert_eq!(home(), ["My own"]);
    ada.put("/users/bob/follow");
    assert_eq!(home(), ["To many", "My own", "To few"]);
}
