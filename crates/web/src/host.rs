use std::net::IpAddr;

use axum::extract::Request;
use axum::http::header::HOST;
use axum::http::uri::Authority;

/// Whether a browser used an address of this machine itself.
///
/// `Host` holds the address that a browser used, and pages cannot choose it. The listening socket and the peer's
/// address prove nothing: within a container both belong to the container's network.
pub fn is_sent_to_this_machine(request: &Request) -> bool {
    let authority = request.uri().authority().map(Authority::as_str);
    let host = authority.or_else(|| request.headers().get(HOST)?.to_str().ok());
    host.is_some_and(is_loopback)
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
