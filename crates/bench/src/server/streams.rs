//! Hundreds of people who look at one post while hundreds like it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use chart::numbers::number;
use http_body_util::BodyExt;
use hyper::Method;
use serde::Serialize;
use tokio::task::JoinSet;

use super::Extent;
use super::client::{Connection, Question};
use super::pace::{Latency, at_rate};
use super::process::Spillway;
use crate::Result;

/// How many pages a second are asked for meanwhile.
const PAGES: f64 = 20.0;

/// What happened while many looked and many liked.
#[derive(Serialize)]
pub struct Streams {
    /// How many event streams were open.
    pub open: usize,
    /// Likes and their withdrawals a second.
    pub rate: f64,
    /// How long these took.
    pub likes: Latency,
    /// Pages a second that were asked for meanwhile.
    pub pages_rate: f64,
    /// How long the post's page took.
    pub pages: Latency,
    /// Events that one stream got in a second.
    pub events: f64,
    /// What the server had in memory before the streams were opened, in kB.
    pub before_kb: u64,
    /// The same while they were open and the likes had just ended.
    pub after_kb: u64,
    /// The most that it ever had, in kB.
    pub peak_kb: u64,
}

/// Opens the streams on the town's best liked post, then lets everybody like it and take that back in turns.
pub async fn measure(spillway: &Spillway, extent: Extent) -> Result<Streams> {
    let address = spillway.process.address;
    let explore = spillway.json("/api/v1/explore?limit=1").await?;
    let post = explore["items"][0]["id"]
        .as_str()
        .ok_or("explore shows no post")?
        .to_owned();
    let mut people = Vec::new();
    for nth in 0..extent.likers {
        people.push(spillway.sign_up(&format!("bench_liker_{nth}")).await?);
    }

    let before_kb = spillway.process.memory("VmRSS")?;
    let events = Arc::new(AtomicU64::new(0));
    let mut watching = JoinSet::new();
    for _ in 0..extent.streams {
        let connection = Connection::open(address).await?;
        watch(connection, &post, &events, &mut watching).await?;
    }
    events.store(0, Ordering::Relaxed);

    let rate = number(extent.likers as u64);
    let likes = at_rate(address, |nth| like(&people, nth, &post), rate, extent.likes);
    let page = Question::get(format!("/post/{post}"), "");
    let pages = at_rate(address, |_| page.clone(), PAGES, extent.likes);
    let (likes, pages) = tokio::try_join!(likes, pages)?;
    let seen = number(events.load(Ordering::Relaxed));
    if watching.try_join_next().is_some() {
        return Err("an event stream ended while it was looked at".into());
    }
    Ok(Streams {
        open: extent.streams,
        rate,
        likes,
        pages_rate: PAGES,
        pages,
        events: seen / number(extent.streams as u64) / extent.likes.as_secs_f64(),
        before_kb,
        after_kb: spillway.process.memory("VmRSS")?,
        peak_kb: spillway.process.memory("VmHWM")?,
    })
}

/// Everybody likes in their turn; in the next turn everybody takes it back.
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

/// Opens an event stream and counts what comes.
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
