use std::fmt::Write as _;
use std::sync::Arc;

use axum::http::{HeaderMap, Uri};

use crate::host::{host, is_loopback};

/// The address at which others reach this site, if it is known.
#[derive(Debug, Clone, Default)]
pub struct PublicAddress(Option<Arc<str>>);

impl PublicAddress {
    /// The configured address: scheme and host, without a path.
    pub fn new(url: Option<&str>) -> Self {
        Self(url.map(Into::into))
    }

    /// The origin for the absolute addresses in the answer to a request: the configured one, or else the request's own
    /// if it was sent to this machine itself. Any other `Host` is what the client claims; caches and other readers must
    /// not get it.
    pub fn origin(&self, uri: &Uri, headers: &HeaderMap) -> Origin {
        let of_this_machine = || {
            let host = host(uri, headers).filter(|host| is_loopback(host))?;
            Some(format!("http://{host}").into())
        };
        Origin(self.0.clone().or_else(of_this_machine))
    }
}

/// The scheme and host of this site, if they are known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Origin(Option<Arc<str>>);

impl Origin {
    /// The absolute address of a path, in ASCII.
    pub fn absolute(&self, path: &str) -> Option<String> {
        let mut address = self.0.as_deref()?.to_owned();
        for character in path.chars() {
            if character.is_ascii() {
                address.push(character);
                continue;
            }
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                // Writing to a string cannot fail.
                write!(address, "%{byte:02X}").ok()?;
            }
        }
        Some(address)
    }
}

/// The address of a page that continues to `next` afterwards.
pub fn link_with(next: &str, path: &str) -> String {
    if next.is_empty() {
        return path.to_owned();
    }
    let encoded: String = next
        .bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' => {
                char::from(byte).to_string()
            }
            other => format!("%{other:02X}"),
        })
        .collect();
    format!("{path}?next={encoded}")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use axum::http::header::HOST;

    use super::*;

    fn address(configured: Option<&str>, host: &'static str, path: &str) -> Option<String> {
        let headers = HeaderMap::from_iter([(HOST, HeaderValue::from_static(host))]);
        let origin = PublicAddress::new(configured).origin(&Uri::from_static("/"), &headers);
        origin.absolute(path)
    }

    #[test]
    fn the_configured_address_counts_and_else_that_of_this_machine() {
        let public = Some("https://feed.example.org");
        let at = |configured, host| address(configured, host, "/@ada");
        assert_eq!(
            [
                at(public, "localhost:3000"),
                at(None, "localhost:3000"),
                at(None, "[::1]:80"),
                at(None, "evil.example")
            ],
            [
                Some("https://feed.example.org/@ada".to_owned()),
                Some("http://localhost:3000/@ada".to_owned()),
                Some("http://[::1]:80/@ada".to_owned()),
                None
            ]
        );
    }

    #[test]
    fn an_absolute_address_is_ascii() {
        let tag = address(None, "localhost", "/tags/水_été");
        assert_eq!(
            tag.as_deref(),
            Some("http://localhost/tags/%E6%B0%B4_%C3%A9t%C3%A9")
        );
    }

    #[test]
    fn the_return_address_survives_the_other_form() {
        assert_eq!(link_with("", "/signup"), "/signup");
        assert_eq!(
            link_with("/post/1?a=b#c", "/signup"),
            "/signup?next=/post/1%3Fa%3Db%23c"
        );
    }
}
