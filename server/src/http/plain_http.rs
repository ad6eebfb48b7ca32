use axum::extract::{Request, State};
use axum::http::header::ORIGIN;
use axum::middleware::Next;
use axum::response::Response;
use web::{ErrorResponse, is_loopback, is_sent_to_this_machine};

use super::refusals::for_a_person;
use crate::error::CliError;

/// Who may sign in and write, depending on how their browser reaches this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Everybody: browsers come by https, or all of them are in one room and trust it.
    Everybody,
    /// Browsers on this machine only: plain HTTP can be read on the way.
    ThisMachine,
}

impl Reach {
    /// The rule that follows from the public address and the classroom switch. A public address without https is
    /// refused: no setting should allow that as a side effect.
    pub fn of(public_url: Option<&str>, classroom: bool) -> Result<Self, CliError> {
        match public_url {
            _ if classroom => Ok(Self::Everybody),
            Some(url) if url.starts_with("https://") => Ok(Self::Everybody),
            Some(url) if !url.strip_prefix("http://").is_some_and(is_loopback) => Err(CliError::usage(
                format!("At SPILLWAY_PUBLIC_URL={url}, passwords and sessions could be read on the network"),
                "Put a proxy with a certificate in front and name its https address. On a trusted network, \
                 SPILLWAY_CLASSROOM=on allows plain HTTP.",
            )),
            _ => Ok(Self::ThisMachine),
        }
    }
}

/// Middleware: refuses changes by a browser that came over plain HTTP from another machine, or from a foreign site whose
/// name was made to lead to this machine.
pub async fn refuse_plain_http(State(reach): State<Reach>, request: Request, next: Next) -> Response {
    if reach == Reach::ThisMachine && !request.method().is_safe() && !is_sent_to_this_machine(&request) {
        return ErrorResponse::plain_http().respond(for_a_person(&request));
    }
    next.run(request).await
}

/// Middleware: where browsers reach the site by https alone, refuses changes that a page over plain HTTP made a browser
/// send, also a page with the name of this host: somebody on the way may have written it. Browsers with `Sec-Fetch-Site`
/// know that this is another site.
pub async fn refuse_plain_origins(State(https): State<bool>, request: Request, next: Next) -> Response {
    let headers = request.headers();
    let plain = headers
        .get(ORIGIN)
        .is_some_and(|origin| origin.as_bytes().starts_with(b"http://"));
    if https && plain && !request.method().is_safe() && !headers.contains_key("sec-fetch-site") {
        return ErrorResponse::forged().respond(for_a_person(&request));
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_several_names() {
        for host in [
            "localhost",
            "LOCALHOST:3000",
            "127.0.0.1:3000",
            "127.1.2.3",
            "[::1]:3000",
            "[::1]",
        ] {
            assert!(is_loopback(host), "{host}");
        }
        for host in [
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "192.168.1.5:3000",
            "0.0.0.0",
            "",
            "[2001:db8::1]:80",
        ] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn plain_http_elsewhere_has_to_be_asked_for() {
        let of = |url, classroom| Reach::of(url, classroom).ok();
        assert_eq!(of(None, false), Some(Reach::ThisMachine));
        assert_eq!(of(Some("http://127.0.0.1:8080"), false), Some(Reach::ThisMachine));
        assert_eq!(
            of(Some("https://feed.example.org"), false),
            Some(Reach::Everybody)
        );
        assert_eq!(of(Some("http://feed.example.org"), false), None);
        assert_eq!(of(Some("http://feed.example.org"), true), Some(Reach::Everybody));
        assert_eq!(of(None, true), Some(Reach::Everybody));
    }
}
