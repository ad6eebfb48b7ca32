use std::io::{self, BufWriter, Write};
use std::path::Path;

use store::Store;
use store::transfer::{Counts, ExportError, export};
use tempfile::NamedTempFile;

use super::table::counted;
use super::{open, watched};
use crate::cli::{ExportOptions, TransferFile};
use crate::error::CliError;

/// Writes the whole store into a file or to standard output.
pub async fn run(options: ExportOptions) -> Result<(), CliError> {
    let store = open(&options.data).await?;
    let written = match &options.to {
        TransferFile::Standard => write(&store, &mut io::stdout()).await,
        TransferFile::File(file) => write_file(&store, file).await,
    };
    let counts = written.map_err(|error| describe_error(&error, &options.to))?;
    eprintln!(
        "Exported {}, all but sessions.",
        counted(counts.values().sum(), "document", "documents")
    );
    Ok(())
}

/// Moves the file into place once it is complete: a failed export leaves an earlier file unchanged. Only its owner
/// may read it.
async fn write_file(store: &Store, file: &Path) -> Result<Counts, ExportError> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut beside = NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    let counts = write(store, beside.as_file_mut()).await?;
    beside.as_file().sync_all()?;
    beside.persist(file).map_err(|failed| failed.error)?;
    Ok(counts)
}

async fn write(store: &Store, out: &mut (impl Write + Send)) -> Result<Counts, ExportError> {
    let mut out = BufWriter::new(out);
    watched("Exporting", async |progress| {
        export(store, &mut out, progress).await
    })
    .await
}

fn describe_error(error: &ExportError, to: &TransferFile) -> CliError {
    let next = match error {
        ExportError::Write(_) => {
            "Check the folder's permissions and free space, or the program that reads the pipe."
        }
        ExportError::Restless { .. } => "Run it again when there is less traffic.",
        ExportError::Foreign { .. } => "Move that document to a collection of another name, or delete it.",
        _ => "The store is unchanged: check its folder and disk, or its server, and run it again.",
    };
    CliError::failed(format!("The export to {to} stopped"), next).caused_by(error)
}
