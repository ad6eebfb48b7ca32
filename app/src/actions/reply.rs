//! Answering an action. An island gets the result or the problem as JSON, with the problem's status. A plain form
//! is redirected: to the page that shows the result, or back to the form, with the problem in the address. Only while
//! the store is away it has no page to go to, and its answer is the bare status.

use axum::http::header::{ACCEPT, LOCATION, REFERER};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;
use model::{Kind, Problem};

use crate::refusal::{Refusal, Refused};

/// What an address says about the last form that was sent.
const SAID: [&str; 3] = ["__err=", "__path=", "done="];

/// A plain form, as far as its answer needs it.
pub struct Form {
    name: &'static str,
    kept: Vec<(String, String)>,
}

impl Form {
    /// The form of a server function.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            kept: Vec::new(),
        }
    }

    /// Shows what was typed into a field again, should the form be refused.
    #[must_use]
    pub fn keeping(mut self, field: &str, typed: &str) -> Self {
        self.kept.push((field.to_owned(), typed.to_owned()));
        self
    }

    /// Answers with the result, and sends a plain form on to the page that shows it.
    pub fn answer<T>(
        self,
        result: Result<T, Problem>,
        shown_at: impl FnOnce(&T) -> String,
    ) -> Result<T, Refused> {
        let Some(response) = use_context::<ResponseOptions>() else {
            return result.map_err(Refused);
        };
        match &result {
            Ok(done) if sent_as_form() => see_other(&response, &shown_at(done)),
            Ok(_) => {}
            // Nothing leads to a page while the store is away: what a browser shows then is the server's to say.
            Err(problem) if sent_as_form() && problem.kind != Kind::Unavailable => {
                let refusal = Refusal {
                    form: self.name.to_owned(),
                    problem: problem.clone(),
                    kept: self.kept,
                };
                let back = came_from().unwrap_or_else(|| "/".to_owned());
                let joint = if back.contains('?') { '&' } else { '?' };
                see_other(&response, &format!("{back}{joint}__err={}", refusal.encode()));
            }
            Err(problem) => set_status(&response, problem.kind.status()),
        }
        result.map_err(Refused)
    }
}

/// What has been done, where the page that comes next cannot show it: a word in its address, which [`Done::message`]
/// turns into a sentence. Nobody can put words of their own there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Done {
    /// A post is gone.
    PostDeleted,
    /// A comment is gone.
    CommentDeleted,
    /// Name and bio are saved.
    Described,
    /// There is a new password.
    PasswordChanged,
    /// The account is gone.
    Left,
}

impl Done {
    const ALL: [Self; 5] = [
        Self::PostDeleted,
        Self::CommentDeleted,
        Self::Described,
        Self::PasswordChanged,
        Self::Left,
    ];

    /// The page with the confirmation on it.
    pub fn at(self, page: &str) -> String {
        let joint = if page.contains('?') { '&' } else { '?' };
        format!("{page}{joint}done={}", self.word())
    }

    /// The confirmation that a word in an address stands for.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|done| done.word() == word)
    }

    /// The confirmation as people read it.
    pub const fn message(self) -> &'static str {
        match self {
            Self::PostDeleted => "Your post is deleted.",
            Self::CommentDeleted => "Your comment is deleted.",
            Self::Described => "Your profile is saved.",
            Self::PasswordChanged => "Your password is changed. Everywhere else you are signed out.",
            Self::Left => "Your account is deleted. Thank you for having been here.",
        }
    }

    const fn word(self) -> &'static str {
        match self {
            Self::PostDeleted => "post-deleted",
            Self::CommentDeleted => "comment-deleted",
            Self::Described => "profile-saved",
            Self::PasswordChanged => "password-changed",
            Self::Left => "account-deleted",
        }
    }
}

/// The path and query of the page that the form was on, without an earlier refusal or confirmation.
pub fn came_from() -> Option<String> {
    let referer = header(&REFERER)?;
    let (_, after_scheme) = referer.split_once("://")?;
    let path = after_scheme.find('/').map_or("/", |start| &after_scheme[start..]);
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let query: Vec<_> = query
        .split('&')
        .filter(|pair| !pair.is_empty() && !SAID.iter().any(|said| pair.starts_with(said)))
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

fn sent_as_form() -> bool {
    header(&ACCEPT).is_some_and(|accept| accept.contains("text/html"))
}

fn header(name: &HeaderName) -> Option<String> {
    Some(
        use_context::<Parts>()?
            .headers
            .get(name)?
            .to_str()
            .ok()?
            .to_owned(),
    )
}

fn see_other(response: &ResponseOptions, path: &str) {
    if let Ok(location) = HeaderValue::from_str(path) {
        response.insert_header(LOCATION, location);
        response.set_status(StatusCode::SEE_OTHER);
    }
}

fn set_status(response: &ResponseOptions, status: u16) {
    response.set_status(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
}

#[cfg(test)]
mod tests {
    use super::*;

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
