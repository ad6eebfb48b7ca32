//! Storms of the workshop. Everybody who is signed in may start and stop one: a class has a teacher.

use leptos::prelude::*;
use model::StormChoice;
use ui::refusal::ActionError;
use ui::reply::Form;
use ui::session;

use crate::pages::workshop;

/// The page that shows the storm.
const PAGE: &str = "/lab/storm";

/// Starts a storm.
#[server(endpoint = "start_storm")]
pub async fn start_storm(
    target: String,
    actors: u32,
    rate: u32,
    at_once: u32,
    seconds: u32,
    take_back: u32,
) -> Result<(), ActionError> {
    let mut form = Form::new("start_storm").keeping("target", &target);
    for (field, typed) in [
        ("actors", actors),
        ("rate", rate),
        ("at_once", at_once),
        ("seconds", seconds),
        ("take_back", take_back),
    ] {
        form = form.keeping(field, &typed.to_string());
    }
    let result = async {
        let by = session::require()?.handle;
        let choice = StormChoice {
            target: target.parse()?,
            actors,
            rate,
            at_once,
            seconds,
            take_back,
        };
        workshop()?.start_storm(by, choice).await.map(drop)
    };
    form.answer(result.await, |()| PAGE.to_owned())
}

/// Ends the storm early.
#[server(endpoint = "stop_storm")]
pub async fn stop_storm() -> Result<(), ActionError> {
    let result = async {
        session::require()?;
        workshop()?.stop_storm();
        Ok(())
    };
    Form::new("stop_storm").answer(result.await, |()| PAGE.to_owned())
}
