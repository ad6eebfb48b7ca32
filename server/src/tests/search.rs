//! Finding posts and people again.

use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE};
use bson::{DateTime, doc};
use document::Update;
use document::trace::reads;
use serde_json::{Value, json};
use store::posts::{self, Order};
use uuid::Uuid;

use super::stage::{Answer, Call, JSON, PAGE, Stage};

async fn get(stage: &Stage, path: &str) -> Answer {
    Call::new(Method::GET, path).send(&stage.open()).await
}

async fn search(stage: &Stage, query: &str) -> Value {
    let answer = get(stage, &format!("/api/v1/search?{query}")).await;
    assert_eq!(answer.status, 200, "{query}: {answer:?}");
    answer.body
}

/// One field of all that was found.
async fn found(stage: &Stage, query: &str, field: &str) -> Vec<String> {
    let body = search(stage, query).await;
    let items = body["items"].as_array().unwrap();
    let field = items.iter().map(|item| item[field].as_str().unwrap().to_owned());
    field.collect()
}

async fn writes(stage: &Stage, cookie: &str, text: &str) -> String {
    let call = Call::new(Method::POST, "/api/v1/posts").header(COOKIE.as_str(), cookie);
    let post = call
        .body(JSON, json!({ "text": text }).to_string())
        .send(&stage.open())
        .await;
    assert_eq!(post.status, 201, "{post:?}");
    post.body["id"].as_str().unwrap().to_owned()
}

/// Posts by ada, one a second, the first one first.
async fn puts(stage: &Stage, texts: impl Iterator<Item = String>) {
    let author = "ada".parse().unwrap();
    let documents = texts.zip(1..).map(|(text, nth)| {
        let (id, at) = (
            Uuid::from_u128(nth),
            model::Timestamp::from_millis(i64::try_from(nth).unwrap() * 1_000),
        );
        posts::new_document(id.into(), id, &author, &text.parse().unwrap(), at)
    });
    stage.puts_back(posts::COLLECTION, documents.collect()).await;
}

#[tokio::test]
async fn posts_are_found_by_all_of_their_words_and_by_tags_the_newest_first() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    for text in ["The #Weir is open.", "the weir, again", "An open door"] {
        writes(&stage, &ada, text).await;
    }
    for (query, texts) in [
        ("q=WEIR", vec!["the weir, again", "The #Weir is open."]),
        ("q=weir+open", vec!["The #Weir is open."]),
        ("q=%23weir", vec!["The #Weir is open."]),
        ("q=wei", vec![]),
        ("q=%21%3F", vec![]),
    ] {
        assert_eq!(found(&stage, query, "text").await, texts, "{query}");
    }
}

