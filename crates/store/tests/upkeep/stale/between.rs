//! The same for what belongs to several documents: actions and departures that were interrupted, lists that belong
//! together, and home timelines.

use bson::DateTime;
use document::Update;
use model::{PostId, Timestamp, Topic};
use store::overflow::{Item, Owner, uuid_bson};
use store::people;
use store::reactions::{Attempt, FIELD, Reaction};
use store::timeline;

use super::*;
use crate::timelines::{handle, join};

/// So much later than everything here that no request is still running.
const LATER: Timestamp = Timestamp::from_millis(1_000_000_000);

/// Ada, Bob and Ada's post, with its activity.
async fn ada_and_bob(store: &Store) -> PostId {
    join(store, "ada", 1).await;
    join(store, "bob", 2).await;
    let (id, at) = (Uuid::from_u128(3), Timestamp::from_millis(3));
    let text = "The weir is open.".parse().unwrap();
    let posts = store.posts();
    posts
        .insert(id.into(), id, &handle("ada"), &text, at)
        .await
        .unwrap();
    let activity = Item {
        id,
        by: None,
        at,
        more: doc! { "kind": "post", "post": uuid_bson(id) },
    };
    let activities = store.list(Relation::Activities);
    activities
        .append(&Topic::User(handle("ada")), activity)
        .await
        .unwrap();
    id.into()
}

/// Bob reacts to Ada's post. The item's id is 10.
async fn react(store: &Store, reaction: &Reaction) {
    let mut item = Item::new(Uuid::from_u128(10), handle("bob"), Timestamp::from_millis(10));
    if let Reaction::Comment(..) = reaction {
        item.more = doc! { "text": "It is." };
    }
    let attempt = Attempt {
        id: Uuid::from_u128(11),
        at: item.at,
    };
    assert!(
        store
            .reactions()
            .add(reaction, item, attempt)
            .await
            .unwrap()
            .added
    );
}

async fn has(store: &Store, owner: &Owner, relation: Relation) -> bool {
    let key = Key::Id(Uuid::from_u128(10));
    store.list(relation).find(owner, &key).await.unwrap().is_some()
}

/// Repairs while Ada's post can be seen without Bob's like; returns whether the like's activity is left.
async fn activity_left(sessions: bool) -> bool {
    let lagging = Lagging::over(&["posts"], sessions).await;
    let post = ada_and_bob(&lagging.store).await;
    lagging.versions.begin();
    react(&lagging.store, &Reaction::Like(post)).await;
    let report = lagging.repair(false).await;
    if sessions {
        assert_eq!(report.findings, []);
    }
    has(&lagging.store, &Topic::User(handle("bob")), Relation::Activities).await
}

#[tokio::test]
async fn an_activity_stays_although_reads_of_its_post_are_old() {
    assert!(activity_left(true).await);
}

#[tokio::test]
async fn without_sessions_a_repair_takes_an_activity() {
    assert!(!activity_left(false).await);
}

/// Notes an action of somebody that is about to begin. Its attempt is 12.
async fn begin(store: &Store, actor: &str, action: Document) {
    let mut intent = doc! { "id": uuid_bson(Uuid::from_u128(12)), "at": DateTime::from_millis(10) };
    intent.extend(action);
    let begun = Update::one(doc! { "_id": actor }, doc! { "$push": { FIELD: intent } });
    store.engine().update(people::COLLECTION, begun).await.unwrap();
}

impl Lagging {
    /// Finishes the only action that was begun, while reads are old.
    async fn sweep(&self) {
        self.begun.store(true, Ordering::Relaxed);
        assert_eq!(self.store.reactions().finish_all(LATER).await.unwrap(), 1);
        self.begun.store(false, Ordering::Relaxed);
        assert_eq!(self.store.reactions().begun().await.unwrap(), []);
    }
}

/// The same if another try of the like was interrupted, which is finished in this way.
async fn activity_left_by_an_intent(sessions: bool) -> bool {
    let lagging = Lagging::over(&["posts"], sessions).await;
    let store = &lagging.store;
    let post = ada_and_bob(store).await;
    lagging.versions.begin();
    let like = Reaction::Like(post);
    react(store, &like).await;
    let activity = like.activity(&Item::new(Uuid::from_u128(12), handle("bob"), LATER));
    begin(store, "bob", activity.more).await;
    lagging.sweep().await;
    has(store, &Topic::User(handle("bob")), Relation::Activities).await
}

#[tokio::test]
async fn an_intent_leaves_its_activity_although_reads_of_the_post_are_old() {
    assert!(activity_left_by_an_intent(true).await);
}

#[tokio::test]
async fn without_sessions_an_intent_takes_an_activity() {
    assert!(!activity_left_by_an_intent(false).await);
}

/// A like stopped when it had reached the post. It is finished while neither Bob nor the post can be seen with more than
/// what was there when he began.
#[tokio::test]
async fn an_interrupted_like_gets_its_activity_although_everything_is_read_old() {
    let lagging = Lagging::over(&["users", "posts"], true).await;
    let store = &lagging.store;
    let post = ada_and_bob(store).await;
    begin(
        store,
        "bob",
        doc! { "kind": "like", "post": uuid_bson(post.uuid()) },
    )
    .await;
    lagging.versions.begin();
    let like = Item::new(Uuid::from_u128(10), handle("bob"), Timestamp::from_millis(10));
    store.list(LIKES).append(&Topic::Post(post), like).await.unwrap();
    lagging.sweep().await;
    assert!(has(store, &Topic::Post(post), LIKES).await);
    assert!(has(store, &Topic::User(handle("bob")), Relation::Activities).await);
}

/// Bob leaves, while Ada's post can be seen without his comment; returns whether the comment is left.
async fn comment_left(sessions: bool) -> bool {
    let lagging = Lagging::over(&["posts"], sessions).await;
    let store = &lagging.store;
    let post = ada_and_bob(store).await;
    lagging.versions.begin();
    react(store, &Reaction::Comment(post, Uuid::from_u128(10))).await;
    assert!(
        store
            .account_deletions()
            .begin(&handle("bob"), "a hash")
            .await
            .unwrap()
    );
    let report = lagging.repair(false).await;
    assert_eq!(report.findings.len(), 1, "{report:?}");
    has(store, &Topic::Post(post), Relation::Comments).await
}

#[tokio::test]
async fn a_comment_of_somebody_who_leaves_is_removed_although_reads_of_its_post_are_old() {
    assert!(!comment_left(true).await);
}

#[tokio::test]
async fn without_sessions_a_comment_of_somebody_who_leaves_stays() {
    assert!(comment_left(false).await);
}

/// Repairs while people can be seen without Bob, who has opened his home feed; returns whether his timeline is left.
async fn timeline_left(sessions: bool) -> bool {
    let lagging = Lagging::over(&["users"], sessions).await;
    let store = &lagging.store;
    join(store, "bob", 2).await;
    store.timelines().home(&handle("bob"), None, 5).await.unwrap();
    let report = lagging.repair(false).await;
    if sessions {
        assert_eq!(report.findings, []);
    }
    store.engine().count(timeline::COLLECTION, doc! {}).await.unwrap() == 1
}

#[tokio::test]
async fn a_timeline_stays_although_reads_of_its_reader_are_old() {
    assert!(timeline_left(true).await);
}

#[tokio::test]
async fn without_sessions_a_repair_takes_the_timeline_of_a_reader_who_is_there() {
    assert!(!timeline_left(false).await);
}
