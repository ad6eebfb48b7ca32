//! What other programs read of the site: feeds, the sitemap, robots.txt, and what pages say about themselves.

use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE, HOST};
use roxmltree::{Document, Node};
use serde_json::json;

use super::stage::{Answer, Call, JSON, PAGE, Stage};

const ATOM: &str = "http://www.w3.org/2005/Atom";

async fn get(stage: &Stage, path: &str) -> Answer {
    Call::new(Method::GET, path).send(&stage.open()).await
}

async fn page(stage: &Stage, path: &str) -> String {
    let page = Call::new(Method::GET, path).header(ACCEPT.as_str(), PAGE);
    page.send(&stage.open()).await.text
}

async fn writes(stage: &Stage, cookie: &str, text: &str) -> String {
    let call = Call::new(Method::POST, "/api/v1/posts").header(COOKIE.as_str(), cookie);
    let body = json!({ "text": text }).to_string();
    let answer = call.body(JSON, body).send(&stage.open()).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.body["id"].as_str().unwrap().to_owned()
}

fn children<'a>(node: Node<'a, 'a>, name: &'static str) -> Vec<Node<'a, 'a>> {
    let named = move |child: &Node<'_, '_>| child.has_tag_name((ATOM, name));
    node.children().filter(named).collect()
}

fn text<'a>(node: Node<'a, 'a>, name: &'static str) -> &'a str {
    let [child] = children(node, name)[..] else {
        panic!("one {name}");
    };
    child.text().unwrap_or_default()
}

/// The address of the link with this relation.
fn link<'a>(node: Node<'a, 'a>, relation: &str) -> &'a str {
    let links = children(node, "link");
    let link = links.iter().find(|link| link.attribute("rel") == Some(relation));
    link.and_then(|link| link.attribute("href")).unwrap()
}

/// The content of the `<meta>` with this name or property, as it is in the page.
fn meta<'a>(page: &'a str, name: &str) -> Vec<&'a str> {
    let tags = page.split("<meta ").skip(1);
    let tags = tags.map(|rest| rest.split('>').next().unwrap());
    let named = tags.filter(|tag| {
        tag.contains(&format!("name=\"{name}\"")) || tag.contains(&format!("property=\"{name}\""))
    });
    named
        .map(|tag| tag.split_once("content=\"").unwrap().1.split('"').next().unwrap())
        .collect()
}

#[tokio::test]
async fn a_persons_feed_has_their_posts_as_they_wrote_them() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    stage.joins("bob").await;
    let first = writes(&stage, &cookie, "First").await;
    let written = "<b>Tea & cake</b> at the #weir\n\"]]>\" 水 \u{fffe}";
    let second = writes(&stage, &cookie, written).await;
    let answer = get(&stage, "/@ada/feed.atom").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(
        answer.header("content-type"),
        "application/atom+xml; charset=utf-8"
    );
    let document = Document::parse(&answer.text).unwrap();
    let feed = document.root_element();
    assert!(feed.has_tag_name((ATOM, "feed")), "{}", answer.text);
    assert_eq!(text(feed, "id"), "http://localhost:3000/@ada/feed.atom");
    assert_eq!(text(feed, "title"), "ada (@ada) · Spillway");
    assert_eq!(link(feed, "self"), "http://localhost:3000/@ada/feed.atom");
    assert_eq!(link(feed, "alternate"), "http://localhost:3000/@ada");
    assert_eq!(text(children(feed, "author")[0], "name"), "ada");
    let entries = children(feed, "entry");
    let ids: Vec<_> = entries.iter().map(|entry| text(*entry, "id")).collect();
    assert_eq!(ids, [format!("urn:uuid:{second}"), format!("urn:uuid:{first}")]);
    let entry = entries[0];
    assert_eq!(text(feed, "updated"), text(entry, "updated"));
    assert_eq!(text(entry, "published"), text(entry, "updated"));
    assert_eq!(
        link(entry, "alternate"),
        format!("http://localhost:3000/post/{second}")
    );
    assert_eq!(children(entry, "category")[0].attribute("term"), Some("weir"));
    let content = children(entry, "content")[0];
    assert_eq!(content.attribute("type"), Some("html"));
    assert_eq!(
        content.text(),
        Some("&lt;b&gt;Tea &amp; cake&lt;/b&gt; at the #weir<br>&quot;]]&gt;&quot; 水 \u{fffd}")
    );
}

