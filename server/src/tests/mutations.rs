//! Every mutation, tried against every rule that must refuse it.

use std::collections::{BTreeMap, BTreeSet};

use axum::Router;
use axum::http::Method;
use axum::http::header::{CONTENT_TYPE, COOKIE, HOST, ORIGIN};
use leptos::server_fn::axum::server_fn_paths;

use self::place::Place;
use self::table::Refused::{Nobody, Others};
use self::table::{PRIVATE, TEACHERS, all};
use super::stage::{Call, JSON, Stage};
use crate::api::DESCRIPTION;

mod place;
mod table;

const FORM: &str = "application/x-www-form-urlencoded";

/// Another session of the actor.
const ELSEWHERE: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQ";

/// The mutations of the API, and whether they need a session. The routes are made from the same description, so
/// none is missing here.
fn operations_of_the_api() -> BTreeMap<(String, String), bool> {
    let mut found = BTreeMap::new();
    for (path, item) in DESCRIPTION.value["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            if method != "get" {
                let needs_session = operation.get("security").is_some();
                found.insert((method.to_uppercase(), path.clone()), needs_session);
            }
        }
    }
    found
}

/// A path of the table as the description has it.
fn described(path: &str) -> String {
    path.replace("{post}", "{id}").replace("{session}", "{id}")
}

/// The paths of all routes, from the form in which a router is printed for debugging: it has no other list.
fn paths(app: &Router) -> BTreeSet<String> {
    let printed = format!("{app:?}");
    let entries = printed.split("RouteId(").filter_map(|entry| {
        let (_, path) = entry.split_once("): \"")?;
        entry
            .split_once("): ")?
            .1
            .starts_with('"')
            .then(|| path.split('"').next())?
    });
    entries
        .filter(|path| !path.contains("__private"))
        .map(str::to_owned)
        .collect()
}

/// Every route, of the API, of server functions, and of any other kind, is asked which methods it has.
#[tokio::test]
async fn every_way_to_change_something_is_in_the_table() {
    let app = Stage::new().await.open();
    let mut found: BTreeSet<(String, String)> = operations_of_the_api().into_keys().collect();
    found.extend(server_fn_paths().map(|(path, method)| (method.to_string(), path.to_owned())));
    let known = found.len();
    let paths = paths(&app);
    assert!(paths.len() > known / 2, "{paths:?}");
    for path in paths {
        let filled = path.replace(['{', '}', '*'], "");
        let unknown = Call::new(Method::from_bytes(b"PURGE").unwrap(), &filled);
        let answer = unknown.answers(&app).await;
        let allowed = answer
            .headers
            .get("allow")
            .map_or("", |allow| allow.to_str().unwrap());
        let changing = allowed
            .split(',')
            .map(str::trim)
            .filter(|method| !["", "GET", "HEAD", "OPTIONS"].contains(method));
        found.extend(changing.map(|method| (method.to_owned(), path.clone())));
    }
    let listed = all()
        .into_iter()
        .map(|row| (row.method.to_string(), described(row.path)));
    assert_eq!(found, listed.collect());
}

#[test]
fn operations_that_need_a_session_are_described_so() {
    let operations = operations_of_the_api();
    for row in all().iter().filter(|row| row.path.starts_with("/api/v1/")) {
        let key = (row.method.to_string(), described(row.path));
        assert_eq!(operations[&key], row.refused != Nobody, "{key:?}");
    }
}

#[test]
fn no_server_function_changes_anything_by_get() {
    for (path, method) in server_fn_paths() {
        assert_eq!(method, Method::POST, "{path}");
    }
}

