use super::feed;
use crate::cli::{AccountCommand, AccountOptions, ResetOptions};
use crate::error::CliError;

/// Does something for one account.
pub async fn run(options: AccountOptions) -> Result<(), CliError> {
    match options.command {
        AccountCommand::Reset(options) => reset(options).await,
    }
}

/// Prints a link that sets a new password. Only the link goes to standard output.
async fn reset(options: ResetOptions) -> Result<(), CliError> {
    let ResetOptions {
        handle,
        public_url,
        data,
    } = options;
    let feed = feed(&data).await?;
    let link = feed.accounts().make_recovery_link(&handle).await;
    let link = link.map_err(|problem| {
        let next = "Check the handle: it is the part after the @ on the person's page.";
        CliError::failed("No link was made", next).caused_by(&problem)
    })?;
    println!("{}{}", public_url.as_deref().unwrap_or_default(), link.path);
    if public_url.is_none() {
        eprintln!(
            "Put your site's address before this path, or set SPILLWAY_PUBLIC_URL to get a complete link."
        );
    }
    eprintln!(
        "It works once, until {}, and replaces any link before. Give it to @{handle} alone: anybody who has it can set the password.",
        link.until.exact()
    );
    Ok(())
}
