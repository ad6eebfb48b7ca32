//! Following, muting, blocking and reporting people.

#![expect(
    missing_docs,
    reason = "the macro turns arguments into public fields that cannot carry docs"
)]

use leptos::prelude::*;
use model::{Problem, ReactionState, ReportTarget, ReportText, Timestamp};
use store::restrictions::Restriction;
use ui::notice::Done;
use ui::refusal::ActionError;
use ui::reply::{Form, page_of_form};
use ui::request::feed;
use ui::session;

/// Sets whether the reader follows a person. Sending it again changes nothing.
#[server(endpoint = "set_follow")]
pub async fn set_follow(handle: String, on: bool) -> Result<ReactionState, ActionError> {
    let result = async {
        let (reader, target) = (session::require()?.handle, handle.parse()?);
        if on {
            feed()?.people().follow(&reader, &target).await
        } else {
            feed()?.people().unfollow(&reader, &target).await
        }
    };
    Form::new("set_follow").answer(result.await, |_| page_of_form())
}

/// Sets whether the reader mutes a person. Sending it again changes nothing.
#[server(endpoint = "set_mute")]
pub async fn set_mute(handle: String, on: bool) -> Result<ReactionState, ActionError> {
    restrict("set_mute", Restriction::Mute, &handle, on).await
}

/// Sets whether the reader blocks a person. Sending it again changes nothing.
#[server(endpoint = "set_block")]
pub async fn set_block(handle: String, on: bool) -> Result<ReactionState, ActionError> {
    restrict("set_block", Restriction::Block, &handle, on).await
}

async fn restrict(
    form: &'static str,
    restriction: Restriction,
    handle: &str,
    on: bool,
) -> Result<ReactionState, ActionError> {
    let result = async {
        let (reader, other) = (session::require()?.handle, handle.parse()?);
        let feed = feed()?;
        if on {
            feed.restrictions().add(restriction, &reader, &other).await
        } else {
            feed.restrictions().remove(restriction, &reader, &other).await
        }
    };
    let done = match (restriction, on) {
        (Restriction::Mute, true) => Done::Muted,
        (Restriction::Mute, false) => Done::Unmuted,
        (Restriction::Block, true) => Done::Blocked,
        (Restriction::Block, false) => Done::Unblocked,
    };
    Form::new(form).answer(result.await, |_| done.at(&page_of_form()))
}

/// Tells the operator what is wrong with a person, a post or a comment. Sending it again changes nothing.
#[server(name = SendReport, endpoint = "report")]
pub async fn send_report(target: String, text: String) -> Result<(), ActionError> {
    let form = Form::new("report").keeping("text", &text);
    let result = async {
        let reporter = session::require()?.handle;
        let (target, text) = (target.parse::<ReportTarget>()?, text.parse::<ReportText>()?);
        let report = feed()?.reports().send(&reporter, target, text).await?;
        Ok(report.target.page())
    };
    let result = result.await;
    let page = result.clone().unwrap_or_default();
    form.answer(result.map(drop), |()| Done::Reported.at(&page))
}

/// Marks the reader's notifications as read, up to the latest that they have seen.
#[server(endpoint = "mark_notifications_read")]
pub async fn mark_notifications_read(until: String) -> Result<u64, ActionError> {
    let result = async {
        let reader = session::require()?.handle;
        let until = until.parse::<Timestamp>();
        let until = until.map_err(|problem: Problem| problem.about("until"))?;
        feed()?.notifications().mark_read(&reader, until).await
    };
    Form::new("mark_notifications_read").answer(result.await, |_| Done::NotificationsRead.at(&page_of_form()))
}
