//! `outlier scan`.

use std::io::Write as _;

use mongo::Observer;

use crate::fault::Fault;
use crate::measure::measure;
use crate::options::ScanOptions;
use crate::report::{CollectionReport, Report};
use crate::targets::{Skipped, indexes, targets};
use crate::{html, text};

/// Scans, and prints what it found. Returns whether everything could be read.
///
/// # Errors
/// Why there is nothing to print, and what to do next.
pub async fn run(options: &ScanOptions) -> Result<bool, String> {
    let connected = Observer::connect(&options.uri, options.secondary).await;
    let observer = connected.map_err(|error| error.to_string())?;
    let listed = targets(&observer, options).await;
    let (targets, skipped) = listed.map_err(|fault| named(&observer.server, &fault))?;
    let mut report = Report {
        server: observer.server.clone(),
        threshold: options.threshold,
        sample: options.sample,
        ended: None,
        collections: Vec::new(),
        skipped,
    };
    if targets.is_empty() && report.skipped.is_empty() {
        return Err(format!(
            "there is no such collection at {}. Look at the address, --database and --collection",
            observer.server
        ));
    }
    for (nth, target) in targets.iter().enumerate() {
        eprintln!("{} of {}: {target}", nth + 1, targets.len());
        match measure(&observer, target, options).await {
            Ok((tally, measured)) => {
                let indexes = indexes(&observer, target).await;
                let collection = CollectionReport::of(target, &tally, measured, &indexes, options.threshold);
                report.collections.push(collection);
            }
            Err(fault @ Fault::Gone(_)) => {
                report.ended = Some(format!(
                    "{} while {target} was read",
                    named(&observer.server, &fault)
                ));
                break;
            }
            Err(fault) => report.skipped.push(Skipped {
                namespace: target.to_string(),
                reason: fault.to_string(),
                failed: true,
            }),
        }
    }
    write(&report, options)?;
    if let Some(ended) = &report.ended {
        eprintln!(
            "error: {ended}\nNothing was written, and the collections above are complete. Start the server, and run the \
             scan again; --database and --collection limit it to the rest"
        );
    }
    Ok(report.is_complete())
}

fn named(server: &str, fault: &Fault) -> String {
    match fault {
        Fault::Gone(reason) => format!("the server at {server} went away ({reason})"),
        Fault::Denied => format!(
            "this user may not list the databases at {server}. Name one with --database, or grant the role \
             readAnyDatabase"
        ),
        Fault::Slow | Fault::Refused(_) => {
            format!("{fault}, at {server}, when it was asked for its databases")
        }
    }
}

fn write(report: &Report, options: &ScanOptions) -> Result<(), String> {
    if let Some(file) = &options.html {
        std::fs::write(file, html::page(report)).map_err(|error| {
            format!(
                "{} cannot be written: {error}. Name another file with --html",
                file.display()
            )
        })?;
        eprintln!("report: {}", file.display());
    }
    let printed = if options.json {
        serde_json::to_string_pretty(report).map_err(|error| error.to_string())? + "\n"
    } else {
        text::table(report)
    };
    print(&printed)
}

/// Prints a result.
///
/// # Errors
/// What the operating system says.
pub fn print(printed: &str) -> Result<(), String> {
    // A reader that stopped reading, such as `head`, has what it wanted.
    match std::io::stdout().write_all(printed.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.to_string()),
        _ => Ok(()),
    }
}
