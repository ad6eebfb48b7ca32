//! `outlier check`, `stats` and `tune`: the tools of the library, for the lists at one path.

use std::time::Duration;

use outlier::check::{self, CheckReport, Finding, Outcome, Severity};
use outlier::stats::{self, BARS, ListStats};
use outlier::tune::{Advice, ItemSizes, advise, evaluate};
use outlier::verdict::THRESHOLD;
use serde::Serialize;

use crate::options::{CheckOptions, StatsOptions, TuneOptions};
use crate::place::Opened;
use crate::plan::{Plan, draft};
use crate::scan::print;
use crate::text::{aligned, grouped, size};

/// How long to wait before the second look at what seems wrong.
const PAUSE: Duration = Duration::from_millis(500);
/// How many findings to print of each severity; JSON has all of them.
const SHOWN: usize = 50;
/// The widest bar, in characters.
const WIDEST: u64 = 40;

/// Checks the invariants of the lists. Returns whether all hold.
///
/// # Errors
/// Why they could not be checked.
pub async fn check(options: &CheckOptions) -> Result<bool, String> {
    let opened = Opened::connect(&options.place).await?;
    let description = opened.adopted().await?;
    if options.repair && description.undoing {
        return Err(
            "an undo of these lists has not ended. Run `outlier adopt --undo` to its end first".to_owned(),
        );
    }
    let how = check::Options {
        repair: options.repair,
        pause: PAUSE,
    };
    let checked = check::check(&opened.engine, &[description.collection()], how, &|_| {}).await;
    let checked = checked.map_err(|error| opened.explain(&error))?;
    let open = checked.findings.iter().filter(|finding| is_open(finding)).count();
    if options.json {
        print_json(&checked_json(&checked))?;
    } else {
        print(&(check_lines(&checked, open, options.repair).join("\n") + "\n"))?;
    }
    Ok(open == 0)
}

fn is_open(finding: &Finding) -> bool {
    finding.severity > Severity::Notice && finding.outcome != Outcome::Repaired
}

#[derive(Serialize)]
struct Checked<'c> {
    owners: u64,
    pages: u64,
    items: u64,
    findings: &'c [Finding],
}

fn checked_json(checked: &CheckReport) -> Checked<'_> {
    let CheckReport {
        owners,
        pages,
        items,
        ref findings,
    } = *checked;
    Checked {
        owners,
        pages,
        items,
        findings,
    }
}

fn check_lines(checked: &CheckReport, open: usize, repaired: bool) -> Vec<String> {
    let mut lines = Vec::new();
    for (severity, name) in [
        (Severity::Broken, "Broken: an invariant does not hold"),
        (
            Severity::Unfinished,
            "Unfinished: an interrupted operation left it",
        ),
        (Severity::Notice, "Worth knowing"),
    ] {
        let found = checked
            .findings
            .iter()
            .filter(|finding| finding.severity == severity);
        let found: Vec<&Finding> = found.collect();
        if found.is_empty() {
            continue;
        }
        lines.push(format!("{name} ({})", grouped(found.len() as u64)));
        lines.extend(found.iter().take(SHOWN).map(|finding| finding_line(finding)));
        if found.len() > SHOWN {
            lines.push(format!(
                "  … and {} more; --json has them all",
                found.len() - SHOWN
            ));
        }
    }
    lines.push(format!(
        "Checked {} documents, {} pages and {} items.",
        grouped(checked.owners),
        grouped(checked.pages),
        grouped(checked.items)
    ));
    lines.push(match (open, repaired) {
        (0, _) => "All invariants hold.".to_owned(),
        (open, false) => {
            format!("{open} violations. --repair repairs what can be repaired, even while others write.")
        }
        (open, true) => format!("{open} violations are left: each line says why."),
    });
    lines
}

fn finding_line(finding: &Finding) -> String {
    let outcome = match &finding.outcome {
        Outcome::Found => String::new(),
        Outcome::Repaired => " → repaired".to_owned(),
        Outcome::Unrepairable(why) => format!(" → {why}"),
    };
    format!("  {}: {}{outcome}", finding.owner, finding.defect)
}

/// Prints how the lists are stored.
///
/// # Errors
/// Why they could not be measured.
pub async fn stats(options: &StatsOptions) -> Result<bool, String> {
    let opened = Opened::connect(&options.place).await?;
    let found = measured(&opened).await?;
    if options.json {
        print_json(&found)?;
    } else {
        print(&(stats_lines(&opened, &found).join("\n") + "\n"))?;
    }
    Ok(true)
}

async fn measured(opened: &Opened<'_>) -> Result<ListStats, String> {
    let description = opened.adopted().await?;
    let measured = stats::stats(&opened.engine, &[description.collection()], &|_, _| {}).await;
    let measured = measured.map_err(|error| opened.explain(&error))?;
    measured
        .into_iter()
        .next()
        .ok_or_else(|| format!("{opened} was not measured"))
}

