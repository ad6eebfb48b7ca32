//! Numbers for Prometheus, at `/metrics` on an address of their own.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use embedded::{BatchSizes, Embedded};
use feed::{Feed, SecurityEvent};
use model::Relation;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};
use store::overflow::Work;
use tokio::net::TcpListener;

/// The exposition format that `prometheus_client` writes.
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The upper bounds of the latency buckets, in seconds: from the time of an answer from memory to more than
/// anybody should wait.
const LATENCIES: [f64; 11] = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// How long requests took, by route, up to the first byte of the answer: an event stream continues after that.
#[derive(Clone)]
pub struct Latencies(Family<Request, Histogram, fn() -> Histogram>);

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Request {
    method: String,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct List {
    relation: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Event {
    event: &'static str,
}

impl Default for Latencies {
    fn default() -> Self {
        Self(Family::new_with_constructor(|| Histogram::new(LATENCIES)))
    }
}

impl Latencies {
    /// Counts an answer.
    pub fn observe(&self, method: &Method, route: String, status: StatusCode, took: Duration) {
        let request = Request {
            method: known(method).to_owned(),
            route,
            status: status.as_u16(),
        };
        self.0.get_or_create(&request).observe(took.as_secs_f64());
    }
}

/// A client may send any method name; a label for each would stay forever.
fn known(method: &Method) -> &str {
    let all = [
        Method::GET,
        Method::HEAD,
        Method::POST,
        Method::PUT,
        Method::PATCH,
        Method::DELETE,
        Method::OPTIONS,
    ];
    if all.contains(method) {
        method.as_str()
    } else {
        "other"
    }
}

/// Numbers that are counted elsewhere and read for each scrape.
struct FeedCollector {
    feed: Feed,
    embedded: Option<Embedded>,
}

impl fmt::Debug for FeedCollector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FeedCollector")
    }
}

impl Collector for FeedCollector {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let streams = i64::try_from(self.feed.live().open_streams()).unwrap_or(i64::MAX);
        let metric = encoder.encode_descriptor(
            "event_streams",
            "Event streams that are open",
            None,
            MetricType::Gauge,
        )?;
        ConstGauge::new(streams).encode(metric)?;
        self.encode_lists(&mut encoder)?;
        self.encode_security(&mut encoder)?;
        match &self.embedded {
            Some(engine) => encode_engine(&mut encoder, engine),
            None => Ok(()),
        }
    }
}

/// A counter: its name, its description, and how to read it.
type Counter = (&'static str, &'static str, fn(Work) -> u64);

const OF_LISTS: [Counter; 4] = [
    ("appends", "Items that were added to lists", |work| work.added),
    (
        "pushes",
        "Writes that added items, several at once where they came together",
        |work| work.pushes,
    ),
    ("spills", "Spills of a head's oldest chunk into a page", |work| {
        work.spills
    }),
    (
        "guard_retries",
        "Pushes and removals that were retried because the list had changed",
        |work| work.retries,
    ),
];

impl FeedCollector {
    fn encode_lists(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        for (name, help, count) in OF_LISTS {
            let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
            for relation in Relation::ALL {
                let count = count(self.feed.store().work(relation));
                ConstCounter::new(count).encode(metric.encode_family(&list(relation))?)?;
            }
        }
        Ok(())
    }

    fn encode_security(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Lines of the security log, by what happened";
        let mut metric = encoder.encode_descriptor("security_events", help, None, MetricType::Counter)?;
        for event in SecurityEvent::ALL {
            let label = Event {
                event: event.as_str(),
            };
            let count = self.feed.security().count(event);
            ConstCounter::new(count).encode(metric.encode_family(&label)?)?;
        }
        Ok(())
    }
}

fn list(relation: Relation) -> List {
    List {
        relation: relation.as_str(),
    }
}

fn encode_engine(encoder: &mut DescriptorEncoder<'_>, engine: &Embedded) -> fmt::Result {
    let work = engine.counters();
    for (name, help, count) in [
        (
            "store_operations",
            "Operations of the embedded store",
            work.operations,
        ),
        (
            "store_documents_read",
            "Documents that the embedded store read, whether they matched or not",
            work.documents_read,
        ),
        (
            "store_read_bytes",
            "Bytes of BSON that the embedded store read",
            work.bytes_read,
        ),
        (
            "store_documents_written",
            "Documents that the embedded store inserted, changed or removed",
            work.documents_written,
        ),
        (
            "store_written_bytes",
            "Bytes of BSON that the embedded store wrote",
            work.bytes_written,
        ),
    ] {
        let metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
        ConstCounter::new(count).encode(metric)?;
    }
    let batches = engine.batch_sizes();
    let help = "Operations that shared one durable commit of the embedded store";
    let mut metric =
        encoder.encode_descriptor("store_commit_operations", help, None, MetricType::Histogram)?;
    let commits: u64 = batches.commits.iter().sum();
    let buckets: Vec<(f64, u64)> = BatchSizes::BOUNDS
        .into_iter()
        .map(|bound| if bound == u64::MAX { f64::MAX } else { whole(bound) })
        .zip(batches.commits)
        .collect();
    metric.encode_histogram::<NoLabelSet>(whole(batches.operations), commits, &buckets, None)
}

#[expect(clippy::cast_precision_loss, reason = "a count that is far below 2^53")]
fn whole(count: u64) -> f64 {
    count as f64
}

/// `/metrics`.
pub fn router(feed: Feed, embedded: Option<Embedded>, latencies: Latencies) -> Router {
    let mut registry = Registry::with_prefix("spillway");
    registry.register_with_unit(
        "http_request_duration",
        "Time to the start of the answer, by route",
        Unit::Seconds,
        latencies.0,
    );
    registry.register_collector(Box::new(FeedCollector { feed, embedded }));
    Router::new()
        .route("/metrics", get(metrics))
        .with_state(Arc::new(registry))
}

async fn metrics(State(registry): State<Arc<Registry>>) -> Response {
    let mut text = String::new();
    match encode(&mut text, &registry) {
        Ok(()) => ([(CONTENT_TYPE, OPEN_METRICS)], text).into_response(),
        Err(error) => {
            tracing::error!(%error, "the metrics could not be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

/// Serves the metrics on an address of its own for as long as the process lives.
pub async fn serve(listener: TcpListener, router: Router) -> io::Result<()> {
    axum::serve(listener, router).await
}
