//! Hundreds of people who watch one post while hundreds like it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chart::numbers::number;
use http_body_util::BodyExt;
use hyper::Method;
use serde::Serialize;
use tokio::task::JoinSet;

use super::Workload;
use super::client::{Connection, Question};
use super::pace::{Latency, at_rate};
use super::process::Spillway;
use crate::Result;

/// The requested pages per second meanwhile.
const PAGES: f64 = 20.0;

/// The results while many watched and many liked.
#[derive(Serialize)]
pub struct Streams {
    /// How many event streams were open.
    pub open: usize,
    /// Likes and removals per second.
    pub rate: f64,
    /// Their latencies.
    pub likes: Latency,
    /// The requested pages per second meanwhile.
    pub pages_rate: f64,
    /// The latencies of the post's page.
    pub pages: Latency,
    /// Events per second on one stream.
    pub events: f64,
    /// The memory of the server before the streams were opened, in kB.
    pub before_kb: u64,
    /// The same while they were open and the likes had just ended.
    pub after_kb: u64,
    /// The peak memory, in kB.
    pub peak_kb: u64,
}

/// Opens the streams on the town's most liked post, then makes everybody like it and remove the like in turns.
pub async fn measure(spillway: &Spillway, workload: Workload) -> Result<Streams> {
    let address = spillway.process.address;
    let explore = spillway.json("/api/v1/explore?limit=1").await?;
    let post = explore["items"][0]["id"]
        .as_str()
        .ok_or("explore shows no post")?
        .to_owned();
    let mut people = Vec::new();
    for nth in 0..workload.likers {
        people.push(spillway.sign_up(&format!("bench_liker_{nth}")).await?);
    }

    let before_kb = spillway.process.memory("VmRSS")?;
    let events = Arc::new(AtomicU64::new(0));
    let mut watching = JoinSet::new();
    for _ in 0..workload.streams {
        let connection = Connection::open(address).await?;
        watch(connection, &post, &events, &mut watching).await?;
    }
    events.store(0, Ordering::Relaxed);

    let rate = number(workload.likers as u64);
    let likes = at_rate(address, |nth| like(&people, nth, &post), rate, workload.likes);
    let page = Question::get(format!("/post/{post}"), "");
    let pages = at_rate(address, |_| page.clone(), PAGES, workload.likes);
    let (likes, pages) = tokio::try_join!(likes, pages)?;
    let seen = number(events.load(Ordering::Relaxed));
    if watching.try_join_next().is_some() {
        return Err("an event stream ended while it was looked at".into());
    }
    Ok(Streams {
        open: workload.streams,
        rate,
        likes,
        pages_rate: PAGES,
        pages,
        events: seen / number(workload.streams as u64) / workload.likes.as_secs_f64(),
        before_kb,
        after_kb: spillway.process.memory("VmRSS")?,
        peak_kb: spillway.process.memory("VmHWM")?,
    })
}

/// In one round everybody likes; in the next everybody removes the like.
fn like(people: &[String], nth: u64, post: &str) -> Question {
    let many = people.len() as u64;
    let method = if (nth / many).is_multiple_of(2) {
        Method::PUT
    } else {
        Method::DELETE
    };
    let liker = usize::try_from(nth % many).unwrap_or_default();
    Question::change(method, format!("/api/v1/posts/{post}/like"), &people[liker], None)
}

/// Opens an event stream and counts its events.
async fn watch(
    mut connection: Connection,
    post: &str,
    events: &Arc<AtomicU64>,
    watching: &mut JoinSet<Result<()>>,
) -> Result<()> {
    let question = Question::get(format!("/api/v1/events?topic=post:{post}"), "");
    let mut stream = connection.send(&question).await?.into_body();
    let events = Arc::clone(events);
    watching.spawn(async move {
        // The connection is kept as long as its stream.
        let _connection = connection;
        while let Some(frame) = stream.frame().await {
            if let Some(bytes) = frame?.data_ref() {
                let begun = bytes.windows(6).filter(|window| window == b"event:").count();
                events.fetch_add(begun as u64, Ordering::Relaxed);
            }
        }
        Ok(())
    });
    Ok(())
}
