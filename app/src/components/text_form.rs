use std::future::Future;

use leptos::ev::SubmitEvent;
use leptos::html::Textarea;
use leptos::prelude::*;
use leptos::task::spawn_local;
use model::{ItemId, Problem};

use crate::browser;
use crate::escape::escape;
use crate::refusal::{Refusal, Refused};

/// What a [`TextForm`] says and where it goes.
#[derive(Clone)]
pub struct TextFormOptions {
    /// What a test finds it by.
    pub test_id: &'static str,
    /// The address of the server function.
    pub action: &'static str,
    /// The id of the text field.
    pub field: &'static str,
    /// What the text field is for.
    pub label: &'static str,
    /// What it shows while it is empty.
    pub placeholder: &'static str,
    /// What the button says.
    pub submit: &'static str,
    /// How many characters the text may have.
    pub most: usize,
    /// What else is sent.
    pub hidden: Option<(&'static str, String)>,
}

/// A text field with a counter, a message by the field when the text is refused, and a button.
#[component]
pub fn TextForm<Check, Send, Sent>(
    /// What it says and where it goes.
    options: TextFormOptions,
    /// The refusal of this form, if that is why the page is shown.
    refusal: Option<Refusal>,
    /// Whether a text can be sent at all.
    check: Check,
    /// Sends a text, under an id that is the same when it is sent again.
    send: Send,
) -> impl IntoView
where
    Check: Fn(&str) -> Result<(), Problem> + Copy + 'static,
    Send: Fn(String, ItemId) -> Sent + Copy + 'static,
    Sent: Future<Output = Result<(), Refused>> + 'static,
{
    let TextFormOptions {
        test_id,
        action,
        field,
        label,
        placeholder,
        submit,
        most,
        hidden,
    } = options;
    let typed = refusal
        .as_ref()
        .map(|refusal| refusal.kept("text"))
        .unwrap_or_default();
    let length = RwSignal::new(typed.chars().count());
    let problem = RwSignal::new(refusal.and_then(|refusal| refusal.about("text")));
    let sending = RwSignal::new(false);
    let text = NodeRef::<Textarea>::new();
    // The id stays until the text arrived, so that trying again after a broken connection lands once.
    let id = StoredValue::new(None::<ItemId>);

    let take_over = move |event: SubmitEvent| {
        event.prevent_default();
        let (Some(field), false) = (text.get_untracked(), sending.get_untracked()) else {
            return;
        };
        if let Err(refused) = check(&field.value()) {
            problem.set(Some(refused.message));
            return;
        }
        let Some(chosen) = id.get_value().or_else(browser::fresh_id) else {
            return;
        };
        id.set_value(Some(chosen));
        sending.set(true);
        let arrival = send(field.value(), chosen);
        spawn_local(async move {
            match arrival.await {
                Ok(()) => {
                    field.set_value("");
                    length.set(0);
                    problem.set(None);
                    id.set_value(None);
                }
                Err(Refused(refused)) => problem.set(Some(refused.message)),
            }
            sending.set(false);
        });
    };
    let measure = move |_| {
        if let Some(field) = text.get_untracked() {
            length.set(field.value().chars().count());
            problem.set(None);
        }
    };
    let problem_id = format!("{field}-problem");
    let described_by = problem_id.clone();

    view! {
        <form
            class="text-form"
            method="post"
            action=action
            data-testid=test_id
            aria-busy=move || sending.get().to_string()
            on:submit=take_over
        >
            {hidden.map(|(name, value)| view! { <input type="hidden" name=name value=value /> })}
            <label class="visually-hidden" for=field>{label}</label>
            <textarea
                id=field
                name="text"
                rows="3"
                placeholder=placeholder
                node_ref=text
                aria-invalid=move || problem.with(Option::is_some).to_string()
                aria-describedby=described_by
                on:input=measure
                inner_html=escape(&typed)
            ></textarea>
            <div class="text-form-foot">
                <p class="text-form-problem" id=problem_id role="alert">
                    {move || problem.get()}
                </p>
                <span class="counter" class:is-over=move || most < length.get()>
                    {move || format!("{} / {most}", length.get())}
                </span>
                <button class="button button-primary" disabled=sending>
                    {submit}
                </button>
            </div>
        </form>
    }
}
