//! Feed pages beside those of other servers, asked in turns.

use std::net::{SocketAddr, ToSocketAddrs};
use std::str::FromStr;

use hyper::Uri;
use hyper::http::uri::PathAndQuery;
use serde::Serialize;

use super::Workload;
use super::client::{Connection, Question};
use super::pace::capacity;
use super::process::Spillway;
use crate::Result;
use crate::machine::median;

/// How often each page is measured, in turns.
const ROUNDS: usize = 3;

/// A page of another server, which is running already.
#[derive(Debug, Clone)]
pub struct Peer {
    /// As it was given.
    pub url: String,
    address: SocketAddr,
    path: String,
}

impl FromStr for Peer {
    type Err = String;

    fn from_str(url: &str) -> std::result::Result<Self, String> {
        let malformed = || format!("{url} is no address like http://127.0.0.1:4101/");
        let parsed: Uri = url.parse().map_err(|_| malformed())?;
        let host = parsed.host().filter(|_| parsed.scheme_str() == Some("http"));
        let at = (host.ok_or_else(malformed)?, parsed.port_u16().unwrap_or(80));
        let mut addresses = at.to_socket_addrs().map_err(|error| format!("{url}: {error}"))?;
        Ok(Self {
            url: url.to_owned(),
            address: addresses.next().ok_or_else(malformed)?,
            path: parsed
                .path_and_query()
                .map_or("/", PathAndQuery::as_str)
                .to_owned(),
        })
    }
}

/// The capacities.
#[derive(Serialize)]
pub struct Pages {
    pub ours: Vec<Page>,
    /// Uncompressed.
    pub peers: Vec<Page>,
}

/// A page and its capacity.
#[derive(Serialize)]
pub struct Page {
    pub name: String,
    /// Answers per second, the median of the rounds.
    pub per_second: f64,
    /// The body, in bytes.
    pub bytes: usize,
}

/// Measures our pages, for a visitor and for the reader with this cookie, and those of the peers.
pub async fn measure(spillway: &Spillway, cookie: &str, peers: &[Peer], workload: Workload) -> Result<Pages> {
    let own = spillway.process.address;
    let ours = [
        ("`/explore`, a visitor's", Question::get("/explore", "").plain()),
        (
            "`/explore`, compressed as Chrome asks",
            Question::get("/explore", ""),
        ),
        (
            "`/explore`, rendered each time",
            Question::get("/explore", cookie).plain(),
        ),
        ("`/`, signed in", Question::get("/", cookie).plain()),
        (
            "`/`, signed in, compressed as Chrome asks",
            Question::get("/", cookie),
        ),
    ];
    let of_ours = ours.map(|(name, question)| (name.to_owned(), own, question));
    let of_peers = peers.iter().map(|peer| {
        (
            peer.url.clone(),
            peer.address,
            Question::get(&*peer.path, "").plain(),
        )
    });
    let all: Vec<_> = of_ours.into_iter().chain(of_peers).collect();
    let mut rates = vec![Vec::new(); all.len()];
    for _ in 0..ROUNDS {
        for ((_, address, question), rates) in all.iter().zip(&mut rates) {
            rates.push(capacity(*address, question, workload.capacity).await?);
        }
    }
    let mut pages = Vec::new();
    for ((name, address, question), rates) in all.into_iter().zip(rates) {
        let body = Connection::open(address).await?.ask(&question).await?.body;
        pages.push(Page {
            name,
            per_second: median(rates),
            bytes: body.len(),
        });
    }
    let peers = pages.split_off(pages.len() - peers.len());
    Ok(Pages { ours: pages, peers })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_an_address_of_http() {
        let peer: Peer = "http://127.0.0.1:4101/feed".parse().unwrap();
        assert_eq!((peer.address.port(), peer.path.as_str()), (4101, "/feed"));
        for wrong in ["127.0.0.1:4101", "https://127.0.0.1:4101", "http://", "peer"] {
            assert!(wrong.parse::<Peer>().is_err(), "{wrong}");
        }
    }
}
