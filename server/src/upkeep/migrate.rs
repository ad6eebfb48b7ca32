use store::upkeep::{MigrationReport, migrate};

use super::table::{Table, counted, grouped, size};
use super::{interrupted, open, print_json, watched};
use crate::cli::MigrateOptions;
use crate::error::CliError;

/// Turns unbounded arrays into head and pages, or says what that would do.
pub async fn run(options: MigrateOptions) -> Result<(), CliError> {
    let store = open(&options.data).await?;
    let doing = if options.dry_run { "Looking" } else { "Migrating" };
    let migrated = watched(doing, async |progress| {
        migrate(&store, options.dry_run, progress).await
    });
    let migrated = migrated
        .await
        .map_err(|error| interrupted("The migration was interrupted", &error))?;
    if options.json {
        print_json(&migrated)?;
    } else {
        print(&migrated, options.dry_run);
    }
    if migrated.refused.is_empty() {
        return Ok(());
    }
    let refused = migrated.refused.len() as u64;
    Err(CliError::failed(
        format!("{} cannot be migrated", counted(refused, "list", "lists")),
        "Each is named above with what to do. The others are done; run it again for these.",
    ))
}

fn print(migrated: &MigrationReport, dry_run: bool) {
    let (did, gone) = if dry_run {
        ("Would migrate", "would go")
    } else {
        ("Migrated", "went")
    };
    println!(
        "{did} {} of {}.",
        counted(migrated.lists, "list", "lists"),
        counted(migrated.owners, "owner", "owners")
    );
    let mut table = Table::new(1, ["", ""]);
    for (what, number) in [
        ("items", grouped(migrated.items)),
        ("plain handles read", grouped(migrated.handles)),
        ("pages", grouped(migrated.pages)),
        ("bytes in pages", size(migrated.bytes)),
        ("lists that were missing", grouped(migrated.made)),
    ] {
        table.row([what.to_owned(), number]);
    }
    table.row([format!("duplicates that {gone}"), grouped(migrated.duplicates)]);
    print!("{}", table.text().trim_start_matches('\n'));
    for refusal in &migrated.refused {
        let relation = refusal
            .relation
            .map(|relation| format!(" {relation}"))
            .unwrap_or_default();
        println!("refused  {}{relation}: {}", refusal.owner, refusal.why);
    }
    if dry_run && migrated.lists + migrated.made > 0 {
        println!("Nothing was changed. `spillway migrate` does it, even while the feed runs.");
    }
}