fn stats_lines(opened: &Opened<'_>, stats: &ListStats) -> Vec<String> {
    let ItemSizes { p50, p90, p99, max } = stats.sizes;
    let mut lines = vec![
        format!(
            "{opened}: {} documents, {} with items, {} with pages, {} still plain arrays",
            grouped(stats.owners),
            grouped(stats.lists),
            grouped(stats.overflowed),
            grouped(stats.unbounded)
        ),
        format!(
            "  {} items; {} in documents, {} in {} pages",
            grouped(stats.items),
            size(stats.head_bytes),
            size(stats.page_bytes),
            grouped(stats.pages)
        ),
        format!("  bytes of an item: p50 {p50}, p90 {p90}, p99 {p99}, largest {max}"),
    ];
    if let Some((owner, items)) = &stats.largest {
        lines.push(format!("  the longest: {} items, {owner}", grouped(*items)));
    }
    for (name, fill) in [("heads", &stats.head_fill), ("pages", &stats.page_fill)] {
        if fill.iter().any(|number| *number > 0) {
            lines.push(format!("  how full {name} are"));
            lines.extend(bars(fill));
        }
    }
    for (week, pages) in outlier::stats::by_week(&stats.growth) {
        lines.push(format!("  week of {week}: {} new pages", grouped(pages)));
    }
    lines
}

fn bars(fill: &[u64; BARS]) -> impl Iterator<Item = String> + '_ {
    let most = fill.iter().copied().max().unwrap_or(1).max(1);
    fill.iter()
        .enumerate()
        .filter(|(_, number)| **number > 0)
        .map(move |(nth, number)| {
            let label = if nth + 1 == BARS {
                "over".to_owned()
            } else {
                format!("≤ {} %", (nth + 1) * 10)
            };
            let bar = "█".repeat(usize::try_from((number * WIDEST).div_ceil(most)).unwrap_or(0));
            format!("    {label:>7} {bar} {}", grouped(*number))
        })
}

/// Limits now and those that fit.
#[derive(Serialize)]
struct Tuned {
    budget: u64,
    sizes: ItemSizes,
    #[serde(skip_serializing_if = "Option::is_none")]
    now: Option<Advice>,
    fitting: Advice,
}

/// Prints the limits that fit a budget, for lists or for arrays that are not adopted yet.
///
/// # Errors
/// Why they could not be measured.
pub async fn tune(options: &TuneOptions) -> Result<bool, String> {
    let opened = Opened::connect(&options.place).await?;
    let (sizes, limits) = if let Some(description) = opened.described().await? {
        (measured(&opened).await?.sizes, Some(description.spec.limits))
    } else {
        let plan = Plan::read(&opened, &draft(&opened, None, None).spec).await?;
        plan.check(&opened)?;
        (plan.sizes(), None)
    };
    let (budget, screen) = (options.budget, options.screen);
    let most = usize::try_from(THRESHOLD).unwrap_or(usize::MAX);
    let tuned = Tuned {
        budget,
        sizes,
        now: limits.map(|now| evaluate(budget, sizes, screen, now.threshold, now.page_size)),
        fitting: advise(budget, sizes, screen, most),
    };
    if options.json {
        print_json(&tuned)?;
    } else {
        print(&(tune_lines(&opened, &tuned).join("\n") + "\n"))?;
    }
    Ok(true)
}

fn tune_lines(opened: &Opened<'_>, tuned: &Tuned) -> Vec<String> {
    let heading = [
        "",
        "head",
        "page",
        "full head",
        "worst case",
        "per append",
        "spills",
        "first screen",
    ];
    let mut rows = vec![heading.map(str::to_owned)];
    let named = tuned
        .now
        .iter()
        .map(|now| ("now", now))
        .chain([("fitting", &tuned.fitting)]);
    rows.extend(named.map(|(name, advice)| {
        [
            name.to_owned(),
            grouped(advice.threshold as u64),
            grouped(advice.page_size as u64),
            size(advice.head_bytes),
            size(advice.worst_head_bytes) + if advice.always_within { "" } else { " !" },
            size(advice.bytes_per_append),
            format!("{:.1}", advice.spills),
            if advice.first_screen_from_head {
                "from the head"
            } else {
                "needs a page"
            }
            .to_owned(),
        ]
    }));
    let mut lines = vec![format!("{opened}, for {} of its document:", size(tuned.budget))];
    lines.extend(aligned(&rows));
    lines.push(
        "(spills per 1,000 appends; ! passes the budget if all items are as large as the largest)".to_owned(),
    );
    lines
}

fn print_json(value: &impl Serialize) -> Result<(), String> {
    let json = serde_json::to_string_pretty(value).map_err(|error| error.to_string())?;
    print(&(json + "\n"))
}
