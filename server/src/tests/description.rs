//! The description of the API compared with the actual routes.

use std::collections::BTreeSet;

use axum::http::Method;
use axum::http::header::ACCEPT;
use serde_json::Value;

use super::conformity::Description;
use super::stage::{Call, PAGE, Stage};
use crate::api::DESCRIPTION;

/// Every path with its methods and operations.
fn paths() -> impl Iterator<Item = (&'static String, Vec<(&'static String, &'static Value)>)> {
    let paths = DESCRIPTION.value["paths"].as_object().unwrap();
    paths
        .iter()
        .map(|(path, item)| (path, item.as_object().unwrap().iter().collect()))
}

fn operations() -> impl Iterator<Item = &'static Value> {
    paths()
        .flat_map(|(_, operations)| operations)
        .map(|(_, operation)| operation)
}

#[tokio::test]
async fn every_described_path_takes_the_described_methods_and_no_others() {
    let app = Stage::new().await.open();
    for (path, operations) in paths().filter(|(path, _)| path.starts_with("/api/v1/")) {
        let place = path
            .replace("{id}", "00000000-0000-4000-8000-000000000000")
            .replace("{comment}", "00000000-0000-4000-8000-000000000000")
            .replace("{handle}", "nobody")
            .replace("{tag}", "weir");
        let mut described: BTreeSet<String> = operations
            .iter()
            .map(|(method, _)| method.to_uppercase())
            .collect();
        if described.contains("GET") {
            described.insert("HEAD".to_owned());
        }
        let answer = Call::new(Method::TRACE, &place).send(&app).await;
        assert_eq!(answer.status, 405, "{path}");
        let allowed = answer.header("allow").split(',').map(str::to_owned).collect();
        assert_eq!(described, allowed, "{path}");
    }
}

#[test]
fn every_operation_has_a_name_of_its_own_and_a_summary() {
    let mut names = BTreeSet::new();
    for operation in operations() {
        let name = operation["operationId"].as_str().unwrap();
        assert!(names.insert(name), "{name} is there twice");
        assert!(
            operation["summary"]
                .as_str()
                .is_some_and(|summary| !summary.is_empty()),
            "{name}"
        );
        let tags = DESCRIPTION.value["tags"].as_array().unwrap();
        assert!(
            tags.iter().any(|tag| tag["name"] == operation["tags"][0]),
            "{name}"
        );
    }
    assert!(names.len() > 30, "{names:?}");
}

#[test]
fn every_group_has_an_operation() {
    for tag in DESCRIPTION.value["tags"].as_array().unwrap() {
        let of_the_group = |operation: &Value| operation["tags"][0] == tag["name"];
        assert!(operations().any(of_the_group), "{tag}");
    }
}

#[test]
fn every_example_fits_its_schema() {
    let description = Description::strictly(DESCRIPTION.value.clone());
    let schemas = DESCRIPTION.value["components"]["schemas"].as_object().unwrap();
    assert!(schemas["Post"]["examples"][0].is_object());
    for (name, schema) in schemas {
        for example in schema["examples"].as_array().into_iter().flatten() {
            description.fits(schema, &example.to_string(), name);
        }
    }
    let responses = DESCRIPTION.value["components"]["responses"].as_object().unwrap();
    for (name, response) in responses {
        let content = &response["content"]["application/problem+json"];
        description.fits(&content["schema"], &content["example"].to_string(), name);
    }
}

#[cfg(feature = "workshop")]
#[test]
fn a_race_is_described_with_the_numbers_that_it_may_have() {
    let properties = &DESCRIPTION.value["components"]["schemas"]["NewLayoutRace"]["properties"];
    let numbers = |field: &str| {
        let numbers = properties[field]["enum"].as_array().unwrap();
        numbers
            .iter()
            .map(|number| number.as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    for largest in numbers("largest") {
        for item_bytes in numbers("itemBytes") {
            workshop::layouts::Course::new(largest, item_bytes).unwrap();
        }
    }
    assert_eq!((numbers("largest").len(), numbers("itemBytes").len()), (4, 2));
}

#[tokio::test]
async fn the_page_about_the_api_shows_every_operation_and_shape() {
    let page = Call::new(Method::GET, "/api").header(ACCEPT.as_str(), PAGE);
    let page = page.send(&Stage::new().await.open()).await;
    assert_eq!(page.status, 200, "{page:?}");
    assert!(page.header("content-type").starts_with("text/html"), "{page:?}");
    for operation in operations() {
        let summary = operation["summary"].as_str().unwrap();
        assert!(page.text.contains(summary), "{summary}");
    }
    for name in DESCRIPTION.value["components"]["schemas"]
        .as_object()
        .unwrap()
        .keys()
    {
        let is_linked = page.text.contains(&format!("href=\"#{name}\""));
        assert!(
            !is_linked || page.text.contains(&format!("id=\"{name}\"")),
            "{name}"
        );
    }
}

#[test]
fn shared_forms_are_sent_to_the_functions_of_the_pages() {
    use app::actions::comments::DeleteComment;
    use app::actions::people::SetFollow;
    use app::actions::posts::{DeletePost, SetBookmark, SetLike, SetShare};
    use leptos::server_fn::ServerFn as _;
    use ui::forms;

    assert_eq!(forms::SET_LIKE, SetLike::url());
    assert_eq!(forms::SET_SHARE, SetShare::url());
    assert_eq!(forms::SET_BOOKMARK, SetBookmark::url());
    assert_eq!(forms::SET_FOLLOW, SetFollow::url());
    assert_eq!(forms::DELETE_POST, DeletePost::url());
    assert_eq!(forms::DELETE_COMMENT, DeleteComment::url());
}

#[tokio::test]
async fn the_page_of_the_api_gives_types_and_bounds_in_words() {
    let page = Call::new(Method::GET, "/api").header(ACCEPT.as_str(), PAGE);
    let page = page.send(&Stage::new().await.open()).await.text;
    for words in [
        "text, 1 to 500 characters",
        "text or null",
        "whole number, 1 to 100",
        "whole number<",
        "post, like",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    // A minimum alone is no bound.
    for after in page.split("whole number").skip(1) {
        let bounds = after.split(['<', '.']).next().unwrap();
        let bounds = bounds.trim_end_matches(" or null");
        let between = bounds
            .strip_prefix(", ")
            .and_then(|bounds| bounds.split_once(" to "));
        let is_number = |text: &str| text.parse::<u64>().is_ok();
        assert!(
            bounds.is_empty() || between.is_some_and(|(least, most)| is_number(least) && is_number(most)),
            "{bounds}"
        );
    }
}
