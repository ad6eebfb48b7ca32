use std::net::IpAddr;

use axum::extract::Request;
use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Uri};

/// Whether a browser used an address of this machine itself.
///
/// `Host` holds the address that a browser used, and pages cannot choose it. The listening socket and the peer's
/// address prove nothing: within a container both belong to the container's network.
pub fn is_sent_to_this_machine(request: &Request) -> bool {
    host(request.uri(), request.headers()).is_some_and(is_loopback)
}

/// The host, with its port if there is one, that a request was sent to.
pub fn host<'a>(uri: &'a Uri, headers: &'a HeaderMap) -> Option<&'a str> {
    let authority = uri.authority().map(Authority::as_str);
    authority.or_else(|| headers.get(HOST)?.to_str().ok())
}

/// Whether a host, with or without a port, is this machine under a name that leads nowhere else.
pub fn is_loopback(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let address = name.trim_start_matches('[').trim_end_matches(']');
    let named = name.eq_ignore_ascii_case("localhost");
    named
        || address
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}