#[tokio::test]
async fn found_posts_come_in_parts_in_either_order() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    let mut ids = Vec::new();
    for nth in 0..5 {
        ids.push(writes(&stage, &ada, &format!("Note {nth}")).await);
    }
    let like = Call::new(Method::PUT, &format!("/api/v1/posts/{}/like", ids[2]));
    let liked = like.header(COOKIE.as_str(), &ada).send(&stage.open()).await;
    assert_eq!(liked.status, 200, "{liked:?}");
    for (query, order) in [
        ("q=note", [4, 3, 2, 1, 0]),
        ("q=note&order=liked", [2, 4, 3, 1, 0]),
    ] {
        let (mut walked, mut cursor) = (Vec::new(), String::new());
        loop {
            let part = search(&stage, &format!("{query}&limit=2{cursor}")).await;
            let items = part["items"].as_array().unwrap().iter();
            walked.extend(items.map(|post| post["id"].as_str().unwrap().to_owned()));
            let Some(next) = part["next"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        assert_eq!(walked, order.map(|nth: usize| ids[nth].clone()), "{query}");
    }
}

#[tokio::test]
async fn people_are_found_by_how_handle_and_name_begin_and_by_their_present_name() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada-the-keeper").await;
    stage.joins("adam").await;
    stage.joins("bob").await;
    let follow = Call::new(Method::PUT, "/api/v1/users/adam/follow");
    let followed = follow.header(COOKIE.as_str(), &ada).send(&stage.open()).await;
    assert_eq!(followed.status, 200, "{followed:?}");
    let handles = |query| found(&stage, query, "handle");
    assert_eq!(handles("kind=people&q=ada").await, ["adam", "ada-the-keeper"]);
    assert_eq!(handles("kind=people&q=%40ada-the").await, ["ada-the-keeper"]);
    assert_eq!(handles("kind=people&q=kee+ad").await, ["ada-the-keeper"]);
    assert_eq!(handles("kind=people&q=dam").await, [""; 0]);

    let describe = Call::new(Method::PATCH, "/api/v1/me").header(COOKIE.as_str(), &ada);
    let described = describe.body(JSON, r#"{"name":"Grace Hopper","bio":"Numbers."}"#);
    assert_eq!(described.send(&stage.open()).await.status, 200);
    assert_eq!(handles("kind=people&q=hop").await, ["ada-the-keeper"]);
}

#[tokio::test]
async fn a_search_reads_a_bounded_number_of_documents_and_continues_where_it_stopped() {
    let stage = Stage::new().await;
    stage.joins("ada").await;
    let common = (0..1_400).map(|nth| format!("the {} {nth}", ["left", "right"][nth % 2]));
    puts(&stage, std::iter::once("left and right".to_owned()).chain(common)).await;

    for (query, order) in [
        ("the", Order::Newest),
        ("the", Order::MostLiked),
        ("left right", Order::Newest),
        ("the left right", Order::MostLiked),
    ] {
        let wanted = query.parse().unwrap();
        let searched = stage
            .feed()
            .posts()
            .search(&wanted, order, None, feed::Paging::default());
        let (result, reads) = reads(searched).await;
        result.unwrap();
        let documents: u64 = reads.iter().map(|read| read.documents).sum();
        assert!(documents <= 550 + 300, "{query}: {documents}");
    }

    let first = search(&stage, "q=left+right").await;
    assert_eq!((&first["items"], &first["total"]), (&json!([]), &json!(0)));
    let mut next = first["next"].as_str().unwrap().to_owned();
    let last = loop {
        let part = search(&stage, &format!("q=left+right&cursor={next}")).await;
        match part["next"].as_str() {
            Some(further) => further.clone_into(&mut next),
            None => break part,
        }
    };
    assert_eq!(last["items"][0]["text"], "left and right");
}

#[tokio::test]
async fn a_rare_word_is_found_beside_a_longer_one_that_is_common() {
    let stage = Stage::new().await;
    stage.joins("ada").await;
    let posts = (0..700).map(|nth| {
        if nth % 100 == 0 {
            "common 5".to_owned()
        } else {
            format!("common {nth}x")
        }
    });
    puts(&stage, posts).await;
    for order in ["newest", "liked"] {
        let found = search(&stage, &format!("q=common+5&order={order}&limit=20")).await;
        assert_eq!(found["items"].as_array().unwrap().len(), 7, "{order}");
    }
}

#[tokio::test]
async fn many_people_whose_names_begin_alike_are_no_more_work_than_200() {
    let stage = Stage::new().await;
    for beginning in ["aa", "ab"] {
        let people = (0..300).map(|nth| {
            doc! { "_id": format!("{beginning}{nth}"), "name": "Someone", "at": DateTime::from_millis(0) }
        });
        stage.puts_back("users", people.collect()).await;
    }
    stage.feed().store().search().index_earlier().await.unwrap();
    for (query, most) in [("aa", 200), ("aa29", 11)] {
        let wanted = query.parse().unwrap();
        let (result, reads) = reads(stage.feed().people().search(&wanted, None, 100)).await;
        assert_eq!(result.unwrap().total, most, "{query}");
        assert_eq!(
            reads.iter().map(|read| read.documents).sum::<u64>(),
            most,
            "{query}"
        );
    }
}

#[tokio::test]
async fn somebody_whose_followers_overflow_is_found_among_many_whose_names_begin_alike() {
    let stage = Stage::new().await;
    let mut people: Vec<_> = (0..300)
        .map(|nth| doc! { "_id": format!("aa{nth}"), "name": "Someone", "at": DateTime::from_millis(0) })
        .collect();
    for (handle, count) in [("aazelda", 500_i64), ("aayoko", 700), ("bea", 900)] {
        let followers = doc! {
            "count": count, "pages": 2_i64, "hasOverflow": true, "spilled": 400_i64, "rev": 0_i64, "pending": [], "head": [],
        };
        people.push(doc! {
            "_id": handle, "name": "Someone", "at": DateTime::from_millis(0), "followers": followers,
        });
    }
    stage.puts_back("users", people).await;
    stage.feed().store().search().index_earlier().await.unwrap();
    let wanted = "aa".parse().unwrap();
    let (found, reads) = reads(stage.feed().people().search(&wanted, None, 3)).await;
    let found = found.unwrap().items;
    let found: Vec<_> = found.iter().map(|person| person.handle.as_str()).collect();
    assert_eq!(found, ["aayoko", "aazelda", "aa0"]);
    let documents: u64 = reads.iter().map(|read| read.documents).sum();
    assert_eq!(documents, 202);
}

#[tokio::test]
async fn what_was_written_before_there_was_an_index_is_indexed_once() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    writes(&stage, &ada, "The weir is open.").await;
    let engine = stage.feed().store().engine();
    for (collection, field) in [("posts", "words"), ("users", "names")] {
        let forget = Update::one(doc! {}, doc! { "$unset": { field: "" } });
        assert_eq!(engine.update(collection, forget).await.unwrap().modified, 1);
    }
    assert_eq!(found(&stage, "q=weir", "text").await, [""; 0]);
    let index = stage.feed().store();
    assert_eq!(index.search().index_earlier().await.unwrap(), 2);
    assert_eq!(index.search().index_earlier().await.unwrap(), 0);
    assert_eq!(found(&stage, "q=weir", "text").await, ["The weir is open."]);
    assert_eq!(found(&stage, "q=ada&kind=people", "handle").await, ["ada"]);
}

