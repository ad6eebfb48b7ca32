//! Migrations of the workshop over HTTP, on the embedded store and over MongoDB's protocol.

use std::collections::HashSet;
use std::time::Instant;

use serde_json::{Value, json};

use crate::support::{Answer, Client, Server, TIMEOUT, words};

/// Sends a form of the station as a program.
fn send(client: &Client, form: &str, fields: &str) -> Answer {
    client.submit("application/json", &format!("/api/{form}"), fields)
}

/// The page of the station, as a visitor sees it.
fn page(server: &Server) -> Answer {
    let browser = server.visitor().at_root().with("accept", "text/html");
    browser.get("/lab/migrate")
}

/// The migration once the shown state satisfies the condition.
fn until(client: &Client, is_so: impl Fn(&Value) -> bool) -> Value {
    let began = Instant::now();
    loop {
        let answer = client.get("/lab/migrate");
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_ne!(answer.body["progress"], "failed", "{answer:?}");
        if is_so(&answer.body) {
            return answer.body;
        }
        assert!(began.elapsed() < TIMEOUT, "{answer:?}");
    }
}

#[test]
fn a_migration_loses_nothing_on_either_store() {
    let (keeper, address) = Server::for_drivers();
    let through = Server::start_with(&[("SPILLWAY_STORE", &address)]);
    for (server, name) in [(&keeper, "ada"), (&through, "bob")] {
        assert!(words(&page(server).text).contains("Sign in to start a migration"));
        assert_eq!(server.visitor().get("/lab/migrate").body["progress"], "idle");
        let begun = send(&server.member(name), "start_migration", "items=1000");
        assert_eq!(begun.status, 200, "{begun:?}");
        let migration = until(&server.visitor(), |migration| migration["progress"] == "finished");
        let verdict = &migration["verdict"];
        let total = 1_000 + migration["acknowledged"].as_u64().unwrap();
        for number in ["counted", "found", "distinct"] {
            assert_eq!(verdict[number], total, "{number}: {migration}");
        }
        assert_eq!(verdict["holds"], true, "{migration}");
        let forms = |lists: &Value| -> Vec<Value> {
            let lists = lists.as_array().unwrap();
            lists.iter().map(|list| list["form"].clone()).collect()
        };
        assert_eq!(forms(&migration["found"]), ["unbounded"; 3], "{migration}");
        assert_eq!(
            forms(&migration["left"]),
            ["overflowed", "overflowed", "head"],
            "{migration}"
        );
        let page = page(server).text;
        let ids = page.split("data-testid=\"").skip(1);
        let ids: Vec<&str> = ids.map(|rest| rest.split('"').next().unwrap()).collect();
        let once: HashSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), once.len(), "each test id names one thing: {ids:?}");
        let shown = words(&page);
        assert!(
            shown.contains("The list is correct:")
                && shown.contains(&format!("@{name} chose an array of 1,000 likes")),
            "{shown}"
        );
    }
}

#[test]
fn a_running_migration_refuses_others_and_any_member_may_stop_it() {
    let server = Server::start();
    let (ada, bob) = (server.member("ada"), server.member("bob"));
    let begun = send(&ada, "start_migration", "items=10000");
    assert_eq!(begun.status, 200, "{begun:?}");
    let refused = send(&bob, "start_migration", "items=1000");
    assert_eq!(refused.status, 409, "{refused:?}");
    let message = refused.body["message"].as_str().unwrap();
    assert!(message.contains("@ada has started a migration"), "{message}");
    assert_eq!(send(&server.visitor(), "stop_migration", "").status, 401);

    until(&bob, |migration| migration["acknowledged"] != 0);
    let going = page(&server).text;
    assert!(going.contains("data-again=\"500\""), "{going}");
    let stopped = send(&bob, "stop_migration", "");
    assert_eq!(stopped.status, 200, "{stopped:?}");
    let migration = bob.get("/lab/migrate").body;
    assert_eq!(
        (&migration["progress"], &migration["verdict"]["holds"]),
        (&json!("stopped"), &json!(true)),
        "{migration}"
    );
}

#[test]
fn an_array_of_another_size_is_refused_by_name() {
    let server = Server::start();
    let refused = send(&server.member("ada"), "start_migration", "items=7");
    assert_eq!(
        (refused.status, &refused.body["field"]),
        (422, &json!("items")),
        "{refused:?}"
    );
    assert_eq!(server.visitor().get("/lab/migrate").body["progress"], "idle");
}
