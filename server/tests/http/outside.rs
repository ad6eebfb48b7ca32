use crate::support::Server;

#[test]
fn feeds_and_the_sitemap_have_the_public_address_whatever_host_is_asked() {
    let server = Server::start_behind_https();
    let ada = server.member("ada");
    let post = ada.writes("The weir is open");
    let reader = server.visitor().at_root();
    for (path, own) in [
        ("/@ada/feed.atom", format!("/post/{post}")),
        ("/explore/feed.atom", format!("/post/{post}")),
        ("/sitemap.xml", "/@ada".to_owned()),
        ("/robots.txt", "/sitemap.xml".to_owned()),
    ] {
        let answer = reader.get(path);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        let address = format!("https://feed.example.org{own}");
        assert!(answer.text.contains(&address), "{path}: {}", answer.text);
        assert!(!answer.text.contains(&server.address), "{path}: {}", answer.text);
        let again = reader.with("if-none-match", &answer.headers["etag"]).get(path);
        assert_eq!((again.status, again.text.as_str()), (304, ""), "{path}");
    }
    let page = reader.with("accept", "text/html").get(&format!("/post/{post}"));
    let canonical = format!("<link href=\"https://feed.example.org/post/{post}\" rel=\"canonical\">");
    assert!(page.text.contains(&canonical), "{}", page.text);
}

#[test]
fn a_deleted_post_leaves_the_feed() {
    let server = Server::start();
    let ada = server.member("ada");
    let kept = ada.writes("Kept");
    let deleted = ada.writes("Deleted");
    let feed = || ada.at_root().get("/@ada/feed.atom");
    let before = feed();
    assert!(before.text.contains(&deleted), "{before:?}");
    assert_eq!(ada.delete(&format!("/posts/{deleted}")).status, 204);
    let known = ada
        .at_root()
        .with("if-modified-since", &before.headers["last-modified"])
        .with("if-none-match", &before.headers["etag"]);
    let after = known.get("/@ada/feed.atom");
    assert_eq!(after.status, 200, "{after:?}");
    assert!(
        after.text.contains(&kept) && !after.text.contains(&deleted),
        "{after:?}"
    );
}
