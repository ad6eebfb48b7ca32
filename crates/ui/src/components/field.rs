use leptos::prelude::*;

use crate::refusal::RejectedForm;

/// A labelled input, with the typed text and its error. A password is never shown again.
#[component]
pub fn Field(
    /// The name under which it is sent.
    name: &'static str,
    /// Distinguishes it from a field of the same name in another form of the page.
    #[prop(optional)]
    form: &'static str,
    /// The label.
    label: &'static str,
    /// The hint.
    #[prop(optional)]
    hint: &'static str,
    /// The `autocomplete` value.
    autocomplete: &'static str,
    /// The initial text.
    #[prop(optional, into)]
    present: String,
    /// Whether it may be left empty.
    #[prop(optional)]
    may_be_empty: bool,
    /// The refusal of the form, if that is why the page is shown.
    refusal: Option<RejectedForm>,
) -> impl IntoView {
    let problem = refusal.as_ref().and_then(|refusal| refusal.about(name));
    let value = refusal.map_or(present, |refusal| refusal.kept(name));
    let value = Some(value).filter(|value| !value.is_empty());
    let id = if form.is_empty() {
        name.to_owned()
    } else {
        format!("{form}-{name}")
    };
    let (hint_id, problem_id) = (format!("{id}-hint"), format!("{id}-problem"));
    let described_by = match (hint.is_empty(), problem.is_some()) {
        (true, false) => None,
        (true, true) => Some(problem_id.clone()),
        (false, false) => Some(hint_id.clone()),
        (false, true) => Some(format!("{problem_id} {hint_id}")),
    };
    view! {
        <div class="field">
            <label for=id.clone()>{label}</label>
            <input
                id=id
                name=name
                type=if name.ends_with("password") { "password" } else { "text" }
                value=value
                autocomplete=autocomplete
                autocapitalize=(name == "handle").then_some("none")
                spellcheck=(name == "handle").then_some("false")
                aria-required=(!may_be_empty).then_some("true")
                aria-invalid=problem.is_some().then_some("true")
                aria-describedby=described_by
            />
            {problem.map(|message| view! { <p class="field-problem" id=problem_id role="alert">{message}</p> })}
            {(!hint.is_empty()).then(|| view! { <p class="field-hint" id=hint_id>{hint}</p> })}
        </div>
    }
}
