//! The students whom a class keeps when its town is reset.

use feed::to_problem;
use model::Problem;
use store::people::User;
use store::sessions::Session;

use super::SEATS;
use crate::Workshop;

/// The students who stay when the town is reset.
#[derive(Debug, Clone, Default)]
pub struct Members {
    users: Vec<User>,
    sessions: Vec<Session>,
}

impl Workshop {
    /// The students with their sessions, to be carried over into the new town.
    pub async fn class_members(&self) -> Result<Members, Problem> {
        let mut members = Members::default();
        for student in self.stored_class().await?.students {
            let handle = student.person.handle;
            members
                .users
                .extend(self.store().people().get(&handle).await.map_err(to_problem)?);
            members
                .sessions
                .extend(self.store().sessions().of(&handle).await.map_err(to_problem)?);
        }
        Ok(members)
    }

    /// Begins the class again, with its students, in a town that was just loaded again.
    pub async fn reopen_class(&self, members: Members) -> Result<(), Problem> {
        let seats = self.store().class();
        // The post keeps its id, so everybody who watches it continues to.
        seats.empty().await.map_err(to_problem)?;
        self.open_class().await?;
        for user in &members.users {
            let born = self.feed.fresh_id(user.at);
            self.store()
                .people()
                .insert(user, born)
                .await
                .map_err(to_problem)?;
            seats.take_seat(SEATS).await.map_err(to_problem)?;
            seats.add(&user.person).await.map_err(to_problem)?;
        }
        for session in &members.sessions {
            self.store()
                .sessions()
                .insert(session)
                .await
                .map_err(to_problem)?;
        }
        self.feed.live().reset();
        Ok(())
    }
}
