//! `cargo xtask serve` and `cargo xtask build`.

use crate::console::Console;
use crate::failure::Failure;
use crate::prepare;
use crate::process;
use crate::repository::Repository;
use crate::site;

/// Installs what is missing and builds the release.
pub fn build(repository: &Repository, console: &Console) -> Result<(), Failure> {
    bring_up_to_date(repository, console)?;
    if console.taken().is_empty() {
        console.say("Nothing to do: the build is up to date.");
    }
    Ok(())
}

/// Builds, then replaces this process by the server.
///
/// It runs at the root of the clone, so that its data is always in `data` there.
pub fn serve(repository: &Repository, console: &Console, arguments: &[String]) -> Result<(), Failure> {
    bring_up_to_date(repository, console)?;
    let mut server = repository.command(repository.server());
    server
        .arg("serve")
        .args(arguments)
        .envs(site::environment(repository));
    if !arguments
        .iter()
        .any(|argument| argument == "--help" || argument == "-h")
    {
        let address = std::env::var("SPILLWAY_ADDR").unwrap_or_else(|_| "127.0.0.1:3000".to_owned());
        console.say(&format!(
            "Starting Spillway on http://{address} (stop it with Ctrl+C)"
        ));
    }
    process::become_the(server)
}

fn bring_up_to_date(repository: &Repository, console: &Console) -> Result<(), Failure> {
    let tools = prepare::prepare(repository, console)?;
    site::build(repository, console, &tools)?;
    console.summarise();
    Ok(())
}
