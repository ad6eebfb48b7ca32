use store::Store;
use store::upkeep::{CheckOptions, CheckReport, Finding, Outcome, Severity, check};

use super::table::{counted, grouped};
use super::{interrupted, open, print_json, watched};
use crate::cli;
use crate::error::CliError;
use crate::town;

/// How many findings to print of each severity; JSON has all of them.
const SHOWN: usize = 50;

/// Checks the whole store, and repairs it where asked to.
pub async fn run(options: cli::CheckOptions) -> Result<(), CliError> {
    let store = open(&options.data).await?;
    if options.repair {
        refuse_half_a_town(&store).await?;
    }
    let wanted = CheckOptions {
        repair: options.repair,
        lists_only: options.lists_only,
        ..CheckOptions::default()
    };
    let checked = watched("Checking", async |progress| check(&store, wanted, progress).await);
    let checked = checked
        .await
        .map_err(|error| interrupted("The check was interrupted", &error))?;
    if options.json {
        print_json(&checked)?;
    } else {
        print(&checked);
    }
    if checked.is_sound() {
        return Ok(());
    }
    let open = checked.findings.iter().filter(|finding| is_open(finding)).count() as u64;
    let next = if options.repair {
        "What is left cannot be repaired from the data in the store: each line says what to do."
    } else {
        "`spillway check --repair` repairs what can be repaired, even while the feed runs."
    };
    let found = counted(open, "violation", "violations");
    Err(CliError::failed(format!("The store has {found}"), next))
}

fn is_open(finding: &Finding) -> bool {
    finding.severity > Severity::Notice && finding.outcome != Outcome::Repaired
}

/// A town's pages are written before its owners; while it is incomplete they must not be taken for orphans.
async fn refuse_half_a_town(store: &Store) -> Result<(), CliError> {
    let half = town::is_half_loaded(store).await;
    if !half.map_err(|error| interrupted("The store cannot be read", &error))? {
        return Ok(());
    }
    Err(CliError::failed(
        "A demo town is half loaded, so nothing can be repaired yet",
        "Run `spillway seed` to its end first; it starts from the beginning.",
    ))
}

fn print(checked: &CheckReport) {
    for (severity, name) in [
        (Severity::Broken, "Broken: an invariant does not hold"),
        (
            Severity::Unfinished,
            "Unfinished: an interrupted operation left it",
        ),
        (Severity::Notice, "Worth knowing"),
    ] {
        let findings: Vec<&Finding> = checked
            .findings
            .iter()
            .filter(|finding| finding.severity == severity)
            .collect();
        if findings.is_empty() {
            continue;
        }
        println!("{name} ({})", grouped(findings.len() as u64));
        for finding in findings.iter().take(SHOWN) {
            println!("  {}", line(finding));
        }
        if findings.len() > SHOWN {
            println!(
                "  … and {} more; --json has them all",
                grouped((findings.len() - SHOWN) as u64)
            );
        }
    }
    println!(
        "Checked {}, {} and {}.",
        counted(checked.owners, "owner", "owners"),
        counted(checked.pages, "page", "pages"),
        counted(checked.items, "item", "items")
    );
    if checked.is_sound() {
        println!("All invariants hold.");
    }
}

fn line(finding: &Finding) -> String {
    let relation = finding
        .relation
        .map(|relation| format!(" {relation}"))
        .unwrap_or_default();
    let outcome = match &finding.outcome {
        Outcome::Found => String::new(),
        Outcome::Repaired => " → repaired".to_owned(),
        Outcome::Unrepairable(why) => format!(" → {why}"),
    };
    format!("{}{relation}: {}{outcome}", finding.owner, finding.violation)
}
