//! Following people.

#![expect(
    missing_docs,
    reason = "the macro turns arguments into public fields that cannot carry docs"
)]

use leptos::prelude::*;
use model::Counted;
use ui::refusal::Refused;
use ui::reply::{Form, came_from};
use ui::request::feed;
use ui::session;

/// Sets whether the reader follows a person. Sending it again changes nothing.
#[server(endpoint = "set_follow")]
pub async fn set_follow(handle: String, on: bool) -> Result<Counted, Refused> {
    let result = async {
        let (reader, target) = (session::require()?.handle, handle.parse()?);
        if on {
            feed()?.people().follow(&reader, &target).await
        } else {
            feed()?.people().unfollow(&reader, &target).await
        }
    };
    Form::new("set_follow").answer(result.await, |_| came_from().unwrap_or_else(|| "/".to_owned()))
}
