//! The home page of a signed-in reader: the capacity per second, where the time goes, and the latency at half of
//! the capacity.

use hyper::Method;
use serde::Serialize;

use super::Workload;
use super::client::{Connection, Question};
use super::pace::{Latency, at_rate, capacity};
use super::process::{Process, Spillway};
use crate::Result;
use crate::machine::median;

/// How many authors the reader follows.
const FOLLOWED: usize = 30;
/// How often each capacity is measured, in turns.
const ROUNDS: usize = 3;

/// The cost of the home page.
#[derive(Serialize)]
pub struct Home {
    /// How many authors the reader follows.
    pub follows: usize,
    /// From the least that a server can do to the whole page, each with one step more.
    pub steps: Vec<Step>,
    /// The requested pages per second, at half of the capacity.
    pub rate: f64,
    /// Their latencies.
    pub latency: Latency,
}

/// One of the steps from bytes in memory to the page that a browser gets.
#[derive(Serialize)]
pub struct Step {
    pub name: &'static str,
    /// Answers per second, the median of the rounds.
    pub per_second: f64,
    /// The server's processor time per answer, the median of the rounds, in microseconds.
    pub processor_us: f64,
    /// The body, in bytes.
    pub bytes: usize,
}

/// The cookie of a new person who follows some of the town, and how many.
pub async fn reader(spillway: &Spillway) -> Result<(String, usize)> {
    let cookie = spillway.sign_up("bench_reader").await?;
    let follows = follow_some(spillway, &cookie).await?;
    Ok((cookie, follows))
}

/// Measures the home page of a reader.
pub async fn measure(
    spillway: &Spillway,
    (cookie, follows): (&str, usize),
    workload: Workload,
) -> Result<Home> {
    let page = Question::get("/", cookie);
    let answer = spillway.connect().await?.ask(&page).await?.body;
    let file = tempfile::NamedTempFile::new()?;
    std::fs::write(file.path(), &answer)?;
    let memory = Process::from_memory(file.path())?;

    let ours = &spillway.process;
    let ways = [
        ("the same bytes from memory", &memory, page.clone()),
        (
            "what every answer passes (`/healthz`)",
            ours,
            Question::get("/healthz", ""),
        ),
        (
            "session, store and JSON (`/api/v1/feed`)",
            ours,
            Question::get("/api/v1/feed", cookie).plain(),
        ),
        ("the page, rendered", ours, page.clone().plain()),
        ("the page, rendered and compressed", ours, page.clone()),
    ];
    let mut rates = ways.each_ref().map(|_| Vec::new());
    let mut times = ways.each_ref().map(|_| Vec::new());
    for _ in 0..ROUNDS {
        for (nth, (_, process, question)) in ways.iter().enumerate() {
            let before = process.processor_time()?;
            let rate = capacity(process.address, question, workload.capacity).await?;
            let spent = process.processor_time()? - before;
            rates[nth].push(rate);
            times[nth].push(spent * 1e6 / (rate * workload.capacity.as_secs_f64()));
        }
    }
    let mut steps = Vec::new();
    for (((name, process, question), rates), times) in ways.iter().zip(rates).zip(times) {
        let mut connection = Connection::open(process.address).await?;
        steps.push(Step {
            name,
            per_second: median(rates),
            processor_us: median(times),
            bytes: connection.ask(question).await?.body.len(),
        });
    }
    let rate = steps.last().map_or(0.0, |whole| whole.per_second) / 2.0;
    let latency = at_rate(ours.address, |_| page.clone(), rate, workload.load).await?;
    Ok(Home {
        follows,
        steps,
        rate,
        latency,
    })
}

/// Follows the authors of the best liked posts, the celebrity among them.
async fn follow_some(spillway: &Spillway, cookie: &str) -> Result<usize> {
    let explore = spillway.json("/api/v1/explore?limit=100").await?;
    let mut authors: Vec<&str> = explore["items"]
        .as_array()
        .ok_or("explore has no items")?
        .iter()
        .filter_map(|post| post["author"]["handle"].as_str())
        .collect();
    authors.sort_unstable();
    authors.dedup();
    authors.truncate(FOLLOWED);
    let mut connection = spillway.connect().await?;
    for author in &authors {
        let path = format!("/api/v1/users/{author}/follow");
        connection
            .ask(&Question::change(Method::PUT, path, cookie, None))
            .await?;
    }
    Ok(authors.len())
}

impl Home {
    /// The page's capacity as a share of the capacity from memory.
    pub fn share_of_memory(&self) -> f64 {
        match (self.steps.first(), self.steps.last()) {
            (Some(memory), Some(page)) => page.per_second / memory.per_second,
            _ => 0.0,
        }
    }

    /// The ratio of the 99th percentile to the median.
    pub fn spread(&self) -> f64 {
        self.latency.p99_us / self.latency.p50_us
    }
}