#[tokio::test]
async fn the_feeds_of_a_tag_and_of_explore_name_the_author_of_each_post() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    let bob = stage.joins("bob").await;
    let liked = writes(&stage, &ada, "At the #été").await;
    let newest = writes(&stage, &bob, "On the #été, too").await;
    let like = Call::new(Method::PUT, &format!("/api/v1/posts/{liked}/like"));
    let like = like.header(COOKIE.as_str(), &bob).send(&stage.open()).await;
    assert_eq!(like.status, 200);
    for (path, own, order) in [
        (
            "/tags/%C3%89t%C3%A9/feed.atom",
            "/tags/%C3%A9t%C3%A9",
            [("bob", &newest), ("ada", &liked)],
        ),
        (
            "/explore/feed.atom",
            "/explore",
            [("ada", &liked), ("bob", &newest)],
        ),
    ] {
        let answer = get(&stage, path).await;
        let document = Document::parse(&answer.text).unwrap();
        let feed = document.root_element();
        assert_eq!(link(feed, "alternate"), format!("http://localhost:3000{own}"));
        assert_eq!(
            link(feed, "self"),
            format!("http://localhost:3000{own}/feed.atom")
        );
        let entries = children(feed, "entry");
        let seen: Vec<_> = entries
            .iter()
            .map(|entry| {
                (
                    text(children(*entry, "author")[0], "name"),
                    text(*entry, "id").to_owned(),
                )
            })
            .collect();
        assert_eq!(
            seen,
            order.map(|(author, id)| (author, format!("urn:uuid:{id}"))),
            "{path}"
        );
    }
}

