//! Two kinds of load: a closed loop, and an open loop with a fixed rate.

use std::iter;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chart::numbers::number;
use serde::Serialize;
use tokio::task::JoinSet;

use super::client::{Connection, Question};
use crate::Result;

/// The number of connections of the closed loop.
const ASKING: usize = 16;

/// The latencies of answers, in microseconds, up to their last byte.
#[derive(Debug, Serialize)]
pub struct Latency {
    pub answers: usize,
    pub p50_us: f64,
    pub p99_us: f64,
    pub p999_us: f64,
    pub max_us: f64,
}

impl Latency {
    pub fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        let at = |thousandth: usize| {
            let nth = (times.len() * thousandth / 1_000).min(times.len().saturating_sub(1));
            times.get(nth).map_or(0.0, |time| time.as_secs_f64() * 1e6)
        };
        Self {
            answers: times.len(),
            p50_us: at(500),
            p99_us: at(990),
            p999_us: at(999),
            max_us: at(1_000),
        }
    }
}

/// Answers per second when each client asks again as soon as it has its answer: a closed loop.
pub async fn capacity(address: SocketAddr, question: &Question, length: Duration) -> Result<f64> {
    let began = Instant::now();
    let mut asking = JoinSet::new();
    for _ in 0..ASKING {
        let question = question.clone();
        asking.spawn(async move {
            let mut connection = Connection::open(address).await?;
            let mut answers = 0_u64;
            while began.elapsed() < length {
                connection.ask(&question).await?;
                answers += 1;
            }
            Result::Ok(answers)
        });
    }
    let mut answers = 0;
    while let Some(ended) = asking.join_next().await {
        answers += ended??;
    }
    Ok(number(answers) / began.elapsed().as_secs_f64())
}

/// Asks at a fixed rate per second, however long answers take: an open loop. A latency is measured from the time
/// at which the request was due, so that a stall also counts for the requests that were due meanwhile.
pub async fn at_rate(
    address: SocketAddr,
    questions: impl Fn(u64) -> Question,
    per_second: f64,
    length: Duration,
) -> Result<Latency> {
    let idle = Arc::new(Mutex::new(Vec::new()));
    let began = Instant::now();
    let mut due = Duration::ZERO;
    let mut asked = JoinSet::new();
    let mut times = Vec::new();
    for nth in 0_u64.. {
        due = due.max(Duration::from_secs_f64(number(nth) / per_second));
        if due >= length {
            break;
        }
        tokio::time::sleep_until((began + due).into()).await;
        let (question, idle) = (questions(nth), Arc::clone(&idle));
        asked.spawn(async move {
            let kept = iter::from_fn(|| lock(&idle).pop()).find(Connection::is_open);
            let mut connection = match kept {
                Some(connection) => connection,
                None => Connection::open(address).await?,
            };
            connection.ask(&question).await?;
            let took = (began + due).elapsed();
            lock(&idle).push(connection);
            Result::Ok(took)
        });
        while let Some(ended) = asked.try_join_next() {
            times.push(ended??);
        }
    }
    while let Some(ended) = asked.join_next().await {
        times.push(ended??);
    }
    Ok(Latency::of(times))
}

fn lock<T>(shared: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::routing::get;

    use super::*;

    async fn a_server_that_takes(delay: Duration) -> SocketAddr {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let slow = move || async move {
            tokio::time::sleep(delay).await;
            "there"
        };
        tokio::spawn(async move { axum::serve(listener, Router::new().route("/", get(slow))).await });
        address
    }

    #[tokio::test]
    async fn an_open_loop_asks_as_often_as_it_was_told_however_long_answers_take() {
        let slow = a_server_that_takes(Duration::from_millis(200)).await;
        let page = Question::get("/", "");
        let latency = at_rate(slow, |_| page.clone(), 100.0, Duration::from_millis(500))
            .await
            .unwrap();
        assert_eq!(latency.answers, 50);
        assert!(latency.p50_us >= 200_000.0, "{latency:?}");
    }

    #[tokio::test]
    async fn a_refusal_stops_the_measurement() {
        let server = a_server_that_takes(Duration::ZERO).await;
        let nowhere = Question::get("/nowhere", "");
        let refused = capacity(server, &nowhere, Duration::from_mins(1)).await;
        assert!(refused.unwrap_err().to_string().contains("404"));
    }

    #[test]
    fn percentiles_are_the_values_that_so_many_are_below() {
        let latency = Latency::of((1..=1_000).rev().map(Duration::from_micros).collect());
        let whole = [latency.p50_us, latency.p99_us, latency.p999_us, latency.max_us];
        let whole = whole.map(|microseconds| format!("{microseconds:.0}"));
        assert_eq!(whole, ["501", "991", "1000", "1000"]);
    }
}