#[tokio::test]
async fn nothing_is_found_of_a_deleted_post_or_of_somebody_who_left() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    writes(&stage, &ada, "weir").await;
    let own = writes(&stage, &bob, "weir").await;
    let delete = Call::new(Method::DELETE, &format!("/api/v1/posts/{own}"));
    let deleted = delete.header(COOKIE.as_str(), &bob).send(&stage.open()).await;
    assert_eq!(deleted.status, 204, "{deleted:?}");
    assert_eq!(found(&stage, "q=weir", "text").await.len(), 1);

    let leave = Call::new(Method::DELETE, "/api/v1/me").header(COOKIE.as_str(), &ada);
    let left = leave.body(JSON, r#"{"password":"correct horse"}"#);
    assert_eq!(left.send(&stage.open()).await.status, 204);
    assert_eq!(found(&stage, "q=weir", "text").await, [""; 0]);
    assert_eq!(found(&stage, "q=ada&kind=people", "handle").await, [""; 0]);
}

#[tokio::test]
async fn a_search_that_is_none_is_refused_by_its_field() {
    let stage = Stage::new().await;
    let cursor = "A".repeat(50);
    for (query, field) in [
        (String::new(), "q"),
        ("q=".to_owned(), "q"),
        (format!("q={}", "x".repeat(101)), "q"),
        ("q=a&kind=tags".to_owned(), "kind"),
        ("q=a&order=oldest".to_owned(), "order"),
        ("q=a&limit=0".to_owned(), "limit"),
        (format!("q=a&cursor={cursor}"), "cursor"),
        (format!("q=a&kind=people&cursor={cursor}"), "cursor"),
    ] {
        let answer = get(&stage, &format!("/api/v1/search?{query}")).await;
        assert_eq!(
            (answer.status, &answer.body["field"]),
            (422, &json!(field)),
            "{query}"
        );
    }
}

