use chart::numbers::{bytes, number, thousands, time};
use chart::{Axis, Chart, Line};
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use model::Problem;
use ui::components::grouped;
use ui::islands::Pane;
use ui::request::{loaded, rejected_form_of};
use ui::session;

use super::controls::{Refresh, SignInTo, Stop};
use super::figures::{Figures, Table, VerdictTable};
use super::recorded::{MIGRATION, Recorded};
use super::stations::{MIGRATE, StationHead};
use super::workshop;
use crate::actions::{StartMigration, StopMigration};
use crate::report::{ListForm, MeasuredList, Migration, MigrationSample, MigrationVerdict, Progress};

/// How often an open page fetches its contents again, in milliseconds: during a migration, and otherwise.
const LIVE: u32 = 500;
const CALM: u32 = 3_000;

/// A migration, and the form to start one. Everybody sees the same.
#[component]
pub fn MigratePage() -> impl IntoView {
    loaded(async {
        let migration = workshop()?.migration();
        Ok::<_, Problem>(view! {
            <StationHead station=&MIGRATE />
            <Start items=migration.items />
            <Pane>
                <Course migration />
            </Pane>
        })
    })
}

/// The form. It is outside of the contents that are fetched again, so that nobody loses their choices.
#[component]
fn Start(items: u64) -> impl IntoView {
    if session::viewer().is_none() {
        let start = "start a migration";
        return view! { <SignInTo start next="/lab/migrate" class="storm-sign-in" /> }.into_any();
    }
    let refusal = rejected_form_of("start_migration");
    let kept = refusal
        .as_ref()
        .and_then(|refusal| refusal.kept("items").parse().ok());
    let items = kept.unwrap_or(items);
    let problem = refusal.as_ref().and_then(|refusal| refusal.about("items"));
    let options = Migration::SIZES.map(|size| {
        view! {
            <option value=size selected=size == items>
                {format!("{} likes", grouped(size))}
            </option>
        }
    });
    view! {
        <form class="storm-form" method="post" action=StartMigration::url() data-testid="migration-form">
            <div class="field storm-target">
                <label for="migration-items">"The array has"</label>
                <select
                    id="migration-items"
                    name="items"
                    aria-invalid=problem.is_some().then_some("true")
                    aria-describedby=problem.is_some().then_some("migration-items-problem")
                >
                    {options.into_iter().collect_view()}
                </select>
                {problem
                    .map(|message| {
                        view! { <p class="field-problem" id="migration-items-problem" role="alert">{message}</p> }
                    })}
            </div>
            <button class="button button-primary">"Start the likes and the migration"</button>
        </form>
    }
    .into_any()
}

/// The migration as it is now.
#[component]
fn Course(migration: Migration) -> impl IntoView {
    let running = migration.progress == Progress::Running;
    let phase = format!("{:?}", migration.progress).to_lowercase();
    let heading = heading(&migration);
    let said = migration.verdict.map_or_else(
        || format!("{heading}."),
        |verdict| format!("{heading}. {}", judgement(verdict)),
    );
    let going = running.then(|| {
        view! {
            <div class="storm-going">
                <Stop action=StopMigration::url() id="stop-migration" text="Stop the likes" />
                <Refresh />
            </div>
        }
    });
    let before = (!migration.found.is_empty()).then(|| {
        view! { <Found title="Before" id="lists-before" lists=migration.found.clone() /> }
    });
    let after = (!migration.left.is_empty()).then(|| {
        view! { <Found title="Afterwards" id="lists-after" lists=migration.left.clone() /> }
    });
    let samples =
        (!migration.samples.is_empty()).then(|| view! { <Samples samples=migration.samples.clone() /> });
    let recorded = (migration.progress == Progress::Idle).then(|| {
        view! {
            <Recorded what="A migration">
                <p>{line(&MIGRATION)}</p>
                {MIGRATION.verdict.map(|verdict| view! { <Verdict verdict /> })}
                <Samples samples=MIGRATION.samples.clone() />
            </Recorded>
        }
    });
    view! {
        <section
            class="storm"
            aria-labelledby="migration"
            data-again=if running { LIVE } else { CALM }
            data-said=said
            data-testid="migration"
            data-phase=phase
        >
            <h2 id="migration">{heading}</h2>
            <p>{line(&migration)}</p>
            {going}
            {migration.verdict.map(|verdict| view! { <Verdict verdict /> })}
            {samples}
            {before}
            {after}
            {recorded}
            <p class="lab-source">
                "The tables before and afterwards are what "<code>"spillway detect"</code>
                " measures, with the shorter lists beside the long one. The same numbers as JSON: "
                <a href="/api/v1/lab/migrate">"/api/v1/lab/migrate"</a> "."
            </p>
        </section>
    }
}

