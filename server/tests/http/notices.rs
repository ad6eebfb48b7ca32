//! The notice on the page after a plain form; nobody but this site can create one.

use base64::Engine as _;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};

use crate::support::{Answer, Client, Server};

const WORDS: &str = "Call 0900-1234 to unlock your account";

fn browser(server: &Server) -> Client {
    server.visitor().at_root().with("accept", "text/html")
}

/// Sends a plain form from a page.
fn fills_in(browser: &Client, page: &str, form: &str, fields: &str) -> Answer {
    browser
        .with("referer", &format!("http://localhost{page}"))
        .with("content-type", "application/x-www-form-urlencoded")
        .send("POST", form, Some(fields.as_bytes().to_vec()))
}

/// The cookie that the browser is to keep for the next page.
fn notice(answer: &Answer) -> String {
    let cookie = answer.headers.get("set-cookie").map_or("", String::as_str);
    assert!(cookie.contains("-notice="), "{answer:?}");
    for guard in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age="] {
        assert!(cookie.contains(guard), "{cookie}");
    }
    assert!(
        cookie.len() <= 4_096,
        "browsers keep no cookie of {} bytes",
        cookie.len()
    );
    answer.cookie()
}

#[test]
fn no_address_makes_the_site_say_anything_or_fills_in_a_form() {
    let server = Server::start();
    let ada = server.member("ada");
    let refusal = |form: &str, field: &str| {
        let refusal = format!(
            r#"{{"form":"{form}","problem":{{"kind":"invalid","message":"{WORDS}"}},"kept":[["{field}","{WORDS}"]]}}"#
        );
        format!("__err={}", URL_SAFE_NO_PAD.encode(refusal))
    };
    let misfit = URL_SAFE.encode(format!(r#"{{"kind":"invalid","message":"{WORDS}"}}"#));
    for (page, query) in [
        ("/login", refusal("sign_in", "handle")),
        ("/signup", refusal("sign_up", "name")),
        ("/", refusal("compose", "text")),
        ("/login", format!("__path=%2Fapi%2Fsign_in&__err={misfit}")),
        ("/settings", refusal("describe", "bio")),
    ] {
        let mut reader = browser(&server);
        reader.cookie.clone_from(&ada.cookie);
        for reader in [browser(&server), reader] {
            let answer = reader.get(&format!("{page}?{query}"));
            assert!(!answer.text.contains(WORDS), "{page}?{query}");
        }
    }
    for word in ["account-deleted", "password-changed", "post-deleted"] {
        let page = browser(&server).get(&format!("/?done={word}")).text;
        assert!(!page.contains("banner-done"), "{word}: {page}");
    }
}

#[test]
fn a_refused_form_is_shown_once_with_what_was_typed() {
    let server = Server::start();
    let mut browser = browser(&server);
    let refused = fills_in(
        &browser,
        "/login?next=/settings",
        "/api/sign_in",
        "handle=nobody&password=wrong+horse",
    );
    assert_eq!(refused.status, 303, "{refused:?}");
    assert_eq!(refused.headers["location"], "/login?next=/settings");
    browser.cookie = Some(notice(&refused));

    let elsewhere = browser.get("/signup");
    assert!(
        !elsewhere.headers.contains_key("set-cookie"),
        "it is for the other page"
    );
    let page = browser.get("/login?next=/settings");
    assert!(page.text.contains("Wrong handle or password"), "{}", page.text);
    assert!(page.text.contains("value=\"nobody\""), "{}", page.text);
    assert!(
        !page.text.contains("wrong horse"),
        "a password is not shown again"
    );
    let cleared = &page.headers["set-cookie"];
    assert!(
        cleared.contains("-notice=;") && cleared.contains("Max-Age=0"),
        "{cleared}"
    );
    browser.cookie = None;
    assert!(!browser.get("/login").text.contains("value=\"nobody\""));
}

#[test]
fn a_form_that_is_sent_twice_is_stored_once_and_other_words_in_it_are_stored_too() {
    let server = Server::start();
    let ada = server.member("ada");
    let mut browser = browser(&server);
    browser.cookie.clone_from(&ada.cookie);
    let id_in = |page: &str| {
        let html = browser.get(page).text;
        let (_, field) = html.split_once("name=\"id\" value=\"").unwrap();
        field.split('"').next().unwrap().to_owned()
    };
    let first = id_in("/");
    assert_ne!(first, id_in("/"), "each page has a fresh one");
    for words in ["Once", "Once", "Other+words"] {
        let sent = fills_in(&browser, "/", "/api/compose", &format!("id={first}&text={words}"));
        assert_eq!(sent.status, 303, "{sent:?}");
    }
    let posts = ada.get("/explore").body;
    assert_eq!(posts["total"], 2);

    let post = format!("/post/{first}");
    let comment = id_in(&post);
    for words in ["Once", "Once", "Other+words"] {
        let fields = format!("post={first}&id={comment}&text={words}");
        assert_eq!(fills_in(&browser, &post, "/api/add_comment", &fields).status, 303);
    }
    assert_eq!(ada.get(&format!("/posts/{first}/comments")).body["total"], 2);
}

#[test]
fn a_confirmation_is_shown_once() {
    let server = Server::start();
    let ada = server.member("ada");
    let mut browser = browser(&server);
    browser.cookie.clone_from(&ada.cookie);
    let saved = fills_in(&browser, "/settings", "/api/describe", "name=Ada&bio=Numbers.");
    assert_eq!(saved.headers["location"], "/settings");
    let both = format!("{}; {}", ada.cookie.clone().unwrap(), notice(&saved));
    browser.cookie = Some(both);
    assert!(browser.get("/settings").text.contains("Your profile is saved."));
}

#[test]
fn a_form_without_one_of_its_fields_is_refused() {
    let server = Server::start();
    let mut browser = browser(&server);
    let refused = fills_in(&browser, "/login?next=/", "/api/sign_in", "password=x");
    assert!((300..400).contains(&refused.status), "{refused:?}");
    assert_eq!(refused.headers["location"], "/login?next=/");
    browser.cookie = Some(notice(&refused));
    let page = browser.get("/login?next=/").text;
    assert!(page.contains("without “handle”"), "{page}");
}

#[test]
fn a_notice_that_this_site_did_not_write_is_not_shown() {
    let server = Server::start();
    let mut browser = browser(&server);
    let refused = fills_in(&browser, "/login", "/api/sign_in", "handle=nobody&password=x");
    let cookie = notice(&refused);
    let (name, value) = cookie.split_once('=').unwrap();
    let (said, seal) = value.split_once('.').unwrap();
    let other = |byte: &str| if byte == "A" { "B" } else { "A" };
    let altered = [
        format!(
            "{name}={}{}.{seal}",
            &said[..said.len() - 1],
            other(&said[said.len() - 1..])
        ),
        format!("{name}={said}.{}{}", other(&seal[..1]), &seal[1..]),
        format!("{name}={said}."),
        format!("{name}={said}"),
    ];
    for altered in altered {
        browser.cookie = Some(altered.clone());
        assert!(
            !browser.get("/login").text.contains("value=\"nobody\""),
            "{altered}"
        );
    }
    browser.cookie = Some(cookie);
    assert!(browser.get("/login").text.contains("value=\"nobody\""));
}

#[test]
fn a_text_that_is_far_too_long_is_kept_or_reported_as_still_in_the_browser() {
    let server = Server::start();
    let ada = server.member("ada");
    let mut browser = browser(&server);
    // Hardly any of the second can be compressed.
    let noise: String = (0..20_000_u64)
        .map(|n| {
            char::from(b'a' + (n.wrapping_mul(n).wrapping_mul(2_654_435_761) >> 7).to_le_bytes()[0] % 26)
        })
        .collect();
    for (text, kept) in [("The weir is open. ".repeat(300), true), (noise, false)] {
        browser.cookie.clone_from(&ada.cookie);
        let refused = fills_in(&browser, "/", "/api/compose", &format!("text={text}"));
        let both = format!("{}; {}", ada.cookie.clone().unwrap(), notice(&refused));
        browser.cookie = Some(both);
        let page = browser.get("/").text;
        assert!(page.contains("at most 500"), "{page}");
        assert_eq!(page.contains(text.trim()), kept);
        assert_eq!(page.contains("Go back in your browser"), !kept);
    }
}

#[test]
fn a_server_shows_what_another_over_the_same_store_refused() {
    let (_database, address) = Server::for_drivers();
    let [first, second] = [(), ()].map(|()| Server::start_with(&[("SPILLWAY_STORE", &address)]));
    let refused = fills_in(
        &browser(&first),
        "/login",
        "/api/sign_in",
        "handle=nobody&password=x",
    );
    let mut browser = browser(&second);
    browser.cookie = Some(notice(&refused));
    let page = browser.get("/login").text;
    assert!(page.contains("value=\"nobody\""), "{page}");
}

#[test]
fn behind_https_nobody_else_can_plant_a_notice() {
    let server = Server::start_behind_https();
    let browser = browser(&server).with("host", "feed.example.org");
    let refused = fills_in(&browser, "/login", "/api/sign_in", "handle=nobody&password=x");
    notice(&refused);
    let cookie = &refused.headers["set-cookie"];
    assert!(
        cookie.starts_with("__Host-") && cookie.contains("; Secure"),
        "{cookie}"
    );
}
