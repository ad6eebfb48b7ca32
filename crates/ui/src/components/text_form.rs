use leptos::prelude::*;
use model::Handle;
use uuid::Uuid;

use crate::escape::escape;
use crate::islands::WritingForm;
use crate::number::counter;
use crate::refusal::RejectedForm;

/// A text field with a counter, a message by the field when the text was refused, and a button.
#[component]
pub fn TextForm(
    /// The form's test id.
    test_id: &'static str,
    /// The address of the server function.
    action: &'static str,
    /// The id of the text field.
    field: &'static str,
    /// The purpose of the text field.
    label: &'static str,
    /// The placeholder.
    placeholder: &'static str,
    /// The button's label.
    submit: &'static str,
    /// The maximum number of characters.
    most: usize,
    /// What else is sent, as a name and a value.
    #[prop(optional)]
    hidden: Option<(&'static str, String)>,
    /// The id of what will be written, so that a form that is sent twice is stored once.
    id: Uuid,
    /// The writer.
    author: Handle,
    /// The subject: the device stores the draft under it.
    draft: String,
    /// The refusal of this form, if that is why the page is shown.
    refusal: Option<RejectedForm>,
) -> impl IntoView {
    let typed = refusal
        .as_ref()
        .map(|refusal| refusal.kept("text"))
        .unwrap_or_default();
    let length = typed.trim().chars().count();
    let problem = refusal.and_then(|refusal| refusal.about("text"));
    let problem_id = format!("{field}-problem");
    view! {
        <WritingForm>
            <form class="text-form" method="post" action=action data-author=author.to_string() data-draft=draft data-testid=test_id>
                {hidden.map(|(name, value)| view! { <input type="hidden" name=name value=value /> })}
                <input type="hidden" name="id" value=id.to_string() autocomplete="off" />
                <label class="sr-only" for=field>
                    {label}
                </label>
                <textarea
                    id=field
                    name="text"
                    rows="3"
                    dir="auto"
                    placeholder=placeholder
                    data-completes="mention"
                    aria-invalid=problem.is_some().to_string()
                    aria-describedby=problem_id.clone()
                    inner_html=escape(&typed)
                ></textarea>
                <div class="text-form-foot">
                    <p class="text-form-problem" id=problem_id role="alert">
                        {problem}
                    </p>
                    <span class="counter" data-most=most data-over=(most < length).to_string()>
                        {counter(length, most)}
                    </span>
                    <button class="button button-primary">{submit}</button>
                </div>
            </form>
        </WritingForm>
    }
}