/// The output of `detect`, by count and by bytes.
#[component]
fn Found(title: &'static str, id: &'static str, lists: Vec<MeasuredList>) -> impl IntoView {
    let headings = [
        "Likes",
        "Stored as",
        "Pages",
        "Owner’s document",
        "Pages together",
    ];
    let rows = lists.into_iter().zip(1..).map(|(list, nth)| {
        let cells = vec![
            grouped(list.items),
            words(list.form).to_owned(),
            grouped(list.pages),
            bytes(number(list.owner_bytes)),
            bytes(number(list.page_bytes)),
        ];
        (format!("Post {nth}"), cells)
    });
    let table = Table {
        first: "Whose",
        headings: headings.map(str::to_owned).to_vec(),
        rows: rows.collect(),
    };
    view! {
        <section class="figures" aria-labelledby=id data-testid=id>
            <h3 id=id>{title}</h3>
            <Figures label=title table />
        </section>
    }
}

/// The observations of the list, newest first, so that a viewer need not scroll.
#[component]
fn Samples(samples: Vec<MigrationSample>) -> impl IntoView {
    let headings = [
        "Acknowledged",
        "Stored as",
        "Count",
        "In the owner",
        "Pages",
        "Owner’s document",
    ];
    let (chart, heading) = (owner_bytes(&samples), conversion(&samples));
    let rows = samples.into_iter().rev().map(|sample| {
        let cells = vec![
            grouped(sample.acknowledged),
            words(sample.form).to_owned(),
            grouped(sample.count),
            grouped(sample.head),
            grouped(sample.pages),
            bytes(number(sample.owner_bytes)),
        ];
        (format!("{}\u{a0}ms", grouped(sample.at)), cells)
    });
    let table = Table {
        first: "After",
        headings: headings.map(str::to_owned).to_vec(),
        rows: rows.collect(),
    };
    view! {
        <section class="figures migration-looks" aria-labelledby="looks" data-testid="looks">
            <h3 id="looks">{heading}</h3>
            <div class="figures-beside">
                <div inner_html=chart.inline("owner-bytes")></div>
                <Figures label="Samples of the list" table />
            </div>
        </section>
    }
}

/// When the array became head and pages, in a sentence.
fn conversion(samples: &[MigrationSample]) -> String {
    let overflowed = |sample: &MigrationSample| sample.form == ListForm::Overflowed;
    let first = samples.iter().position(overflowed);
    let Some([before, after, ..]) = first.and_then(|first| samples.get(first.checked_sub(1)?..)) else {
        return "While new likes arrive".to_owned();
    };
    format!(
        "After {}, a document of {} became one of {} and {}",
        time(number(after.at) * 1_000.0),
        bytes(number(before.owner_bytes)),
        bytes(number(after.owner_bytes)),
        super::words::pages(after.pages),
    )
}

