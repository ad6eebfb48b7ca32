use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::extract::{ConnectInfo, Request, State};
use axum::http::HeaderMap;
use axum::middleware::Next;
use axum::response::Response;
use web::Peer;

use crate::error::CliError;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// Middleware: leaves the [`Peer`] behind this many proxies in the request's extensions.
pub async fn identify(State(proxies): State<usize>, mut request: Request, next: Next) -> Response {
    let peer = Peer(sender(&request, proxies));
    request.extensions_mut().insert(peer);
    next.run(request).await
}

/// The sender of this request, as far as limits distinguish people.
///
/// That is the address that opened the connection, or, behind `proxies` proxies of ours, the address that the
/// outermost of them saw. Each proxy appends the address that it saw to `X-Forwarded-For`, so the entry is counted
/// from the right: entries to the left of it were written by the client and may be anything. For a request that
/// passed fewer proxies, the connection's address counts.
///
/// A person with one IPv6 address has at least a network of 64 bits, so these count as one.
pub fn sender(request: &Request, proxies: usize) -> IpAddr {
    let connection = request
        .extensions()
        .get::<ConnectInfo<SocketAddr>>()
        .map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |ConnectInfo(peer)| peer.ip());
    network(forwarded(request.headers(), proxies).unwrap_or(connection))
}

/// Refuses a site at an https address that counts no proxy. This process speaks plain HTTP, so something in front ends
/// TLS; all visitors would be that one peer, and a few wrong passwords would lock everybody out.
pub fn require_proxies(public_url: Option<&str>, proxies: usize) -> Result<(), CliError> {
    match public_url {
        Some(url) if proxies == 0 && url.starts_with("https://") => Err(CliError::usage(
            format!(
                "At SPILLWAY_PUBLIC_URL={url} there is a proxy, and without SPILLWAY_PROXIES all its visitors share one \
                 limit"
            ),
            "Set SPILLWAY_PROXIES=1, or the number of proxies that append to X-Forwarded-For. \
             SPILLWAY_RATE_LIMIT=off turns the limits off.",
        )),
        _ => Ok(()),
    }
}

fn forwarded(headers: &HeaderMap, proxies: usize) -> Option<IpAddr> {
    let place = proxies.checked_sub(1)?;
    let lines: Vec<&str> = headers
        .get_all(FORWARDED_FOR)
        .iter()
        .map(|line| line.to_str().unwrap_or_default())
        .collect();
    let address = lines
        .iter()
        .rev()
        .flat_map(|line| line.rsplit(','))
        .nth(place)?
        .trim();
    let with_port = || address.parse::<SocketAddr>().map(|address| address.ip());
    address.parse().or_else(|_| with_port()).ok()
}

/// What counts as one peer: of IPv6, the network, because each machine has many addresses in it.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    fn peer(lines: &[&str], proxies: usize) -> String {
        let connection = ConnectInfo(SocketAddr::from(([10, 0, 0, 9], 5000)));
        let request = Request::builder().extension(connection);
        let request = lines
            .iter()
            .fold(request, |request, line| request.header(FORWARDED_FOR, *line));
        sender(&request.body(Body::empty()).unwrap(), proxies).to_string()
    }

    #[test]
    fn without_a_proxy_nobody_can_say_who_they_are() {
        assert_eq!(peer(&["1.2.3.4"], 0), "10.0.0.9");
    }

    #[test]
    fn only_what_the_own_proxies_wrote_is_believed() {
        assert_eq!(peer(&["6.6.6.6, 1.2.3.4"], 1), "1.2.3.4");
        assert_eq!(peer(&["6.6.6.6", "1.2.3.4"], 1), "1.2.3.4");
        assert_eq!(peer(&["6.6.6.6, 1.2.3.4, 10.0.0.2"], 2), "1.2.3.4");
        assert_eq!(peer(&["1.2.3.4:567"], 1), "1.2.3.4");
    }

    #[test]
    fn a_request_with_too_few_proxies_counts_as_the_connections() {
        for lines in [&[][..], &["1.2.3.4"], &["nonsense, 10.0.0.2"], &[""]] {
            assert_eq!(peer(lines, 2), "10.0.0.9", "{lines:?}");
        }
    }

    #[test]
    fn a_network_of_one_household_is_one_peer() {
        assert_eq!(peer(&["2001:db8:1:2:3:4:5:6"], 1), "2001:db8:1:2::");
        assert_eq!(peer(&["::ffff:1.2.3.4"], 1), "1.2.3.4");
    }
}
