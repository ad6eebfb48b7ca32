//! Controls that several stations have.

#![cfg_attr(
    feature = "pages",
    expect(clippy::needless_pass_by_value, reason = "a component owns its props")
)]

use leptos::prelude::*;

/// One of several views of a station.
pub(super) struct Tab {
    pub(super) id: String,
    pub(super) href: String,
    /// Whether it is the present one.
    pub(super) current: bool,
    pub(super) text: String,
}

/// Links to the views of a station.
#[component]
pub(super) fn Tabs(
    /// What they choose.
    label: &'static str,
    tabs: Vec<Tab>,
    /// What a screen reader says when the view has changed.
    #[prop(optional, into)]
    said: Option<String>,
    /// The owner whose changes are followed.
    #[prop(optional, into)]
    topic: Option<String>,
) -> impl IntoView {
    let tabs = tabs.into_iter().map(|tab| {
        view! {
            <a id=tab.id href=tab.href aria-current=tab.current.then_some("true")>
                {tab.text}
            </a>
        }
    });
    view! {
        <nav class="tabs" aria-label=label data-said=said data-topic=topic>
            {tabs.collect_view()}
        </nav>
    }
}

/// What a visitor gets in place of the button that starts something.
#[cfg(feature = "pages")]
#[component]
pub(super) fn SignInTo(
    /// What the button does.
    start: &'static str,
    /// Its address, as it is in a query.
    #[prop(into)]
    next: String,
    #[prop(optional)] class: &'static str,
) -> impl IntoView {
    view! {
        <p class=(!class.is_empty()).then_some(class)>
            <a class="button button-primary" href=format!("/login?next={next}")>
                {format!("Sign in to {start}")}
            </a>
        </p>
    }
}

/// Stops what is running.
#[cfg(feature = "pages")]
#[component]
pub(super) fn Stop(
    /// The address of the form.
    action: &'static str,
    id: &'static str,
    text: &'static str,
) -> impl IntoView {
    view! {
        <form method="post" action=action>
            <button class="button" id=id>
                {text}
            </button>
        </form>
    }
}

/// Where no script refreshes the page, this link does.
#[cfg(feature = "pages")]
#[component]
pub(super) fn Refresh() -> impl IntoView {
    view! {
        <a class="button button-quiet" id="look-again" href="?">
            "Refresh"
        </a>
    }
}
