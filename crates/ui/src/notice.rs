//! The message on the page after a plain form: why the form was refused, with what was typed, or what was done.
//!
//! It travels in a cookie, which its page deletes. An address would be open to anybody: a link could put words
//! into this site's own alert. The cookie is signed with a key that all servers over a store share, so another
//! program on the same host, whose cookies browsers send here too, cannot forge one either.

use std::io::{Read, Write};

use axum::extract::{Query, Request, State};
use axum::http::header::{LOCATION, SET_COOKIE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, Uri};
use axum::middleware::Next;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::{URL_SAFE, URL_SAFE_NO_PAD};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use hmac::{Hmac, KeyInit, Mac};
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use web::cookie;

use crate::refusal::{ActionError, RejectedForm};

/// How long a browser keeps it, in seconds: the next page is loaded at once.
const MAX_AGE: u32 = 60;

/// The longest value. Browsers keep cookies of 4,096 bytes, name included.
const LONGEST: usize = 3_900;

/// The parameters that the framework adds to the address of the form's page: the server function, and its error.
const PATH: &str = "__path";
const ERROR: &str = "__err";

/// The message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Notice {
    /// A form was refused.
    Refused(RejectedForm),
    /// An action succeeded, and the page does not show it otherwise.
    Done(Done),
    /// New recovery codes, which are shown once.
    RecoveryCodes(Vec<String>),
}

/// The action that succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Done {
    /// The text of a post was changed.
    PostEdited,
    /// A post was deleted.
    PostDeleted,
    /// The text of a comment was changed.
    CommentEdited,
    /// A comment was deleted.
    CommentDeleted,
    /// Name and bio are saved.
    Described,
    /// The password was changed.
    PasswordChanged,
    /// A new password was set with a link or a code for recovery.
    Recovered,
    /// A session was ended.
    SessionEnded,
    /// All other sessions were ended.
    OtherSessionsEnded,
    /// The account was deleted.
    Left,
    /// Of what a person is told was changed.
    NotificationsChosen,
    /// Notifications are marked as read.
    NotificationsRead,
    /// A post is hidden.
    PostHidden,
    /// A post is hidden no longer.
    PostShown,
    /// A person is muted.
    Muted,
    /// A person is muted no longer.
    Unmuted,
    /// A person is blocked.
    Blocked,
    /// A person is blocked no longer.
    Unblocked,
    /// A person, a post or a comment is reported.
    Reported,
}

impl Done {
    /// The confirmation as people read it.
    pub const fn message(self) -> &'static str {
        match self {
            Self::PostEdited => "Your post is changed.",
            Self::PostDeleted => "Your post is deleted.",
            Self::CommentEdited => "Your comment is changed.",
            Self::CommentDeleted => "Your comment is deleted.",
            Self::Described => "Your profile is saved.",
            Self::PasswordChanged => "Your password is changed. You are signed out on all other devices.",
            Self::Recovered => {
                "Your password is changed, and all your sessions have ended. Sign in with the new one."
            }
            Self::SessionEnded => "The session has ended.",
            Self::OtherSessionsEnded => "All other sessions have ended.",
            Self::Left => "Your account is deleted. Thank you for using Spillway.",
            Self::NotificationsChosen => "Saved. The notifications that you already have stay.",
            Self::NotificationsRead => "Your notifications are marked as read.",
            Self::PostHidden => "You no longer see this post in feeds.",
            Self::PostShown => "You see this post in feeds again.",
            Self::Muted => "You no longer see their posts. They are not told.",
            Self::Unmuted => "You see their posts again.",
            Self::Blocked => "Neither of you sees the other\u{2019}s posts from now on.",
            Self::Reported => "Thank you. The people who run this site will look at it.",
            Self::Unblocked => "You can see each other\u{2019}s posts again.",
        }
    }
}

/// A notice and the page that shows it.
#[derive(Serialize, Deserialize)]
struct Addressed {
    path: String,
    notice: Notice,
}

/// How this site writes and reads the cookie.
#[derive(Clone)]
pub struct Notices {
    key: [u8; 32],
    secure: bool,
}

impl Notices {
    /// Signs with this key, for a site that browsers reach over https (`secure`) or over plain HTTP.
    pub const fn new(key: [u8; 32], secure: bool) -> Self {
        Self { key, secure }
    }

