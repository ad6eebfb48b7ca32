//! Answering an action. An island gets the result or the problem as JSON, with the problem's status. A plain form
//! is redirected: to the page that shows the result, or back to the form, with the problem as a notice. Only while
//! the store is unavailable is there no page to go to; the answer is then the bare status.

use axum::http::header::{ACCEPT, LOCATION, REFERER, RETRY_AFTER};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, StatusCode};
use feed::SecurityEvent;
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;
use model::{Kind, Problem};

use crate::notice::{self, Done, Notice, own_page};
use crate::refusal::{ActionError, RejectedForm};
use crate::request::feed;
use crate::session;

/// The parts of a plain form that its answer needs.
pub struct Form {
    name: &'static str,
    kept: Vec<(String, String)>,
    part: &'static str,
}

impl Form {
    /// The form of a server function.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            kept: Vec::new(),
            part: "",
        }
    }

    /// Shows what was typed into a field again if the form is refused.
    #[must_use]
    pub fn keeping(mut self, field: &str, typed: &str) -> Self {
        self.kept.push((field.to_owned(), typed.to_owned()));
        self
    }

    /// Leads to this part of a long page if the form is refused.
    #[must_use]
    pub fn within(mut self, part: &'static str) -> Self {
        self.part = part;
        self
    }

    /// Answers with the result, and redirects a plain form to the page that shows it.
    pub fn answer<T, N: Into<Next>>(
        self,
        result: Result<T, Problem>,
        shown_at: impl FnOnce(&T) -> N,
    ) -> Result<T, ActionError> {
        let Some(response) = use_context::<ResponseOptions>() else {
            return result.map_err(ActionError);
        };
        match &result {
            Ok(done) if sent_as_form() => {
                let Next { page, notice } = shown_at(done).into();
                see_other(&response, &page, notice);
            }
            Ok(_) => {}
            // While the store is unavailable no page can be shown: the server decides what the browser displays.
            Err(problem) if sent_as_form() && problem.kind != Kind::Unavailable => {
                // The answer is a redirect, which does not show that something was forbidden.
                if problem.kind == Kind::Forbidden
                    && let Ok(feed) = feed()
                {
                    let viewer = session::viewer().map(|viewer| viewer.handle);
                    let log = feed.security();
                    log.record(SecurityEvent::Refused, viewer.as_ref(), &session::client());
                }
                let refusal = RejectedForm {
                    form: self.name.to_owned(),
                    problem: problem.clone(),
                    kept: self.kept,
                };
                let mark = if self.part.is_empty() { "" } else { "#" };
                let back = format!("{}{mark}{}", page_of_form(), self.part);
                see_other(&response, &back, Some(Notice::Refused(refusal)));
            }
            Err(problem) => show(&response, problem),
        }
        result.map_err(ActionError)
    }
}

/// Answers a form whose fields do not fit its server function. A plain form is led back by the framework.
pub fn refuse(problem: &Problem) {
    if let Some(response) = use_context::<ResponseOptions>().filter(|_| !sent_as_form()) {
        show(&response, problem);
    }
}

fn show(response: &ResponseOptions, problem: &Problem) {
    set_status(response, problem.kind.status());
    if let Some(seconds) = problem.retry_after() {
        response.insert_header(RETRY_AFTER, HeaderValue::from(seconds));
    }
}

/// Where a plain form leads after it succeeded.
pub struct Next {
    page: String,
    notice: Option<Notice>,
}

impl From<String> for Next {
    fn from(page: String) -> Self {
        Self { page, notice: None }
    }
}

impl Done {
    /// The page that shows the confirmation.
    pub fn at(self, page: &str) -> Next {
        Notice::Done(self).at(page)
    }
}

impl Notice {
    /// The page that shows it.
    pub fn at(self, page: &str) -> Next {
        Next {
            page: page.to_owned(),
            notice: Some(self),
        }
    }
}

/// The path and query of the page that the form was on; home if the browser does not tell.
pub fn page_of_form() -> String {
    referring_page().unwrap_or_else(|| "/".to_owned())
}

/// The path and query of the page that the form was on, if the browser tells.
pub fn referring_page() -> Option<String> {
    own_page(&header(&REFERER)?)
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

/// Sends the reader of a page that is being rendered to another one.
pub fn redirect(page: &str) {
    if let Some(response) = use_context::<ResponseOptions>() {
        see_other(&response, page, None);
    }
}

/// Redirects to a page, which shows the notice.
fn see_other(response: &ResponseOptions, page: &str, notice: Option<Notice>) {
    if let Ok(location) = HeaderValue::from_str(page) {
        response.insert_header(LOCATION, location);
        response.set_status(StatusCode::SEE_OTHER);
        if let Some(notice) = notice {
            notice::send_notice(response, page, notice);
        }
    }
}

fn set_status(response: &ResponseOptions, status: u16) {
    response.set_status(StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
}
