//! Starting and stopping the workshop's layout race.

use leptos::prelude::*;
use ui::refusal::ActionError;
use ui::reply::{Form, referring_page};
use ui::session;

use crate::layouts::Course;
use crate::pages::workshop;

/// Starts a race up to this many items of this many bytes, unless one is already running.
#[server(endpoint = "race_layouts")]
pub async fn race_layouts(largest: u64, item_bytes: u64) -> Result<(), ActionError> {
    let result = async {
        let by = session::require()?.handle;
        workshop()?.start_layout_race(&by, Course::new(largest, item_bytes)?)
    };
    Form::new("race_layouts").answer(result.await.map(drop), |()| station())
}

/// Stops the race, if one is running.
#[server(endpoint = "stop_layouts")]
pub async fn stop_layouts() -> Result<(), ActionError> {
    let result = async {
        session::require()?;
        Ok(workshop()?.stop_layout_race().await)
    };
    Form::new("stop_layouts").answer(result.await.map(drop), |()| station())
}

/// The station's address, with the values that the form had.
fn station() -> String {
    referring_page().unwrap_or_else(|| "/lab/layouts".to_owned())
}
