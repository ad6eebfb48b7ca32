//! Back into an account whose password is lost: with a link that the operator makes, or with a code that the person kept.

use std::fmt;

use model::{Handle, Kind, Password, Problem, Timestamp};
use store::recovery::Proof;

use super::accounts::DAY;
use super::problems::to_problem;
use super::secret::{Secret, digest};
use super::{Accounts, Client, SecurityEvent, passwords};

/// How many codes a person gets at a time.
const CODES: usize = 8;

/// The digits of a code, without those that look like others (Crockford's base 32, in lower case).
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// How many digits a code has: 120 bits, so a plain digest is as safe as a slow hash (OWASP ASVS 5.0, 6.5.2).
const LENGTH: usize = 24;

/// How many digits stand together.
const GROUP: usize = 4;

/// A link for recovery, as the operator passes it on.
#[derive(Debug)]
pub struct RecoveryLink {
    /// Its page on this site, with the secret.
    pub path: String,
    /// Until when it is valid.
    pub until: Timestamp,
}

/// One code.
#[derive(Clone, PartialEq, Eq)]
struct RecoveryCode(String);

impl RecoveryCode {
    /// The code in the last of these random bytes.
    fn of(secret: &[u8; 32]) -> Self {
        let bits = secret[16..]
            .iter()
            .fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
        let digit = |nth| DIGITS[usize::try_from(bits >> (5 * nth) & 31).unwrap_or_default()];
        Self((0..LENGTH).rev().map(|nth| char::from(digit(nth))).collect())
    }

    /// The code that somebody typed: in upper or lower case, with any separators, and with letters for the digits that
    /// they look like.
    fn typed(input: &str) -> Option<Self> {
        let digits: String = input
            .chars()
            .filter(|c| !c.is_whitespace() && *c != '-')
            .map(|c| match c.to_ascii_lowercase() {
                'o' => '0',
                'i' | 'l' => '1',
                c => c,
            })
            .collect();
        let known = |digit: u8| DIGITS.contains(&digit);
        (digits.len() == LENGTH && digits.bytes().all(known)).then_some(Self(digits))
    }
}

