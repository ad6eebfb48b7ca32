use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::{Server, handles};

#[test]
fn a_walk_by_cursor_sees_every_like_once_newest_first_and_tells_each_seam() {
    let server = Server::with_small_pages();
    let author = server.member("author");
    let post = author.writes("Popular");
    let fans: Vec<String> = (0..17).map(|n| format!("fan{n}")).collect();
    for fan in &fans {
        assert_eq!(server.member(fan).put(&format!("/posts/{post}/like")).status, 200);
    }
    let overflow = author.get(&format!("/posts/{post}/overflow")).body["likes"].clone();
    let pages = overflow["pages"].as_u64().unwrap();
    assert!(pages >= 4, "{overflow}");

    for limit in [1, 2, 3, 7, 100] {
        let (items, seams) = author.walk(&format!("/posts/{post}/likes"), limit);
        let newest_first: Vec<&str> = fans.iter().rev().map(String::as_str).collect();
        assert_eq!(handles(&items), newest_first, "limit {limit}");
        let crossed: Vec<u64> = seams.iter().map(|seam| seam["page"].as_u64().unwrap()).collect();
        let downwards: Vec<u64> = (0..pages).rev().collect();
        assert_eq!(crossed, downwards, "limit {limit}");
        let ids: BTreeSet<&str> = items.iter().map(|item| item["id"].as_str().unwrap()).collect();
        for seam in &seams {
            assert!(ids.contains(seam["after"].as_str().unwrap()), "{seam}");
            assert_eq!(seam["pages"], pages);
        }
    }
}

#[test]
fn a_cursor_stays_good_while_the_list_changes() {
    let server = Server::with_small_pages();
    let author = server.member("author");
    let post = author.writes("Popular");
    let like = format!("/posts/{post}/like");
    let fans: Vec<_> = (0..8).map(|n| server.member(&format!("fan{n}"))).collect();
    for fan in &fans {
        fan.put(&like);
    }
    let first = author.get(&format!("/posts/{post}/likes?limit=3")).body;
    assert_eq!(
        handles(first["items"].as_array().unwrap()),
        ["fan7", "fan6", "fan5"]
    );
    // The item that the cursor names is removed, and one further on too, and newer ones push others into pages.
    fans[5].delete(&like);
    fans[3].delete(&like);
    for n in 0..6 {
        server.member(&format!("late{n}")).put(&like);
    }
    let next = first["next"].as_str().unwrap();
    let rest = author.get(&format!("/posts/{post}/likes?cursor={next}")).body;
    assert_eq!(
        handles(rest["items"].as_array().unwrap()),
        ["fan4", "fan2", "fan1", "fan0"]
    );
    assert_eq!(rest["total"], 12);
}

#[test]
fn the_overflow_numbers_add_up() {
    let server = Server::with_small_pages();
    let ada = server.member("ada");
    let post = ada.writes("Talk");
    for n in 0..13 {
        assert_eq!(
            ada.post(
                &format!("/posts/{post}/comments"),
                &json!({"text": format!("{n}")})
            )
            .status,
            201
        );
    }
    let overflow = ada.get(&format!("/posts/{post}/overflow")).body;
    let relations: Vec<&String> = overflow.as_object().unwrap().keys().collect();
    assert_eq!(relations, ["comments", "likes", "shares"]);
    let comments = &overflow["comments"];
    let number = |name: &str| {
        comments[name]
            .as_u64()
            .unwrap_or_else(|| panic!("{name} in {comments}"))
    };
    assert_eq!(
        (number("count"), number("threshold"), number("pageSize")),
        (13, 5, 3)
    );
    assert_eq!(comments["hasOverflow"], Value::Bool(number("pages") > 0));
    assert!(number("pages") >= 2, "{comments}");
    assert!(number("head") <= number("threshold"), "{comments}");
    assert!(
        number("head") + number("pages") * number("pageSize") >= 13,
        "{comments}"
    );
    assert!(
        0 < number("headBytes") && number("headBytes") < number("ownerBytes"),
        "{comments}"
    );
    assert_eq!(
        overflow["likes"]["hasOverflow"], false,
        "one relation's overflow is not another's"
    );

    let activities = &ada.get("/users/ada/overflow").body["activities"];
    assert_eq!(activities["count"], 14, "a post and 13 comments");
    let (items, _) = ada.walk("/users/ada/activity", 4);
    assert_eq!(items.len(), 14);
    assert_eq!(items[13]["kind"], "post");
}

#[test]
fn the_feed_is_walked_by_cursor_too() {
    let server = Server::start();
    let ada = server.member("ada");
    let posts: Vec<String> = (0..7).map(|n| ada.writes(&format!("Post {n}"))).collect();
    for feed in ["/feed", "/explore"] {
        let (items, _) = server.visitor().walk(feed, 3);
        let ids: BTreeSet<&str> = items.iter().map(|post| post["id"].as_str().unwrap()).collect();
        assert_eq!((items.len(), ids.len()), (7, 7), "{feed}");
    }
    let (items, _) = server.visitor().walk("/feed", 2);
    let newest_first: Vec<&str> = items.iter().map(|post| post["id"].as_str().unwrap()).collect();
    assert_eq!(
        newest_first,
        posts.iter().rev().map(String::as_str).collect::<Vec<_>>()
    );
}

#[test]
fn a_cursor_of_another_list_is_refused_by_name() {
    let server = Server::with_small_pages();
    let ada = server.member("ada");
    let (one, other) = (ada.writes("One"), ada.writes("Other"));
    for post in [&one, &other] {
        ada.put(&format!("/posts/{post}/like"));
        server
            .member(&format!("fan-of-{}", &post[30..]))
            .put(&format!("/posts/{post}/like"));
    }
    let next = |list: &str| {
        ada.get(&format!("{list}?limit=1")).body["next"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let likes = next(&format!("/posts/{one}/likes"));
    for (list, cursor) in [
        (format!("/posts/{other}/likes"), &likes),
        (format!("/posts/{one}/shares"), &likes),
        ("/explore".to_owned(), &likes),
        ("/explore".to_owned(), &next("/feed")),
        (format!("/posts/{one}/likes"), &next("/explore")),
    ] {
        ada.get(&format!("{list}?cursor={cursor}"))
            .is_problem(422, Some("cursor"));
    }
}
