use serde_json::{Value, json};

use crate::support::{Client, Server, words};

fn browser(server: &Server) -> Client {
    server.visitor().at_root().with("accept", "text/html")
}

/// A server with a post by ada that this many people like.
fn with_likes(likes: u64) -> (Server, String) {
    let server = Server::with_small_pages();
    let post = server.member("ada").writes("Popular");
    for n in 0..likes {
        server
            .member(&format!("fan{n}"))
            .put(&format!("/posts/{post}/like"));
    }
    (server, post)
}

/// The numbers in an attribute, anywhere in a page.
fn numbers(page: &str, attribute: &str) -> Vec<u64> {
    let begin = format!("{attribute}=\"");
    page.split(&begin)
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap().parse().unwrap())
        .collect()
}

#[test]
fn the_byte_map_adds_up_to_the_document_that_the_api_tells_of() {
    let (server, post) = with_likes(9);
    let browser = browser(&server);
    for (owner, path, list) in [
        (format!("post:{post}"), format!("/posts/{post}/overflow"), "likes"),
        (
            "user:ada".to_owned(),
            "/users/ada/overflow".to_owned(),
            "activities",
        ),
    ] {
        let overflow = || server.visitor().get(&path).body[list].clone();
        // Until nobody has been told of the likes, their mark comes and goes.
        let (page, overflow) = loop {
            let before = overflow();
            let page = browser.get(&format!("/lab/inspect/{owner}"));
            assert_eq!(page.status, 200, "{}", words(&page.text));
            if overflow() == before {
                break (page, before);
            }
        };
        let mut parts = numbers(&page.text, "data-bytes");
        let together = parts.pop().unwrap();
        assert_eq!(parts.iter().sum::<u64>(), together, "{owner}");
        assert_eq!(together, overflow["ownerBytes"].as_u64().unwrap(), "{owner}");
        assert!(
            parts.contains(&overflow["headBytes"].as_u64().unwrap()),
            "{owner}: {parts:?}"
        );
    }
}

/// The documents of a page as they are copied: without what the style sheet keeps out of selections.
fn copied(page: &str) -> Vec<Value> {
    let bodies = page.split("class=\"document-body\"").skip(1);
    let documents = bodies.map(|rest| {
        let end = rest.find("class=\"document-what\"").or(rest.find("</section>"));
        let mut body = rest[..end.unwrap()].to_owned();
        for note in ["<span class=\"branch-items\">", "<span class=\"code-rest\">"] {
            while let Some(begin) = body.find(note) {
                let length = body[begin..].find("</span>").unwrap();
                body.replace_range(begin..begin + length, "");
            }
        }
        let text = words(&body);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
    });
    documents.collect()
}

#[test]
fn text_copied_from_the_inspector_is_extended_json() {
    let (server, post) = with_likes(17);
    let overflow = server.visitor().get(&format!("/posts/{post}/overflow")).body["likes"].clone();
    let page = browser(&server).get(&format!("/lab/inspect/post:{post}")).text;
    let [owner, newest] = &copied(&page)[..] else {
        panic!("not two documents: {page}")
    };
    assert_eq!(owner["_id"], json!({ "$uuid": post }));
    assert_eq!(owner["likes"]["count"], 17);
    assert_eq!(
        owner["likes"]["head"].as_array().unwrap().len() as u64,
        overflow["head"].as_u64().unwrap()
    );
    assert_eq!(newest["owner"], json!({ "$uuid": post }));
    let at = newest["items"][0]["at"]["$date"].as_str().unwrap();
    assert!(at.ends_with('Z'), "{at}");

    let person = copied(&browser(&server).get("/lab/inspect/user:ada").text);
    assert_eq!(person[0]["_id"], "ada");
}

#[test]
fn the_chain_leads_to_each_page_and_shows_its_document() {
    let (server, post) = with_likes(17);
    let browser = browser(&server);
    let path = format!("/lab/inspect/post:{post}");
    let pages = server.visitor().get(&format!("/posts/{post}/overflow")).body["likes"]["pages"]
        .as_u64()
        .unwrap();
    let newest = browser.get(&path).text;
    for page in 0..pages {
        assert!(
            newest.contains(&format!("href=\"?list=likes&amp;page={page}\"")),
            "{newest}"
        );
    }
    assert!(
        words(&newest).contains(&format!("page {} of likes", pages - 1)),
        "{}",
        words(&newest)
    );

    let oldest = words(&browser.get(&format!("{path}?list=likes&page=0")).text);
    assert!(oldest.contains("\"page\": 0,"), "{oldest}");
    assert!(oldest.contains("\"items\": [3 items"), "{oldest}");
    let comments = words(&browser.get(&format!("{path}?list=comments")).text);
    assert!(
        comments.contains("One document. After 5 more the oldest items of the head move into a new page"),
        "{comments}"
    );
    let ada = words(&browser.get("/lab/inspect/user:ada").text);
    assert!(ada.contains("password, which is never shown"), "{ada}");
    assert!(!ada.contains("argon2"), "a password's hash is nobody's to see");
}

