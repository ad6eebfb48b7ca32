use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use model::Problem;
use ui::components::grouped;
use ui::islands::Pane;
use ui::refusal::RejectedForm;
use ui::request::{loaded, rejected_form_of};
use ui::session;

use self::charts::{Charts, Numbers};
use super::controls::{Refresh, SignInTo, Stop};
use super::figures::VerdictTable;
use super::recorded::{Recorded, STORM as STORM_BEFORE};
use super::stations::{STORM, StationHead};
use super::workshop;
use crate::actions::{StartStorm, StopStorm};
use crate::report::{Storm, StormChoice, StormPhase, StormTarget, StormVerdict};

mod charts;

/// How often an open page fetches its contents again, in milliseconds: during a storm, and otherwise.
const LIVE: u32 = 1_000;
const CALM: u32 = 3_000;

/// A storm, and the form to start one. Everybody sees the same.
#[component]
pub fn StormPage() -> impl IntoView {
    loaded(async {
        let storm = workshop()?.storm();
        Ok::<_, Problem>(view! {
            <StationHead station=&STORM />
            <Start choice=storm.as_ref().map(|storm| storm.choice) />
            <Pane>
                <StormStatus storm />
            </Pane>
        })
    })
}

/// The form. It is outside of the contents that are fetched again each second, so that nobody loses what they
/// typed.
#[component]
fn Start(choice: Option<StormChoice>) -> impl IntoView {
    if session::viewer().is_none() {
        let start = "start a storm";
        return view! { <SignInTo start next="/lab/storm" class="storm-sign-in" /> }.into_any();
    }
    let refusal = rejected_form_of("start_storm");
    let choice = choice.unwrap_or_default();
    let kept = refusal.as_ref().map(|refusal| refusal.kept("target"));
    let target = kept.and_then(|kept| kept.parse().ok()).unwrap_or(choice.target);
    let options = StormTarget::ALL.map(|one| {
        view! {
            <option value=one.as_str() selected=one == target>
                {title(one)}
            </option>
        }
    });
    let number =
        |name, label, present, bounds| view! { <Number name label present bounds refusal=refusal.clone() /> };
    view! {
        <form class="storm-form" method="post" action=StartStorm::url() data-testid="storm-form">
            <div class="field storm-target">
                <label for="storm-target">"Target"</label>
                <select id="storm-target" name="target">
                    {options.into_iter().collect_view()}
                </select>
            </div>
            {number("actors", "People", choice.actors, StormChoice::ACTORS)}
            {number("rate", "Likes a second", choice.rate, StormChoice::RATE)}
            {number("at_once", "At once", choice.at_once, StormChoice::AT_ONCE)}
            {number("seconds", "Seconds", choice.seconds, StormChoice::SECONDS)}
            {number("take_back", "Removed again, %", choice.take_back, StormChoice::TAKE_BACK)}
            <button class="button button-primary">"Start the storm"</button>
        </form>
    }
    .into_any()
}

#[component]
fn Number(
    name: &'static str,
    label: &'static str,
    present: u32,
    bounds: std::ops::RangeInclusive<u32>,
    refusal: Option<RejectedForm>,
) -> impl IntoView {
    let problem = refusal.as_ref().and_then(|refusal| refusal.about(name));
    let kept = refusal
        .map(|refusal| refusal.kept(name))
        .filter(|kept| !kept.is_empty());
    let id = format!("storm-{name}");
    let problem_id = format!("{id}-problem");
    let (least, most) = (*bounds.start(), *bounds.end());
    view! {
        <div class="field">
            <label for=id.clone()>{label}</label>
            <input
                id=id
                name=name
                type="number"
                inputmode="numeric"
                min=least
                max=most
                required
                value=kept.unwrap_or_else(|| present.to_string())
                aria-invalid=problem.is_some().then_some("true")
                aria-describedby=problem.is_some().then(|| problem_id.clone())
            />
            {problem.map(|message| view! { <p class="field-problem" id=problem_id role="alert">{message}</p> })}
        </div>
    }
}

/// The storm as it is now.
#[component]
fn StormStatus(storm: Option<Storm>) -> impl IntoView {
    let Some(storm) = storm else {
        return view! {
            <p class="storm-calm" data-again=CALM data-said="No storm has run yet." data-testid="storm-phase" data-phase="calm">
                "No storm has run yet. Everybody with this page open will see it."
            </p>
            <Recorded what="A storm">
                <p>{line(&STORM_BEFORE)}</p>
                {STORM_BEFORE.verdict.map(|verdict| view! { <Verdict verdict storm=STORM_BEFORE.clone() /> })}
                <Charts storm=STORM_BEFORE.clone() />
            </Recorded>
        }
        .into_any();
    };
    let over = storm.phase.is_final();
    let said = announcement(&storm);
    let line = line(&storm);
    let progress = (!over).then(|| {
        let done = storm.answered + storm.failed;
        let stop = storm.phase.is_sending();
        view! {
            <div class="storm-going">
                <progress max=storm.due.to_string() value=done.to_string() aria-label="Likes that were answered"></progress>
                {stop.then(|| view! { <Stop action=StopStorm::url() id="stop-storm" text="Stop" /> })}
                <Refresh />
            </div>
        }
    });
    let phase = format!("{:?}", storm.phase).to_lowercase();
    view! {
        <section
            class="storm"
            aria-labelledby="storm"
            data-again=if over { CALM } else { LIVE }
            data-said=said
            data-testid="storm-phase"
            data-phase=phase
        >
            <h2 id="storm">{heading(&storm)}</h2>
            <p>{line}</p>
            {progress}
            {storm.verdict.map(|verdict| view! { <Verdict verdict storm=storm.clone() /> })}
            <Charts storm=storm.clone() />
            <Numbers storm />
        </section>
    }
    .into_any()
}

