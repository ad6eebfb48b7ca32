//! Two writers in every order that a student can click.

use workshop::race::{Clicks, Race, run};
use workshop::{Discrepancy, Protocol};

/// Runs every order of two appends to its end, each once: `a` goes first wherever both could.
async fn every_order(protocol: Protocol) -> Vec<Race> {
    let mut ends = Vec::new();
    let mut orders = vec![Clicks::default()];
    while let Some(start) = orders.pop() {
        let mut clicks = start;
        loop {
            let race = run(protocol, &clicks).await.unwrap();
            assert_eq!(race.clicks, clicks, "every click has an effect");
            match race.writers.each_ref().map(|writer| writer.done) {
                [true, true] => {
                    ends.push(race);
                    break;
                }
                [false, false] => {
                    orders.push(clicks.and(1));
                    clicks = clicks.and(0);
                }
                [true, false] => clicks = clicks.and(1),
                [false, true] => clicks = clicks.and(0),
            }
        }
    }
    ends
}

#[tokio::test]
async fn looking_before_pushing_puts_1001_items_into_the_primary() {
    for (protocol, in_turn) in [
        (Protocol::CheckThenAct, ["aabbb", "bbaaa"]),
        (Protocol::AddFollower, ["aabbbb", "bbaaaa"]),
    ] {
        looking_first(protocol, in_turn).await;
    }
}

/// `in_turn` is the case in which nobody writes between a read and its push.
async fn looking_first(protocol: Protocol, in_turn: [&str; 2]) {
    let ends = every_order(protocol).await;
    let too_many = Discrepancy::TooMany {
        held: 1_001,
        most: 1_000,
    };
    let (over, kept): (Vec<&Race>, Vec<&Race>) = ends
        .iter()
        .partition(|race| race.verdict.as_ref().unwrap().discrepancies() == [too_many.clone()]);
    let orders = |races: &[&Race]| {
        races
            .iter()
            .map(|race| race.clicks.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(orders(&over), ["abab", "abba", "baab", "baba"]);
    assert_eq!(orders(&kept), in_turn);
    let faults = |race: &&Race| race.verdict.as_ref().unwrap().discrepancies();
    assert!(kept.iter().map(faults).all(|faults| faults.is_empty()));
}

#[tokio::test]
async fn the_guards_keep_both_protocols_within_the_threshold_in_every_order() {
    for protocol in [Protocol::GuardedAppend, Protocol::Ours] {
        let ends = every_order(protocol).await;
        for race in &ends {
            assert!(race.clicks.len() < Clicks::MOST);
            let verdict = race.verdict.as_ref().unwrap();
            assert_eq!(verdict.discrepancies(), [], "{protocol} {}", race.clicks);
            assert_eq!(verdict.reachable(), 1_001);
        }
    }
}

#[tokio::test]
async fn the_guard_that_failed_is_named() {
    let race = run(Protocol::Ours, &"abab".parse().unwrap()).await.unwrap();
    let failed = &race.writers[1].entries[1].failed;
    assert_eq!(
        failed.keys().collect::<Vec<_>>(),
        ["$expr"],
        "only the room in the head"
    );
    assert!(race.verdict.is_none(), "bob has to look again");

    let race = run(Protocol::GuardedAppend, &"ab".parse().unwrap())
        .await
        .unwrap();
    let failed = &race.writers[1].entries[0].failed;
    assert_eq!(failed.keys().collect::<Vec<_>>(), ["activityCount"]);
}

#[tokio::test]
async fn a_click_for_a_writer_that_is_done_has_no_effect() {
    let race = run(Protocol::CheckThenAct, &"aaaab".parse().unwrap())
        .await
        .unwrap();
    assert_eq!(race.clicks.to_string(), "aab");
    let steps: Vec<(usize, usize)> = race.steps.iter().map(|step| (step.writer, step.entry)).collect();
    assert_eq!(steps, [(0, 0), (0, 1), (1, 0)]);
}

#[test]
fn clicks_that_nobody_can_make_are_refused_by_name() {
    for clicks in ["abc", "AB", &"a".repeat(Clicks::MOST + 1)] {
        let refused = clicks.parse::<Clicks>().unwrap_err();
        assert_eq!(refused.field.as_deref(), Some("clicks"), "{clicks}");
    }
    assert_eq!(
        "abba".parse::<Clicks>().unwrap().without_the_last().to_string(),
        "abb"
    );
}