    /// As for the session, the prefix keeps others from planting a cookie.
    const fn name(&self) -> &'static str {
        if self.secure {
            "__Host-spillway-notice"
        } else {
            "spillway-notice"
        }
    }

    /// The `Set-Cookie` value that makes the page at this address show the notice. Typed text is left out when it
    /// is too long.
    fn write(&self, page: &str, notice: Notice) -> Option<HeaderValue> {
        let path = page.split(['?', '#']).next().unwrap_or_default().to_owned();
        let mut addressed = Addressed { path, notice };
        let mut value = self.seal(&addressed)?;
        if value.len() > LONGEST
            && let Notice::Refused(refusal) = &mut addressed.notice
        {
            refusal.clear_typed_text();
            value = self.seal(&addressed)?;
        }
        (value.len() <= LONGEST).then(|| self.header(&value, MAX_AGE))?
    }

    fn clear(&self) -> Option<HeaderValue> {
        self.header("", 0)
    }

    fn header(&self, value: &str, max_age: u32) -> Option<HeaderValue> {
        cookie::set(self.name(), value, max_age, self.secure)
    }

    /// The notice for the page at this path.
    fn read(&self, headers: &HeaderMap, path: &str) -> Option<Notice> {
        let value = cookie::sent(headers, self.name()).next()?;
        let addressed = self.open(value)?;
        (addressed.path == path).then_some(addressed.notice)
    }

    fn seal(&self, addressed: &Addressed) -> Option<String> {
        let json = serde_json::to_vec(addressed).ok()?;
        let mut small = DeflateEncoder::new(Vec::new(), Compression::best());
        small.write_all(&json).ok()?;
        let said = URL_SAFE_NO_PAD.encode(small.finish().ok()?);
        let seal = self.signature(&said)?.finalize().into_bytes();
        Some(format!("{said}.{}", URL_SAFE_NO_PAD.encode(seal)))
    }

    /// A value without our signature is not unpacked.
    fn open(&self, value: &str) -> Option<Addressed> {
        let (said, seal) = value.split_once('.')?;
        let seal = URL_SAFE_NO_PAD.decode(seal).ok()?;
        self.signature(said)?.verify_slice(&seal).ok()?;
        let mut json = Vec::new();
        let packed = URL_SAFE_NO_PAD.decode(said).ok()?;
        DeflateDecoder::new(packed.as_slice())
            .read_to_end(&mut json)
            .ok()?;
        serde_json::from_slice(&json).ok()
    }

    fn signature(&self, said: &str) -> Option<Hmac<Sha256>> {
        let mut signature = Hmac::<Sha256>::new_from_slice(&self.key).ok()?;
        signature.update(said.as_bytes());
        Some(signature)
    }
}

/// Middleware around pages and server functions: gives a page its notice and deletes the cookie, lets forms leave
/// a notice, and turns the framework's error parameters into a notice.
pub async fn carry(State(notices): State<Notices>, mut request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let notice = opens_a_page(&request)
        .then(|| notices.read(request.headers(), path))
        .flatten();
    let cookie = notice.is_some().then(|| notices.clear()).flatten();
    request.extensions_mut().insert(notices.clone());
    if let Some(notice) = notice {
        request.extensions_mut().insert(notice);
    }
    let mut response = next.run(request).await;
    let cookie = cookie.or_else(|| notices.take_from_address(&mut response));
    if let Some(cookie) = cookie {
        response.headers_mut().append(SET_COOKIE, cookie);
    }
    response
}

/// Whether a person will see the answer. A script's background fetch must not consume a notice.
fn opens_a_page(request: &Request) -> bool {
    let mode = request.headers().get("sec-fetch-mode");
    request.method() == Method::GET && mode.is_none_or(|mode| mode == "navigate")
}

impl Notices {
    /// Removes the framework's error about a form whose fields do not fit from the address of the form's page, and
    /// returns the cookie that replaces it.
    fn take_from_address(&self, response: &mut Response) -> Option<HeaderValue> {
        let location = response.headers().get(LOCATION)?.to_str().ok()?;
        let uri: Uri = location.contains(ERROR).then(|| location.parse().ok())??;
        let page = own_page(location).unwrap_or_else(|| "/".to_owned());
        let clean = HeaderValue::from_str(&page).ok()?;
        response.headers_mut().insert(LOCATION, clean);
        // The framework appends its parameters: those before them came from the browser.
        let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(&uri).ok()?;
        let [.., (path, form), (error, said)] = pairs.as_slice() else {
            return None;
        };
        let json = (path == PATH && error == ERROR).then(|| URL_SAFE.decode(said).ok())??;
        let ActionError(problem) = serde_json::from_slice(&json).ok()?;
        let refusal = RejectedForm {
            form: form.rsplit('/').next()?.to_owned(),
            problem,
            kept: Vec::new(),
        };
        self.write(&page, Notice::Refused(refusal))
    }
}

/// Leaves a notice for the page at this address, which the answer of this server function leads to.
pub fn send_notice(response: &ResponseOptions, page: &str, notice: Notice) {
    let notices = use_context::<Parts>().and_then(|parts| parts.extensions.get::<Notices>().cloned());
    if let Some(cookie) = notices.and_then(|notices| notices.write(page, notice)) {
        response.append_header(SET_COOKIE, cookie);
    }
}

