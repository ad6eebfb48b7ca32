//! What the pages show of people's texts and actions: tags, and rows that name people and posts.

use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE};
use serde_json::{Value, json};

use super::stage::{Answer, Call, JSON, PAGE, Stage};

async fn request(stage: &Stage, cookie: &str, method: &str, path: &str) -> Answer {
    let call = Call::new(method.parse().unwrap(), path).header(COOKIE.as_str(), cookie);
    call.send(&stage.open()).await
}

async fn writes(stage: &Stage, cookie: &str, text: &str) -> String {
    let call = Call::new(Method::POST, "/api/v1/posts").header(COOKIE.as_str(), cookie);
    let body = json!({ "text": text }).to_string();
    let answer = call.body(JSON, body).send(&stage.open()).await;
    assert_eq!(answer.status, 201, "{answer:?}");
    answer.body["id"].as_str().unwrap().to_owned()
}

async fn page(stage: &Stage, path: &str) -> Answer {
    let call = Call::new(Method::GET, path).header(ACCEPT.as_str(), PAGE);
    call.send(&stage.open()).await
}

fn texts(listing: &Value) -> Vec<&str> {
    let items = listing["items"].as_array().unwrap();
    items.iter().map(|post| post["text"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn posts_of_a_tag_by_all_authors_are_listed_newest_first() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    writes(&stage, &ada, "The #Weir is open").await;
    writes(&stage, &bob, "Nothing about it: weir").await;
    let gone = writes(&stage, &bob, "Gone soon #weir").await;
    writes(&stage, &bob, "#weir! twice #WEIR, and #水位").await;
    request(&stage, &bob, "DELETE", &format!("/api/v1/posts/{gone}")).await;

    let listing = request(&stage, "", "GET", "/api/v1/tags/weir").await.body;
    assert_eq!(
        texts(&listing),
        ["#weir! twice #WEIR, and #水位", "The #Weir is open"]
    );
    assert_eq!(listing["total"], 2);
    let first = request(&stage, "", "GET", "/api/v1/tags/Weir?limit=1").await.body;
    let next = format!(
        "/api/v1/tags/weir?limit=1&cursor={}",
        first["next"].as_str().unwrap()
    );
    let second = request(&stage, "", "GET", &next).await.body;
    assert_eq!(texts(&second), ["The #Weir is open"]);
    assert_eq!(second["next"], Value::Null);

    let shown = page(&stage, "/tags/%E6%B0%B4%E4%BD%8D").await;
    assert_eq!(shown.status, 200);
    assert!(shown.text.contains("href=\"/tags/水位\""), "{}", shown.text);
    assert!(
        shown.text.contains("href=\"/tags/weir\"><bdi>#WEIR</bdi></a>"),
        "{}",
        shown.text
    );
    assert_eq!(page(&stage, "/tags/1").await.status, 404);
    let none = page(&stage, "/tags/drought").await;
    assert_eq!(none.status, 200);
    assert!(none.text.contains("Write the first one."), "{}", none.text);
}

#[tokio::test]
async fn an_activity_tells_of_whose_post_it_was_and_what_it_said() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    let post = writes(&stage, &ada, "The weir is open").await;
    let own = writes(&stage, &bob, "Mine alone").await;
    let gone = writes(&stage, &ada, "Not for long").await;
    for path in [
        format!("posts/{post}/like"),
        format!("posts/{own}/share"),
        format!("posts/{gone}/like"),
        "users/ada/follow".to_owned(),
    ] {
        assert_eq!(
            request(&stage, &bob, "PUT", &format!("/api/v1/{path}"))
                .await
                .status,
            200
        );
    }
    request(&stage, &ada, "DELETE", &format!("/api/v1/posts/{gone}")).await;
    let shown = page(&stage, "/@bob/activity").await.text;
    let words: String = shown
        .split('<')
        .filter_map(|tag| tag.split_once('>'))
        .map(|(_, words)| words)
        .collect();
    for told in [
        "Followed ada",
        "Liked a post that is not here",
        "Shared their own post Mine alone",
        "Liked ada’s post The weir is open",
        "Wrote a post Mine alone",
    ] {
        assert!(words.contains(told), "{told}: {words}");
    }
    assert!(shown.contains(&format!("href=\"/post/{post}\"")));
}

#[tokio::test]
async fn text_that_looks_like_a_marker_of_leptos_stays_and_its_markers_are_left_out() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    writes(&stage, &ada, "a <!> b").await;
    let shown = page(&stage, "/explore").await.text;
    let (_, article) = shown.split_once("<article").unwrap();
    let (article, _) = article.split_once("</details>").unwrap();
    // In its text, and in its label, which is an attribute.
    assert_eq!(article.matches("a &lt;!&gt; b").count(), 2, "{article}");
    assert!(!article.contains("<!>"), "{article}");
}