#[test]
fn typed_text_leads_to_its_owner_and_unknown_names_are_reported_at_the_field() {
    let (server, post) = with_likes(1);
    let browser = browser(&server);
    for (typed, owner) in [
        ("@ada".to_owned(), "user:ada".to_owned()),
        (
            format!("http://localhost/post/{post}/likes"),
            format!("post:{post}"),
        ),
    ] {
        let answer = browser.get(&format!(
            "/lab/inspect?find={}",
            typed.replace(':', "%3A").replace('/', "%2F")
        ));
        assert_eq!(
            (answer.status, &*answer.headers["location"]),
            (302, &*format!("/lab/inspect/{owner}"))
        );
    }
    for (typed, status, said) in [
        ("nobody", 404, "There is nobody called @nobody here."),
        ("two+words", 422, "Type somebody’s handle"),
    ] {
        let answer = browser.get(&format!("/lab/inspect?find={typed}"));
        assert_eq!(answer.status, status, "{typed}");
        assert!(answer.text.contains("aria-invalid=\"true\""), "{typed}");
        assert!(words(&answer.text).contains(said), "{}", words(&answer.text));
    }
    let start = words(&browser.get("/lab/inspect").text);
    assert!(start.contains("1 like, all in the head: “Popular”"), "{start}");
}

#[test]
fn unknown_inspector_parameters_are_refused_by_name() {
    let (server, post) = with_likes(7);
    let browser = browser(&server);
    let unknown = "00000000-0000-0000-0000-000000000001";
    for (path, status, said) in [
        (
            format!("post:{post}?list=followers"),
            422,
            "A post has no list “followers”.",
        ),
        (
            "user:ada?list=likes".to_owned(),
            422,
            "A person has no list “likes”.",
        ),
        (format!("post:{post}?page=two"), 422, "not “two”"),
        (
            format!("post:{post}?list=likes&page=9"),
            422,
            "`page` is a number from 0 to",
        ),
        (
            format!("post:{post}?list=shares&page=0"),
            422,
            "The shares have no page yet",
        ),
        (format!("post:{unknown}"), 404, "There is no such post."),
        (
            "user:nobody".to_owned(),
            404,
            "There is nobody called @nobody here.",
        ),
        ("nonsense".to_owned(), 404, "Begin at /lab/inspect."),
    ] {
        let answer = browser.get(&format!("/lab/inspect/{path}"));
        assert_eq!(answer.status, status, "{path}");
        assert!(
            words(&answer.text).contains(said),
            "{path}: {}",
            words(&answer.text)
        );
    }
}

#[test]
fn an_empty_store_has_nothing_to_suggest_and_says_so() {
    let server = Server::start();
    let start = browser(&server).get("/lab/inspect");
    assert_eq!(start.status, 200);
    assert!(
        words(&start.text).contains("There are no posts yet."),
        "{}",
        words(&start.text)
    );
}

#[test]
fn how_something_is_stored_leads_to_the_inspector() {
    let (server, post) = with_likes(0);
    let browser = browser(&server);
    for (path, owner) in [
        (format!("/post/{post}/stored"), format!("post:{post}")),
        ("/@ada/stored".to_owned(), "user:ada".to_owned()),
    ] {
        let page = browser.get(&path).text;
        assert!(page.contains(&format!("href=\"/lab/inspect/{owner}\"")), "{page}");
    }
}

#[test]
fn posts_by_visitors_of_the_town_are_not_used_as_examples() {
    let server = Server::for_a_class();
    let visitor = server.member("visitor");
    let posts: Vec<String> = (0..25)
        .map(|n| visitor.writes(&format!("Look at me, {n}")))
        .collect();
    let page = browser(&server).get("/lab/inspect").text;
    let said = words(&page);
    for example in ["The most liked post", "The most followed author", "A quiet post"] {
        assert!(said.contains(example), "{example}: {said}");
    }
    assert_eq!(posts.iter().find(|post| page.contains(post.as_str())), None);
}
