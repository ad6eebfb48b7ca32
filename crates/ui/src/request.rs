//! The parameters of a page's request, and waiting for its data.

use std::future::Future;

use axum::http::request::Parts;
use feed::{Clock, Feed, SystemClock};
use leptos::prelude::*;
use leptos::tachys::reactive_graph::OwnedView;
use model::{Kind, Problem, Timestamp};

use crate::notice::{self, Done, Notice};
use crate::problem::ProblemPage;
use crate::refusal::RejectedForm;

/// The feed of this request.
pub fn feed() -> Result<Feed, Problem> {
    use_context().ok_or_else(|| Problem::new(Kind::Internal, "Something went wrong on our side. Try again."))
}

/// Shows a page once its data is there, or the page of the problem that came up.
pub fn loaded<Load, Page>(load: Load) -> impl IntoView
where
    Load: Future<Output = Result<Page, Problem>> + Send + 'static,
    Page: IntoView + 'static,
{
    Suspend::new(async move {
        let page = match load.await {
            Ok(page) => page.into_any(),
            Err(problem) => view! { <ProblemPage problem /> }.into_any(),
        };
        // It is written after this, perhaps outside of this request's context, which the elements of the head need.
        OwnedView::new(page)
    })
}

/// The time that ages are computed from: it comes from the same clock that dates the items.
pub fn now() -> Timestamp {
    feed().map_or_else(|_| SystemClock.now(), |feed| feed.now())
}

/// A parameter of the address, if it is there and not empty. Of several, the last one counts.
pub fn query(name: &str) -> Option<String> {
    let value = with_context(|request: &Parts| {
        let parameters = form_urlencoded::parse(request.uri.query()?.as_bytes());
        parameters
            .filter(|(key, _)| key == name)
            .last()
            .map(|(_, value)| value.into_owned())
    });
    value.flatten().filter(|value| !value.is_empty())
}

/// The query of an address with these parameters, without the `?`.
pub fn query_string(parameters: &[(&str, &str)]) -> String {
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(parameters)
        .finish()
}

/// The refusal of a plain form that led back to this page.
pub fn rejected_form() -> Option<RejectedForm> {
    match notice::current()? {
        Notice::Refused(refusal) => Some(refusal),
        Notice::Done(_) | Notice::RecoveryCodes(_) => None,
    }
}

/// The refusal of this form, if it is the one that led back to this page.
pub fn rejected_form_of(form: &str) -> Option<RejectedForm> {
    rejected_form().filter(|refusal| refusal.form == form)
}

/// The action that succeeded and led here.
pub fn done() -> Option<Done> {
    match notice::current()? {
        Notice::Done(done) => Some(done),
        Notice::Refused(_) | Notice::RecoveryCodes(_) => None,
    }
}

/// The recovery codes that were just made.
pub fn recovery_codes() -> Option<Vec<String>> {
    match notice::current()? {
        Notice::RecoveryCodes(codes) => Some(codes),
        Notice::Refused(_) | Notice::Done(_) => None,
    }
}
