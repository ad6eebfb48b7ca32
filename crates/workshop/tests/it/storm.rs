//! A storm loses nothing and doubles nothing, can be stopped, and runs alone.

use std::sync::Arc;

use bson::{Document, doc};
use document::{Engine, Update};
use embedded::Embedded;
use model::{Handle, Timestamp};
use store::Settings;
use uuid::Uuid;
use workshop::JobError;
use workshop::report::{Storm, StormChoice, StormPhase, StormTarget, StormVerdict};
use workshop::sandbox::{MOST_ITEMS, REGISTRY, SandboxError, Sandboxes};
use workshop::storm::Storms;

const NOW: Timestamp = Timestamp::from_millis(1_767_225_600_000);

struct Fixture {
    engine: Engine,
    storms: Storms,
}

impl Fixture {
    fn new() -> Self {
        Self {
            engine: Arc::new(Embedded::in_memory().unwrap()),
            storms: Storms::default(),
        }
    }

    async fn begin(&self, choice: StormChoice, by: &str, size: u64) -> Result<Storm, JobError> {
        let sandboxes = Sandboxes::of(&self.engine);
        let open = sandboxes.open("storm", Uuid::from_u128(1), NOW);
        let by: Handle = by.parse().unwrap();
        self.storms
            .begin(choice, by, NOW, Settings::default(), size, open)
            .await
    }

    /// Waits for the end; the verdict must then be there.
    async fn over(&self) -> (Storm, StormVerdict) {
        let storm = self.storms.over().await.unwrap();
        assert_eq!(storm.phase, StormPhase::Over, "{storm:?}");
        let verdict = storm.verdict.unwrap();
        (storm, verdict)
    }

    async fn documents(&self) -> u64 {
        let mut count = 0;
        for collection in self.engine.collections().await.unwrap() {
            count += self.engine.count(&collection, Document::new()).await.unwrap();
        }
        count
    }
}

const SMALL: StormChoice = StormChoice {
    target: StormTarget::Brink,
    actors: 1_000,
    rate: 500,
    at_once: 16,
    seconds: 1,
    take_back: 0,
};

#[tokio::test]
async fn every_acknowledged_like_is_in_the_list_once_and_nothing_stays_behind() {
    for target in StormTarget::ALL {
        let place = Fixture::new();
        place
            .begin(StormChoice { target, ..SMALL }, "ada", 995)
            .await
            .unwrap();
        let (storm, verdict) = place.over().await;
        assert_eq!((storm.answered, storm.failed), (500, 0), "{storm:?}");
        let (acknowledged, counted, distinct) = (verdict.acknowledged, verdict.counted, verdict.distinct);
        assert_eq!(
            (acknowledged, counted, distinct),
            (1_495, 1_495, 1_495),
            "{verdict:?}"
        );
        assert!(verdict.holds, "{verdict:?}");
        assert_eq!(storm.seconds.iter().map(|one| one.answered).sum::<u64>(), 500);
        let end = storm.seconds.last().unwrap();
        assert!(
            end.pages > 0 && end.head <= storm.threshold && end.owner_bytes > 0,
            "{end:?}"
        );
        let heads = &storm.heads;
        assert!(
            heads.iter().all(|sample| sample.items <= storm.threshold),
            "{heads:?}"
        );
        assert!(heads.is_sorted_by_key(|sample| sample.at), "{heads:?}");
        assert_eq!(heads.last().unwrap().items, end.head);
        assert_eq!(place.documents().await, 0, "{target}");
    }
}

#[tokio::test]
async fn repeated_and_removed_likes_are_counted_correctly() {
    let place = Fixture::new();
    let choice = StormChoice {
        actors: 40,
        take_back: 30,
        ..SMALL
    };
    place.begin(choice, "ada", 12).await.unwrap();
    let (storm, verdict) = place.over().await;
    assert_eq!(storm.answered, 500);
    assert!(verdict.holds, "{verdict:?}");
    assert!((12..52).contains(&verdict.acknowledged), "{verdict:?}");
}

#[tokio::test]
async fn a_second_storm_is_refused_with_who_has_the_first() {
    let place = Fixture::new();
    place.begin(SMALL, "ada", 12).await.unwrap();
    match place.begin(SMALL, "bob", 12).await {
        Err(JobError::Busy(Some(other))) => assert_eq!(other.as_str(), "ada"),
        other => panic!("{other:?}"),
    }
    place.over().await;
    place.begin(SMALL, "bob", 12).await.unwrap();
    assert_eq!(place.over().await.0.by.as_str(), "bob");
}

#[tokio::test]
async fn a_storm_that_is_stopped_counts_what_was_sent() {
    let place = Fixture::new();
    let long = StormChoice { seconds: 60, ..SMALL };
    place.begin(long, "ada", 12).await.unwrap();
    while place.storms.last().unwrap().answered == 0 {
        tokio::task::yield_now().await;
    }
    place.storms.stop();
    let (storm, verdict) = place.over().await;
    assert!(storm.stopped && storm.answered < long.due(), "{storm:?}");
    assert!(verdict.holds, "{verdict:?}");
    assert_eq!(verdict.acknowledged, 12 + storm.answered);
}

#[tokio::test]
async fn a_storm_whose_sandbox_is_taken_away_breaks_off() {
    let place = Fixture::new();
    let long = StormChoice { seconds: 60, ..SMALL };
    place.begin(long, "ada", 12).await.unwrap();
    let other = doc! { "$set": { "lease": bson::Uuid::from(Uuid::from_u128(2)) } };
    let taken = Update::one(doc! { "_id": 1_i64 }, other);
    place.engine.update(REGISTRY, taken).await.unwrap();
    let storm = place.storms.over().await.unwrap();
    assert_eq!((storm.phase, storm.verdict), (StormPhase::Failed, None));
}

#[tokio::test]
async fn a_storm_with_an_interrupted_start_blocks_nobody() {
    let place = Fixture::new();
    let by: Handle = "ada".parse().unwrap();
    let never = std::future::pending();
    let mut begun = Box::pin(place.storms.begin(SMALL, by, NOW, Settings::default(), 12, never));
    assert!(futures::poll!(&mut begun).is_pending());
    assert!(matches!(
        place.begin(SMALL, "bob", 12).await,
        Err(JobError::Busy(_))
    ));
    drop(begun);
    place.begin(SMALL, "bob", 12).await.unwrap();
    assert!(place.over().await.1.holds);
}

#[tokio::test]
async fn without_room_no_storm_begins_and_the_next_may() {
    let place = Fixture::new();
    let sandboxes = Sandboxes::of(&place.engine);
    let mut held = Vec::new();
    for lease in 10..10 + u128::from(workshop::sandbox::MOST) {
        held.push(sandboxes.open("test", Uuid::from_u128(lease), NOW).await.unwrap());
    }
    match place.begin(SMALL, "ada", 12).await {
        Err(JobError::Sandbox(SandboxError::Full)) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(place.storms.last(), None);
    held.pop().unwrap().close().await.unwrap();
    place.begin(SMALL, "ada", 12).await.unwrap();
    assert!(place.over().await.1.holds);
}

#[tokio::test]
async fn a_storm_that_does_not_fit_gives_its_place_back_at_once() {
    let place = Fixture::new();
    match place.begin(SMALL, "ada", MOST_ITEMS).await {
        Err(JobError::Sandbox(SandboxError::TooManyItems(_))) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(place.documents().await, 0);
}
