//! The race measures the layouts, and can be stopped.

use std::ops::ControlFlow;
use std::sync::Arc;

use articles::Kind;
use embedded::Embedded;
use model::Handle;
use workshop::layouts::lists::Size;
use workshop::layouts::{Course, Lap, Races, entries, laps, wall};
use workshop::report::{LayoutRace, Progress};

fn somebody() -> Handle {
    "ada".parse().unwrap()
}

async fn measured(length: u64, most: u64) -> Vec<Lap> {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let go_on = || ControlFlow::Continue(());
    let laps = laps(&engine, (length, Size::Like), most, go_on).await.unwrap();
    laps.unwrap()
}

#[tokio::test]
async fn an_unbounded_append_writes_the_whole_list_and_the_others_do_not() {
    let laps = measured(3_000, 20).await;
    for (entry, lap) in entries(Size::Like).iter().zip(&laps) {
        let grows = lap.append.bytes_written > 3_000.0 * 62.0;
        assert_eq!(grows, entry.kind == Kind::Unbounded, "{}: {lap:?}", entry.name);
        assert_eq!(
            (lap.append.times, lap.first_page.times),
            (20, 20),
            "{}",
            entry.name
        );
    }
}

#[tokio::test]
async fn the_largest_document_is_what_the_limits_allow() {
    let laps = measured(3_000, 1).await;
    let of = |name: &str| {
        let place = entries(Size::Like).iter().position(|entry| entry.name == name);
        laps[place.unwrap()].largest_document
    };
    assert!(of("one array") > 3_000 * 62);
    assert!((62_000..80_000).contains(&of("bucket of 1,000")));
    assert!(of("head and pages") < of("pages of 1,000") / 4);
    assert!(of("edges") < 200);
}

#[tokio::test]
async fn the_plain_array_reaches_the_limit_a_dozen_items_after_it_was_laid_out() {
    let engine = Arc::new(Embedded::in_memory().unwrap());
    let lap = wall(&engine, Size::Activity).await.unwrap();
    let wall = lap.wall.unwrap();
    assert_eq!(wall.code, 17_419);
    assert!((80_000..82_000).contains(&wall.items), "{wall:?}");
    assert!((10..15).contains(&(wall.items - lap.items)), "{wall:?}");
    assert!(lap.largest_document <= 16 * 1024 * 1024);
    assert_eq!(lap.append.times as u64, wall.items - lap.items);
}

#[tokio::test]
async fn a_race_ends_with_a_lap_of_every_layout_at_every_length() {
    let races = Races::default();
    assert_eq!(races.shown().progress, Progress::Idle);
    let race = races
        .start(Course::new(1_000, 62).unwrap(), somebody())
        .unwrap_or_else(|_| panic!());
    assert_eq!(races.shown().progress, Progress::Running);
    race.await.unwrap();
    let LayoutRace {
        progress,
        by,
        done,
        total,
        layouts,
        ..
    } = races.shown();
    assert_eq!(
        (progress, by, done),
        (Progress::Finished, Some(somebody()), total)
    );
    for layout in layouts {
        let lengths: Vec<u64> = layout.laps.iter().map(|lap| lap.items).collect();
        assert_eq!(lengths, [100, 1_000], "{}", layout.name);
    }
}

#[tokio::test]
async fn there_is_one_race_at_a_time_and_a_stopped_one_keeps_what_it_has() {
    let races = Races::default();
    let course = Course::new(1_000, 62).unwrap();
    let race = races.start(course, somebody()).unwrap_or_else(|_| panic!());
    let other = races.start(course, somebody()).err().unwrap();
    assert_eq!(other.progress, Progress::Running);
    let watch = async {
        while races.shown().layouts[0].laps.is_empty() {
            tokio::task::yield_now().await;
        }
        races.stop().await;
    };
    let (done, ()) = tokio::join!(race, watch);
    done.unwrap();
    let stopped = races.shown();
    assert_eq!(stopped.progress, Progress::Stopped);
    assert!(stopped.done < stopped.total);
    assert_eq!(stopped.layouts[0].laps.len(), 1);
    assert!(races.start(course, somebody()).is_ok());
}

#[test]
fn only_the_lengths_and_sizes_there_are_can_be_raced() {
    for (largest, bytes, field) in [(500, 62, "largest"), (100, 63, "itemBytes")] {
        let problem = Course::new(largest, bytes).unwrap_err();
        assert_eq!(problem.field.as_deref(), Some(field));
    }
    let both = Course::new(1, 1).unwrap_err();
    assert!(both.about_field("largest").is_some() && both.about_field("itemBytes").is_some());
}
