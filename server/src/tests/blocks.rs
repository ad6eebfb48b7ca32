//! Blocks that are half done, and what a block hides of shares.

use axum::http::Method;
use model::{Relation, Timestamp, Topic};
use store::overflow::Item;
use uuid::Uuid;

use super::restrictions::{put, send, write};
use super::stage::Stage;

#[tokio::test]
async fn a_block_that_was_interrupted_is_none_until_the_blockers_own_list_has_it() {
    let stage = Stage::new().await;
    let (ada, bob) = (stage.joins("ada").await, stage.joins("bob").await);
    let app = stage.open();
    let post = write(&app, &bob, "/api/v1/posts", "Hello").await;
    let left = Item::new(
        Uuid::from_u128(7),
        "bob".parse().unwrap(),
        Timestamp::from_millis(0),
    );
    stage
        .lists_only(&Topic::User("ada".parse().unwrap()), Relation::Blockers, left)
        .await;
    let like = format!("/api/v1/posts/{post}/like");
    for path in [like.as_str(), "/api/v1/users/bob/follow"] {
        put(&app, &ada, path).await;
    }
    assert_eq!(
        send(&app, &ada, Method::GET, &format!("/api/v1/posts/{post}"))
            .await
            .status,
        200
    );
    put(&app, &bob, "/api/v1/users/ada/block").await;
    assert_eq!(send(&app, &ada, Method::PUT, &like).await.status, 404);
}

#[tokio::test]
async fn nobody_reads_over_the_api_what_somebody_shared_of_whom_one_blocks_the_other() {
    let scene = async |blocker: &str, blocked: &str| {
        let stage = Stage::new().await;
        let (ada, bob, cleo) = (
            stage.joins("ada").await,
            stage.joins("bob").await,
            stage.joins("cleo").await,
        );
        let app = stage.open();
        let post = write(&app, &cleo, "/api/v1/posts", "Hello").await;
        for cookie in [&ada, &bob] {
            put(&app, cookie, &format!("/api/v1/posts/{post}/share")).await;
        }
        let cookies = [("ada", &ada), ("bob", &bob)];
        let of = |name: &str| cookies.iter().find(|(known, _)| *known == name).unwrap().1;
        put(&app, of(blocker), &format!("/api/v1/users/{blocked}/block")).await;
        for (reader, other) in [("ada", "bob"), ("bob", "ada")] {
            let path = format!("/api/v1/users/{other}/posts");
            let shared = send(&app, of(reader), Method::GET, &path).await;
            assert_eq!(
                shared.body["items"],
                serde_json::json!([]),
                "{reader} reads {other}"
            );
        }
    };
    scene("ada", "bob").await;
    scene("bob", "ada").await;
}
