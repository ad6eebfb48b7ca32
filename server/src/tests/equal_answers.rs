//! The same requests get the same answers, byte for byte, whatever the store is.

use serde_json::json;
use uuid::Uuid;

use super::engines;
use super::player::Player;

/// A day in a small town: all that people can do, past several spills, and all refusals.
async fn a_day(player: &mut Player) {
    let fans: Vec<String> = (0..14).map(|number| format!("fan{number}")).collect();
    player.joins("ada").await;
    for fan in &fans {
        player.joins(fan).await;
    }
    let viral = player.writes("ada", "The weir is open.").await;
    let quiet = player.writes("ada", "Tea \u{1f375} <b>& \"quotes\"</b>").await;
    for number in 0..24 {
        player.writes(&fans[number % 3], &format!("Note {number}")).await;
    }

    for fan in &fans {
        for path in [
            format!("/posts/{viral}/like"),
            format!("/posts/{viral}/share"),
            "/users/ada/follow".to_owned(),
        ] {
            player.api(fan, "PUT", &path, None).await;
            player.was(200);
        }
        let comment = json!({ "text": format!("Says {fan}") });
        player
            .api(fan, "POST", &format!("/posts/{viral}/comments"), Some(comment))
            .await;
        player.was(201);
    }
    player.api("ada", "PUT", "/users/fan0/follow", None).await;
    player.api("ada", "PUT", "/users/fan1/follow", None).await;
    read_everything(player, &viral, &quiet).await;

    // A repeated call changes nothing, and removal works in pages as in the head.
    for (who, method) in [
        ("fan0", "PUT"),
        ("fan1", "DELETE"),
        ("fan1", "DELETE"),
        ("fan13", "DELETE"),
        ("fan2", "DELETE"),
    ] {
        for list in ["like", "share"] {
            player
                .api(who, method, &format!("/posts/{viral}/{list}"), None)
                .await;
            player.was(200);
        }
        player.api(who, method, "/users/ada/follow", None).await;
    }
    player
        .api("fan1", "PUT", &format!("/posts/{viral}/like"), None)
        .await;
    let comments = player
        .api("fan3", "GET", &format!("/posts/{viral}/comments?limit=100"), None)
        .await;
    let own = comments["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|comment| comment["user"]["handle"] == "fan3");
    let own = own.unwrap()["id"].as_str().unwrap().to_owned();
    player
        .api("fan4", "DELETE", &format!("/posts/{viral}/comments/{own}"), None)
        .await;
    player.was(403);
    player
        .api("fan3", "DELETE", &format!("/posts/{viral}/comments/{own}"), None)
        .await;
    player.was(204);
    for (path, id) in [(format!("/posts/{quiet}/comments"), 9), ("/posts".to_owned(), 10)] {
        let retried = json!({ "id": Uuid::from_u128(id), "text": "Once" });
        for (who, status) in [("fan5", 201), ("fan5", 201), ("fan6", 409)] {
            player.api(who, "POST", &path, Some(retried.clone())).await;
            player.was(status);
        }
    }
    read_everything(player, &viral, &quiet).await;

    refusals(player, &viral).await;
    player
        .api("ada", "DELETE", &format!("/posts/{viral}"), None)
        .await;
    player.was(204);
    player
        .api("fan7", "PUT", &format!("/posts/{viral}/like"), None)
        .await;
    player.was(404);
    player.api("fan8", "DELETE", "/session", None).await;
    player.was(204);
    for (who, status) in [("ada", 200), ("ada", 200), ("fan1", 403), ("", 401)] {
        let edited = json!({ "text": "Tea is #served" });
        player
            .api(who, "PATCH", &format!("/posts/{quiet}"), Some(edited))
            .await;
        player.was(status);
    }
    player.api("", "GET", "/tags/served", None).await;
    let credentials = json!({ "handle": "fan8", "password": "correct horse" });
    player.api("fan8", "POST", "/session", Some(credentials)).await;
    player.was(200);
    read_everything(player, &quiet, &quiet).await;
}

async fn read_everything(player: &mut Player, viral: &str, quiet: &str) {
    for reader in ["", "ada", "fan1"] {
        player.api(reader, "GET", "/me", None).await;
        for list in ["/feed", "/explore"] {
            player.walks(reader, list, 7).await;
        }
        for post in [viral, quiet] {
            player.api(reader, "GET", &format!("/posts/{post}"), None).await;
        }
        player.api(reader, "GET", "/users/ada", None).await;
        for search in [
            "q=note&limit=5",
            "q=note&order=liked&limit=5",
            "q=open+weir",
            "q=once+note",
            "q=fan1&kind=people",
            "q=%D1%8F",
        ] {
            player
                .api(reader, "GET", &format!("/search?{search}"), None)
                .await;
            player.was(200);
        }
    }
    for limit in [1, 4, 100] {
        for list in ["likes", "comments", "shares"] {
            player.walks("", &format!("/posts/{viral}/{list}"), limit).await;
        }
        for person in ["ada", "fan0", "fan1", "fan13"] {
            for list in ["followers", "following", "activity"] {
                player.walks("", &format!("/users/{person}/{list}"), limit).await;
            }
        }
    }
    for owner in [
        format!("/posts/{viral}"),
        format!("/posts/{quiet}"),
        "/users/ada".into(),
        "/users/fan1".into(),
    ] {
        player.api("", "GET", &format!("{owner}/overflow"), None).await;
        player.was(200);
    }
}

async fn refusals(player: &mut Player, viral: &str) {
    let nobody = Uuid::from_u128(404);
    let long = json!({ "text": "x".repeat(5_000) });
    let account = |handle: &str| json!({ "handle": handle, "name": "A", "password": "correct horse" });
    for (who, method, path, body, status) in [
        ("", "POST", "/accounts".to_owned(), Some(account("ada")), 409),
        ("", "POST", "/accounts".to_owned(), Some(account("A!")), 422),
        (
            "",
            "POST",
            "/session".to_owned(),
            Some(json!({ "handle": "ada", "password": "wrong horse" })),
            401,
        ),
        (
            "",
            "POST",
            "/posts".to_owned(),
            Some(json!({ "text": "Hello" })),
            401,
        ),
        ("", "PUT", format!("/posts/{viral}/like"), None, 401),
        (
            "fan1",
            "POST",
            "/posts".to_owned(),
            Some(json!({ "text": " " })),
            422,
        ),
        ("fan1", "POST", "/posts".to_owned(), Some(long), 422),
        (
            "fan1",
            "POST",
            "/posts".to_owned(),
            Some(json!({ "words": "Hello" })),
            422,
        ),
        ("fan1", "PUT", format!("/posts/{nobody}/like"), None, 404),
        ("fan1", "PUT", "/posts/none/like".to_owned(), None, 404),
        ("fan1", "PUT", "/users/nobody/follow".to_owned(), None, 404),
        ("fan1", "PUT", "/users/fan1/follow".to_owned(), None, 422),
        ("fan1", "DELETE", format!("/posts/{viral}"), None, 403),
        (
            "fan1",
            "DELETE",
            format!("/posts/{viral}/comments/{nobody}"),
            None,
            404,
        ),
        ("", "GET", format!("/posts/{nobody}/likes"), None, 404),
        ("", "GET", format!("/posts/{viral}/likes?cursor=wrong"), None, 422),
        ("", "GET", format!("/posts/{viral}/likes?limit=0"), None, 422),
        ("", "GET", "/users/nobody".to_owned(), None, 404),
        ("", "GET", "/nowhere".to_owned(), None, 404),
        ("", "DELETE", "/feed".to_owned(), None, 405),
    ] {
        player.api(who, method, &path, body).await;
        player.was(status);
    }
    player
        .send("fan1", "POST", "/api/v1/posts", Some("{\"text\": "))
        .await;
    player.was(400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_same_requests_get_the_same_bytes_from_every_store() {
    let mut expected = Player::on(engines::embedded()).await;
    a_day(&mut expected).await;

    let listener = engines::listener().await;
    let through_the_driver = engines::driver(listener.address()).await;
    let others = [Some(through_the_driver), engines::server().await];
    for engine in others.into_iter().flatten() {
        let mut player = Player::on(engine).await;
        a_day(&mut player).await;
        for (expected, answered) in expected.exchanges.iter().zip(&player.exchanges) {
            assert_eq!(answered, expected);
        }
        assert_eq!(player.exchanges.len(), expected.exchanges.len());
    }
}
