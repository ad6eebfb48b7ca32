//! `cargo xtask serve` and `cargo xtask build`.

use anyhow::Result;

use crate::console;
use crate::prepare;
use crate::process;
use crate::repository::Repository;
use crate::site;

/// Installs what is missing and builds the release. It ends with the duration of each step.
pub fn build(repository: &Repository) -> Result<()> {
    if !bring_up_to_date(repository)? {
        console::say("Nothing to do: the build is up to date.");
    }
    Ok(())
}

/// Builds, then replaces this process by the server.
///
/// It runs at the root of the clone, so that its data is always in `data` there.
pub fn serve(repository: &Repository, arguments: &[String]) -> Result<()> {
    bring_up_to_date(repository)?;
    let mut server = repository.command(repository.server());
    server
        .arg("serve")
        .args(arguments)
        .envs(site::environment(repository));
    let asks_for_help = |argument: &String| argument == "--help" || argument == "-h";
    if !arguments.iter().any(asks_for_help) {
        let address = std::env::var("SPILLWAY_ADDR").unwrap_or_else(|_| "127.0.0.1:3000".to_owned());
        console::say(&format!(
            "Starting Spillway on http://{address} (stop it with Ctrl+C)"
        ));
    }
    process::become_the(server)
}

/// Returns whether there was anything to do.
fn bring_up_to_date(repository: &Repository) -> Result<bool> {
    let tools = prepare::prepare(repository)?;
    site::build(repository, &tools)?;
    Ok(console::summarise())
}