#[tokio::test]
async fn the_page_marks_the_words_and_leads_on_without_losing_them() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    for nth in 0..25 {
        writes(&stage, &ada, &format!("The #Ferry & <b>goose</b> {nth}")).await;
    }
    let page = |path: String| {
        let call = Call::new(Method::GET, &path).header(ACCEPT.as_str(), PAGE);
        let app = stage.open();
        async move { call.send(&app).await }
    };
    let first = page("/search?q=ferry+GOOSE".to_owned()).await;
    assert_eq!(first.status, 200, "{first:?}");
    assert!(first.text.contains("&lt;b&gt;<mark>goose</mark>&lt;/b&gt; 24"));
    assert!(first.text.contains("<mark>Ferry</mark>"), "{}", first.text);
    assert!(!first.text.contains("<mark>Ferry</mark> <"), "{}", first.text);
    let (_, link) = first.text.split_once("load-more").unwrap();
    let (_, link) = link.split_once("href=\"").unwrap();
    let (link, _) = link.split_once('"').unwrap();
    let second = page(format!("/search{}", link.replace("&amp;", "&"))).await;
    assert!(
        second.text.contains("<mark>goose</mark>&lt;/b&gt; 0"),
        "{link}: {}",
        second.text
    );
    assert!(second.text.contains("href=\"?q=ferry+GOOSE\""), "{}", second.text);

    // What was searched for is decoded once, and is the same in the links.
    let percent = page("/search?q=a%2541".to_owned()).await.text;
    assert!(percent.contains("value=\"a%41\""), "{percent}");
    assert!(
        percent.contains("href=\"/search?q=a%2541&amp;kind=people\""),
        "{percent}"
    );

    let people = page("/search?q=ad&kind=people".to_owned()).await;
    assert!(people.text.contains("href=\"/@ada\""), "{}", people.text);
    let nobody = page("/search?q=nobody&kind=people".to_owned()).await;
    assert!(
        nobody.text.contains("handle or name begins like this"),
        "{}",
        nobody.text
    );
}

#[tokio::test]
async fn people_whom_the_reader_follows_are_found_before_more_popular_ones() {
    let stage = Stage::new().await;
    let ada = stage.joins("ada").await;
    let people = ["wilma", "will", "wilbur"];
    for handle in people {
        stage.joins(handle).await;
    }
    let follows = async |cookie: &str, handle: &str| {
        let follow = Call::new(Method::PUT, &format!("/api/v1/users/{handle}/follow"));
        let followed = follow.header(COOKIE.as_str(), cookie).send(&stage.open()).await;
        assert_eq!(followed.status, 200, "{followed:?}");
    };
    let bob = stage.joins("bob").await;
    follows(&bob, "wilbur").await;
    follows(&bob, "will").await;
    follows(&stage.joins("cleo").await, "wilbur").await;
    follows(&ada, "wilma").await;
    let found = async |cookie: &str| {
        let call = Call::new(Method::GET, "/api/v1/search?kind=people&q=wil");
        let body = call
            .header(COOKIE.as_str(), cookie)
            .send(&stage.open())
            .await
            .body;
        let items = body["items"].as_array().unwrap().iter();
        items
            .map(|person| person["handle"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(found("").await, ["wilbur", "will", "wilma"]);
    assert_eq!(found(&ada).await, ["wilma", "wilbur", "will"]);
    assert_eq!(found(&bob).await, ["wilbur", "will", "wilma"]);
}

#[tokio::test]
async fn six_people_are_offered_to_somebody_who_types_as_options() {
    let stage = Stage::new().await;
    for nth in 0..8 {
        stage.joins(&format!("wil{nth}")).await;
    }
    let offered = get(&stage, "/search/people?q=WIL").await;
    assert_eq!(offered.status, 200, "{offered:?}");
    assert_eq!(offered.text.matches("<li").count(), 6, "{}", offered.text);
    assert!(
        offered.text.starts_with(
            "<li id=\"completion-1\" role=\"option\" aria-selected=\"false\" data-handle=\"wil0\">"
        ),
        "{}",
        offered.text
    );
    assert_eq!(offered.header("content-type"), "text/html; charset=utf-8");
    assert_eq!(get(&stage, "/search/people?q=nobody").await.text, "");
    for query in ["", "?q="] {
        let refused = get(&stage, &format!("/search/people{query}")).await;
        assert_eq!(refused.status, 422, "{query}: {refused:?}");
    }
}

#[tokio::test]
async fn a_search_that_finds_no_post_leads_to_those_whose_names_begin_like_this() {
    let stage = Stage::new().await;
    writes(&stage, &stage.joins("ada").await, "Ada wrote this").await;
    for (query, offers) in [("ada", false), ("ad", true), ("%40ad", true), ("nobody", false)] {
        let page = Call::new(Method::GET, &format!("/search?q={query}"))
            .header(ACCEPT.as_str(), PAGE)
            .send(&stage.open())
            .await
            .text;
        let offered = page.contains("Look for handles and names");
        assert_eq!(offered, offers, "{query}: {page}");
    }
}
