//! Posts with many likes for their age.

use axum::http::Method;
use axum::http::header::ACCEPT;
use bson::Document;
use document::trace::reads;
use model::Timestamp;
use serde_json::{Value, json};
use store::posts;
use uuid::Uuid;

use super::stage::{Answer, Call, PAGE, Stage};

const HOUR: i64 = 3_600_000;

async fn get(stage: &Stage, path: &str) -> Answer {
    Call::new(Method::GET, path).send(&stage.open()).await
}

/// A post by ada with likes, of which only the number is stored.
fn liked(nth: u128, at: i64, likes: i64) -> Document {
    let (id, author) = (Uuid::from_u128(nth), "ada".parse().unwrap());
    let (text, at) = (format!("{nth}").parse().unwrap(), Timestamp::from_millis(at));
    let mut post = posts::new_document(id.into(), id, &author, &text, at);
    post.get_document_mut("likes").unwrap().insert("count", likes);
    post
}

/// The texts of all posts, those that rise first, read in parts of this many.
async fn rising(stage: &Stage, limit: usize) -> Vec<u128> {
    let (mut texts, mut cursor) = (Vec::new(), String::new());
    loop {
        let path = format!("/api/v1/explore?order=rising&limit={limit}{cursor}");
        let part = get(stage, &path).await;
        assert_eq!(part.status, 200, "{part:?}");
        let items = part.body["items"].as_array().unwrap().iter();
        texts.extend(items.map(|post| post["text"].as_str().unwrap().parse::<u128>().unwrap()));
        match &part.body["next"] {
            Value::String(next) => cursor = format!("&cursor={next}"),
            _ => return texts,
        }
    }
}

#[tokio::test]
async fn ten_times_the_likes_are_worth_half_a_day() {
    let stage = Stage::new().await;
    stage.joins("ada").await;
    let posts = [
        (1, 0, 99),
        (2, 24 * HOUR, 0),
        (3, 26 * HOUR, 0),
        (4, 0, 999),
        (5, 13 * HOUR, 9),
        (6, 12 * HOUR, 9),
    ];
    let posts = posts.map(|(nth, at, likes)| liked(nth, at, likes));
    stage.puts_back(posts::COLLECTION, posts.to_vec()).await;
    assert_eq!(rising(&stage, 4).await, [4, 3, 5, 1, 6, 2]);
}

#[tokio::test]
async fn the_order_is_the_same_in_parts_of_any_size_and_in_one() {
    let stage = Stage::new().await;
    stage.joins("ada").await;
    // Scattered over two weeks and over likes from none to 10,000, the same each time.
    let scattered = |nth: i64| {
        let at = nth * 7_919 % (14 * 24) * HOUR + nth;
        let likes = 10_i64.pow(u32::try_from(nth * 31 % 5).unwrap()) + nth % 7 - 1;
        (nth, at, likes)
    };
    let documents = (0..480)
        .map(scattered)
        .map(|(nth, at, likes)| liked(nth.unsigned_abs().into(), at, likes));
    stage.puts_back(posts::COLLECTION, documents.collect()).await;
    let whole = rising(&stage, 100).await;
    let mut all: Vec<_> = whole.clone();
    all.sort_unstable();
    assert_eq!(all, (0..480).collect::<Vec<u128>>(), "each post once");
    assert_eq!(rising(&stage, 7).await, whole);
    let rank = |nth: &u128| {
        let (_, at, likes) = scattered(i64::try_from(*nth).unwrap());
        f64::from(u32::try_from(at).unwrap())
            + 45_000_000.0 * f64::from(u32::try_from(1 + likes).unwrap()).log10()
    };
    assert!(
        whole
            .iter()
            .map(rank)
            .is_sorted_by(|above, below| above > &(below - 1.0))
    );
}

#[tokio::test]
async fn what_rises_is_found_at_the_top_of_two_indexes() {
    let stage = Stage::new().await;
    stage.joins("ada").await;
    let new = (0..2_000).map(|nth| liked(nth, i64::try_from(nth).unwrap() * HOUR, 1));
    stage.puts_back(posts::COLLECTION, new.collect()).await;
    for (deepest, most) in [(1, 250), (1_000, 1_050)] {
        let mut after = None;
        let mut seen = 0;
        while seen < deepest {
            let paging = feed::Paging {
                after,
                limit: 20,
                ..feed::Paging::default()
            };
            let (part, read) = reads(stage.feed().posts().rising(None, paging)).await;
            let part = part.unwrap();
            let documents: u64 = read.iter().map(|read| read.documents).sum();
            assert!(documents <= most, "after {seen}: {documents}");
            seen += part.items.len();
            let Some(next) = part.next else { break };
            after = Some(next.parse().unwrap());
        }
        // The most liked are as many, and the others are not ranked.
        assert!(seen >= deepest.min(500), "{seen}");
    }
}

#[tokio::test]
async fn another_order_and_a_cursor_of_another_list_are_refused_by_name() {
    let stage = Stage::new().await;
    stage.joins("ada").await;
    let documents = (0..3).map(|nth| liked(nth, HOUR, 0));
    stage.puts_back(posts::COLLECTION, documents.collect()).await;
    let next = |answer: Answer| answer.body["next"].as_str().unwrap().to_owned();
    let rising = next(get(&stage, "/api/v1/explore?order=rising&limit=1").await);
    let liked = next(get(&stage, "/api/v1/explore?order=liked&limit=1").await);
    for (query, field) in [
        ("order=newest".to_owned(), "order"),
        (format!("order=rising&cursor={liked}"), "cursor"),
        (format!("cursor={rising}"), "cursor"),
    ] {
        let answer = get(&stage, &format!("/api/v1/explore?{query}")).await;
        assert_eq!(
            (answer.status, &answer.body["field"]),
            (422, &json!(field)),
            "{query}"
        );
    }
}

#[tokio::test]
async fn the_page_of_explore_leads_to_what_rises_and_on() {
    let stage = Stage::new().await;
    stage.joins("ada").await;
    let documents = (0..25).map(|nth| liked(nth, i64::try_from(nth).unwrap() * HOUR, 0));
    stage.puts_back(posts::COLLECTION, documents.collect()).await;
    let page = |path: String| {
        let call = Call::new(Method::GET, &path).header(ACCEPT.as_str(), PAGE);
        let app = stage.open();
        async move { call.send(&app).await }
    };
    let explore = page("/explore".to_owned()).await;
    assert!(
        explore.text.contains("href=\"/explore?order=rising\""),
        "{}",
        explore.text
    );
    let rising = page("/explore?order=rising".to_owned()).await;
    assert!(
        rising
            .text
            .contains("href=\"/explore?order=rising\" aria-current=\"page\""),
        "{}",
        rising.text
    );
    let (_, link) = rising.text.split_once("load-more").unwrap();
    let (_, link) = link.split_once("href=\"").unwrap();
    let (link, _) = link.split_once('"').unwrap();
    assert!(link.starts_with("?order=rising&amp;cursor="), "{link}");
    let last = page(format!("/explore{}", link.replace("&amp;", "&"))).await;
    assert!(last.text.contains("End of the list."), "{}", last.text);
    assert!(last.text.contains("href=\"?order=rising\""), "{}", last.text);
}
