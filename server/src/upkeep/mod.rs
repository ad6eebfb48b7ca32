//! `spillway detect`, `migrate`, `check`, `stats`, `shard`, `export` and `import`: the data layer's operations on
//! a whole store, at the terminal; and `spillway account` and `moderate`. Results go to standard output; progress and
//! faults to standard error.

mod account;
mod check;
mod detect;
mod export;
mod import;
mod migrate;
mod moderate;
mod shard;
mod stats;
mod table;

pub use account::run as account;
pub use check::run as check;
pub use detect::run as detect;
pub use export::run as export;
pub use import::run as import;
pub use migrate::run as migrate;
pub use moderate::run as moderate;
pub use shard::run as shard;
pub use stats::run as stats;

use document::Error;
use feed::{Environment, Feed};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use store::Store;

use crate::cli::DataOptions;
use crate::error::CliError;
use crate::opening;

/// Opens an existing store: a misspelt name would otherwise create an empty store, which checks as correct.
async fn open(data: &DataOptions) -> Result<Store, CliError> {
    if !opening::is_there(&data.store).await? {
        return Err(CliError::failed(
            format!("There is no store in {}", data.store),
            "Name its folder with SPILLWAY_STORE=embedded:<folder>, or create one with `spillway seed`.",
        ));
    }
    opening::open(data).await
}

/// The feed over an existing store, for one command.
async fn feed(data: &DataOptions) -> Result<Feed, CliError> {
    let store = open(data).await?;
    let mut environment = Environment::system(false);
    environment.clock = opening::clock_of(&store).await?;
    Ok(Feed::new(store, environment))
}

/// A progress bar that moves as documents are reported to the closure. It only shows at a terminal.
fn bar(message: &'static str) -> ProgressBar {
    let bar = ProgressBar::new(0).with_message(message);
    let style = ProgressStyle::with_template(
        "{msg} [{bar:30}] {percent} % · {pos} of {len} documents · {elapsed}, about {eta} left",
    );
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

/// Does something with the whole store, beside such a bar.
async fn watched<T, E>(
    message: &'static str,
    work: impl AsyncFnOnce(&(dyn Fn(u64, u64) + Send + Sync)) -> Result<T, E>,
) -> Result<T, E> {
    let bar = bar(message);
    let progress = |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    };
    let done = work(&progress).await?;
    bar.finish_and_clear();
    Ok(done)
}

fn print_json(value: &impl Serialize) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(value).map_err(|error| {
        CliError::failed(
            "The result cannot be written as JSON",
            "Run it again without --json.",
        )
        .caused_by(&error)
    })?;
    println!("{text}");
    Ok(())
}

fn interrupted(what: &'static str, error: &Error) -> CliError {
    CliError::failed(
        what,
        "Nothing is lost: run it again to continue. If it stops again, check the store's folder and disk.",
    )
    .caused_by(error)
}
