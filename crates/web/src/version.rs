use std::time::{Duration, SystemTime};

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use model::Timestamp;
use sha2::{Digest as _, Sha256};

/// The time for which caches may keep the answer.
const KEPT: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// What tells one version of a public answer from another, so that a reader who has it gets a 304.
pub struct Version {
    etag: HeaderValue,
    modified: Option<HeaderValue>,
}

impl Version {
    /// The version of an answer with this body.
    pub fn of(body: impl AsRef<[u8]>) -> Self {
        let digest = URL_SAFE_NO_PAD.encode(Sha256::digest(body));
        // Weak, since the answer may be compressed. Base64 in quotes is always a valid header.
        let etag = HeaderValue::try_from(format!("W/\"{digest}\""));
        Self {
            etag: etag.unwrap_or(HeaderValue::from_static("W/\"\"")),
            modified: None,
        }
    }

    /// The same with the time of the last change, for readers that do not send back an `ETag`. A time before 1970 is
    /// left out.
    #[must_use]
    pub fn modified(self, at: Timestamp) -> Self {
        let since = u64::try_from(at.millis()).ok().map(Duration::from_millis);
        let moment = since.and_then(|since| SystemTime::UNIX_EPOCH.checked_add(since));
        // The format has four digits for the year.
        let moment = moment.filter(|_| at.millis() < LAST);
        let date = moment.map(httpdate::fmt_http_date);
        Self {
            modified: date.and_then(|date| HeaderValue::try_from(date).ok()),
            ..self
        }
    }

    /// The answer to a request with these headers.
    pub fn answer(&self, request: &HeaderMap, kind: &'static str, body: impl Into<Body>) -> Response {
        let mut response = if self.is_known(request) {
            StatusCode::NOT_MODIFIED.into_response()
        } else {
            ([(CONTENT_TYPE, kind)], body.into()).into_response()
        };
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, KEPT);
        headers.insert(ETAG, self.etag.clone());
        if let Some(modified) = &self.modified {
            headers.insert(LAST_MODIFIED, modified.clone());
        }
        response
    }

    /// Whether the reader has this version. A date counts only without an `ETag`, and only if it is exactly the one that
    /// was sent: after a deletion, the last change may be earlier than before.
    fn is_known(&self, request: &HeaderMap) -> bool {
        if request.contains_key(IF_NONE_MATCH) {
            let known = request.get_all(IF_NONE_MATCH).iter();
            let known = known.filter_map(|value| value.to_str().ok());
            let mut known = known.flat_map(|value| value.split(',')).map(str::trim);
            return known.any(|known| known == "*" || known.as_bytes() == self.etag.as_bytes());
        }
        let since = request.get(IF_MODIFIED_SINCE);
        since.is_some() && since == self.modified.as_ref()
    }
}

/// The beginning of the year 10000, in milliseconds since 1970.
const LAST: i64 = 253_402_300_800_000;

#[cfg(test)]
mod tests {
    use axum::http::HeaderName;

    use super::*;

    fn status(version: &Version, headers: &[(HeaderName, &str)]) -> u16 {
        let headers = headers.iter().cloned();
        let headers = headers.map(|(name, value)| (name, HeaderValue::from_str(value).unwrap()));
        let answer = version.answer(&headers.collect(), "text/plain", "Hello");
        answer.status().as_u16()
    }

    #[test]
    fn a_reader_that_has_this_version_gets_a_304() {
        let version = Version::of("Hello").modified(Timestamp::from_millis(1_700_000_000_123));
        let etag = version.etag.to_str().unwrap().to_owned();
        let (match_, since) = (|| IF_NONE_MATCH, || IF_MODIFIED_SINCE);
        let sent = "Tue, 14 Nov 2023 22:13:20 GMT";
        assert_eq!(
            [
                status(&version, &[]),
                status(&version, &[(match_(), &etag)]),
                status(&version, &[(match_(), &format!("\"other\", {etag}"))]),
                status(&version, &[(match_(), "*")]),
                status(&version, &[(match_(), "\"other\""), (since(), sent)]),
                status(&version, &[(since(), sent)]),
                status(&version, &[(since(), "Wed, 15 Nov 2023 00:00:00 GMT")]),
                status(&Version::of("Hello"), &[(since(), sent)]),
            ],
            [200, 304, 304, 304, 200, 304, 200, 200]
        );
        assert_ne!(version.etag, Version::of("Hullo").etag);
    }

    #[test]
    fn a_date_that_no_header_can_say_is_left_out() {
        for millis in [i64::MIN, -1, LAST, i64::MAX] {
            let version = Version::of("").modified(Timestamp::from_millis(millis));
            assert_eq!(version.modified, None, "{millis}");
        }
    }
}
