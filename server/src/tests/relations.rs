//! Every relation, at every place where a list can be read, by its owner, by somebody else, and without a session.

use axum::Router;
use axum::http::Method;
use axum::http::header::COOKIE;
use bson::doc;
use model::{Owners, Readers, Relation, Timestamp, Topic};
use serde_json::Value;
use store::overflow::Item;
use uuid::Uuid;

use super::stage::{Answer, Call, PAGE, Stage};

/// A place where a list, or its numbers, can be read.
struct Place {
    name: &'static str,
    path: String,
    /// Whether an answer has the list.
    shows: fn(&Answer, Relation) -> bool,
}

/// An owner whose lists have one item each.
struct Owner {
    topic: Topic,
    /// The path of its page.
    page: String,
    /// Its path in the API.
    api: String,
}

impl Owner {
    fn places(&self, relation: Relation) -> Vec<Place> {
        let Self { topic, page, api } = self;
        let segment = relation.description().segment;
        let place = |name, path, shows| Place { name, path, shows };
        let mut places = vec![
            place("the list in the API", format!("{api}/{segment}"), found),
            place("its page", format!("{page}/{segment}"), found),
            place("the numbers in the API", format!("{api}/overflow"), numbered),
            place("the events", format!("/api/v1/events?topic={topic}"), numbered),
            place("the documents", format!("{page}/stored"), marked),
        ];
        if cfg!(feature = "workshop") {
            places.extend([
                place("the inspector", format!("/lab/inspect/{topic}"), marked),
                place(
                    "the inspector's list",
                    format!("/lab/inspect/{topic}?list={relation}"),
                    found,
                ),
                place(
                    "the trace",
                    format!("/lab/trace?owner={topic}&list={relation}"),
                    found,
                ),
            ]);
        }
        places
    }
}

fn found(answer: &Answer, _: Relation) -> bool {
    answer.status == 200
}

fn numbered(answer: &Answer, relation: Relation) -> bool {
    answer.text.contains(&format!("\"{relation}\":{{\"count\":1,"))
}

fn marked(answer: &Answer, relation: Relation) -> bool {
    answer.text.contains(&marker(relation)) || answer.text.contains(&id(relation).to_string())
}

/// Somebody who is in this list only.
fn marker(relation: Relation) -> String {
    format!("only-in-{relation}")
}

/// An id that is in this list only.
fn id(relation: Relation) -> Uuid {
    Uuid::from_u128(0xfeed_0000 + relation as u128)
}

/// An item with the fields of every relation.
fn item(relation: Relation) -> Item {
    let by = marker(relation).parse().unwrap();
    Item {
        more: doc! { "kind": "share", "post": bson::Uuid::from(id(relation)), "text": "Hello" },
        ..Item::new(id(relation), by, Timestamp::from_millis(1_700_000_000_000))
    }
}

async fn read(app: &Router, cookie: &str, path: &str) -> Answer {
    let call = Call::new(Method::GET, path).header(COOKIE.as_str(), cookie);
    if path.starts_with("/api/v1/events") {
        return call.first_event(app).await;
    }
    let call = if path.starts_with("/api/") {
        call
    } else {
        call.header("accept", PAGE)
    };
    call.send(app).await
}

#[tokio::test]
async fn a_list_is_shown_at_every_place_to_those_who_may_read_it_and_to_nobody_else() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    let post = stage.creates(&ada, "/api/v1/posts").await;
    let app = stage.open();
    let owner_of = |relation: Relation| match relation.owners() {
        Owners::People => Owner {
            topic: Topic::User("ada".parse().unwrap()),
            page: "/@ada".to_owned(),
            api: "/api/v1/users/ada".to_owned(),
        },
        Owners::Posts => Owner {
            topic: Topic::Post(post.parse().unwrap()),
            page: format!("/post/{post}"),
            api: format!("/api/v1/posts/{post}"),
        },
    };
    let mut faults = Vec::new();
    let private = |relation: Relation| relation.description().readers != Readers::Everybody;
    let of_nobody = |relation: Relation| relation.description().readers == Readers::Nobody;
    for relation in Relation::ALL {
        let owner = owner_of(relation);
        let numbers = format!("{}/overflow", owner.api);
        let before = read(&app, &bob, &numbers).await.body;
        stage.lists_only(&owner.topic, relation, item(relation)).await;
        let after = read(&app, &bob, &numbers).await.body;
        if (before == after) != private(relation) {
            faults.push(format!(
                "the numbers that bob sees after a change of {relation}: {after}"
            ));
        }
    }
    for relation in Relation::ALL {
        let owner = owner_of(relation);
        for (reader, cookie) in [("ada", &*ada), ("bob", &*bob), ("a visitor", "")] {
            let may_read = !private(relation) || (reader == "ada" && !of_nobody(relation));
            for place in owner.places(relation) {
                let answer = read(&app, cookie, &place.path).await;
                let shown = (place.shows)(&answer, relation);
                if shown != may_read {
                    let status = answer.status;
                    faults.push(format!(
                        "{} of {relation} for {reader}: shown {shown}, status {status}",
                        place.name
                    ));
                }
            }
            let export = read(&app, cookie, "/api/v1/me/export").await;
            let theirs = reader == "ada" && matches!(owner.topic, Topic::User(_)) && !of_nobody(relation);
            if marked(&export, relation) != theirs {
                faults.push(format!("{relation} in the export of {reader}"));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The longest list names its owner.
#[cfg(feature = "workshop")]
#[tokio::test]
async fn the_sizes_of_private_lists_are_measured_for_nobody() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    for relation in Relation::ALL {
        let page = format!("/lab/tune?relation={relation}");
        let answer = read(&stage.open(), &ada, &page).await;
        let private = relation.description().readers != Readers::Everybody;
        assert_eq!(answer.status, if private { 422 } else { 200 }, "{relation}");
        assert!(!answer.text.contains("relation-bookmarks"));
    }
}

/// Documents have the names of the description, the API those of the type.
#[test]
fn a_relation_has_one_name() {
    for relation in Relation::ALL {
        assert_eq!(
            serde_json::to_value(relation).unwrap(),
            Value::from(relation.as_str())
        );
        assert_eq!(relation.as_str().parse(), Ok(relation));
    }
}

/// `end2end/every-page.ts` names the pages that the browser tests check by rules for every page.
#[test]
fn the_page_of_every_list_is_visited_by_the_browser_tests() {
    let visited = include_str!("../../../end2end/every-page.ts");
    for relation in Relation::ALL {
        let page = format!("/{}", relation.description().segment);
        let has_no_page = relation == Relation::Comments || relation.description().readers == Readers::Nobody;
        assert!(has_no_page || visited.contains(&page), "no page ends in {page}");
    }
}
