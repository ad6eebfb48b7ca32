//! Why not one document for each like? A population of posts, a few of them with very many likes, kept in heads and
//! pages, as one document for each like, and as both. Everything takes turns.

mod report;
mod ways;

use std::path::Path;
use std::sync::Arc;

use document::Engine;
use document::catalogue::Catalogue;
use embedded::Embedded;
use outlier::Limits;
use tempfile::TempDir;
use workshop::comparison::{Comparison, Measured, OPERATIONS, Stored};
use workshop::measure::CostMeter;

use self::report::publish;
use self::ways::{Edges, Like, PEOPLE, Pages, Post, Way, person};
use crate::Result;
use crate::lists::default_limits;

/// How many posts a screen has.
const SCREEN: u64 = 20;
/// How many of the newest likers a post on it names.
const NEWEST: i64 = 3;

/// The posts: the one of rank r has the most likes divided by r, which is Zipf's law.
struct Population {
    posts: u64,
    most: u64,
}

impl Population {
    fn likes_of(&self, rank: u64) -> u64 {
        self.most / rank
    }

    /// The post of this rank. Ranks are spread over time, so that every screen shows posts with few and many likes.
    fn ranked(&self, rank: u64) -> Post {
        Post(rank * 7_919 % self.posts)
    }

    /// The post that the n-th of some likes goes to: the more likes it has, the more it gets.
    fn liked_by(&self, turn: u64) -> Post {
        let mut rank = 1;
        let mut left = turn * 104_729 % self.total();
        while left >= self.likes_of(rank) {
            left -= self.likes_of(rank);
            rank += 1;
        }
        self.ranked(rank)
    }

    fn total(&self) -> u64 {
        (1..=self.posts).map(|rank| self.likes_of(rank)).sum()
    }
}

struct Runner {
    name: &'static str,
    store: Arc<Embedded>,
    way: Box<dyn Way>,
    meters: [CostMeter; OPERATIONS.len()],
    _folder: TempDir,
}

impl Runner {
    async fn begin(name: &'static str, limits: Option<Limits>, head: i64) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let store = Arc::new(Embedded::open(folder.path())?);
        let engine: Engine = store.clone();
        let way: Box<dyn Way> = match limits {
            Some(limits) => Box::new(Pages::open(engine, limits).await?),
            None => Box::new(Edges::open(engine, head).await?),
        };
        Ok(Self {
            name,
            store,
            way,
            meters: Default::default(),
            _folder: folder,
        })
    }

    async fn stored(&self) -> Result<Stored> {
        let mut stored = Stored::default();
        for collection in self.way.collections() {
            let size = self.store.collection_size(collection).await?;
            let sound = self.store.validate(collection).await?;
            stored.documents += size.documents;
            stored.bytes += size.bytes;
            stored.index_bytes += size.indexes.values().sum::<u64>();
            stored.entries += sound.indexes.values().map(|(keys, _)| keys).sum::<u64>();
        }
        Ok(stored)
    }
}

/// Loads the population in every way, and measures.
async fn measure(quick: bool) -> Result<Comparison> {
    let (population, times) = if quick {
        (
            Population {
                posts: 101,
                most: 500,
            },
            4,
        )
    } else {
        (
            Population {
                posts: 2_003,
                most: 25_000,
            },
            400,
        )
    };
    let small = Limits {
        threshold: 24,
        page_size: 20,
    };
    let mut runners = [
        Runner::begin("heads and pages", Some(default_limits()), 0).await?,
        Runner::begin("heads of 24", Some(small), 0).await?,
        Runner::begin("one document each", None, 0).await?,
        Runner::begin("head and documents", None, 20).await?,
    ];
    for runner in &mut runners {
        eprintln!("        loading: {}", runner.name);
        let mut number = 0;
        for rank in 1..=population.posts {
            let likes = population.likes_of(rank);
            let given = (number..number + likes).map(Like::of).collect();
            runner.way.load(&population.ranked(rank), given).await?;
            number += likes;
        }
    }
    let mut stored = Vec::new();
    for runner in &runners {
        stored.push(runner.stored().await?);
    }
    reads(&population, &mut runners, times).await?;
    writes(&population, &mut runners, times).await?;
    let ways = runners.into_iter().zip(stored).map(|(runner, stored)| Measured {
        name: runner.name.to_owned(),
        stored,
        costs: runner.meters.map(CostMeter::cost),
    });
    Ok(Comparison {
        posts: population.posts,
        likes: population.total(),
        most: population.most,
        ways: ways.collect(),
    })
}

async fn reads(population: &Population, runners: &mut [Runner], times: u64) -> Result<()> {
    let screens = population.posts - SCREEN;
    for turn in 0..times {
        let last = SCREEN + turn * 6_007 % screens;
        let posts: Vec<Post> = (last + 1 - SCREEN..=last).map(Post).collect();
        let reader = person(turn * 31 % PEOPLE);
        let mut answers = Vec::new();
        for runner in &mut *runners {
            let [screen, likers, .., recount, _] = &mut runner.meters;
            let (store, way) = (&*runner.store, &runner.way);
            let seen = screen.time(store, way.screen(Post(last).at())).await?;
            let found = likers.time(store, way.liked(&posts, &reader)).await?;
            let counted = if turn % 40 == 0 {
                recount.time(store, way.recount(&population.ranked(1))).await?
            } else {
                population.most
            };
            answers.push((seen, found, counted));
        }
        if answers.windows(2).any(|two| two[0] != two[1]) {
            return Err("the ways gave different answers while they were measured".into());
        }
    }
    Ok(())
}

async fn writes(population: &Population, runners: &mut [Runner], times: u64) -> Result<()> {
    let first = population.total();
    for turn in 0..times {
        // Of people who like nothing yet, so that each is added.
        let like = Like::of(first + turn).given_by(person(PEOPLE + turn));
        let post = population.liked_by(turn);
        for runner in &mut *runners {
            let [_, _, added, ..] = &mut runner.meters;
            added
                .time(&runner.store, runner.way.like(&post, like.clone()))
                .await?;
        }
    }
    let mut number = 0;
    for rank in 1..=population.posts.min(times) {
        // Somebody who liked it long ago, and is in a page if there is one.
        let (post, early) = (
            population.ranked(rank),
            Like::of(number + population.likes_of(rank) / 3),
        );
        number += population.likes_of(rank);
        for runner in &mut *runners {
            let [_, _, _, removed, ..] = &mut runner.meters;
            removed
                .time(&runner.store, runner.way.unlike(&post, &early.by))
                .await?;
        }
    }
    for rank in 90..100_u64 {
        for runner in &mut *runners {
            let [.., deleted] = &mut runner.meters;
            deleted
                .time(&runner.store, runner.way.delete(&population.ranked(rank)))
                .await?;
        }
    }
    Ok(())
}

/// Measures, and publishes the results in a folder.
pub async fn run(quick: bool, out: &Path) -> Result<()> {
    publish(&measure(quick).await?, out)
}
