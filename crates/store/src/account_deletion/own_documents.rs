//! What a person has in documents of its own, beside the lists.

use super::Departure;
use document::Result;

impl Departure<'_> {
    /// Ends the person's sessions.
    pub(super) async fn end_sessions(&self) -> Result<()> {
        let sessions = self.session.sessions();
        let begun = sessions.of(self.handle).await?;
        if !begun.is_empty() && self.is_there().await? {
            for session in begun {
                sessions.delete(&session.digest).await?;
            }
        }
        Ok(())
    }

    /// Removes the reports by the person and about them.
    pub(super) async fn remove_reports(&self) -> Result<()> {
        let reports = self.session.reports();
        loop {
            let some = reports.concerning(self.handle).await?;
            if some.is_empty() || !self.is_there().await? {
                return Ok(());
            }
            reports.remove(&some).await?;
        }
    }

    /// Removes how the person's shares are listed.
    pub(super) async fn remove_shared_posts(&self) -> Result<()> {
        let shared_posts = self.session.shared_posts();
        loop {
            let some = shared_posts.some_by(self.handle).await?;
            if some.is_empty() || !self.is_there().await? {
                return Ok(());
            }
            for shared in &some {
                shared_posts.remove(shared).await?;
            }
        }
    }

    /// Removes the new texts of the person's comments, which are gone.
    pub(super) async fn remove_edits(&self) -> Result<()> {
        let comments = self.session.comments();
        loop {
            let some = comments.edited_by(self.handle).await?;
            if some.is_empty() || !self.is_there().await? {
                return Ok(());
            }
            for edited in &some {
                comments.forget(edited).await?;
            }
        }
    }
}
