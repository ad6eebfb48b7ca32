//! `cargo xtask bench`: the cost of lists, ours at every length and the articles' layouts beside it.
//!
//! Unless an address names a server, every number is measured on the embedded store in a temporary folder, on disk and
//! durable. Compared operations take turns in one run, so that a busy machine slows both alike, and each time comes
//! with the bytes and commits that the engine counted, which do not depend on the machine at all. That is why the
//! loops are written out here: a benchmark harness would time one function after the other and could count neither.

mod counting;
mod crowd;
mod edges;
mod flat;
mod home;
mod likers;
mod lists;
mod machine;
mod markdown;
mod publish;
mod race;
mod raw;
mod report;
mod scroll;
mod server;
mod sessions;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use serde::Serialize;

/// The server's allocator, so that the benchmark measures what runs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Any error that stops a benchmark; it is printed.
type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Measures what lists cost.
#[derive(Parser)]
struct Arguments {
    /// Small lists and short loops: shows that everything runs, and measures nothing worth keeping
    #[arg(long)]
    quick: bool,
    /// Where the results go
    #[arg(long, default_value = "docs/benchmarks")]
    out: PathBuf,
    /// Measures one part alone
    #[arg(long, value_enum)]
    only: Option<Only>,
    /// Measures likes on an otherwise idle store, with and without sessions, and prints the numbers: "embedded", or the
    /// address of an empty database on a MongoDB server, which is emptied afterwards
    #[arg(long, value_name = "STORE")]
    likes: Option<String>,
    /// Checks the town in a database on a MongoDB server, and prints how many commands that takes
    #[arg(long, value_name = "ADDRESS")]
    check: Option<String>,
    /// Measures this program as a server, and nothing else
    #[arg(long, value_name = "PROGRAM")]
    server: Option<PathBuf>,
    /// With --server: the address of another server's page, to be measured in turns; may be repeated. Spillway gets the first
    /// core then, and so should they
    #[arg(long, value_name = "URL", requires = "server")]
    peer: Vec<server::Peer>,
    /// Answers with the contents of a file, from memory
    #[arg(long, hide = true, value_name = "FILE")]
    from_memory: Option<PathBuf>,
    /// Scrolls through the list of a store that another process wrote, and prints what it saw
    #[arg(long, hide = true)]
    scroll: Option<PathBuf>,
}

/// A part that can be measured alone.
#[derive(Clone, Copy, clap::ValueEnum)]
enum Only {
    /// Many likers of one post; the numbers are printed
    Likers,
    /// The home feed; the table is printed
    Home,
    /// One document for each like beside heads and pages; this part of the results is written
    Edges,
}

/// All results of a run.
#[derive(Serialize)]
struct Results {
    quick: bool,
    flat: flat::Flat,
    race: race::Race,
    likers: likers::Likers,
    scroll: scroll::Scroll,
    home: home::Home,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error),
    };
    match runtime.block_on(carry_out(&arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&*error),
    }
}

async fn carry_out(arguments: &Arguments) -> Result<()> {
    let (quick, out) = (arguments.quick, &arguments.out);
    if let Some(store) = &arguments.scroll {
        scroll::print(store).await
    } else if let Some(answer) = &arguments.from_memory {
        server::serve_from_memory(answer).await
    } else if let Some(program) = &arguments.server {
        server::run(program, &arguments.peer, quick, out).await
    } else if let Some(store) = &arguments.likes {
        print(&sessions::measure(store, quick).await?)
    } else if let Some(address) = &arguments.check {
        print(&sessions::count_check(address).await?)
    } else {
        match arguments.only {
            Some(Only::Likers) => print(&likers::measure(quick).await?),
            Some(Only::Home) => print_home(quick).await,
            Some(Only::Edges) => edges::run(quick, out).await,
            None => run(quick, out).await,
        }
    }
}

fn failed(error: &dyn Error) -> ExitCode {
    eprintln!("The benchmark stopped: {error}");
    ExitCode::FAILURE
}

fn print(results: &impl Serialize) -> Result<()> {
    println!("{}", serde_json::to_string_pretty(results)?);
    Ok(())
}

async fn print_home(quick: bool) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let home = home::measure(folder.path(), quick).await?;
    println!("{}", report::home(&home));
    Ok(())
}

async fn run(quick: bool, out: &Path) -> Result<()> {
    let folder = tempfile::tempdir()?;
    eprintln!("1 of 6: the cost of our lists at every length");
    let flat = flat::measure(folder.path(), quick).await?;
    eprintln!("2 of 6: scrolling through the longest of them");
    let scroll = scroll::in_a_process_of_its_own(folder.path())?;
    drop(folder);
    eprintln!("3 of 6: the articles' ways beside ours");
    let race = race::measure(quick).await?;
    eprintln!("4 of 6: many likers of one post");
    let likers = likers::measure(quick).await?;
    eprintln!("5 of 6: the home feed of who follows few and many");
    let folder = tempfile::tempdir()?;
    let home = home::measure(folder.path(), quick).await?;
    let results = Results {
        quick,
        flat,
        race,
        likers,
        scroll,
        home,
    };
    report::write(&results, out)?;
    eprintln!("6 of 6: one document for each like beside ours");
    edges::run(quick, out).await?;
    println!("The results are in {}.", out.display());
    Ok(())
}
