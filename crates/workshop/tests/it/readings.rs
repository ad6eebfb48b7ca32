//! The readings of a sensor in three layouts.

use workshop::readings::{Cost, IN_A_QUIET_HOUR, Layout, MOST, Measured, Operation, Pace, measure};

fn cost(measured: &[Measured], layout: Layout, operation: Operation) -> Cost {
    let of = measured.iter().find(|one| one.layout == layout).unwrap();
    let place = Operation::ALL
        .iter()
        .position(|other| *other == operation)
        .unwrap();
    of.costs[place]
}

#[tokio::test]
async fn every_layout_holds_every_reading_and_agrees_on_the_mean() {
    for pace in Pace::ALL {
        let all = pace.readings();
        let of_last: Vec<i64> = all
            .iter()
            .filter(|reading| reading.hour() == 5)
            .map(|reading| reading.value)
            .collect();
        for one in measure(pace).await.unwrap() {
            let held: u64 = one.documents.iter().map(|held| held.readings).sum();
            assert_eq!(held, all.len() as u64, "{pace:?}, {:?}", one.layout);
            assert_eq!(
                one.mean,
                (pace.in_the_last_hour(), of_last.iter().sum()),
                "{:?}",
                one.layout
            );
        }
    }
}

#[tokio::test]
async fn in_a_storm_only_the_hours_document_grows() {
    let (quiet, storm) = (
        measure(Pace::Quiet).await.unwrap(),
        measure(Pace::Storm).await.unwrap(),
    );
    let stored = |all: &[Measured], layout| cost(all, layout, Operation::Store).bytes;
    assert!(stored(&storm, Layout::Hours) > 100 * stored(&quiet, Layout::Hours));
    for layout in [Layout::Buckets, Layout::HeadAndPages] {
        let one = storm.iter().find(|one| one.layout == layout).unwrap();
        assert!(
            one.documents.iter().all(|held| held.readings <= MOST as u64),
            "{layout:?}"
        );
        assert!(stored(&storm, layout) < 20_000, "{layout:?}");
    }
}

#[tokio::test]
async fn a_bucket_finds_its_hour_and_a_head_has_the_newest() {
    let storm = measure(Pace::Storm).await.unwrap();
    assert_eq!(cost(&storm, Layout::Buckets, Operation::QuietHour).documents, 1);
    assert!(cost(&storm, Layout::HeadAndPages, Operation::QuietHour).documents > 1);
    assert_eq!(cost(&storm, Layout::HeadAndPages, Operation::Newest).documents, 1);
    // The mean of an hour is kept with its buckets.
    let mean = |layout| cost(&storm, layout, Operation::Mean).documents;
    assert_eq!(mean(Layout::Buckets), 101);
    assert!(mean(Layout::HeadAndPages) > mean(Layout::Buckets));
}

#[tokio::test]
async fn a_quiet_sensor_has_a_document_for_each_hour_or_few_in_all() {
    let quiet = measure(Pace::Quiet).await.unwrap();
    let documents = |layout| {
        quiet
            .iter()
            .find(|one| one.layout == layout)
            .unwrap()
            .documents
            .clone()
    };
    for layout in [Layout::Hours, Layout::Buckets] {
        let held: Vec<u64> = documents(layout).iter().map(|held| held.readings).collect();
        assert_eq!(held, [u64::try_from(IN_A_QUIET_HOUR).unwrap(); 6]);
    }
    assert!(documents(Layout::HeadAndPages).len() <= 3);
}
