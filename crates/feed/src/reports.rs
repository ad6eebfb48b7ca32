//! Reporting people, posts and comments to the people who run the site.

use model::{Handle, Kind, Problem, Report, ReportTarget, ReportText, Topic};
use store::reports::StoredReport;

use super::problems::{missing, to_problem};
use super::{Feed, Reports};

/// How many reports one person may have sent about which the operator has not decided.
const MOST: u64 = 100;

impl Reports<'_> {
    /// Whom a report would be about: the author, or the person themselves.
    pub async fn author(self, target: &ReportTarget) -> Result<Handle, Problem> {
        let (author, _) = self.0.content_of(target).await?;
        self.0.require_shown(&Topic::User(author.clone())).await?;
        Ok(author)
    }

    /// Sends a report. A second one about the same changes nothing: the answer is the first.
    ///
    /// # Errors
    /// When there is no such person, post or comment, when it is the reporter's own, or when too many reports wait.
    pub async fn send(
        self,
        reporter: &Handle,
        target: ReportTarget,
        text: ReportText,
    ) -> Result<Report, Problem> {
        let _turn = self.0.turns.of(reporter).await;
        let about = self.author(&target).await?;
        if about == *reporter {
            return Err(Problem::invalid("target", "You cannot report yourself."));
        }
        // In one session: the last look at the two sees at least what the first did.
        let store = self.0.store.session();
        let reports = store.reports();
        if reports.count_by(reporter).await.map_err(to_problem)? >= MOST {
            return Err(Problem::new(
                Kind::TooMany,
                "Many of your reports are still open. Report more when these are decided.",
            ));
        }
        let at = self.0.environment.now();
        let new = StoredReport {
            by: reporter.clone(),
            about: about.clone(),
            report: Report { target, text, at },
        };
        let added = reports.add(new).await.map_err(to_problem)?;
        let both = [reporter, &about];
        let there = store.people().named(both).await.map_err(to_problem)?;
        if let Some(gone) = both.into_iter().find(|person| !there.contains_key(*person)) {
            // They have left meanwhile, and nothing else would remove the report.
            let added = std::slice::from_ref(&added);
            reports.remove(added).await.map_err(to_problem)?;
            return Err(missing(&Topic::User(gone.clone()).to_string()));
        }
        Ok(added.report)
    }
}

impl Feed {
    /// Who wrote what a report is about, and what it says; for a person, themselves and nothing.
    pub(super) async fn content_of(
        &self,
        target: &ReportTarget,
    ) -> Result<(Handle, Option<String>), Problem> {
        match target {
            ReportTarget::User(handle) => {
                let person = self.store.people().get(handle).await.map_err(to_problem)?;
                let person = person.ok_or_else(|| missing(&Topic::User(handle.clone()).to_string()))?;
                Ok((person.person.handle, None))
            }
            ReportTarget::Post(post) => {
                let post = self.stored_post(*post).await?;
                Ok((post.author, Some(post.text.to_string())))
            }
            ReportTarget::Comment(post, id) => {
                let (author, text) = self.comment_text(*post, *id).await?;
                Ok((author, Some(text)))
            }
        }
    }
}