#[tokio::test]
async fn an_empty_feed_is_valid_and_one_of_nobody_is_not_there() {
    let stage = Stage::new().await;
    stage.joins("ada").await;
    for path in ["/@ada/feed.atom", "/tags/weir/feed.atom", "/explore/feed.atom"] {
        let answer = get(&stage, path).await;
        let document = Document::parse(&answer.text).unwrap();
        let feed = document.root_element();
        assert_eq!(children(feed, "entry").len(), 0, "{path}");
        assert!(text(feed, "updated").ends_with('Z'), "{path}");
    }
    for path in [
        "/@nobody/feed.atom",
        "/ada/feed.atom",
        "/@_/feed.atom",
        "/tags/1/feed.atom",
    ] {
        assert_eq!(get(&stage, path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn a_reader_that_has_the_feed_gets_a_304_until_there_is_something_new() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    writes(&stage, &cookie, "First #weir").await;
    for path in [
        "/@ada/feed.atom",
        "/tags/weir/feed.atom",
        "/explore/feed.atom",
        "/sitemap.xml",
        "/robots.txt",
    ] {
        let answer = get(&stage, path).await;
        assert_eq!(answer.header("cache-control"), "public, max-age=300", "{path}");
        assert_eq!(answer.header("set-cookie"), "", "{path}");
        let again = Call::new(Method::GET, path).header("if-none-match", answer.header("etag"));
        let known = again.send(&stage.open()).await;
        assert_eq!((known.status, known.text.as_str()), (304, ""), "{path}");
        // Likes change Explore without anything newer in it.
        let dated = !["/explore/feed.atom", "/sitemap.xml", "/robots.txt"].contains(&path);
        let date = answer.header("last-modified");
        assert_eq!(!date.is_empty(), dated, "{path}");
        let since = Call::new(Method::GET, path).header("if-modified-since", date);
        assert_eq!(
            since.send(&stage.open()).await.status,
            if dated { 304 } else { 200 },
            "{path}"
        );
        writes(&stage, &cookie, "Next #weir").await;
        stage.clock.wait(300_000);
        let changed = again.send(&stage.open()).await.status;
        assert_eq!(changed, if path == "/robots.txt" { 304 } else { 200 }, "{path}");
    }
}

#[tokio::test]
async fn the_sitemap_has_the_posts_and_their_authors_each_once() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    stage.joins("quiet").await;
    // More than one stretch of the lists that it is read from.
    let mut expected = vec!["/".to_owned(), "/explore".to_owned(), "/@ada".to_owned()];
    for number in 0..110 {
        let post = writes(&stage, &cookie, &format!("Post {number}")).await;
        expected.push(format!("/post/{post}"));
    }
    let answer = get(&stage, "/sitemap.xml").await;
    assert_eq!(answer.header("content-type"), "application/xml");
    let document = Document::parse(&answer.text).unwrap();
    let addresses = document.descendants().filter(|node| node.has_tag_name("loc"));
    let mut addresses: Vec<_> = addresses
        .map(|node| {
            node.text()
                .unwrap()
                .strip_prefix("http://localhost:3000")
                .unwrap()
                .to_owned()
        })
        .collect();
    addresses.sort();
    expected.sort();
    assert_eq!(addresses, expected);
}

#[tokio::test]
async fn robots_learn_where_the_sitemap_is_only_at_a_known_address() {
    let stage = Stage::new().await;
    let robots = get(&stage, "/robots.txt").await;
    assert!(
        robots
            .text
            .contains("\nSitemap: http://localhost:3000/sitemap.xml\n")
    );
    assert!(robots.text.contains("\nDisallow: /settings\n"), "{robots:?}");
    let elsewhere = |path: &str| Call::new(Method::GET, path).header(HOST.as_str(), "evil.example");
    let robots = elsewhere("/robots.txt").send(&stage.open()).await;
    assert_eq!((robots.status, robots.text.contains("Sitemap")), (200, false));
    assert_eq!(elsewhere("/sitemap.xml").send(&stage.open()).await.status, 404);
}

#[tokio::test]
async fn no_answer_repeats_a_host_that_a_client_made_up() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    let post = writes(&stage, &cookie, "Hello").await;
    for path in [
        "/",
        "/explore",
        "/@ada",
        &format!("/post/{post}"),
        "/@ada/feed.atom",
    ] {
        let call = Call::new(Method::GET, path).header(ACCEPT.as_str(), PAGE);
        let answer = call
            .header(HOST.as_str(), "evil.example")
            .send(&stage.open())
            .await;
        assert_eq!(answer.status, 200, "{path}");
        assert!(!answer.text.contains("evil.example"), "{path}: {}", answer.text);
    }
    let call = Call::new(Method::GET, "/@ada/feed.atom").header(HOST.as_str(), "evil.example");
    let answer = call.send(&stage.open()).await;
    let document = Document::parse(&answer.text).unwrap();
    let feed = document.root_element();
    assert_eq!(text(feed, "id"), "urn:spillway:feed:/@ada/feed.atom");
    assert_eq!(link(feed, "alternate"), "/@ada");
}

#[tokio::test]
async fn public_pages_say_their_address_and_what_a_link_to_them_shows() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    let post = writes(&stage, &cookie, "\"Tea\" & <b>cake</b>\nat the #weir").await;
    let of_post = format!("/post/{post}");
    for (path, address, kind, title, feed) in [
        ("/", "/", "website", "Home", false),
        ("/explore", "/explore", "website", "Explore", true),
        ("/tags/Weir", "/tags/weir", "website", "#weir", true),
        ("/@ada", "/@ada", "profile", "ada (@ada)", true),
        (
            &of_post,
            &of_post,
            "article",
            "ada: “&quot;Tea&quot; &amp; &lt;b&gt;cake",
            false,
        ),
        (
            &format!("{of_post}/comments?order=oldest"),
            &of_post,
            "article",
            "ada: “&quot;Tea",
            false,
        ),
    ] {
        let page = page(&stage, path).await;
        let address = format!("http://localhost:3000{address}");
        assert!(
            page.contains(&format!("<link href=\"{address}\" rel=\"canonical\">")),
            "{path}: {page}"
        );
        assert_eq!(meta(&page, "og:url"), [address.as_str()], "{path}");
        assert_eq!(meta(&page, "og:type"), [kind], "{path}");
        assert_eq!(meta(&page, "og:site_name"), ["Spillway"], "{path}");
        let (card, picture) = match kind {
            "article" => ("summary_large_image", format!("{address}/card.png")),
            _ => ("summary", "http://localhost:3000/icon-512.png".to_owned()),
        };
        assert_eq!(meta(&page, "twitter:card"), [card], "{path}");
        assert_eq!(meta(&page, "og:image"), [picture.as_str()], "{path}");
        let titles = meta(&page, "og:title");
        assert!(
            titles.len() == 1 && titles[0].starts_with(title),
            "{path}: {titles:?}"
        );
        let descriptions = meta(&page, "description");
        assert_eq!(descriptions.len(), 1, "{path}: {descriptions:?}");
        assert_eq!(meta(&page, "og:description"), descriptions, "{path}");
        let offered = page.contains("type=\"application/atom+xml\"");
        assert_eq!(offered, feed, "{path}");
        assert!(
            page.split("<body").next().unwrap().contains("rel=\"manifest\""),
            "{path}"
        );
    }
    let post = page(&stage, &of_post).await;
    assert_eq!(
        meta(&post, "og:description"),
        ["&quot;Tea&quot; &amp; &lt;b&gt;cake&lt;/b&gt; at the #weir"]
    );
}

