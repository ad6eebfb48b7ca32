//! Signing up, in and out.

use std::fmt;
use std::str::FromStr;

use model::{Account, DisplayName, Handle, Kind, Password, Person, Problem, Timestamp};
use store::people::User;
use store::sessions::Session;

use super::problems::to_problem;
use super::secret::Secret;
use super::{Accounts, Client, Feed, SecurityEvent, passwords};

pub(super) const DAY: i64 = 24 * 60 * 60 * 1000;
/// The maximum lifetime of a session, in milliseconds.
const LONGEST: i64 = 30 * DAY;
/// The lifetime of an unused session. A use is recorded at most once a day, so the real limit may be a day less.
const IDLE: i64 = 7 * DAY;

/// The secret in the session cookie.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionToken(Secret);

impl SessionToken {
    /// The form in which the store keeps it.
    pub(super) fn digest(&self) -> String {
        self.0.digest()
    }
}

impl fmt::Display for SessionToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for SessionToken {
    type Err = Problem;

    fn from_str(input: &str) -> Result<Self, Problem> {
        Secret::read(input)
            .map(Self)
            .ok_or_else(|| Problem::new(Kind::NotSignedIn, "Your session is not valid. Sign in again."))
    }
}

impl Accounts<'_> {
    /// Creates an account and signs in. Common passwords are refused, and so are handles that are taken, or whose holder
    /// left less than thirty days ago.
    pub async fn sign_up(
        self,
        handle: Handle,
        name: DisplayName,
        password: Password,
        client: &Client,
    ) -> Result<(Account, SessionToken), Problem> {
        let person = Person { handle, name };
        let hash = passwords::hash(password, person.clone(), self.0.environment.salt(), client.peer).await;
        let hash = self.0.record_limits(hash, None, client)?;
        let at = self.0.environment.now();
        let user = User {
            person,
            bio: String::new(),
            password: Some(hash),
            at,
        };
        // In one session: the second look must see whatever was held before the person could be inserted.
        let store = self.0.store.session();
        let handle = &user.person.handle;
        let taken = || {
            Problem::new(
                Kind::Conflict,
                format!("@{handle} is taken. Choose another handle."),
            )
            .about("handle")
        };
        let held = || async { store.held_handles().holds(handle, at).await.map_err(to_problem) };
        if held().await? {
            return Err(taken());
        }
        store
            .people()
            .insert(&user, self.0.environment.ids.uuid(at))
            .await
            .map_err(|error| match error {
                document::Error::DuplicateKey { .. } => taken(),
                error => to_problem(error),
            })?;
        // Its holder may have left since the first look.
        if held().await? {
            store.people().delete(handle).await.map_err(to_problem)?;
            return Err(taken());
        }
        self.0
            .security()
            .record(SecurityEvent::SignUp, Some(handle), client);
        self.start_session(user, at, client).await
    }

    /// Signs in with a password. The answer does not reveal whether the handle or the password was wrong, and
    /// neither does the time that it takes.
    pub async fn sign_in(
        self,
        handle: &str,
        password: &str,
        client: &Client,
    ) -> Result<(Account, SessionToken), Problem> {
        let log = self.0.security();
        let wrong = |who: Option<&Handle>| {
            log.record(SecurityEvent::SignInFailed, who, client);
            Problem::new(Kind::NotSignedIn, "Wrong handle or password. Check both.").about("password")
        };
        let handle: Handle = handle.parse().map_err(|_| wrong(None))?;
        let password: Password = password.parse().map_err(|_| wrong(None))?;
        if let Some(tries) = &self.0.tries {
            self.0
                .record_limits(tries.charge(&handle, client), None, client)?;
        }
        // Taken before the person is looked up: if they leave or change their password in between, the session is
        // invalid.
        let at = self.0.environment.now();
        let person = self.0.store.people().even_suspended(&handle).await;
        let person = person.map_err(to_problem)?;
        let hash = person.as_ref().and_then(|(user, _)| user.password.clone());
        let matches = passwords::verify(password, hash, client.peer).await;
        let matches = self.0.record_limits(matches, None, client)?;
        match person {
            Some((_, true)) if matches => {
                log.record(SecurityEvent::SignInFailed, Some(&handle), client);
                let why = "This account is suspended. Write to the people who run this site.";
                Err(Problem::new(Kind::Forbidden, why).about("handle"))
            }
            Some((user, false)) if matches => {
                log.record(SecurityEvent::SignIn, Some(&handle), client);
                self.start_session(user, at, client).await
            }
            person => Err(wrong(person.map(|_| &handle))),
        }
    }

    /// Signs in as a person of the demo town.
    pub async fn sign_in_as_demo(
        self,
        handle: &Handle,
        client: &Client,
    ) -> Result<(Account, SessionToken), Problem> {
        if !self.demo_handles().await?.contains(handle) {
            return Err(Problem::new(
                Kind::Forbidden,
                format!("@{handle} is not one of the demo people."),
            ));
        }
        let at = self.0.environment.now();
        match self.0.store.people().get(handle).await.map_err(to_problem)? {
            Some(user) => {
                let log = self.0.security();
                log.record(SecurityEvent::SignIn, Some(handle), client);
                self.start_session(user, at, client).await
            }
            None => Err(Problem::new(
                Kind::NotFound,
                format!("@{handle} has left the demo town."),
            )),
        }
    }

    /// The people of the demo town that anybody may sign in as; none outside demo mode.
    pub async fn demo_people(self) -> Result<Vec<Account>, Problem> {
        let mut people = Vec::new();
        for handle in self.demo_handles().await? {
            people.extend(
                self.0
                    .store
                    .people()
                    .get(&handle)
                    .await
                    .map_err(to_problem)?
                    .map(account),
            );
        }
        Ok(people)
    }

    /// Ends a session; `actor` is signed in with it, if it is valid.
    pub async fn sign_out(
        self,
        token: &SessionToken,
        actor: Option<&Handle>,
        client: &Client,
    ) -> Result<(), Problem> {
        let sessions = self.0.store.sessions();
        sessions.delete(&token.digest()).await.map_err(to_problem)?;
        if actor.is_some() {
            self.0.security().record(SecurityEvent::SignOut, actor, client);
        }
        Ok(())
    }

    /// The account of this token, if its session is still valid. Using a session extends it, which is recorded
    /// once a day.
    ///
    /// With it comes how many notifications are unread.
    pub async fn session(self, token: &SessionToken) -> Result<Option<(Account, u64)>, Problem> {
        let digest = token.digest();
        let (sessions, people) = (self.0.store.sessions(), self.0.store.people());
        let known = self.0.holders.known(&digest);
        let holder = async {
            match &known {
                Some(known) => people.holding(known).await,
                None => Ok(None),
            }
        };
        let read = futures::try_join!(sessions.get(&digest), holder);
        let (session, holder) = read.map_err(to_problem)?;
        let Some(session) = session else {
            return Ok(None);
        };
        let now = self.0.environment.now();
        if session.expires <= now {
            sessions.delete(&digest).await.map_err(to_problem)?;
            return Ok(None);
        }
        if now.millis() - session.used.millis() >= DAY {
            let until = end_of_session(session.at, now);
            let extended = sessions.extend(&digest, now, until).await;
            extended.map_err(to_problem)?;
        }
        let is_same = |known: &Session| (&known.user, known.at) == (&session.user, session.at);
        let holder = if known.as_ref().is_some_and(is_same) {
            holder
        } else {
            self.0.holders.keep(&session);
            people.holding(&session).await.map_err(to_problem)?
        };
        let Some((user, unread)) = holder else {
            return Ok(None);
        };
        let account = account(user);
        let unread = self.0.shown_unread(&account.handle, unread).await;
        Ok(Some((account, unread)))
    }

    /// Begins a session, dated to a moment before the person was looked up.
    pub async fn start_session(
        self,
        user: User,
        at: Timestamp,
        client: &Client,
    ) -> Result<(Account, SessionToken), Problem> {
        let token = SessionToken(Secret(self.0.environment.ids.secret()));
        let session = Session {
            digest: token.digest(),
            user: user.person.handle.clone(),
            at,
            used: at,
            looked: at,
            expires: end_of_session(at, at),
            device: client.device.clone(),
        };
        if user.at == at {
            // The account has just been made and has no other sessions, of which there could be too many.
            let inserted = self.0.store.sessions().insert(&session).await;
            inserted.map_err(to_problem)?;
        } else {
            self.0.add_session(&session, user.password.is_none()).await?;
        }
        Ok((account(user), token))
    }

    /// The handles of the people of the demo town that anybody may sign in as; none outside demo mode.
    pub async fn demo_handles(self) -> Result<Vec<Handle>, Problem> {
        if !self.0.environment.demo {
            return Ok(Vec::new());
        }
        let town = self.0.store.town().await.map_err(to_problem)?;
        Ok(town.unwrap_or_default().demo)
    }
}

impl Feed {
    /// The key that this site signs its notices with: created by the first server over the store that asks.
    pub async fn notice_key(&self) -> Result<[u8; 32], Problem> {
        let fresh = self.environment.ids.secret();
        let key = self.store.notice_key(fresh).await.map_err(to_problem)?;
        key.ok_or_else(|| {
            Problem::new(
                Kind::Internal,
                "The document “notices” in the collection “keys” has no key of 32 bytes. Delete it: the next start makes \
                 another.",
            )
        })
    }
}

fn account(user: User) -> Account {
    Account {
        handle: user.person.handle,
        name: user.person.name,
        bio: user.bio,
    }
}

/// When a session ends that began at one time and is used at another.
fn end_of_session(began: Timestamp, now: Timestamp) -> Timestamp {
    Timestamp::from_millis((now.millis() + IDLE).min(began.millis() + LONGEST))
}
