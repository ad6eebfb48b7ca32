//! An account under three ways to book, and a crash after every write.

use workshop::ledger::{Case, Fault, Way, everywhere};

async fn faults(way: Way, case: Case) -> Vec<(usize, Vec<Fault>, Vec<Fault>)> {
    let all = everywhere(way, case).await.unwrap();
    let faults = |one: &workshop::ledger::Interrupted| (one.after, one.faults_then(), one.faults_later());
    all.iter().map(faults).collect()
}

#[tokio::test]
async fn with_head_and_pages_the_balance_is_the_sum_after_every_crash() {
    for case in Case::ALL {
        for (after, then, later) in faults(Way::HeadAndPages, case).await {
            assert_eq!((then, later), (vec![], vec![]), "{case:?}, after write {after}");
        }
    }
}

#[tokio::test]
async fn an_old_entry_is_not_booked_again() {
    let all = everywhere(Way::HeadAndPages, Case::Old).await.unwrap();
    assert_eq!(all.len(), 1, "nothing is written");
    assert_eq!(all[0].before, all[0].again.documents);
    let line = all[0]
        .again
        .statement
        .iter()
        .find(|line| line.booking == Case::Old.booking());
    assert_eq!(line.unwrap().page, Some(0));
}

#[tokio::test]
async fn two_writes_are_apart_after_a_crash_between_them() {
    let all = faults(Way::TwoWrites, Case::Room).await;
    let (after, then, later) = &all[1];
    assert_eq!(*after, 1);
    assert_eq!(
        *then,
        [Fault::Unbalanced {
            balance: 415,
            sum: 460
        }]
    );
    assert_eq!(
        *later,
        [Fault::Unbalanced {
            balance: 370,
            sum: 415
        }]
    );
}

#[tokio::test]
async fn a_guard_in_one_document_does_not_know_what_has_moved_away() {
    let room = faults(Way::OneWrite, Case::Room).await;
    assert!(
        room.iter()
            .all(|(_, then, later)| then.is_empty() && later.is_empty()),
        "{room:?}"
    );
    let old = faults(Way::OneWrite, Case::Old).await;
    let number = Case::Old.booking().number;
    assert!(
        old.iter()
            .all(|(_, _, later)| later.contains(&Fault::Repeated(number))),
        "{old:?}"
    );
    // The process dies when the oldest entries are in two documents.
    let full = faults(Way::OneWrite, Case::Full).await;
    assert!(
        matches!(full[2].1[..], [Fault::Unbalanced { .. }, Fault::Repeated(1), ..]),
        "{full:?}"
    );
}

/// What another task of the same process has not finished must not carry out the booking of the process that dies.
#[tokio::test]
async fn a_booking_has_the_same_writes_each_time() {
    for (case, writes) in [(Case::Room, 1), (Case::Full, 2)] {
        let tries = (0..24).map(|_| tokio::spawn(everywhere(Way::HeadAndPages, case)));
        for tried in futures::future::join_all(tries).await {
            assert_eq!(tried.unwrap().unwrap().len(), writes + 1, "{case:?}");
        }
    }
}