#[tokio::test]
async fn requests_from_other_sites_change_nothing() {
    let place = Place::new().await;
    let (app, here) = (place.stage.open(), place.stage.for_this_machine());
    for row in all() {
        let scene = place.scene(&row);
        let from = |name: &str, value: &str| scene.own.clone().header(name, value);
        for (name, value) in [
            (ORIGIN.as_str(), "https://evil.example"),
            (ORIGIN.as_str(), "null"),
            ("sec-fetch-site", "cross-site"),
            ("sec-fetch-site", "same-site"),
        ] {
            scene
                .refuses(&app, &from(name, value), 403, &format!("{name}: {value}"))
                .await;
        }
        for host in ["192.168.1.5:3000", "evil.example"] {
            scene
                .refuses(&here, &from(HOST.as_str(), host), 403, "over plain HTTP")
                .await;
        }
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_or_of_another_kind_changes_nothing() {
    let place = Place::new().await;
    let app = place.stage.open();
    for row in all() {
        let scene = place.scene(&row);
        let kind = if scene.is_api { JSON } else { FORM };
        let large = scene.own.clone().body(kind, " ".repeat(64 * 1024 + 1));
        scene.refuses(&app, &large, 413, "too large").await;
        let content = if row.body.is_empty() { "x" } else { row.body };
        for other in [
            "text/plain",
            "multipart/form-data",
            if scene.is_api { FORM } else { JSON },
        ] {
            let call = scene.own.clone().body(other, content);
            scene.refuses(&app, &call, 415, other).await;
        }
        let undeclared = scene.own.clone().body("", content).without(CONTENT_TYPE.as_str());
        scene.refuses(&app, &undeclared, 415, "undeclared").await;
    }
}

#[tokio::test]
async fn past_the_limit_of_a_peer_or_an_account_nothing_changes() {
    let place = Place::new().await;
    for row in all() {
        let scene = place.scene(&row);
        let of_peer = scene.stage.limited(|quotas| &mut quotas.peer);
        let of_account = scene.stage.limited(|quotas| &mut quotas.account);
        let mut apps = vec![of_peer];
        if !TEACHERS.contains(&row.path) && !PRIVATE.contains(&row.path) {
            apps.push(of_account);
        }
        for app in apps {
            // Missing resources count too.
            let first = scene.own.clone().method(Method::from_bytes(b"PURGE").unwrap());
            assert_ne!(first.send(&app).await.status, 429, "{}", scene.what);
            let refused = scene.refuses(&app, &scene.own, 429, "too often").await;
            let wait: u64 = refused.header("retry-after").parse().unwrap();
            assert!((3_500..=3_600).contains(&wait), "{refused:?}");
        }
    }
}

#[cfg(feature = "workshop")]
#[tokio::test]
async fn past_the_limit_of_starts_nothing_is_started_and_stopping_still_works() {
    let starts: Vec<_> = all()
        .into_iter()
        .filter(|row| row.method == Method::POST && workshop::STARTS.contains(&row.path))
        .collect();
    assert_eq!(starts.len(), workshop::STARTS.len());
    for row in starts {
        let place = Place::new().await;
        let scene = place.scene(&row);
        let app = scene.stage.limited(|quotas| &mut quotas.starts);
        let first = scene.own.clone().body("", "").send(&app).await;
        assert_ne!(first.status, 429, "{}", scene.what);
        let refused = scene.refuses(&app, &scene.own, 429, "too often").await;
        let wait: u64 = refused.header("retry-after").parse().unwrap();
        assert!((3_500..=3_600).contains(&wait), "{refused:?}");
        let stop = Call::new(Method::DELETE, "/api/v1/lab/layouts");
        assert_ne!(stop.send(&app).await.status, 429, "{}", scene.what);
    }
}

#[tokio::test]
async fn signing_out_by_the_api_needs_no_quota_of_passwords() {
    let stage = Stage::new().await;
    let app = stage.limited(|quotas| &mut quotas.passwords);
    let ada = stage.joins("ada").await;
    let call = |method| Call::new(method, "/api/v1/session").header(COOKIE.as_str(), &ada);
    let wrong = r#"{"handle":"?","password":"x"}"#;
    let guess = || call(Method::POST).body(JSON, wrong);
    assert_eq!(guess().send(&app).await.status, 401);
    assert_eq!(guess().send(&app).await.status, 429);
    assert_eq!(call(Method::DELETE).send(&app).await.status, 204);
}

#[tokio::test]
async fn visitors_who_are_not_signed_in_change_nothing() {
    let place = Place::new().await;
    let app = place.stage.open();
    for row in all().iter().filter(|row| row.refused != Nobody) {
        let scene = place.scene(row);
        let visitor = scene.own.clone().without(COOKIE.as_str());
        if scene.is_api {
            scene.refuses(&app, &visitor, 401, "not signed in").await;
        } else {
            scene
                .refuses_in_its_page(&app, &visitor, 401, "not-signed-in")
                .await;
        }
    }
}

#[tokio::test]
async fn resources_of_others_stay_unchanged() {
    let place = Place::new().await;
    let app = place.stage.open();
    for row in all().iter().filter(|row| row.refused == Others) {
        let scene = place.scene(row);
        let foreign = &scene.foreign;
        if scene.is_api {
            scene.refuses(&app, foreign, 403, "not one's own").await;
        } else {
            scene.refuses_in_its_page(&app, foreign, 403, "forbidden").await;
        }
    }
}

#[tokio::test]
async fn reading_an_address_that_can_be_written_to_changes_nothing() {
    let place = Place::new().await;
    let app = place.stage.open();
    for row in all() {
        let scene = place.scene(&row);
        let readable = [
            "/api/v1/me",
            "/api/v1/me/recovery-codes",
            "/api/v1/notifications/settings",
            "/api/v1/sessions",
            "/api/v1/posts/{post}",
            "/api/v1/posts/{post}/comments",
            "/api/v1/lab/layouts",
        ];
        let readable = readable.contains(&row.path);
        for method in [Method::GET, Method::HEAD] {
            let answer = scene.own.clone().method(method).send(&app).await;
            let status = if readable { 200 } else { 405 };
            assert_eq!(answer.status, status, "{}: {answer:?}", scene.what);
            scene.nothing_was_written(&scene.what).await;
        }
    }
}

/// Without this, a row could be refused for a different reason than the one under test.
#[tokio::test]
async fn every_row_of_the_table_works_when_nothing_is_wrong_with_it() {
    // Only the teacher of a whole server can do these: `server/tests/http/class.rs`.
    for row in all().into_iter().filter(|row| !TEACHERS.contains(&row.path)) {
        let place = Place::new().await;
        let scene = place.scene(&row);
        let same_site = scene.own.clone().header("sec-fetch-site", "same-origin");
        let answer = same_site.send(&scene.stage.for_this_machine()).await;
        assert!((200..300).contains(&answer.status), "{}: {answer:?}", scene.what);
        // Neither a storm nor a migration is running, nothing is unread, and there is no bookmark, mute, block or pinned
        // post. Removing a like that is not there still
        // raises a revision of the activities, so that other servers do not continue with outdated reads.
        let undone = ["/api/stop_storm", "/api/stop_migration"].contains(&row.path)
            || row.path.ends_with("notifications_read")
            || row.path.ends_with("notifications/read")
            || (row.method == Method::DELETE
                && ["/bookmark", "/pin", "/hidden", "/mute", "/block"]
                    .iter()
                    .any(|end| row.path.ends_with(end)));
        // The workshop works on its own lists.
        let elsewhere = ["/lab/layouts", "_layouts"]
            .iter()
            .any(|end| row.path.ends_with(end))
            || PRIVATE.contains(&row.path);
        let changed = scene.stage.everything().await != place.before;
        assert_eq!(changed, !undone && !elsewhere, "{}", scene.what);
    }
}
