use chart::numbers::bytes;
use serde_json::json;

use crate::support::{Client, Server, until, words};

fn browser(server: &Server) -> Client {
    server.visitor().at_root().with("accept", "text/html")
}

/// The text of a page; it must exist.
fn shown(browser: &Client, path: &str) -> String {
    let page = browser.get(path);
    assert_eq!(page.status, 200, "{path}: {}", words(&page.text));
    words(&page.text)
}

#[test]
fn the_workshop_leads_to_its_stations() {
    let server = Server::start();
    let browser = browser(&server);
    let page = browser.get("/lab");
    assert_eq!(page.status, 200);
    for station in [
        "/lab/inspect",
        "/lab/race",
        "/lab/crash",
        "/lab/layouts",
        "/lab/storm",
        "/lab/class",
        "/lab/trace",
        "/lab/migrate",
        "/lab/tune",
        "/lab/decide",
        "/lab/readings",
        "/lab/ledger",
        "/lab/console",
    ] {
        assert!(
            page.text.contains(&format!("href=\"{station}\"")),
            "{}",
            page.text
        );
        assert!(shown(&browser, station).contains("Ask the class"));
    }
}

#[test]
fn each_article_is_seen_where_its_code_breaks() {
    let server = Server::start();
    let browser = browser(&server);
    let page = browser.get("/lab").text;
    let (_, articles) = page.split_once("<ol class=\"articles\">").unwrap();
    let links: Vec<String> = articles
        .split("href=\"/lab/")
        .skip(1)
        .filter_map(|rest| Some(format!("/lab/{}", rest.split_once('"')?.0.replace("&amp;", "&"))))
        .collect();
    assert!(links.len() >= 7, "{links:?}");
    for (link, seen) in [
        (&links[0], "1,001 items in a head"),
        (&links[1], "The count says 6, a reader finds 7."),
        (&links[2], "The list is correct"),
        (&links[3], "Ada is in the list twice"),
        (&links[4], "a reader finds 5"),
    ] {
        assert!(shown(&browser, link).contains(seen), "{link}");
    }
    for link in &links {
        shown(&browser, link);
    }
}

#[test]
fn the_same_clicks_break_the_article_and_not_ours() {
    let server = Server::start();
    let browser = browser(&server);
    let broken = shown(&browser, "/lab/race?layout=check-then-act&clicks=abab");
    assert!(broken.contains("\"activities\": [1,001 items"), "{broken}");
    assert!(
        broken.contains("1,001 items in a head that may hold 1,000."),
        "{broken}"
    );

    let halfway = shown(&browser, "/lab/race?layout=ours&clicks=abab");
    assert!(
        halfway.contains("The guard failed, because this no longer holds: there is room in the head."),
        "{halfway}"
    );
    assert!(halfway.contains("\"head\": [1,000 items"), "{halfway}");

    let whole = shown(&browser, "/lab/race?layout=ours&clicks=ababbbbbbbbbbbbb");
    assert!(
        whole.contains("The list is correct: nothing is over the threshold"),
        "{whole}"
    );
    assert!(whole.contains("A reader finds 1,001."), "{whole}");
    assert!(whole.contains("\"head\": [201 items"), "{whole}");
}

#[test]
fn a_crash_is_shown_with_what_readers_and_check_and_the_next_operation_make_of_it() {
    let server = Server::start();
    let browser = browser(&server);
    let ours = shown(
        &browser,
        "/lab/crash?operation=append-that-spills&layout=ours&after=1",
    );
    for told in [
        "A reader finds 5 items; the count says 5.",
        "page 0 was written but never committed (worth knowing)",
        "A reader finds 6 items; the count says 6.",
        "spillway check finds no error.",
    ] {
        assert!(ours.contains(told), "{told}: {ours}");
    }
    let article = shown(
        &browser,
        "/lab/crash?operation=append-again&layout=check-then-act&after=2",
    );
    assert!(article.contains("Ada is in the list twice."), "{article}");
    let gone = shown(&browser, "/lab/crash?operation=delete-owner&layout=ours&after=1");
    assert!(gone.contains("A reader finds no such owner."), "{gone}");
}

