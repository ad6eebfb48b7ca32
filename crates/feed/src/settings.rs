//! What people change about themselves, including leaving.

use model::{Account, Bio, DisplayName, Handle, Kind, Password, Problem, Timestamp, Topic};
use store::people::User;

use super::accounts::DAY;
use super::problems::{missing, to_problem};
use super::{Accounts, Client, Feed, SecurityEvent, SessionToken, passwords};

/// How long nobody gets the handle of somebody who has left, in milliseconds.
const HELD: i64 = 30 * DAY;

impl Accounts<'_> {
    /// Changes a person's displayed name and bio.
    pub async fn describe(self, actor: &Handle, name: DisplayName, bio: Bio) -> Result<Account, Problem> {
        let changed = self.0.store.people().describe(actor, &name, &bio).await;
        if !changed.map_err(to_problem)? {
            return Err(missing(&Topic::User(actor.clone()).to_string()));
        }
        Ok(Account {
            handle: actor.clone(),
            name,
            bio: bio.into(),
        })
    }

    /// Changes a password, after checking the present one. Common passwords are refused; what is wrong with the new one
    /// is a problem about `new_password`. All sessions end, and recovery codes and links; returns a new session.
    pub async fn change_password(
        self,
        actor: &Handle,
        present: &str,
        new: &str,
        client: &Client,
    ) -> Result<SessionToken, Problem> {
        let new: Password = new.parse().map_err(passwords::about_the_new)?;
        let (user, old) = self.0.verified(actor, present, client).await?;
        let salt = self.0.environment.salt();
        let hash = passwords::hash(new, user.person.clone(), salt, client.peer).await;
        let hash = self.0.record_limits(hash, Some(actor), client);
        let hash = hash.map_err(passwords::about_the_new)?;
        let at = self.0.environment.now();
        let people = self.0.store.people();
        let changed = people.change_password(actor, &old, &hash, at).await;
        if !changed.map_err(to_problem)? {
            return Err(not_yours());
        }
        let (_, token) = self.start_session(user, at, client).await?;
        // The write above has ended them; this only tidies up.
        self.0.end_sessions_but(actor, &token).await?;
        let log = self.0.security();
        log.record(SecurityEvent::PasswordChanged, Some(actor), client);
        Ok(token)
    }

    /// Deletes an account, after checking its password: at once for everybody to see, and for good. The person's
    /// items in other people's lists are removed afterwards, in the background. Nobody gets the handle for thirty days.
    pub async fn delete_account(
        self,
        actor: &Handle,
        password: &str,
        client: &Client,
    ) -> Result<(), Problem> {
        let (_, hash) = self.0.verified(actor, password, client).await?;
        let until = Timestamp::from_millis(self.0.environment.now().millis() + HELD);
        let held = self.0.store.held_handles().hold(actor, until).await;
        held.map_err(to_problem)?;
        let turn = self.0.turns.of(actor).await;
        let marked = self
            .0
            .store
            .account_deletions()
            .begin(actor, &hash)
            .await
            .map_err(to_problem)?;
        drop(turn);
        if !marked {
            return Err(not_yours());
        }
        let log = self.0.security();
        log.record(SecurityEvent::AccountDeleted, Some(actor), client);
        let (feed, handle) = (self.0.clone(), actor.clone());
        tokio::spawn(async move {
            if let Err(error) = feed.store.account_deletions().finish(&handle).await {
                tracing::warn!(%error, "an account was deleted, and its traces are removed later");
            }
            feed.unread_of_anybody_changed();
        });
        Ok(())
    }

    /// Finishes the deletions that were interrupted. Returns how many there were.
    pub async fn finish_deletions(self) -> document::Result<usize> {
        let finished = self.0.store.account_deletions().finish_all().await;
        // Where one failed, others may be finished.
        if !matches!(finished, Ok(0)) {
            self.0.unread_of_anybody_changed();
        }
        finished
    }
}

impl Feed {
    /// A person and the hash of their password, if the given password matches.
    pub(super) async fn verified(
        &self,
        actor: &Handle,
        password: &str,
        client: &Client,
    ) -> Result<(User, String), Problem> {
        let wrong = || {
            let log = self.security();
            log.record(SecurityEvent::PasswordWrong, Some(actor), client);
            not_yours()
        };
        let user = self.store.people().get(actor).await.map_err(to_problem)?;
        let user = user.ok_or_else(|| missing(&Topic::User(actor.clone()).to_string()))?;
        let hash = user.password.clone().ok_or_else(|| {
            Problem::new(
                Kind::Forbidden,
                "People of the demo town have no password, and their accounts stay. Sign up to get your own account.",
            )
            .about("password")
        })?;
        let password: Password = password.parse().map_err(|_| wrong())?;
        // A stolen session must not allow faster guesses than no session.
        if let Some(tries) = &self.tries {
            self.record_limits(tries.charge(actor, client), Some(actor), client)?;
        }
        let matches = passwords::verify(password, Some(hash.clone()), client.peer).await;
        if self.record_limits(matches, Some(actor), client)? {
            Ok((user, hash))
        } else {
            Err(wrong())
        }
    }
}

/// A wrong password for a change.
pub(super) fn not_yours() -> Problem {
    Problem::invalid(
        "password",
        "This is not your current password. Nothing was changed.",
    )
}
