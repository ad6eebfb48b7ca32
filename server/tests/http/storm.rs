//! Storms of the workshop over HTTP, on the embedded store and over MongoDB's protocol.

use std::time::Instant;

use serde_json::Value;

use crate::support::{Answer, Client, Server, TIMEOUT, words};

const SMALL: &str = "target=brink&actors=1000&rate=100&at_once=8&seconds=2&take_back=0";
const LONG: &str = "target=quiet&actors=1000&rate=10&at_once=2&seconds=60&take_back=0";

/// Sends a form of the station, as a program or as a browser without JavaScript.
fn send(client: &Client, accept: &'static str, form: &str, fields: &str) -> Answer {
    client.submit(accept, &format!("/api/{form}"), fields)
}

/// The storm once it is over.
fn over(client: &Client) -> Value {
    let began = Instant::now();
    loop {
        let answer = client.get("/lab/storm");
        assert_eq!(answer.status, 200, "{answer:?}");
        let storm = &answer.body["storm"];
        if storm["phase"] == "over" {
            return storm.clone();
        }
        assert_ne!(storm["phase"], "failed", "{storm}");
        assert!(began.elapsed() < TIMEOUT, "{storm}");
    }
}

fn holds(storm: &Value) {
    assert_eq!(
        (&storm["answered"], &storm["failed"]),
        (&200.into(), &0.into()),
        "{storm}"
    );
    let verdict = &storm["verdict"];
    for number in ["acknowledged", "counted", "distinct"] {
        assert_eq!(verdict[number], 355, "{storm}");
    }
    assert_eq!(
        (&verdict["violations"], &verdict["holds"]),
        (&0.into(), &true.into()),
        "{storm}"
    );
}

#[test]
fn a_storm_is_exact_on_either_store() {
    let (keeper, address) = Server::for_drivers();
    let through = Server::start_with(&[("SPILLWAY_STORE", &address)]);
    for (server, name) in [(&keeper, "ada"), (&through, "bob")] {
        assert_eq!(server.visitor().get("/lab/storm").body["storm"], Value::Null);
        let member = server.member(name);
        let begun = send(&member, "application/json", "start_storm", SMALL);
        assert_eq!(begun.status, 200, "{begun:?}");
        let storm = over(&server.visitor());
        holds(&storm);
        assert_eq!(storm["by"], name);
        let page = server
            .visitor()
            .at_root()
            .with("accept", "text/html")
            .get("/lab/storm");
        let shown = words(&page.text);
        assert!(
            shown.contains("The list is correct: everybody whose like was acknowledged")
                && shown.contains("355"),
            "{shown}"
        );
        assert!(page.text.contains("<svg class=\"chart\""), "{shown}");
    }
}

#[test]
fn a_running_storm_refuses_others_and_any_member_may_stop_it() {
    let server = Server::start();
    let (ada, bob) = (server.member("ada"), server.member("bob"));
    let page = format!("http://{}/lab/storm", server.address);
    let begun = send(&ada.with("referer", &page), "text/html", "start_storm", LONG);
    assert_eq!(
        (begun.status, begun.headers["location"].as_str()),
        (303, "/lab/storm"),
        "{begun:?}"
    );

    let refused = send(&bob, "application/json", "start_storm", LONG);
    assert_eq!(refused.status, 409, "{refused:?}");
    let message = refused.body["message"].as_str().unwrap();
    assert!(
        message.contains("A storm of @ada is running") && message.contains("/lab/storm"),
        "{message}"
    );
    let led_back = send(&bob.with("referer", &page), "text/html", "start_storm", LONG);
    assert_eq!(led_back.status, 303);
    let mut bob_at_page = bob.at_root().with("accept", "text/html");
    bob_at_page.cookie = Some(format!("{}; {}", bob.cookie.clone().unwrap(), led_back.cookie()));
    let shown = words(&bob_at_page.get(&led_back.headers["location"]).text);
    assert!(
        shown.contains("A storm of @ada is running") && shown.contains("Stop"),
        "{shown}"
    );

    let stopped = send(&bob.with("referer", &page), "text/html", "stop_storm", "");
    assert_eq!(
        (stopped.status, stopped.headers["location"].as_str()),
        (303, "/lab/storm"),
        "{stopped:?}"
    );
    let storm = over(&bob);
    assert_eq!(
        (&storm["stopped"], &storm["verdict"]["holds"]),
        (&true.into(), &true.into()),
        "{storm}"
    );
    assert!(storm["answered"].as_u64().unwrap() < 600, "{storm}");
}

#[test]
fn more_than_a_laptop_bears_is_refused_by_name() {
    let server = Server::start();
    let ada = server.member("ada");
    for (field, value) in [
        ("actors", "50001"),
        ("rate", "2001"),
        ("at_once", "65"),
        ("seconds", "61"),
        ("take_back", "51"),
        ("target", "town"),
    ] {
        let pairs = SMALL.split('&').map(|pair| match pair.split_once('=') {
            Some((name, _)) if name == field => format!("{field}={value}"),
            _ => pair.to_owned(),
        });
        let fields = pairs.collect::<Vec<_>>().join("&");
        let refused = send(&ada, "application/json", "start_storm", &fields);
        assert_eq!(
            (refused.status, &refused.body["field"]),
            (422, &field.into()),
            "{refused:?}"
        );
    }
    assert_eq!(server.visitor().get("/lab/storm").body["storm"], Value::Null);
}

#[test]
fn a_server_that_dies_in_a_storm_leaves_nothing_that_the_next_one_keeps() {
    let mut server = Server::start();
    let ada = server.member("ada");
    let begun = send(&ada, "application/json", "start_storm", LONG);
    assert_eq!(begun.status, 200, "{begun:?}");
    server.crash_and_restart();
    let ada = ada.moved_to(&server);
    let again = send(&ada, "application/json", "start_storm", SMALL);
    assert_eq!(again.status, 200, "{again:?}");
    holds(&over(&ada));
}