/// The notice of the page that is being rendered.
pub fn current() -> Option<Notice> {
    use_context::<Parts>()?.extensions.get::<Notice>().cloned()
}

/// The path and query of a page of this site from a complete address, without the framework's parameters.
pub fn own_page(address: &str) -> Option<String> {
    let (_, after_scheme) = address.split_once("://")?;
    let path = after_scheme.find('/').map_or("/", |start| &after_scheme[start..]);
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let query: Vec<_> = query
        .split('&')
        .filter(|pair| !pair.is_empty() && ![PATH, ERROR].iter().any(|said| pair.starts_with(said)))
        .collect();
    let back = if query.is_empty() {
        path.to_owned()
    } else {
        format!("{path}?{}", query.join("&"))
    };
    own_path(&back).map(str::to_owned)
}

/// The path, if it leads to a page of this site and nowhere else.
pub fn own_path(path: &str) -> Option<&str> {
    let rest = path.strip_prefix('/')?;
    let elsewhere = rest.starts_with(['/', '\\']) || path.chars().any(|c| c.is_control() || c == '\\');
    (!elsewhere).then_some(path)
}

#[cfg(test)]
mod tests {
    use axum::http::StatusCode;
    use axum::http::header::COOKIE;
    use model::Problem;

    use super::*;

    const NOTICES: Notices = Notices::new([7; 32], false);

    fn rejected_form(typed: &str) -> Notice {
        Notice::Refused(RejectedForm {
            form: "compose".to_owned(),
            problem: Problem::invalid("text", "A post has at most 500 characters."),
            kept: vec![("text".to_owned(), typed.to_owned())],
        })
    }

    fn sent_back(cookie: &HeaderValue) -> HeaderMap {
        let pair = cookie.to_str().unwrap().split(';').next().unwrap();
        HeaderMap::from_iter([(COOKIE, HeaderValue::from_str(&format!("a=b; {pair}")).unwrap())])
    }

    #[test]
    fn a_notice_survives_the_trip_and_is_for_its_page_alone() {
        let notice = rejected_form("<b>é</b> & so on; 日本");
        let cookie = NOTICES.write("/explore?cursor=x#post-1", notice.clone()).unwrap();
        let headers = sent_back(&cookie);
        assert_eq!(NOTICES.read(&headers, "/explore"), Some(notice));
        assert_eq!(NOTICES.read(&headers, "/"), None);
        assert_eq!(Notices::new([8; 32], false).read(&headers, "/explore"), None);
        assert_eq!(NOTICES.read(&HeaderMap::new(), "/explore"), None);
    }

    #[test]
    fn every_text_that_a_post_may_have_is_kept() {
        // Four bytes each, and all different.
        let text: String = (0..500)
            .filter_map(|n| char::from_u32(0x2_0000 + n * 83))
            .collect();
        let cookie = NOTICES.write("/", rejected_form(&text)).unwrap();
        assert_eq!(NOTICES.read(&sent_back(&cookie), "/"), Some(rejected_form(&text)));
    }

    #[test]
    fn parameters_before_the_framework_s_error_are_ignored() {
        let error = |message: &str| {
            URL_SAFE.encode(serde_json::to_vec(&ActionError(Problem::invalid("post", message))).unwrap())
        };
        let (evil, ours) = (error("Call me"), error("It was sent without “post”."));
        let location = format!(
            "http://localhost/a?b=c&__path=%2Fapi%2Fcompose&__err={evil}&__path=%2Fapi%2Fset_like&__err={ours}"
        );
        let mut response = Response::new(axum::body::Body::empty());
        *response.status_mut() = StatusCode::FOUND;
        response
            .headers_mut()
            .insert(LOCATION, HeaderValue::from_str(&location).unwrap());
        let cookie = NOTICES.take_from_address(&mut response).unwrap();
        assert_eq!(response.headers()[LOCATION], "/a?b=c");
        let Some(Notice::Refused(refusal)) = NOTICES.read(&sent_back(&cookie), "/a") else {
            panic!("{cookie:?}");
        };
        assert_eq!(refusal.form, "set_like");
        assert_eq!(refusal.problem.message, "It was sent without “post”.");
    }

    #[test]
    fn only_paths_of_this_site_are_followed() {
        assert_eq!(own_path("/post/1?cursor=x#here"), Some("/post/1?cursor=x#here"));
        for elsewhere in [
            "",
            "post",
            "//evil.example",
            "/\\evil.example",
            "https://evil.example",
            "/a\r\nb",
        ] {
            assert_eq!(own_path(elsewhere), None, "{elsewhere:?}");
        }
    }
}