/// The size of the owner's document, which collapses when the array becomes a head.
fn owner_bytes(samples: &[MigrationSample]) -> Chart {
    let ends = [samples.first(), samples.last()].map(|sample| sample.map_or(0, |sample| sample.owner_bytes));
    let [first, last] = ends.map(|size| bytes(number(size)));
    // While pages are being written, all items are still in the owner.
    let (head, array): (Vec<_>, Vec<_>) = samples
        .iter()
        .partition(|sample| sample.form == ListForm::Overflowed);
    let line = |name: &str, samples: Vec<&MigrationSample>| Line {
        name: name.to_owned(),
        points: samples
            .into_iter()
            .map(|sample| (number(sample.at) / 1_000.0, number(sample.owner_bytes)))
            .collect(),
    };
    let lines = [line("one array", array), line("head and pages", head)];
    Chart {
        title: "The owner’s document".to_owned(),
        description: format!("It had {first} at the beginning, and {last} at the end."),
        x: Axis {
            label: "Seconds".to_owned(),
            logarithmic: false,
            write: thousands,
        },
        y: Axis {
            label: "Size of the owner’s document, in powers of ten".to_owned(),
            logarithmic: true,
            write: bytes,
        },
        lines: lines.into_iter().filter(|line| !line.points.is_empty()).collect(),
    }
}

#[component]
fn Verdict(verdict: MigrationVerdict) -> impl IntoView {
    let sums = vec![
        ("before", "before", verdict.before),
        ("acknowledged", "added meanwhile", verdict.acknowledged),
        ("counted", "stored count", verdict.counted),
        ("distinct", "different people found", verdict.distinct),
    ];
    let expected = verdict.before + verdict.acknowledged;
    let faults = vec![
        (
            expected.abs_diff(verdict.counted),
            "is the difference between the count and the items",
        ),
        (
            expected.saturating_sub(verdict.distinct),
            "acknowledged likes are missing",
        ),
        (
            verdict.distinct.saturating_sub(expected),
            "unexpected people are found",
        ),
        (
            verdict.found.saturating_sub(verdict.distinct),
            "likes are stored twice",
        ),
        (verdict.violations, "violations are found by check"),
        (verdict.refused, "lists could not be migrated"),
    ];
    let judgement = Some(judgement(verdict));
    view! { <VerdictTable holds=verdict.holds judgement sums faults /> }
}

fn judgement(verdict: MigrationVerdict) -> &'static str {
    if verdict.holds {
        "The list is correct: every earlier like and every acknowledged like is in the list once, and spillway check finds no error."
    } else {
        "The list is not correct."
    }
}

fn words(form: ListForm) -> &'static str {
    match form {
        ListForm::Unbounded => "one array",
        ListForm::Head => "head alone",
        ListForm::Overflowed => "head and pages",
    }
}

fn heading(migration: &Migration) -> String {
    let form = migration.samples.last().map(|sample| sample.form);
    let text = match (migration.progress, form) {
        (Progress::Idle, _) => "No migration yet",
        (Progress::Running, None) => "The array is being laid out",
        (Progress::Running, Some(ListForm::Unbounded)) => "People like the post, and its list is one array",
        (Progress::Running, Some(ListForm::Head)) => {
            "The array was taken over, and its pages are being written"
        }
        (Progress::Running, Some(ListForm::Overflowed)) => {
            "The list is head and pages, and people keep liking the post"
        }
        (Progress::Stopped, _) => "The likes were stopped, and the list is migrated",
        (Progress::Finished, _) => "The list is migrated",
        (Progress::Failed, _) => "The migration failed. Start another. The server’s log has the details",
    };
    text.to_owned()
}

/// The choices and the result, in a sentence each.
fn line(migration: &Migration) -> String {
    let Some(by) = &migration.by else {
        return "Everybody with this page open sees it.".to_owned();
    };
    format!(
        "@{by} chose an array of {} likes. {} more were acknowledged while it was migrated, {} of them from an old program, which pushes to the array.",
        grouped(migration.items),
        grouped(migration.acknowledged),
        grouped(migration.pushed),
    )
}
