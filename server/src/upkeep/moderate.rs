use feed::{Feed, Reported};
use model::{Problem, ReportTarget};
use ui::components::excerpt;

use super::feed;
use crate::cli::{ModerateCommand, ModerateOptions};
use crate::error::CliError;

/// Lists what people reported, or decides about it.
pub async fn run(options: ModerateOptions) -> Result<(), CliError> {
    match options.command {
        None => list(&feed(&options.data).await?).await,
        Some(ModerateCommand::Suspend(options)) => {
            let handle = options.handle;
            let suspended = feed(&options.data).await?.moderation().suspend(&handle).await;
            let ended = suspended.map_err(|problem| refused(&problem))?;
            println!("@{handle} is suspended{}.", ended_too(ended));
            println!("To end it: spillway moderate reinstate {handle}");
            Ok(())
        }
        Some(ModerateCommand::Reinstate(options)) => {
            let handle = options.handle;
            let reinstated = feed(&options.data).await?.moderation().reinstate(&handle).await;
            reinstated.map_err(|problem| refused(&problem))?;
            println!("@{handle} is not suspended.");
            Ok(())
        }
        Some(ModerateCommand::Remove(options)) => {
            let target = options.target;
            let removed = feed(&options.data).await?.moderation().remove(&target).await;
            let author = removed.map_err(|problem| refused(&problem))?;
            println!("{target} by @{author} is deleted.");
            Ok(())
        }
        Some(ModerateCommand::Dismiss(options)) => {
            let target = options.target;
            let dismissed = feed(&options.data).await?.moderation().dismiss(&target).await;
            let ended = dismissed.map_err(|problem| refused(&problem))?;
            println!("{target} stays{}.", ended_too(ended));
            Ok(())
        }
    }
}

async fn list(feed: &Feed) -> Result<(), CliError> {
    let reported = feed.moderation().reported().await;
    let reported = reported.map_err(|problem| refused(&problem))?;
    if reported.is_empty() {
        println!("Nothing is reported.");
    }
    for Reported {
        target,
        about,
        says,
        count,
        latest,
    } in reported
    {
        let reports = if count == 1 { "report" } else { "reports" };
        println!("{target}");
        println!("  {count} {reports}, about @{about}");
        if let Some(says) = says {
            println!("  It says: {}", excerpt(&says));
        }
        for report in latest {
            let (at, text) = (report.report.at.exact(), excerpt(report.report.text.as_str()));
            println!("  {at}, @{}: {text}", report.by);
        }
        if !matches!(target, ReportTarget::User(_)) {
            println!("    spillway moderate remove {target}");
        }
        println!("    spillway moderate suspend {about}");
        println!("    spillway moderate dismiss {target}");
        println!();
    }
    Ok(())
}

fn ended_too(reports: u64) -> String {
    match reports {
        0 => String::new(),
        1 => ", and 1 report has ended".to_owned(),
        reports => format!(", and {reports} reports have ended"),
    }
}

fn refused(problem: &Problem) -> CliError {
    let next = "`spillway moderate` lists what is reported, with the commands for it.";
    CliError::failed("Nothing was changed", next).caused_by(problem)
}