impl fmt::Display for RecoveryCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, digit) in self.0.chars().enumerate() {
            if nth > 0 && nth % GROUP == 0 {
                f.write_str("-")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

impl Accounts<'_> {
    /// Makes a link with which a person can set a new password once, within a day. It replaces the one before.
    ///
    /// # Errors
    /// A problem if nobody with a password has this handle.
    pub async fn make_recovery_link(self, handle: &Handle) -> Result<RecoveryLink, Problem> {
        let token = Secret(self.0.environment.ids.secret());
        let until = Timestamp::from_millis(self.0.environment.now().millis() + DAY);
        let recovery = self.0.store.recovery();
        let made = recovery.set_link(handle, &token.digest(), until).await;
        if !made.map_err(to_problem)? {
            let message = format!(
                "There is nobody with the handle {handle}, or they have no password. People of the demo town and students of a class have none."
            );
            return Err(Problem::new(Kind::NotFound, message));
        }
        let log = self.0.security();
        log.record(SecurityEvent::RecoveryLinkMade, Some(handle), &Client::default());
        Ok(RecoveryLink {
            path: format!("/recover?handle={handle}&token={token}"),
            until,
        })
    }

    /// Makes new recovery codes, after checking the password. They replace those from before. Nobody can see them again.
    pub async fn make_recovery_codes(
        self,
        actor: &Handle,
        password: &str,
        client: &Client,
    ) -> Result<Vec<String>, Problem> {
        let (_, hash) = self.0.verified(actor, password, client).await?;
        let codes: Vec<_> = std::iter::repeat_with(|| RecoveryCode::of(&self.0.environment.ids.secret()))
            .take(CODES)
            .collect();
        let digests: Vec<_> = codes.iter().map(|code| digest(code.0.as_bytes())).collect();
        let recovery = self.0.store.recovery();
        let made = recovery.set_codes(actor, &hash, &digests).await;
        if !made.map_err(to_problem)? {
            return Err(super::settings::not_yours());
        }
        let log = self.0.security();
        log.record(SecurityEvent::RecoveryCodesMade, Some(actor), client);
        Ok(codes.iter().map(RecoveryCode::to_string).collect())
    }

    /// How many recovery codes a person has left.
    pub async fn recovery_codes_left(self, actor: &Handle) -> Result<usize, Problem> {
        self.0
            .store
            .recovery()
            .codes_left(actor)
            .await
            .map_err(to_problem)
    }

    /// Sets a new password with a recovery code, which is used up. All sessions end. The answer does not reveal whether
    /// the handle or the code was wrong. What is wrong with the password is a problem about `new_password`.
    pub async fn recover(self, handle: &str, code: &str, new: &str, client: &Client) -> Result<(), Problem> {
        let new: Password = new
            .parse()
            .map_err(|problem: Problem| problem.about("new_password"))?;
        let wrong = || Problem::invalid("code", "Wrong handle or code. Check both. Each code works once.");
        let parsed = handle.parse().ok().zip(RecoveryCode::typed(code));
        let Some((handle, code)) = parsed else {
            let log = self.0.security();
            log.record(SecurityEvent::RecoveryFailed, None, client);
            return Err(wrong());
        };
        if let Some(tries) = &self.0.tries {
            let charged = tries.charge(&handle, client);
            self.0.record_limits(charged, None, client)?;
        }
        let proof = Proof::Code(digest(code.0.as_bytes()));
        self.set_password(&handle, &proof, new, client, wrong).await
    }

    /// Sets a new password with the token of a link. All sessions end. What is wrong with the password is a problem about
    /// `new_password`.
    pub async fn reset_password(
        self,
        handle: &str,
        token: &str,
        new: &str,
        client: &Client,
    ) -> Result<(), Problem> {
        let new: Password = new
            .parse()
            .map_err(|problem: Problem| problem.about("new_password"))?;
        let handle: Handle = handle.parse().map_err(|_| dead_link())?;
        let token = Secret::read(token.trim()).ok_or_else(dead_link)?;
        let proof = Proof::Link(token.digest());
        self.set_password(&handle, &proof, new, client, dead_link).await
    }

    async fn set_password(
        self,
        handle: &Handle,
        proof: &Proof,
        new: Password,
        client: &Client,
        wrong: impl Fn() -> Problem,
    ) -> Result<(), Problem> {
        let log = self.0.security();
        let user = self.0.store.people().get(handle).await.map_err(to_problem)?;
        let recovery = self.0.store.recovery();
        let holds = recovery.holds(handle, proof, self.0.environment.now()).await;
        let holds = holds.map_err(to_problem)?;
        let who = user.as_ref().map(|_| handle);
        let failed = || {
            log.record(SecurityEvent::RecoveryFailed, who, client);
            wrong()
        };
        let Some(user) = user.as_ref().filter(|_| holds) else {
            return Err(failed());
        };
        let salt = self.0.environment.salt();
        let hash = passwords::hash(new, user.person.clone(), salt, client.peer).await;
        let hash = self.0.record_limits(hash, who, client);
        let hash = hash.map_err(passwords::about_the_new)?;
        let changed = recovery
            .use_up(handle, proof, &hash, self.0.environment.now())
            .await;
        if !changed.map_err(to_problem)? {
            return Err(failed());
        }
        // The write above has ended them; this only tidies up.
        let ended = self.0.store.sessions().delete_of(handle, None).await;
        ended.map_err(to_problem)?;
        log.record(SecurityEvent::Recovered, Some(handle), client);
        Ok(())
    }
}

fn dead_link() -> Problem {
    Problem::invalid(
        "token",
        "This link is not valid. It works once, for a day, and only until another one is made. Ask for a new one.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_survives_being_copied_by_hand() {
        let mut secret = [0; 32];
        secret[16..].copy_from_slice(b"0123456789abcdef");
        let code = RecoveryCode::of(&secret);
        let shown = code.to_string();
        assert_eq!(shown.len(), LENGTH + LENGTH / GROUP - 1);
        let typed = shown
            .to_uppercase()
            .replace('-', " ")
            .replace('0', "O")
            .replace('1', "l");
        assert!(RecoveryCode::typed(&typed) == Some(code));
        for wrong in [
            "",
            "abcd",
            &shown[1..],
            &format!("{shown}0"),
            &shown.replace('1', "ü"),
        ] {
            assert!(RecoveryCode::typed(wrong).is_none(), "{wrong}");
        }
    }
}
