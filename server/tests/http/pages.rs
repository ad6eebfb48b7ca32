use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use crate::support::{Client, Server, words};

#[test]
fn pages_are_rendered_without_a_built_site() {
    let server = Server::start();
    let home = server.visitor().at_root().with("accept", "text/html").get("/");
    assert_eq!(home.status, 200);
    assert!(home.headers["content-type"].starts_with("text/html"), "{home:?}");
    assert_eq!(home.headers["cache-control"], "private, no-cache");
}

#[test]
fn an_unknown_page_is_a_page_with_status_404() {
    let server = Server::start();
    let browser = server.visitor().at_root().with("accept", "text/html");
    for path in [
        "/nowhere",
        "/post/nonsense",
        "/post/00000000-0000-0000-0000-000000000001",
        "/@nobody",
    ] {
        let answer = browser.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(
            answer.headers["content-type"].starts_with("text/html"),
            "{path} {answer:?}"
        );
    }
}

#[test]
fn a_trailing_slash_leads_to_the_page() {
    let server = Server::start();
    server.member("ada");
    let browser = server.visitor().at_root().with("accept", "text/html");
    for (path, page) in [("/@ada/", "/@ada"), ("/explore/?cursor=x", "/explore?cursor=x")] {
        let answer = browser.get(path);
        assert_eq!((answer.status, answer.headers["location"].as_str()), (308, page));
    }
}

#[test]
fn a_trailing_slash_does_not_lead_to_another_site() {
    let server = Server::start();
    for path in ["//elsewhere.example/", "/\\elsewhere.example/"] {
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        let mut connection = TcpStream::connect(&server.address).unwrap();
        connection.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        connection.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 404 "), "{path} {answer}");
        assert!(!answer.contains("location: "), "{path} {answer}");
    }
}

#[test]
fn hashed_files_are_cached_and_missing_ones_are_not() {
    let server = Server::start();
    let missing = server.visitor().at_root().get("/pkg/spillway.0.js");
    assert_eq!(missing.status, 404);
    assert_eq!(missing.headers["cache-control"], "no-cache");
}

#[test]
fn a_place_in_a_list_that_no_list_has_is_no_fault() {
    let server = Server::with_small_pages();
    let author = server.member("author");
    let post = author.writes("Popular");
    for n in 0..8 {
        server
            .member(&format!("fan{n}"))
            .put(&format!("/posts/{post}/like"));
    }
    let next = author.get(&format!("/posts/{post}/likes?limit=2")).body["next"].clone();
    let next = next.as_str().unwrap();
    let place = format!("/post/{post}/likes?cursor={next}&from={}", u64::MAX);
    let page = author.at_root().with("accept", "text/html").get(&place);
    assert_eq!(page.status, 200, "{page:?}");
    assert!(!page.text.contains("1844674407370955"), "{}", page.text);
}

#[test]
fn a_seam_says_what_was_read_to_get_there() {
    let server = Server::with_small_pages();
    let author = server.member("author");
    let post = author.writes("Popular");
    for n in 0..17 {
        server
            .member(&format!("fan{n}"))
            .put(&format!("/posts/{post}/like"));
    }
    let page = author
        .at_root()
        .with("accept", "text/html")
        .get(&format!("/post/{post}/likes"))
        .text;
    assert!(page.contains("What reading this far cost:"), "{page}");
    assert!(page.contains("3 documents, "), "{page}");
    assert!(page.contains("One unbounded array: 1 document, "), "{page}");
}

#[test]
fn how_something_is_stored_is_shown_in_numbers_and_documents() {
    let server = Server::with_small_pages();
    let ada = server.member("ada");
    let post = ada.writes("Popular");
    for n in 0..8 {
        server
            .member(&format!("fan{n}"))
            .put(&format!("/posts/{post}/like"));
    }
    let browser = server.visitor().at_root().with("accept", "text/html");
    let page = words(&browser.get(&format!("/post/{post}/stored")).text);
    let likes = server.visitor().get(&format!("/posts/{post}/overflow")).body["likes"].clone();
    let (head, pages) = (&likes["head"], likes["pages"].as_u64().unwrap());
    assert!(pages > 0 && page.contains(&format!("{head} of 5")), "{page}");
    assert!(
        page.contains(&format!("\"_id\": {{\"$uuid\": \"{post}\"}},")),
        "{page}"
    );
    assert!(page.contains("The newest page document of likes"), "{page}");
    assert!(page.contains(&format!("\"page\": {},", pages - 1)), "{page}");

    let person = words(&browser.get("/@ada/stored").text);
    assert!(person.contains("\"_id\": \"ada\""), "{person}");
    assert!(!person.contains("argon2"), "a password's hash is nobody's to see");
    assert_eq!(browser.get("/@nobody/stored").status, 404);
}

#[test]
fn what_is_rendered_for_one_reader_is_never_shown_to_another() {
    let server = Server::start();
    let (ada, bob) = (server.member("ada"), server.member("bob"));
    let post = ada.writes("The weir holds.");
    let page = format!("/post/{post}");
    let seen = |reader: &Client| {
        let text = reader.at_root().with("accept", "text/html").get(&page).text;
        let shown = |what: &str| text.contains(what);
        (
            shown("Delete post"),
            shown(r#"aria-pressed="true""#),
            shown(r#"action="/login""#),
        )
    };
    let everybody_sees = |likes_of_bob: bool| {
        for _ in 0..2 {
            assert_eq!(seen(&ada), (true, false, false));
            assert_eq!(seen(&bob), (false, likes_of_bob, false));
            assert_eq!(seen(&server.visitor()), (false, false, true));
        }
    };
    let like = format!("/posts/{post}/like");
    everybody_sees(false);
    bob.put(&like);
    everybody_sees(true);
    bob.delete(&like);
    everybody_sees(false);

    let visitor = server.visitor();
    let renamed = ada.submit("text/html", "/api/describe", "name=Countess+Lovelace&bio=");
    assert_eq!(renamed.status, 303, "{renamed:?}");
    let text = visitor.at_root().with("accept", "text/html").get(&page).text;
    assert!(text.contains("<bdi>Countess Lovelace</bdi>"), "{text}");
}
