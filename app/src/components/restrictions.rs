use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use model::{Handle, PostId, Profile, ReportTarget};

use crate::actions::people::{SetBlock, SetMute};
use crate::actions::posts::SetHidden;

/// Mutes a person, or no longer.
#[component]
pub fn MuteForm(
    /// The person.
    handle: Handle,
    /// Whether the reader mutes them.
    muted: bool,
) -> impl IntoView {
    let words = if muted { "Unmute" } else { "Mute" };
    form(
        SetMute::url(),
        ("handle", handle.to_string()),
        muted,
        format!("{words} @{handle}"),
    )
}

/// Blocks a person, or no longer.
#[component]
pub fn BlockForm(
    /// The person.
    handle: Handle,
    /// Whether the reader blocks them.
    blocked: bool,
) -> impl IntoView {
    let words = if blocked { "Unblock" } else { "Block" };
    form(
        SetBlock::url(),
        ("handle", handle.to_string()),
        blocked,
        format!("{words} @{handle}"),
    )
}

/// Hides a post from the reader's feeds, or no longer.
#[component]
pub fn HideForm(
    /// The post.
    post: PostId,
    /// Whether the reader hides it.
    hidden: bool,
) -> impl IntoView {
    let words = if hidden {
        "Show in my feeds again"
    } else {
        "Hide from my feeds"
    };
    form(
        SetHidden::url(),
        ("post", post.to_string()),
        hidden,
        words.to_owned(),
    )
}

fn form(
    action: &'static str,
    (name, value): (&'static str, String),
    active: bool,
    words: String,
) -> impl IntoView {
    let state = if active { "false" } else { "true" };
    view! {
        <form class="restriction" method="post" action=action>
            <input type="hidden" name=name value=value />
            <button class="button" name="on" value=state>
                {words}
            </button>
        </form>
    }
}

/// The address of the page that reports something.
pub fn report_address(target: &ReportTarget) -> String {
    format!("/report?target={target}")
}

/// Leads to the form that reports a post or a comment.
#[component]
pub fn ReportLink(
    /// What to report.
    target: ReportTarget,
) -> impl IntoView {
    view! {
        <a class="report" href=report_address(&target)>
            "Report" <span class="sr-only">{format!(" this {}", target.noun())}</span>
        </a>
    }
}

/// What a reader can do about a person: under "More", unless it is done already.
#[component]
pub fn RestrictionForms(
    /// The person.
    profile: Profile,
) -> impl IntoView {
    let Profile {
        handle,
        muted,
        blocked,
        blocked_by,
        ..
    } = profile;
    let (to_mute, to_block) = (handle.clone(), handle.clone());
    let report = report_address(&ReportTarget::User(handle.clone()));
    let state = if blocked {
        Some(format!(
            "You block @{handle}. Neither of you sees the other\u{2019}s posts."
        ))
    } else if blocked_by {
        Some(format!(
            "@{handle} blocks you. Neither of you sees the other\u{2019}s posts."
        ))
    } else if muted {
        Some(format!(
            "You mute @{handle}. You see their posts only on this page, and they are not told."
        ))
    } else {
        None
    };
    view! {
        {state.map(|state| view! { <p class="restricted">{state}</p> })}
        {blocked.then(|| view! { <BlockForm handle=to_block.clone() blocked /> })}
        {muted.then(|| view! { <MuteForm handle=to_mute.clone() muted /> })}
        <details class="more">
            <summary class="button">"More"</summary>
            {(!muted)
                .then(|| {
                    view! {
                        <p>"Mute: you no longer see their posts, and get no notifications about them. They are not told."</p>
                        <MuteForm handle=to_mute muted />
                    }
                })}
            {(!blocked)
                .then(|| {
                    view! {
                        <p>"Block: neither of you can see, follow or contact the other. They can tell that you blocked them."</p>
                        <BlockForm handle=to_block blocked />
                    }
                })}
            <p>"Report: the people who run this site look at it. Nobody else is told."</p>
            <p>
                <a class="button" href=report>
                    {format!("Report @{handle}")}
                </a>
            </p>
        </details>
    }
}
