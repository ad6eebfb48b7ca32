//! Cookies that scripts and other sites cannot reach.

use axum::http::header::COOKIE;
use axum::http::{HeaderMap, HeaderValue};

/// The values of the cookies with this name that a browser sent, in its order.
pub fn sent<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    let lines = headers.get_all(COOKIE).iter();
    lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .filter(move |(named, _)| *named == name)
        .map(|(_, value)| value)
}

/// The `Set-Cookie` value for the whole site, kept for `max_age` seconds; `None` when it cannot be a header.
pub fn set(name: &str, value: &str, max_age: u32, secure: bool) -> Option<HeaderValue> {
    let secure = if secure { "; Secure" } else { "" };
    let cookie = format!("{name}={value}; Path=/; Max-Age={max_age}; HttpOnly; SameSite=Lax{secure}");
    HeaderValue::try_from(cookie).ok()
}
