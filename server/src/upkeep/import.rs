use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};

use store::transfer::{Counts, ImportError, LineError, Lines, import};

use super::bar;
use super::table::counted;
use crate::cli::{ImportOptions, TransferFile};
use crate::error::CliError;
use crate::opening;

/// Reads an export into an empty store.
pub async fn run(options: ImportOptions) -> Result<(), CliError> {
    match &options.from {
        TransferFile::Standard if io::stdin().is_terminal() => Err(CliError::usage(
            "There is nothing to import",
            "Name an export with --from, or send one to standard input: spillway import < town.jsonl",
        )),
        TransferFile::Standard => read(&options, io::stdin().lock(), None).await,
        TransferFile::File(file) => {
            let open =
                || File::open(file).map_err(|error| describe_error(&LineError::Read(error).into(), &options));
            // One complete pass before anything is written: a damaged file changes nothing.
            let counts = Lines::begin(BufReader::new(open()?)).and_then(Lines::count);
            let counts = counts.map_err(|error| describe_error(&error.into(), &options))?;
            read(&options, BufReader::new(open()?), Some(&counts)).await
        }
    }
}

async fn read(options: &ImportOptions, file: impl BufRead, counts: Option<&Counts>) -> Result<(), CliError> {
    // The first line decides whether to open a store at all, since opening may create it.
    let mut lines = Lines::begin(file).map_err(|error| describe_error(&error.into(), options))?;
    let store = opening::open_to_import(&options.data).await?.store;
    let bar = bar("Importing");
    let total = counts.map(|counts| counts.values().sum());
    let imported = import(&store, &mut lines, &|done| {
        bar.set_length(total.unwrap_or(done));
        bar.set_position(done);
    })
    .await
    .map_err(|error| describe_error(&error, options))?;
    bar.finish_and_clear();
    eprintln!(
        "Imported {} into {}; {} already existed. `spillway check` verifies the lists.",
        counted(imported.written, "document", "documents"),
        options.data.store,
        super::table::grouped(imported.equal),
    );
    Ok(())
}

fn describe_error(error: &ImportError, options: &ImportOptions) -> CliError {
    let next = match error {
        ImportError::Line(LineError::Read(_)) => "Check the name and the permissions of the file.",
        ImportError::Line(LineError::Foreign) => "Give a file that `spillway export` wrote.",
        ImportError::Line(LineError::Version(_)) => {
            "Import it with the version of Spillway that wrote it, or a later one."
        }
        ImportError::Line(_) => {
            "Export again, and import the whole file: documents that exist already are not written twice."
        }
        ImportError::Store { .. } => "Nothing is lost: run it again to continue.",
        ImportError::Differs { .. } | ImportError::NotEmpty { .. } | ImportError::More { .. } => {
            "An import needs an empty store, or one with an unfinished import of this export: name another one with \
             SPILLWAY_STORE."
        }
        _ => "Run it again to continue.",
    };
    CliError::failed(format!("The import from {} stopped", options.from), next).caused_by(error)
}
