//! A crash after every write of every operation.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use store::upkeep::Severity;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use workshop::crash::{Crash, Moment, Operation, everywhere, writes};
use workshop::{Discrepancy, Protocol};

fn discrepancies(crashes: &[Crash]) -> Vec<(usize, Vec<Discrepancy>)> {
    let later = |crash: &Crash| (crash.after, crash.later.tally.discrepancies());
    crashes.iter().map(later).collect()
}

#[tokio::test]
async fn a_crash_at_any_point_loses_and_doubles_nothing_in_ours() {
    for operation in Operation::ALL {
        let crashes = everywhere(Protocol::Ours, operation).await.unwrap();
        assert_eq!(crashes.len(), writes(&crashes[0].script) + 1);
        for crash in &crashes {
            let place = format!("{} after write {}", operation.as_str(), crash.after);
            assert_eq!(crash.crashed.tally.discrepancies(), [], "{place}");
            assert_eq!(crash.later.tally.discrepancies(), [], "{place}, later");
            for moment in [&crash.crashed, &crash.later] {
                let findings = moment.findings.as_ref().unwrap();
                assert!(
                    findings
                        .iter()
                        .all(|finding| finding.severity != Severity::Broken),
                    "{place}: {findings:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn work_left_by_a_crash_is_found_and_the_next_operation_finishes_it() {
    for (operation, after) in [
        (Operation::Spill, 1),
        (Operation::RemoveFromPage, 1),
        (Operation::RemoveFromPage, 2),
        (Operation::Delete, 1),
    ] {
        let crash = everywhere(Protocol::Ours, operation).await.unwrap().remove(after);
        let [then, later] = [&crash.crashed, &crash.later].map(|moment| moment.findings.as_ref().unwrap());
        assert_eq!(then.len(), 1, "{operation:?} {after}: {then:?}");
        assert_eq!(later.len(), 0, "{operation:?} {after}: {later:?}");
    }
}

#[tokio::test]
async fn the_articles_appends_lose_count_or_double_where_they_die_between_their_writes() {
    for protocol in [Protocol::CheckThenAct, Protocol::GuardedAppend] {
        let spill = everywhere(protocol, Operation::Spill).await.unwrap();
        let miscounted = Discrepancy::Miscounted { said: 6, found: 7 };
        assert_eq!(
            discrepancies(&spill),
            [(0, vec![]), (1, vec![miscounted]), (2, vec![])],
            "{protocol}"
        );

        let again = everywhere(protocol, Operation::Again).await.unwrap();
        let doubled = Discrepancy::Doubled(vec!["ada".parse().unwrap()]);
        let miscounted = Discrepancy::Miscounted { said: 6, found: 7 };
        assert_eq!(
            discrepancies(&again),
            [
                (0, vec![]),
                (1, vec![doubled.clone(), miscounted]),
                (2, vec![doubled])
            ],
            "{protocol}"
        );
    }
}

#[tokio::test]
async fn a_follow_that_dies_before_the_flag_hides_its_batch_and_later_followers_in_it() {
    let named = |name: &str| vec![name.parse().unwrap()];
    let miscounted = || Discrepancy::Miscounted { said: 6, found: 5 };
    let follow = everywhere(Protocol::AddFollower, Operation::Follow)
        .await
        .unwrap();
    let hidden = vec![Discrepancy::Lost(named("bob")), miscounted()];
    assert_eq!(discrepancies(&follow), [(0, vec![]), (1, hidden), (2, vec![])]);
    assert!(follow[1].crashed.tally.holds(), "nobody sees anything at first");
    assert_eq!(follow[1].crashed.own_list, None, "the article has one list");

    let again = everywhere(Protocol::AddFollower, Operation::FollowAgain)
        .await
        .unwrap();
    let hidden = vec![Discrepancy::Lost(named("ada")), miscounted()];
    let doubled = vec![Discrepancy::Doubled(named("ada"))];
    assert_eq!(discrepancies(&again), [(0, vec![]), (1, hidden), (2, doubled)]);
}

#[tokio::test]
async fn following_again_after_a_crash_completes_both_lists_and_check_finds_nothing_unfinished() {
    let crashes = everywhere(Protocol::Ours, Operation::FollowAgain).await.unwrap();
    let unfinished = |moment: &Moment| {
        let findings = moment.findings.iter().flatten();
        findings
            .filter(|finding| finding.severity == Severity::Unfinished)
            .count()
    };
    let own_lists: Vec<_> = crashes.iter().map(|crash| crash.crashed.own_list).collect();
    assert!(own_lists.contains(&Some(false)) && own_lists.contains(&Some(true)));
    assert!(crashes.iter().any(|crash| unfinished(&crash.crashed) > 0));
    for crash in &crashes {
        assert_eq!(crash.later.own_list, Some(true), "after write {}", crash.after);
        assert_eq!(unfinished(&crash.later), 0, "after write {}", crash.after);
    }
}

#[tokio::test]
async fn an_operation_that_an_article_does_not_have_is_told_apart() {
    for operation in Operation::ALL {
        assert!(operation.is_of(Protocol::Ours));
        let appends = matches!(operation, Operation::Append | Operation::Spill | Operation::Again);
        assert_eq!(operation.is_of(Protocol::CheckThenAct), appends);
        let follows = matches!(operation, Operation::Follow | Operation::FollowAgain);
        assert_eq!(operation.is_of(Protocol::AddFollower), follows);
        assert_eq!(Operation::named(operation.as_str()).unwrap(), operation);
    }
    let refused = Operation::named("explode").unwrap_err();
    assert_eq!(refused.field.as_deref(), Some("operation"));
}

/// Counts the lines of a log.
struct Lines(Arc<AtomicUsize>);

impl Subscriber for Lines {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

#[tokio::test]
async fn what_a_dead_process_would_have_logged_is_not_in_the_servers_log() {
    let lines = Arc::new(AtomicUsize::new(0));
    let _log = tracing::subscriber::set_default(Lines(Arc::clone(&lines)));
    for operation in Operation::ALL {
        everywhere(Protocol::Ours, operation).await.unwrap();
    }
    assert_eq!(lines.load(Ordering::Relaxed), 0);
    tracing::warn!("a line that is counted");
    assert_eq!(lines.load(Ordering::Relaxed), 1);
}
