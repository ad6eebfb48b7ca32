//! What the operator does about reports. Each decision is recorded in the security log, and ends the reports that it is
//! about.

use std::collections::HashMap;

use model::{Handle, Kind, PostId, Problem, ReportTarget, Topic};
use store::reports::StoredReport;

use super::problems::{missing, to_problem};
use super::{Client, Moderation, SecurityEvent};

/// How many reports of one target are shown.
const SHOWN: usize = 3;

/// What people reported about one target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reported {
    /// What it is about.
    pub target: ReportTarget,
    /// Who wrote it, or the person themselves.
    pub about: Handle,
    /// What the post or comment says; nothing for a person.
    pub says: Option<String>,
    /// How many people reported it.
    pub count: usize,
    /// Some of the latest reports, the latest first.
    pub latest: Vec<StoredReport>,
}

impl Moderation<'_> {
    /// Everything that is reported, what most people reported first. Reports about what is gone are removed.
    pub async fn reported(self) -> Result<Vec<Reported>, Problem> {
        let mut targets: HashMap<ReportTarget, Reported> = HashMap::new();
        let mut last = String::new();
        loop {
            let stretch = self.0.store.reports().after(&last).await;
            let (reports, end) = stretch.map_err(to_problem)?;
            if reports.is_empty() {
                break;
            }
            last = end;
            for report in reports {
                let target = report.report.target.clone();
                let reported = targets.entry(target).or_insert_with_key(|target| Reported {
                    target: target.clone(),
                    about: report.about.clone(),
                    says: None,
                    count: 0,
                    latest: Vec::new(),
                });
                reported.count += 1;
                reported.latest.push(report);
                reported
                    .latest
                    .sort_by_key(|report| std::cmp::Reverse(report.report.at));
                reported.latest.truncate(SHOWN);
            }
        }
        let mut all = Vec::with_capacity(targets.len());
        for mut reported in targets.into_values() {
            match self.0.content_of(&reported.target).await {
                Ok((_, says)) => {
                    reported.says = says;
                    all.push(reported);
                }
                Err(gone) if gone.kind == Kind::NotFound => drop(self.end_reports(&reported.target).await?),
                Err(problem) => return Err(problem),
            }
        }
        let order = |reported: &Reported| {
            let latest = reported.latest.first().map(|report| report.report.at);
            (
                std::cmp::Reverse((reported.count, latest)),
                reported.target.clone(),
            )
        };
        all.sort_by_cached_key(order);
        Ok(all)
    }

    /// Suspends a person: nobody sees them or what they wrote, and they cannot sign in. Ends the reports about them and
    /// what they wrote; returns how many there were.
    pub async fn suspend(self, handle: &Handle) -> Result<u64, Problem> {
        let begun = self.0.store.suspensions().begin(handle, self.0.now()).await;
        found(handle, begun)?;
        self.0.new_posts.forget();
        let reports = self.0.store.reports().remove_about(handle).await;
        let reports = reports.map_err(to_problem)?;
        self.record(SecurityEvent::AccountSuspended, handle);
        Ok(reports)
    }

    /// Ends a suspension. Everything of the person is as it was.
    pub async fn reinstate(self, handle: &Handle) -> Result<(), Problem> {
        found(handle, self.0.store.suspensions().end(handle).await)?;
        self.0.new_posts.forget();
        self.record(SecurityEvent::AccountReinstated, handle);
        Ok(())
    }

    /// Deletes a post or a comment, as its author would. Ends the reports about it; returns the author.
    ///
    /// # Errors
    /// For a person: they are suspended, and delete their account themselves.
    pub async fn remove(self, target: &ReportTarget) -> Result<Handle, Problem> {
        let author = match target {
            ReportTarget::User(handle) => {
                let why =
                    format!("A person is not removed but suspended: spillway moderate suspend {handle}");
                return Err(Problem::invalid("target", why));
            }
            ReportTarget::Post(post) => {
                let author = self.0.stored_post(*post).await?.author;
                self.0.posts().delete(&author, *post).await?;
                author
            }
            ReportTarget::Comment(post, id) => {
                let (author, _) = self.0.comment_text(*post, *id).await?;
                self.0.reactions().delete_comment(&author, *post, *id).await?;
                author
            }
        };
        self.end_reports(target).await?;
        let log = self.0.security();
        log.record_about(SecurityEvent::ContentRemoved, Some(&author), target);
        Ok(author)
    }

    /// Ends the reports about a target without doing anything else; returns how many there were.
    pub async fn dismiss(self, target: &ReportTarget) -> Result<u64, Problem> {
        let ended = self.end_reports(target).await?;
        if ended == 0 {
            let why = format!("Nobody has reported {target}. `spillway moderate` lists what is reported.");
            return Err(Problem::new(Kind::NotFound, why));
        }
        let log = self.0.security();
        log.record_about(SecurityEvent::ReportsDismissed, None, target);
        Ok(ended)
    }

    /// Hides a post from everybody, or no longer. Its document and lists stay as they are.
    pub async fn withhold(self, post: PostId, on: bool) -> Result<(), Problem> {
        let posts = self.0.store.posts();
        let (marked, event) = if on {
            (posts.withhold(post).await, SecurityEvent::PostWithheld)
        } else {
            (posts.release(post).await, SecurityEvent::PostReleased)
        };
        if !marked.map_err(to_problem)? {
            return Err(missing(&Topic::Post(post).to_string()));
        }
        self.0.new_posts.forget();
        let log = self.0.security();
        log.record_about(event, None, &ReportTarget::Post(post));
        Ok(())
    }

    async fn end_reports(self, target: &ReportTarget) -> Result<u64, Problem> {
        self.0.store.reports().remove_on(target).await.map_err(to_problem)
    }

    fn record(self, event: SecurityEvent, who: &Handle) {
        let log = self.0.security();
        log.record(event, Some(who), &Client::default());
    }
}

fn found(handle: &Handle, found: document::Result<bool>) -> Result<(), Problem> {
    if found.map_err(to_problem)? {
        return Ok(());
    }
    Err(missing(&Topic::User(handle.clone()).to_string()))
}
