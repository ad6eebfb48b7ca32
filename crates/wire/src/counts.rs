//! Counts of what clients asked for, as `serverStatus` shows them.

use std::sync::atomic::{AtomicU64, Ordering};

use bson::{Bson, Document, doc};

/// What clients asked for since the listener began.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    open: AtomicU64,
    requests: AtomicU64,
    bytes_in: AtomicU64,
    bytes_out: AtomicU64,
    inserts: AtomicU64,
    queries: AtomicU64,
    updates: AtomicU64,
    deletes: AtomicU64,
    get_mores: AtomicU64,
    commands: AtomicU64,
}

/// A connection that is open for as long as this lives.
#[derive(Debug)]
pub(crate) struct OpenConnection<'a>(&'a Counts);

impl Counts {
    /// Counts a connection until it ends.
    pub(crate) fn connected(&self) -> OpenConnection<'_> {
        add(&self.open, 1);
        OpenConnection(self)
    }

    /// Counts a request of this many bytes. Each document to insert and each statement of an update or delete counts,
    /// as in MongoDB.
    pub(crate) fn requested(&self, body: &Document, bytes: usize) {
        add(&self.requests, 1);
        add(&self.bytes_in, bytes);
        let entries = |field: &str| body.get_array(field).map_or(1, Vec::len);
        match body.keys().next().map_or("", String::as_str) {
            "insert" => add(&self.inserts, entries("documents")),
            "update" => add(&self.updates, entries("updates")),
            "delete" => add(&self.deletes, entries("deletes")),
            "find" => add(&self.queries, 1),
            "getMore" => add(&self.get_mores, 1),
            _ => add(&self.commands, 1),
        }
    }

    /// Counts the bytes of an answer.
    pub(crate) fn answered(&self, bytes: usize) {
        add(&self.bytes_out, bytes);
    }

    /// How many connections are open.
    pub(crate) fn open(&self) -> i32 {
        i32::try_from(self.open.load(Ordering::Relaxed)).unwrap_or(i32::MAX)
    }

    /// `serverStatus().network`
    pub(crate) fn network(&self) -> Document {
        doc! {
            "bytesIn": number(&self.bytes_in),
            "bytesOut": number(&self.bytes_out),
            "numRequests": number(&self.requests),
        }
    }

    /// `serverStatus().opcounters`
    pub(crate) fn operations(&self) -> Document {
        doc! {
            "insert": number(&self.inserts),
            "query": number(&self.queries),
            "update": number(&self.updates),
            "delete": number(&self.deletes),
            "getmore": number(&self.get_mores),
            "command": number(&self.commands),
        }
    }
}

impl Drop for OpenConnection<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}

fn add(counter: &AtomicU64, more: usize) {
    counter.fetch_add(more as u64, Ordering::Relaxed);
}

fn number(counter: &AtomicU64) -> Bson {
    i64::try_from(counter.load(Ordering::Relaxed))
        .unwrap_or(i64::MAX)
        .into()
}

/// `serverStatus().mem`, in megabytes: what Linux says of this process. Other systems are not asked.
pub(crate) fn memory() -> Document {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let megabytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        let kilobytes: i64 = line.trim_end_matches("kB").trim().parse().ok()?;
        i32::try_from(kilobytes / 1024).ok()
    };
    let mut memory = doc! { "bits": 64 };
    match (megabytes("VmRSS:"), megabytes("VmSize:")) {
        (Some(resident), Some(size)) => {
            memory.extend(doc! { "resident": resident, "virtual": size, "supported": true });
        }
        _ => _ = memory.insert("supported", false),
    }
    memory
}