#[tokio::test]
async fn every_other_page_has_one_description_and_no_preview() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    for path in [
        "/settings",
        "/login",
        "/signup",
        "/api",
        "/@ada/followers",
        "/nowhere",
    ] {
        let call = Call::new(Method::GET, path).header(COOKIE.as_str(), &cookie);
        let page = call.header(ACCEPT.as_str(), PAGE).send(&stage.open()).await.text;
        assert_eq!(meta(&page, "description").len(), 1, "{path}");
        assert!(
            !page.contains("og:") && !page.contains("rel=\"canonical\""),
            "{path}"
        );
    }
}

#[tokio::test]
async fn the_manifest_names_the_page_s_icon_and_others_of_the_sizes_that_they_have() {
    let page = page(&Stage::new().await, "/").await;
    let public = concat!(env!("CARGO_MANIFEST_DIR"), "/../public");
    let manifest = std::fs::read_to_string(format!("{public}/manifest.webmanifest")).unwrap();
    let manifest: serde_json::Value = serde_json::from_str(&manifest).unwrap();
    let mut pictures = Vec::new();
    for icon in manifest["icons"].as_array().unwrap() {
        let (source, size) = (icon["src"].as_str().unwrap(), icon["sizes"].as_str().unwrap());
        if size == "any" {
            assert!(
                page.contains(&format!("rel=\"icon\" href=\"{source}\"")),
                "{source}"
            );
            continue;
        }
        let file = std::fs::read(format!("{public}{source}")).unwrap();
        assert_eq!(file[..8], *b"\x89PNG\r\n\x1a\n", "{source}");
        let number = |at: usize| u32::from_be_bytes(file[at..at + 4].try_into().unwrap());
        assert_eq!(format!("{}x{}", number(16), number(20)), size, "{source}");
        pictures.push((number(16), icon["purpose"].as_str().unwrap()));
    }
    // What browsers ask for before they offer to install.
    for needed in [(192, "any"), (512, "any"), (512, "maskable")] {
        assert!(pictures.contains(&needed), "{needed:?}");
    }
    assert_eq!(manifest["display"], "standalone");
}
