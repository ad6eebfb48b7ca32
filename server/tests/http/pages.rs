use crate::support::Server;

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
fn what_a_hash_names_is_kept_and_what_is_missing_is_not() {
    let server = Server::start();
    let missing = server.visitor().at_root().get("/pkg/spillway.0.js");
    assert_eq!(missing.status, 404);
    assert_eq!(missing.headers["cache-control"], "no-cache");
}
