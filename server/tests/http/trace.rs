use crate::support::{Client, Server, words};

fn browser(server: &Server) -> Client {
    server.visitor().at_root().with("accept", "text/html")
}

/// A server with a post by ada that 60 people like, in heads of 40 and pages of 30.
fn with_likes() -> (Server, String) {
    let server = Server::start_with(&[("SPILLWAY_THRESHOLD", "40"), ("SPILLWAY_PAGE_SIZE", "30")]);
    let post = server.member("ada").writes("Popular");
    for n in 0..60 {
        server
            .member(&format!("fan{n}"))
            .put(&format!("/posts/{post}/like"));
    }
    (server, post)
}

/// The cells of each row of the table.
fn rows(page: &str) -> Vec<Vec<String>> {
    let table = page.split("data-testid=\"trace\"").nth(1).unwrap();
    let body = table
        .split("<tbody>")
        .nth(1)
        .unwrap()
        .split("</tbody>")
        .next()
        .unwrap();
    let cells = |row: &str| -> Vec<String> {
        let cells = row.split("<t").filter(|cell| cell.starts_with(['d', 'h']));
        cells.map(|cell| words(&format!("<t{cell}"))).collect()
    };
    body.split("<tr").skip(1).map(cells).collect()
}

#[test]
fn each_step_is_a_row_with_what_was_read_for_it() {
    let (server, post) = with_likes();
    let page = browser(&server).get(&format!(
        "/lab/trace?owner=post:{post}&list=likes&steps=first.next.next.oldest.55"
    ));
    assert_eq!(page.status, 200, "{}", words(&page.text));
    let rows = rows(&page.text);
    assert_eq!(rows.len(), 5, "{rows:?}");
    assert!(rows[0][0].ends_with("1. the newest"), "{rows:?}");
    let likes = server.visitor().get(&format!("/posts/{post}/overflow")).body["likes"].clone();
    assert_eq!(
        (likes["head"].as_u64(), likes["pages"].as_u64()),
        (Some(30), Some(1))
    );
    // The head has 30, so the first fifty reach into the page, and the remaining ten are all in it.
    assert_eq!(rows[0][1..=4], ["50", "3", "3", "1"], "{rows:?}");
    assert_eq!(rows[1][1], "10", "{rows:?}");
    assert!(rows[2][1].contains("The end of the list."), "{rows:?}");
    assert_eq!(rows[3][1], "50", "{rows:?}");
    assert_eq!(rows[4][1], "6", "{rows:?}");
    assert!(
        page.text.contains("db.pages"),
        "the commands of the last step are told one by one"
    );
}

#[test]
fn without_an_owner_the_most_liked_post_is_read() {
    let (server, post) = with_likes();
    let page = browser(&server).get("/lab/trace");
    assert!(
        words(&page.text).contains("60 items in the head and 1 page."),
        "{}",
        words(&page.text)
    );
    let next = format!("?owner=post:{post}&amp;list=likes&amp;steps=first.next");
    assert!(page.text.contains(&format!("href=\"{next}\"")), "{}", page.text);
    let server = Server::start();
    let empty = browser(&server).get("/lab/trace").text;
    assert!(
        empty.contains("href=\"?owner=sample&amp;list=likes&amp;steps=first.next\""),
        "{empty}"
    );
}

#[test]
fn a_sample_is_read_where_there_are_no_posts() {
    let server = Server::start();
    let page = browser(&server)
        .get("/lab/trace?owner=sample&steps=first.20000.oldest")
        .text;
    assert!(
        words(&page).contains("25,040 items in the head and 195 pages."),
        "{}",
        words(&page)
    );
    let rows = rows(&page);
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert!(words(&page).contains("From fan1 to fan50."), "{}", words(&page));
}

#[test]
fn unknown_trace_parameters_are_refused_by_name() {
    let (server, post) = with_likes();
    let browser = browser(&server);
    for (query, status, said) in [
        (
            "owner=nonsense".to_owned(),
            422,
            "A topic is post:{id} or user:{handle}.",
        ),
        (
            "owner=user:nobody".to_owned(),
            404,
            "There is nobody called @nobody here.",
        ),
        (
            format!("owner=post:{post}&list=followers"),
            422,
            "A post has no list “followers”.",
        ),
        (
            "owner=sample&list=comments".to_owned(),
            422,
            "The sample has no list “comments”. `list` is likes here.",
        ),
        (
            format!("owner=post:{post}&steps=first.sideways"),
            422,
            "`steps` are up to 12 of first",
        ),
    ] {
        let answer = browser.get(&format!("/lab/trace?{query}"));
        assert_eq!(answer.status, status, "{query}");
        assert!(
            words(&answer.text).contains(said),
            "{query}: {}",
            words(&answer.text)
        );
    }
}
