//! Where people are signed in.

use std::cmp::Reverse;
use std::net::IpAddr;

use model::{Handle, Kind, Problem, SessionId, SignIn, SignIns, Timestamp};
use store::people::PasswordState;
use store::sessions::Session;

use super::problems::to_problem;
use super::{Accounts, Feed, SecurityEvent, SessionToken};

/// How many sessions an account has at most.
const MOST: usize = 20;

/// How many sessions a person of the demo town has at most, about: they are strangers', and each is a document.
const MOST_SHARED: usize = 1_000;

/// The last digit of the digest of a session that makes room when it begins. Reading a thousand sessions takes a while,
/// and nobody chooses a digest; so one of sixteen sign-ins does it, and there may be a few more than the maximum.
const MAKES_ROOM: char = '0';

/// Where a request comes from.
#[derive(Debug, Clone, Default)]
pub struct Client {
    /// The browser or program, in a few words, if it was recognized.
    pub device: Option<String>,
    /// The address, as far as limits distinguish people.
    pub peer: Option<IpAddr>,
}

impl Accounts<'_> {
    /// Where a person is signed in. Everybody may be signed in as the same person of the demo town, so there it is only
    /// this session.
    pub async fn sessions(self, actor: &Handle, current: &SessionToken) -> Result<SignIns, Problem> {
        let current = current.digest();
        let (mut sessions, password_changed) = self.0.visible_sessions(actor, &current).await?;
        sessions.sort_by_key(|session| Reverse((session.digest == current, session.at)));
        let items: Vec<SignIn> = sessions
            .into_iter()
            .map(|session| SignIn {
                current: session.digest == current,
                id: session.digest.into(),
                device: session.device,
                at: session.at,
                used: session.used,
            })
            .collect();
        Ok(SignIns {
            total: items.len() as u64,
            items,
            next: None,
            password_changed,
        })
    }

    /// The same for somebody who looks at the list, and when they looked before in this session, or when it began:
    /// what began since then is news. That they look is recorded.
    pub async fn look_at_sessions(
        self,
        actor: &Handle,
        current: &SessionToken,
    ) -> Result<(SignIns, Timestamp), Problem> {
        let (sessions, digest) = (self.0.store.sessions(), current.digest());
        let now = self.0.environment.now();
        let found = self.sessions(actor, current).await?;
        let session = sessions.get(&digest).await.map_err(to_problem)?;
        sessions.look(&digest, now).await.map_err(to_problem)?;
        Ok((found, session.map_or(now, |session| session.looked)))
    }

    /// Ends one session of a person.
    pub async fn end_session(
        self,
        actor: &Handle,
        session: &SessionId,
        client: &Client,
    ) -> Result<(), Problem> {
        self.0.require_own_sessions(actor).await?;
        let ended = self
            .0
            .store
            .sessions()
            .delete_one_of(actor, session.as_str())
            .await;
        if ended.map_err(to_problem)? {
            let log = self.0.security();
            log.record(SecurityEvent::SessionsEnded, Some(actor), client);
            Ok(())
        } else {
            Err(Problem::new(
                Kind::NotFound,
                "You have no such session. It may have ended.",
            ))
        }
    }

    /// Ends all sessions of a person except this one.
    pub async fn end_other_sessions(
        self,
        actor: &Handle,
        current: &SessionToken,
        client: &Client,
    ) -> Result<(), Problem> {
        self.0.require_own_sessions(actor).await?;
        self.0.end_sessions_but(actor, current).await?;
        let log = self.0.security();
        log.record(SecurityEvent::SessionsEnded, Some(actor), client);
        Ok(())
    }
}

impl Feed {
    /// The sessions of a person that the holder of this one may see, and when the password was changed.
    pub(super) async fn visible_sessions(
        &self,
        actor: &Handle,
        current: &str,
    ) -> Result<(Vec<Session>, Option<Timestamp>), Problem> {
        let password = self.store.people().password(actor).await.map_err(to_problem)?;
        let password_changed = password.and_then(|password| password.changed);
        let from = password_changed.unwrap_or(Timestamp::from_millis(i64::MIN));
        let now = self.environment.now();
        let shared = is_shared(password);
        let mut sessions = self.store.sessions().of(actor).await.map_err(to_problem)?;
        sessions.retain(|session| session.expires > now && session.at >= from);
        sessions.retain(|session| !shared || session.digest == current);
        Ok((sessions, password_changed))
    }

    /// Adds a session. If the account has too many then, those that were not used for the longest time end. Two
    /// sign-ins at the same time may both end the same one, and neither ends its own.
    pub(super) async fn add_session(&self, session: &Session, shared: bool) -> Result<(), Problem> {
        let sessions = self.store.sessions();
        sessions.insert(session).await.map_err(to_problem)?;
        let most = if shared { MOST_SHARED } else { MOST };
        if shared && !session.digest.ends_with(MAKES_ROOM) {
            return Ok(());
        }
        let mut others = sessions.of(&session.user).await.map_err(to_problem)?;
        others.retain(|other| other.digest != session.digest);
        others.sort_by_key(|other| Reverse((other.used, other.at)));
        for oldest in others.iter().skip(most - 1) {
            sessions.delete(&oldest.digest).await.map_err(to_problem)?;
        }
        Ok(())
    }

    /// Ends all sessions of a person except this one.
    pub(super) async fn end_sessions_but(&self, user: &Handle, token: &SessionToken) -> Result<(), Problem> {
        let sessions = self.store.sessions();
        let ended = sessions.delete_of(user, Some(&token.digest())).await;
        ended.map_err(to_problem)
    }

    async fn require_own_sessions(&self, actor: &Handle) -> Result<(), Problem> {
        let password = self.store.people().password(actor).await;
        if is_shared(password.map_err(to_problem)?) {
            return Err(Problem::new(
                Kind::Forbidden,
                "Everybody may be signed in as this person. Sign out to end your own session.",
            ));
        }
        Ok(())
    }
}

/// Whether others may be signed in as a person: somebody of the demo town, who has no password.
fn is_shared(password: Option<PasswordState>) -> bool {
    password.is_none_or(|password| !password.is_set)
}