#[test]
fn a_crash_while_following_hides_who_comes_next_from_the_article_and_nobody_from_ours() {
    let server = Server::start();
    let browser = browser(&server);
    let article = shown(&browser, "/lab/crash?operation=follow");
    for told in [
        "The operation, by “Add a follower”",
        "Start a batch with the follower in it",
        "Count the follower, and mark the user as overflowing",
        "The article has no code that finds or repairs what a crash leaves.",
        "Bob is lost.",
        "The count says 6, a reader finds 5.",
    ] {
        assert!(article.contains(told), "{told}: {article}");
    }
    let ours = shown(&browser, "/lab/crash?operation=follow-again&layout=ours&after=3");
    for told in [
        "Push and count in the follower’s own list",
        "Ada’s own list does not say that she follows.",
        "(unfinished; readers notice nothing)",
        "Ada’s own list says that she follows.",
    ] {
        assert!(ours.contains(told), "{told}: {ours}");
    }
    let race = shown(&browser, "/lab/race?layout=add-follower&clicks=abab");
    assert!(race.contains("\"followers\": [1,001 items"), "{race}");
}

#[test]
fn an_account_is_shown_with_the_balance_that_is_carried_from_document_to_document() {
    let server = Server::start();
    let browser = browser(&server);
    let torn = shown(&browser, "/lab/ledger");
    assert!(
        torn.contains("The balance is 415, the entries add up to 460."),
        "{torn}"
    );
    assert!(torn.contains("Change the balance"), "{torn}");
    let ours = shown(&browser, "/lab/ledger?case=full&way=head-and-pages&after=1");
    for told in [
        "Write the oldest entries into a page, which nobody reads yet",
        "Commit, push and change the balance",
        "The balance is the sum of the entries, and no number is there twice.",
        "Brought forward from page 0",
    ] {
        assert!(ours.contains(told), "{told}: {ours}");
    }
    let moved = shown(&browser, "/lab/ledger?case=full&way=one-write&after=2");
    assert!(
        moved.contains("Entries 1, 2, 3 and 4 are there twice."),
        "{moved}"
    );
}

#[test]
fn readings_are_shown_in_three_layouts_with_what_each_question_reads() {
    let server = Server::start();
    let browser = browser(&server);
    let quiet = shown(&browser, "/lab/readings");
    assert!(
        quiet.contains("a document for each hour is all that you need"),
        "{quiet}"
    );
    let busy = shown(&browser, "/lab/readings?hour=busy");
    for told in [
        "5:00, no. 5",
        "Show a quiet hour (60 readings)",
        "Mean of the last hour",
    ] {
        assert!(busy.contains(told), "{told}: {busy}");
    }
}

#[test]
fn three_answers_lead_to_the_outlier_pattern_and_each_can_be_given_again() {
    let server = Server::start();
    let browser = browser(&server);
    let mut path = "/lab/decide".to_owned();
    for (asks, answer) in [
        (
            "Can the lists in your documents grow without a limit?",
            "sizes=differ",
        ),
        ("Are some lists more than ten times as long", "largest=tenfold"),
        ("Are such long lists rare: fewer than one in ten?", "share=few"),
    ] {
        let page = browser.get(&path);
        assert!(words(&page.text).contains(asks), "{path}");
        let link = page
            .text
            .split('"')
            .find(|href| href.starts_with('?') && href.ends_with(answer));
        path = format!("/lab/decide{}", link.unwrap().replace("&amp;", "&"));
    }
    let page = browser.get(&path);
    let advice = words(&page.text);
    assert!(
        advice.contains("Outlier: a head, and pages for the few that need them"),
        "{advice}"
    );
    let (_, why) = page.text.split_once("data-testid=\"advice\"").unwrap();
    for station in ["/lab/layouts", "/lab/storm", "/lab/tune"] {
        assert!(why.contains(&format!("href=\"{station}\"")), "{station}: {why}");
    }
    for again in ["?", "?sizes=differ", "?sizes=differ&amp;largest=tenfold"] {
        assert!(page.text.contains(&format!("href=\"{again}\"")), "{again}");
    }
}

