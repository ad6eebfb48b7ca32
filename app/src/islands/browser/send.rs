//! Sending a form without leaving the page. It goes to the same server function as when the browser sends it; only
//! the answer is JSON instead of a redirect.

use js_sys::{JSON, Promise, Reflect};
use leptos::prelude::window;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{FormData, Headers, HtmlFormElement, RequestInit, Response, UrlSearchParams};

const NO_ANSWER: &str = "Spillway does not answer. Try again in a moment; it will happen only once.";

/// Sends a form as it is at this moment; answers what the server function did, or what a person reads about why it did
/// not.
pub fn send(form: &HtmlFormElement) -> impl Future<Output = Result<JsValue, String>> + use<> {
    // An attribute, since a field of the form could be called "action".
    let action = form.get_attribute("action").unwrap_or_default();
    let sent = request(form).map(|request| window().fetch_with_str_and_init(&action, &request));
    async move {
        match answer(sent).await {
            Ok((true, body)) => Ok(body),
            Ok((false, body)) => Err(text(&body, "message").unwrap_or_else(|| NO_ANSWER.to_owned())),
            Err(_) => Err(NO_ANSWER.to_owned()),
        }
    }
}

fn request(form: &HtmlFormElement) -> Result<RequestInit, JsValue> {
    let headers = Headers::new()?;
    headers.set("Accept", "application/json")?;
    let request = RequestInit::new();
    request.set_method("POST");
    request.set_headers(&headers);
    // What was clicked is done, even if the reader moves on to another page at once.
    Reflect::set(&request, &"keepalive".into(), &JsValue::TRUE)?;
    let fields: JsValue = FormData::new_with_form(form)?.into();
    let fields: JsValue = UrlSearchParams::new_with_str_sequence_sequence(&fields)?.into();
    request.set_body(&fields);
    Ok(request)
}

async fn answer(sent: Result<Promise, JsValue>) -> Result<(bool, JsValue), JsValue> {
    let response: Response = JsFuture::from(sent?).await?.dyn_into()?;
    let body = JsFuture::from(response.text()?)
        .await?
        .as_string()
        .unwrap_or_default();
    Ok((response.ok(), JSON::parse(&body).unwrap_or(JsValue::NULL)))
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

/// A truth value in a JSON object.
pub fn truth(object: &JsValue, field: &str) -> Option<bool> {
    Reflect::get(object, &field.into()).ok()?.as_bool()
}

fn text(object: &JsValue, field: &str) -> Option<String> {
    Reflect::get(object, &field.into()).ok()?.as_string()
}

/// A fresh id for something that is about to be sent, so that sending it again lands once.
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
