//! The console of the workshop, by plain forms.

use crate::support::{Client, Server, words};

fn sends(browser: &Client, form: &str, line: &str) -> crate::support::Answer {
    let line: Vec<String> = line.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let answer = browser.submit(
        "text/html",
        &format!("/api/{form}"),
        &format!("line={}", line.concat()),
    );
    assert_eq!(answer.status, 303, "{answer:?}");
    assert_eq!(answer.headers["location"], "/lab/console");
    answer
}

/// A browser that has a console.
fn browser(server: &Server) -> Client {
    let mut browser = server.visitor();
    let answer = sends(&browser, "enter_line", "help");
    let cookie = &answer.headers["set-cookie"];
    assert!(cookie.starts_with("spillway-console="), "{cookie}");
    assert!(cookie.ends_with("; HttpOnly; SameSite=Lax"), "{cookie}");
    browser.cookie = Some(answer.cookie());
    browser
}

fn page(browser: &Client) -> String {
    let page = browser.at_root().with("accept", "text/html").get("/lab/console");
    assert_eq!(page.status, 200, "{page:?}");
    words(&page.text)
}

/// The answer to a line: what is shown first.
fn answer(browser: &Client, line: &str) -> String {
    sends(browser, "enter_line", line);
    let page = browser.at_root().with("accept", "text/html").get("/lab/console");
    let (_, after) = page.text.split_once("class=\"console-text\">").unwrap();
    let (text, _) = after.split_once("</pre>").unwrap();
    words(&format!("<pre>{text}"))
}

#[test]
fn each_browser_has_a_console_of_its_own() {
    let server = Server::start();
    let [ada, bob] = [browser(&server), browser(&server)];
    assert_eq!(
        answer(&ada, "db.c.insertOne({ _id: 1 })"),
        "{ acknowledged: true, insertedId: 1 }"
    );
    assert_eq!(answer(&ada, "db.c.find()"), "[ { _id: 1 } ]");
    assert_eq!(answer(&bob, "db.c.find().toArray()"), "[]");
    assert!(page(&ada).contains("1 document, 14 bytes read"), "{}", page(&ada));

    let begun = sends(&ada, "restart_console", "");
    assert!(
        begun.headers["set-cookie"].starts_with("spillway-console=; "),
        "{begun:?}"
    );
    assert!(page(&ada).contains("Only you use this store"));
    assert_eq!(answer(&ada, "db.c.find().toArray()"), "[]");
}

#[test]
fn a_console_that_is_gone_is_a_new_one_and_says_so() {
    let mut server = Server::start();
    let ada = browser(&server);
    assert_eq!(
        answer(&ada, "db.c.insertOne({ _id: 1 })"),
        "{ acknowledged: true, insertedId: 1 }"
    );
    server.crash_and_restart();
    let ada = ada.moved_to(&server);
    assert!(page(&ada).contains("This is a new console"), "{}", page(&ada));
    assert_eq!(answer(&ada, "db.c.find().toArray()"), "[]");
    assert!(!page(&ada).contains("This is a new console"), "{}", page(&ada));
}

#[test]
fn a_line_is_shown_as_text_and_never_as_markup() {
    let server = Server::start();
    let ada = browser(&server);
    let line = "db.c.insertOne({ _id: '</pre></textarea><script>alert(1)</script>' })";
    sends(&ada, "enter_line", line);
    for path in [
        "/lab/console",
        "/lab/console?line=%3C%2Ftextarea%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E",
    ] {
        let page = ada.at_root().with("accept", "text/html").get(path);
        assert!(!page.text.contains("<script>alert"), "{}", page.text);
    }
    assert!(page(&ada).contains("insertedId: '</pre></textarea><script>alert(1)</script>'"));
}

#[test]
fn the_console_is_not_the_town() {
    let server = Server::start();
    let ada = server.member("ada");
    let id = ada.writes("Hello");
    let browser = browser(&server);
    assert_eq!(answer(&browser, "db.posts.countDocuments()"), "1");
    assert_eq!(
        answer(&browser, "db.posts.deleteMany({})"),
        "{ acknowledged: true, deletedCount: 1 }"
    );
    assert!(page(&browser).contains("The post is gone."));
    assert_eq!(ada.get(&format!("/posts/{id}")).status, 200);
}

#[test]
fn many_lines_are_no_flood() {
    let server = Server::start_with(&[("SPILLWAY_RATE_LIMIT", "on")]);
    let mut ada = server.member("ada");
    let session = ada.cookie.clone().unwrap();
    let console = sends(&ada, "enter_line", "help").cookie();
    ada.cookie = Some(format!("{session}; {console}"));
    for nth in 0..200 {
        sends(&ada, "enter_line", &format!("db.c.insertOne({{ _id: {nth} }})"));
    }
    assert_eq!(answer(&ada, "db.c.countDocuments()"), "200");
}