#[component]
fn Verdict(verdict: StormVerdict, storm: Storm) -> impl IntoView {
    let StormVerdict {
        acknowledged,
        counted,
        distinct,
        lost,
        strangers,
        unknown,
        violations,
        holds,
    } = verdict;
    let unsent = storm.due.saturating_sub(storm.answered + storm.failed);
    let unsent = if storm.stopped { 0 } else { unsent };
    let faults = vec![
        (lost, "acknowledged people are missing"),
        (strangers, "unexpected people are found"),
        (violations, "violations are found by check"),
        (
            distinct.abs_diff(counted),
            "is the difference between the count and the items",
        ),
        (unknown, "got no clear answer: they may be in the list or not"),
        (storm.failed, "likes failed; see the server’s log"),
        (unsent, "likes were due but not sent"),
    ];
    let judgement = holds.then_some(
        "The list is correct: everybody whose like was acknowledged is in the list once, nobody else is, the count is right, and spillway check finds no error.",
    );
    let sums = vec![
        ("acknowledged", "expected in the list", acknowledged),
        ("counted", "stored count", counted),
        ("distinct", "different people found", distinct),
    ];
    view! { <VerdictTable holds judgement sums faults /> }
}

fn title(target: StormTarget) -> &'static str {
    match target {
        StormTarget::Quiet => "a quiet post",
        StormTarget::Brink => "a post just below its threshold",
        StormTarget::Viral => "a post with as many likes as the town’s most liked",
        StormTarget::Celebrity => "a person with as many followers as the town’s celebrity",
    }
}

fn heading(storm: &Storm) -> String {
    match storm.phase {
        StormPhase::Preparing => "The list is being laid out".to_owned(),
        StormPhase::Running if storm.stopped => "The storm is being stopped".to_owned(),
        StormPhase::Running => "The storm is running".to_owned(),
        StormPhase::Checking => "Everything is read and counted".to_owned(),
        StormPhase::Over if storm.stopped => "The storm was stopped".to_owned(),
        StormPhase::Over => "The storm is over".to_owned(),
        StormPhase::Failed => {
            "The storm failed because the store did. The server’s log has the details.".to_owned()
        }
    }
}

/// The settings and the result, in one sentence each.
fn line(storm: &Storm) -> String {
    let StormChoice {
        target,
        actors,
        rate,
        at_once,
        seconds,
        take_back,
    } = storm.choice;
    let taken = if take_back == 0 {
        String::new()
    } else {
        format!(", {take_back} % removed again")
    };
    let chosen = format!(
        "@{} chose {}, which had {} items. {} people send {} likes a second for {seconds} s, {at_once} of them at the same time{taken}.",
        storm.by,
        title(target),
        grouped(storm.laid_out),
        grouped(actors.into()),
        grouped(rate.into()),
    );
    if storm.answered == 0 {
        return chosen;
    }
    format!(
        "{chosen} Answered: {} of {} likes, {} a second; half of them within {} of when they were due, 99 of 100 within {}.",
        grouped(storm.answered),
        grouped(storm.due),
        grouped(storm.reached),
        charts::time(storm.p50),
        charts::time(storm.p99),
    )
}

/// The text for screen readers: at the start and the end, not each second.
fn announcement(storm: &Storm) -> String {
    match storm.verdict {
        Some(verdict) if verdict.holds => format!("{}. The list is correct.", heading(storm)),
        Some(_) => format!("{}. The list is not correct.", heading(storm)),
        None => format!("{}.", heading(storm)),
    }
}

#[cfg(test)]
mod tests {
    use model::Timestamp;

    use super::*;

    fn storm_in(phase: StormPhase) -> Storm {
        let by = "ada".parse().expect("a handle");
        let storm = Storm::begun(StormChoice::default(), by, Timestamp::from_millis(0));
        Storm { phase, ..storm }
    }

    #[test]
    fn the_page_of_a_storm_offers_to_refresh_it_until_nothing_changes_any_more() {
        for (phase, stop, refresh) in [
            (StormPhase::Preparing, true, true),
            (StormPhase::Running, true, true),
            (StormPhase::Checking, false, true),
            (StormPhase::Over, false, false),
            (StormPhase::Failed, false, false),
        ] {
            let html = StormStatus(StormStatusProps {
                storm: Some(storm_in(phase)),
            })
            .to_html();
            assert_eq!(html.contains("stop-storm"), stop, "{phase:?}");
            assert_eq!(html.contains("look-again"), refresh, "{phase:?}");
        }
    }
}