#[test]
fn unknown_station_parameters_are_refused_by_name() {
    let server = Server::start();
    let browser = browser(&server);
    for (path, named) in [
        (
            "/lab/race?layout=bucket",
            "“bucket”. `layout` is one of: check-then-act, guarded-append, add-follower, ours.",
        ),
        ("/lab/race?clicks=abc", "`clicks` is made of the letters a and b"),
        (
            "/lab/crash?operation=explode",
            "“explode”. `operation` is one of:",
        ),
        (
            "/lab/crash?operation=append&layout=ours&after=9",
            "`after` is a number from 0 to 1, not “9”",
        ),
        ("/lab/tune?kb=90", "from 1 to 64 KB, not “90”"),
        ("/lab/tune?relation=hates", "A relation is one of activities"),
        ("/lab/layouts?largest=7", "Choose one of these."),
        ("/lab/layouts?items=many", "An item has 62 bytes"),
        ("/lab/crash?after=soon", "not “soon”"),
        (
            "/lab/ledger?way=three-writes",
            "“three-writes”. `way` is one of: two-writes, one-write, head-and-pages.",
        ),
        ("/lab/ledger?case=none", "`case` is one of: room, full, old."),
        ("/lab/ledger?after=7", "`after` is a number from 0 to 2, not “7”"),
        ("/lab/readings?hour=rush", "`hour` is one of: quiet, busy, storm."),
        (
            "/lab/decide?sizes=differ&largest=huge",
            "“huge” is not an answer. `largest` is one of: tenfold, less.",
        ),
        (
            "/lab/crash?operation=delete-owner&layout=check-then-act",
            "Choose layout=ours.",
        ),
        (
            "/lab/crash?operation=append&layout=add-follower",
            "Choose layout=ours.",
        ),
    ] {
        let answer = browser.get(path);
        assert_eq!(answer.status, 422, "{path}");
        assert!(
            words(&answer.text).contains(named),
            "{path}: {}",
            words(&answer.text)
        );
    }
    assert_eq!(browser.get("/lab/nowhere").status, 404);
}

#[test]
fn a_race_of_the_layouts_shows_everybody_what_it_measured() {
    let server = Server::start();
    let everybody = browser(&server);
    let page = shown(&everybody, "/lab/layouts");
    assert!(
        page.contains("No race has been run since the server started."),
        "{page}"
    );
    assert!(page.contains("Sign in to start a race"), "{page}");

    let ada = server.member("ada");
    let course = json!({"largest": 100, "itemBytes": 62});
    let started = ada.post("/lab/layouts", &course);
    assert_eq!(
        (started.status, &started.body["by"]),
        (202, &json!("ada")),
        "{started:?}"
    );
    let race = until("the race is finished", || {
        let race = server.visitor().get("/lab/layouts").body;
        (race["progress"] == "finished").then_some(race)
    });
    assert_eq!(race["done"], race["total"]);
    let page = shown(&everybody, "/lab/layouts");
    assert!(page.contains("started by @ada, is finished"), "{page}");
    for layout in race["layouts"].as_array().unwrap() {
        let laps = layout["laps"].as_array().unwrap();
        assert_eq!(laps.len(), 1, "{layout}");
        let name = layout["name"].as_str().unwrap();
        let written = laps
            .iter()
            .map(|lap| bytes(lap["append"]["bytesWritten"].as_f64().unwrap()));
        let row = format!("{name}{}", written.collect::<String>());
        assert!(page.contains(&row), "{row}: {page}");
    }
}

#[test]
fn a_race_of_the_layouts_goes_on_alone_until_somebody_stops_it() {
    let server = Server::start();
    let (ada, bob) = (server.member("ada"), server.member("bob"));
    let course = json!({"largest": 100_000, "itemBytes": 200});
    assert_eq!(ada.post("/lab/layouts", &course).status, 202);
    let refused = bob.post("/lab/layouts", &course);
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(
        refused.body["detail"]
            .as_str()
            .unwrap()
            .contains("@ada has started a race"),
        "{refused:?}"
    );
    let running = browser(&server).get("/lab/layouts").text;
    assert!(running.contains("data-again=\"500\""), "{running}");
    assert_eq!(server.visitor().delete("/lab/layouts").status, 401);
    let stopped = bob.delete("/lab/layouts");
    assert_eq!(
        (stopped.status, &stopped.body["progress"]),
        (200, &json!("stopped"))
    );
    let page = browser(&server).get("/lab/layouts").text;
    assert!(!page.contains("data-again"), "{page}");
    assert_eq!(ada.post("/lab/layouts", &course).status, 202);
}

#[test]
fn a_budget_becomes_limits_by_the_sizes_of_the_stores_own_items() {
    let server = Server::start();
    let browser = browser(&server);
    let ada = server.member("ada");
    let post = ada.writes("Measure me");
    for handle in ["bob", "carol", "dave"] {
        assert_eq!(
            server.member(handle).put(&format!("/posts/{post}/like")).status,
            200
        );
    }
    let page = shown(&browser, "/lab/tune?relation=likes&kb=16");
    assert!(page.contains("Of 3 likes, half have at most"), "{page}");
    assert!(page.contains("3 items of post:"), "{page}");
    assert!(!page.contains("The list in the sandbox"), "{page}");
    let empty = shown(&browser, "/lab/tune?relation=comments&kb=64");
    assert!(empty.contains("There are no comments yet"), "{empty}");
}
