use store::upkeep::{DetectOptions, Form, Outlier, detect};

use super::table::{Table, counted, grouped, size};
use super::{interrupted, open, print_json, watched};
use crate::cli;
use crate::error::CliError;

/// Shows the outliers of every relation.
pub async fn run(options: cli::DetectOptions) -> Result<(), CliError> {
    let store = open(&options.data).await?;
    let wanted = DetectOptions {
        threshold: options.items,
        bytes: options.bytes,
        top: options.top,
    };
    let found = watched("Looking for outliers", async |progress| {
        detect(&store, wanted, progress).await
    });
    let outliers = found
        .await
        .map_err(|error| interrupted("The outliers cannot be found", &error))?;
    if options.json {
        return print_json(&outliers);
    }
    let mut table = Table::new(
        3,
        [
            "relation",
            "owner",
            "stored as",
            "items",
            "head",
            "of threshold",
            "pages",
            "page bytes",
            "document",
            "of 16 MB",
        ],
    );
    for outlier in &outliers {
        table.row([
            outlier.list.to_string(),
            outlier.owner.clone(),
            form(outlier).to_owned(),
            grouped(outlier.items),
            grouped(outlier.head),
            format!("{:.0} %", outlier.head_fill),
            grouped(outlier.pages),
            size(outlier.page_bytes),
            size(outlier.owner_bytes),
            format!("{:.1} %", outlier.of_most),
        ]);
    }
    if table.is_empty() {
        println!(
            "No outliers: every list fits its head, and every document is below {}.",
            size(options.bytes)
        );
        return Ok(());
    }
    print!("{}", table.text());
    let unbounded = outliers
        .iter()
        .filter(|outlier| outlier.form == Form::Unbounded)
        .count() as u64;
    if unbounded > 0 {
        println!(
            "\n{} an unbounded array. `spillway migrate --dry-run` shows what it would become.",
            counted(unbounded, "list is", "lists are each")
        );
    }
    Ok(())
}

fn form(outlier: &Outlier) -> &'static str {
    match outlier.form {
        Form::Unbounded => "unbounded array",
        Form::Head => "head",
        Form::Overflowed => "head and pages",
    }
}
