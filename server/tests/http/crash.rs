use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::support::{Client, Server, handles, until};

/// Likers of every post, read by cursor; checks that all numbers about them agree.
fn likers(reader: &Client, post: &str) -> BTreeSet<String> {
    let (items, _) = reader.walk(&format!("/posts/{post}/likes"), 5);
    let distinct: BTreeSet<String> = handles(&items).into_iter().map(ToOwned::to_owned).collect();
    assert_eq!(distinct.len(), items.len(), "nobody likes twice: {items:?}");
    let count = |path: &str, pointer: &str| reader.get(path).body.pointer(pointer).unwrap().as_u64().unwrap();
    let told = [
        count(&format!("/posts/{post}/overflow"), "/likes/count"),
        count(&format!("/posts/{post}"), "/likes"),
        count(&format!("/posts/{post}/likes"), "/total"),
    ];
    assert_eq!(told, [items.len() as u64; 3]);
    distinct
}

#[test]
fn killed_in_a_burst_of_likes_it_keeps_every_acknowledged_one_and_counts_exactly() {
    let mut server = Server::start_with(&[("SPILLWAY_THRESHOLD", "6"), ("SPILLWAY_PAGE_SIZE", "4")]);
    let author = server.member("author");
    let posts: Vec<String> = (0..12).map(|n| author.writes(&format!("Post {n}"))).collect();
    let fans: Vec<(String, Client)> = (0..24)
        .map(|n| format!("fan{n}"))
        .map(|fan| (fan.clone(), server.member(&fan)))
        .collect();
    let acknowledged = Mutex::new(BTreeSet::new());

    std::thread::scope(|scope| {
        for (turn, (fan, client)) in fans.iter().enumerate() {
            let (posts, acknowledged) = (&posts, &acknowledged);
            scope.spawn(move || {
                for post in posts.iter().cycle().skip(turn % 3).take(posts.len()) {
                    match client.try_send("PUT", &format!("/posts/{post}/like"), None) {
                        Ok(answer) => {
                            assert_eq!(answer.status, 200, "{answer:?}");
                            acknowledged.lock().unwrap().insert((post.clone(), fan.clone()));
                        }
                        Err(_) => return,
                    }
                }
            });
        }
        until("a third of the likes are acknowledged", || {
            (acknowledged.lock().unwrap().len() >= 96).then_some(())
        });
        server.crash_and_restart();
    });
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(
        acknowledged.len() < posts.len() * fans.len(),
        "the server was killed in the middle"
    );

    let reader = server.visitor();
    for post in &posts {
        let found = likers(&reader, post);
        for (_, fan) in acknowledged.iter().filter(|(liked, _)| liked == post) {
            assert!(found.contains(fan), "the acknowledged like of {fan} is gone");
        }
    }
    // Clients without an answer try again, and so do those with one.
    let everybody: BTreeSet<String> = fans.iter().map(|(fan, _)| fan.clone()).collect();
    for post in &posts {
        for (_, client) in &fans {
            assert_eq!(
                client
                    .moved_to(&server)
                    .put(&format!("/posts/{post}/like"))
                    .status,
                200
            );
        }
        assert_eq!(likers(&reader, post), everybody);
    }
    for (fan, client) in &fans {
        let total = client
            .moved_to(&server)
            .get(&format!("/users/{fan}/activity"))
            .body["total"]
            .clone();
        assert_eq!(total, posts.len(), "one activity per like of {fan}");
    }
}
