//! Sends a form without leaving the page. It goes to the same server function as when the browser sends it; only
//! the answer is JSON instead of a redirect.

use std::time::Duration;

use js_sys::{JSON, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Element, FormData, Headers, HtmlFormElement, RequestInit, Response, UrlSearchParams};

use super::dom::{pause, set_text, window};
use super::live;

const NO_ANSWER: &str =
    "Spillway does not answer. Try again in a moment: an action that is repeated is carried out only once.";

/// The wait before a form is sent again. It doubles; after a minute in total the reader decides.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(32);

/// Statuses of a server that cannot answer now but may in a moment.
pub const SERVICE_UNAVAILABLE: u16 = 503;
/// The status for a reader who is not signed in, or no longer.
const NOT_SIGNED_IN: u16 = 401;

/// The reason why an action failed, for a person to read.
pub struct SendError {
    message: String,
    signed_out: bool,
}

impl SendError {
    fn no_answer() -> Self {
        Self {
            message: NO_ANSWER.to_owned(),
            signed_out: false,
        }
    }

    /// Shows the reason. A reader who is not signed in also gets the link to do so, which leads back to this page.
    pub fn show(&self, problem: &Element) {
        set_text(problem, &self.message);
        if self.signed_out {
            let here = window().location().pathname().unwrap_or_default();
            let here = js_sys::encode_uri_component(&here);
            let message = problem.inner_html();
            problem.set_inner_html(&format!("{message} <a href=\"/login?next={here}\">Sign in</a>"));
        }
    }
}

/// Sends a form as it is at this moment, by a toggle's button if there is one; returns the server
/// function's result, or why it failed. While the server does not answer, it is sent again: every such form is
/// idempotent.
pub fn send(
    form: &HtmlFormElement,
    button: Option<&Element>,
) -> impl Future<Output = Result<JsValue, SendError>> + use<> {
    // An attribute, since a field of the form could be called "action".
    let action = match button {
        Some(button) => button.get_attribute("formaction"),
        None => form.get_attribute("action"),
    };
    let action = action.unwrap_or_default();
    let fields = fields(form, button);
    async move {
        let mut wait = FIRST_WAIT;
        loop {
            let answer = answer(&action, &fields).await;
            live::asked(matches!(answer, Ok((status, _)) if status != SERVICE_UNAVAILABLE));
            match answer {
                Ok((200..300, body)) => return Ok(body),
                Ok((status, body)) if status != SERVICE_UNAVAILABLE => {
                    // A server function explains a refusal with a problem of ours; layers in front of it, such as
                    // a limit, with problem+json.
                    let why = text(&body, "message").or_else(|| text(&body, "detail"));
                    return Err(SendError {
                        message: why.unwrap_or_else(|| NO_ANSWER.to_owned()),
                        signed_out: status == NOT_SIGNED_IN,
                    });
                }
                _ if wait > LONGEST_WAIT => return Err(SendError::no_answer()),
                _ => pause(wait).await,
            }
            wait *= 2;
        }
    }
}

/// Sends a form as it is at this moment, for actions that are not idempotent; returns the status.
pub fn send_once(form: &HtmlFormElement) -> impl Future<Output = Option<u16>> + use<> {
    let action = form.get_attribute("action").unwrap_or_default();
    let fields = fields(form, None);
    async move { answer(&action, &fields).await.ok().map(|(status, _)| status) }
}

fn fields(form: &HtmlFormElement, button: Option<&Element>) -> Result<JsValue, JsValue> {
    let fields = FormData::new_with_form(form)?;
    if let Some(on) = button.and_then(|button| button.get_attribute("value")) {
        fields.append_with_str("on", &on)?;
    }
    let fields: JsValue = fields.into();
    Ok(UrlSearchParams::new_with_str_sequence_sequence(&fields)?.into())
}

async fn answer(action: &str, fields: &Result<JsValue, JsValue>) -> Result<(u16, JsValue), JsValue> {
    let headers = Headers::new()?;
    headers.set("Accept", "application/json")?;
    let request = RequestInit::new();
    request.set_method("POST");
    request.set_headers(&headers);
    // The action is carried out even if the reader moves on to another page at once.
    Reflect::set(&request, &"keepalive".into(), &JsValue::TRUE)?;
    request.set_body(fields.as_ref()?);
    let response: Response = JsFuture::from(window().fetch_with_str_and_init(action, &request))
        .await?
        .dyn_into()?;
    let body = JsFuture::from(response.text()?)
        .await?
        .as_string()
        .unwrap_or_default();
    Ok((response.status(), JSON::parse(&body).unwrap_or(JsValue::NULL)))
}

/// A number in a JSON object.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are whole and far below 2^53"
)]
pub fn count(object: &JsValue, field: &str) -> Option<u64> {
    Reflect::get(object, &field.into())
        .ok()?
        .as_f64()
        .map(|number| number as u64)
}

/// A boolean in a JSON object.
pub fn truth(object: &JsValue, field: &str) -> Option<bool> {
    Reflect::get(object, &field.into()).ok()?.as_bool()
}

fn text(object: &JsValue, field: &str) -> Option<String> {
    Reflect::get(object, &field.into()).ok()?.as_string()
}

/// A fresh id for a new item, so that sending it again does not create a second one.
pub fn fresh_id() -> String {
    let mut random = [0; 16];
    let filled = window()
        .crypto()
        .and_then(|crypto| crypto.get_random_values_with_u8_array(&mut random));
    match filled {
        Ok(_) => uuid::Builder::from_random_bytes(random).into_uuid().to_string(),
        // Without one the server chooses the id.
        Err(_) => String::new(),
    }
}
