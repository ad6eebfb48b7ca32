//! A database that answers but cannot be read: the router of a cluster that has lost its shards still answers
//! `ping`.

use super::engines;
use super::player::Player;
use super::tap::Tap;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_router_that_has_lost_its_shards_makes_a_server_not_ready_and_tells_everybody_when_to_try_again() {
    let listener = engines::listener().await;
    let tap = Tap::before(listener.address()).await;
    let mut player = Player::on(engines::driver(tap.address).await).await;
    player.joins("ada").await;
    let post = player.writes("ada", "Before the flood").await;
    player.send("", "GET", "/readyz", None).await;
    player.was(200);

    // FailedToSatisfyReadPreference, HostUnreachable, NetworkTimeout, ExceededTimeLimit.
    for code in [133, 6, 89, 262] {
        tap.refuses_with(code);
        let like = format!("/api/v1/posts/{post}/like");
        for (who, method, path) in [
            ("", "GET", "/readyz"),
            ("", "GET", "/api/v1/explore"),
            ("", "GET", "/"),
            ("", "GET", "/explore"),
            ("ada", "GET", "/"),
            ("ada", "GET", &format!("/post/{post}")),
            ("ada", "PUT", &like),
        ] {
            player.send(who, method, path, None).await;
            player.was(503);
            let headers = &player.exchanges.last().unwrap().headers;
            assert!(
                headers.iter().any(|(name, _)| name == "retry-after"),
                "{code}: {method} {path}: {headers:?}"
            );
        }
    }
    tap.refuses_with(0);
    player.send("", "GET", "/readyz", None).await;
    player.was(200);
    player.send("ada", "GET", "/", None).await;
    player.was(200);
}
