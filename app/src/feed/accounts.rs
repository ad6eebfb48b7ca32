//! Signing up, in and out.

use std::fmt;
use std::str::FromStr;

use argon2::Argon2;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bson::doc;
use model::{Account, DisplayName, Handle, Kind, Password, Person, Problem, Timestamp};
use sha2::{Digest, Sha256};
use store::people::User;
use store::port::Find;
use store::sessions::Session;
use tokio::sync::Semaphore;

use super::Feed;
use super::problems::explain;

/// How long a sign-in lasts.
const SESSION_MILLIS: i64 = 30 * 24 * 60 * 60 * 1000;

/// Hashing a password takes 19 MB and tens of milliseconds of one core by design, so only this many run at once.
static HASHING: Semaphore = Semaphore::const_new(2);

/// A hash that no password has, checked when a handle is unknown so that the answer takes as long as any other.
const NOBODY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$c3BpbGx3YXktbm9ib2R5$7h3Nw3Y0m1vQ9rFZb2mZ1b4mZ0eF1rQhYq9dJk3rQ1c";

/// The secret in the session cookie.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionToken([u8; 32]);

impl SessionToken {
    /// What the store keeps of it.
    fn digest(&self) -> String {
        URL_SAFE_NO_PAD.encode(Sha256::digest(self.0))
    }
}

impl fmt::Display for SessionToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

impl fmt::Debug for SessionToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionToken(…)")
    }
}

impl FromStr for SessionToken {
    type Err = Problem;

    fn from_str(input: &str) -> Result<Self, Problem> {
        URL_SAFE_NO_PAD
            .decode(input)
            .ok()
            .and_then(|bytes| bytes.try_into().ok())
            .map(Self)
            .ok_or_else(|| Problem::new(Kind::NotSignedIn, "That is not a session. Sign in again."))
    }
}

impl Feed {
    /// Creates an account and signs in.
    pub async fn sign_up(
        &self,
        handle: Handle,
        name: DisplayName,
        password: Password,
    ) -> Result<(Account, SessionToken), Problem> {
        let salt = SaltString::encode_b64(&self.environment.ids.secret()[..16]).map_err(broken_hash)?;
        let hash = hashing(move || {
            let hash = Argon2::default()
                .hash_password(password.reveal().as_bytes(), &salt)
                .map_err(broken_hash)?;
            Ok(hash.to_string())
        })
        .await?;
        let at = self.environment.now();
        let person = Person { handle, name };
        let user = User {
            person,
            bio: String::new(),
            password: Some(hash),
            at,
        };
        self.store
            .people()
            .insert(&user, self.environment.ids.uuid(at))
            .await
            .map_err(|error| match error {
                store::Error::DuplicateKey { .. } => Problem::new(
                    Kind::Conflict,
                    format!("@{} is taken. Choose another handle.", user.person.handle),
                )
                .about("handle"),
                error => explain(error),
            })?;
        self.start_session(user).await
    }

    /// Signs in with a password. Whether the handle or the password was wrong is not told, nor shown by the time
    /// that the answer takes.
    pub async fn sign_in(&self, handle: &str, password: &str) -> Result<(Account, SessionToken), Problem> {
        let wrong = || {
            Problem::new(
                Kind::NotSignedIn,
                "This handle and password do not belong together. Check both.",
            )
            .about("password")
        };
        let handle: Handle = handle.parse().map_err(|_| wrong())?;
        let password: Password = password.parse().map_err(|_| wrong())?;
        let user = self.store.people().get(&handle).await.map_err(explain)?;
        let hash = user
            .as_ref()
            .and_then(|user| user.password.clone())
            .unwrap_or_else(|| NOBODY.to_owned());
        let matches = hashing(move || {
            let hash = PasswordHash::new(&hash).map_err(broken_hash)?;
            Ok(Argon2::default()
                .verify_password(password.reveal().as_bytes(), &hash)
                .is_ok())
        })
        .await?;
        match user {
            Some(user) if matches => self.start_session(user).await,
            _ => Err(wrong()),
        }
    }

    /// Signs in as somebody of the demo town.
    pub async fn sign_in_as_demo(&self, handle: &Handle) -> Result<(Account, SessionToken), Problem> {
        if !self.demo_handles().await?.contains(handle) {
            return Err(Problem::new(
                Kind::Forbidden,
                format!("@{handle} is not one of the demo people."),
            ));
        }
        match self.store.people().get(handle).await.map_err(explain)? {
            Some(user) => self.start_session(user).await,
            None => Err(Problem::new(
                Kind::NotFound,
                format!("@{handle} has left the demo town."),
            )),
        }
    }

    /// The people of the demo town that anybody may sign in as; none outside demo mode.
    pub async fn demo_people(&self) -> Result<Vec<Account>, Problem> {
        let mut people = Vec::new();
        for handle in self.demo_handles().await? {
            people.extend(
                self.store
                    .people()
                    .get(&handle)
                    .await
                    .map_err(explain)?
                    .map(account),
            );
        }
        Ok(people)
    }

    /// Ends a session.
    pub async fn sign_out(&self, token: &SessionToken) -> Result<(), Problem> {
        self.store
            .sessions()
            .delete(&token.digest())
            .await
            .map_err(explain)
    }

    /// Who holds this token, if their session still lasts.
    pub async fn session(&self, token: &SessionToken) -> Result<Option<Account>, Problem> {
        let Some(session) = self
            .store
            .sessions()
            .get(&token.digest())
            .await
            .map_err(explain)?
        else {
            return Ok(None);
        };
        if session.expires <= self.environment.now() {
            self.sign_out(token).await?;
            return Ok(None);
        }
        Ok(self
            .store
            .people()
            .get(&session.user)
            .await
            .map_err(explain)?
            .map(account))
    }

    async fn start_session(&self, user: User) -> Result<(Account, SessionToken), Problem> {
        let token = SessionToken(self.environment.ids.secret());
        let at = self.environment.now();
        let session = Session {
            digest: token.digest(),
            user: user.person.handle.clone(),
            at,
            expires: Timestamp::from_millis(at.millis() + SESSION_MILLIS),
        };
        self.store.sessions().insert(&session).await.map_err(explain)?;
        Ok((account(user), token))
    }

    async fn demo_handles(&self) -> Result<Vec<Handle>, Problem> {
        if !self.environment.demo {
            return Ok(Vec::new());
        }
        let find = Find::matching(doc! { "_id": "town" }).limit(1);
        let found = self.store.engine().find("meta", find).await.map_err(explain)?;
        let handles = found
            .first()
            .and_then(|town| town.get_array("demo").ok())
            .cloned()
            .unwrap_or_default();
        Ok(handles
            .iter()
            .filter_map(|handle| handle.as_str()?.parse().ok())
            .collect())
    }
}

fn account(user: User) -> Account {
    Account {
        handle: user.person.handle,
        name: user.person.name,
        bio: user.bio,
    }
}

/// Runs password work off the async threads, a few at a time.
async fn hashing<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let _turn = HASHING.acquire().await.map_err(broken_hash)?;
    tokio::task::spawn_blocking(work).await.map_err(broken_hash)?
}

fn broken_hash(error: impl fmt::Display) -> Problem {
    tracing::error!(%error, "hashing a password failed");
    Problem::new(Kind::Internal, "The password could not be checked. Try again.")
}
