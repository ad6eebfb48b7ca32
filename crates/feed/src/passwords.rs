//! Hashing passwords with argon2id, away from the async threads and a few at a time.

use std::fmt;

use argon2::Argon2;
use argon2::password_hash::{PasswordHash, PasswordHasher, PasswordVerifier, SaltString};
use model::{Kind, Password, Person, Problem};

use super::fair_queue::{FairQueue, Peer};

/// A hash takes 19 MB and tens of milliseconds of one core by design, so only this many are made at once.
const AT_ONCE: usize = 2;

/// How many may wait for that, besides those that are running: about two seconds' worth. Further requests are
/// refused at once, instead of waiting for longer than browsers and people do.
const WAITING: usize = 64;

/// The password hashes that this process computes.
static HASHES: FairQueue = FairQueue::new(
    AT_ONCE,
    WAITING,
    "Many people are signing in right now. Try again in a few seconds.",
);

/// A hash that matches no password, checked when a handle is unknown so that the answer takes as long as any
/// other.
const DUMMY_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$c3BpbGx3YXktbm9ib2R5$7h3Nw3Y0m1vQ9rFZb2mZ1b4mZ0eF1rQhYq9dJk3rQ1c";

/// How many guesses a password has to survive: as many as the most common passwords that attackers try first.
const COMMON: u64 = 10_000;

/// How much of a password is looked at. No common password is longer, and the work grows much faster than the length
/// where many characters could stand for letters.
const LOOKED_AT: usize = 24;

/// Refuses a password that is among the most common ones, or a simple variation of one or of the person's names.
///
/// The estimate is that of Wheeler, "zxcvbn: Low-Budget Password Strength Estimation", USENIX Security 2016.
///
/// # Errors
/// A problem about the password.
fn refuse_common(password: &Password, person: &Person) -> Result<(), Problem> {
    let beginning: String = password.reveal().chars().take(LOOKED_AT).collect();
    let names = [person.handle.as_str(), person.name.as_str()];
    if zxcvbn::zxcvbn(&beginning, &names).guesses() > COMMON {
        return Ok(());
    }
    Err(Problem::invalid(
        "password",
        "This password is too easy to guess. Choose a few words that do not belong together.",
    ))
}

/// The form in which the store keeps a new password of this person. Both the hash and the search for common ones take
/// long, so they wait for the peer's turn.
///
/// # Errors
/// A problem about the password if it is a common one.
pub(super) async fn hash(
    password: Password,
    person: Person,
    salt: [u8; 16],
    peer: Peer,
) -> Result<String, Problem> {
    run(peer, move || {
        refuse_common(&password, &person)?;
        let salt = SaltString::encode_b64(&salt).map_err(broken)?;
        let hash = Argon2::default()
            .hash_password(password.reveal().as_bytes(), &salt)
            .map_err(broken)?;
        Ok(hash.to_string())
    })
    .await
}

/// A problem with a password, about the field of a new one.
pub(super) fn about_the_new(problem: Problem) -> Problem {
    if problem.field.is_some() {
        problem.about("new_password")
    } else {
        problem
    }
}

/// Whether a password has this hash. Without a hash the answer is no, and takes as long.
pub(super) async fn verify(password: Password, hash: Option<String>, peer: Peer) -> Result<bool, Problem> {
    let known = hash.is_some();
    let hash = hash.unwrap_or_else(|| DUMMY_HASH.to_owned());
    let fits = run(peer, move || {
        let hash = PasswordHash::new(&hash).map_err(broken)?;
        Ok(Argon2::default()
            .verify_password(password.reveal().as_bytes(), &hash)
            .is_ok())
    })
    .await?;
    Ok(known && fits)
}

/// Runs this work when it is the peer's turn, which lasts until it is done, even if nobody waits for it any more.
async fn run<T: Send + 'static>(
    peer: Peer,
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    let turn = HASHES.turn_of(peer).await?;
    let job = move || {
        let done = work();
        drop(turn);
        done
    };
    tokio::task::spawn_blocking(job).await.map_err(broken)?
}

fn broken(error: impl fmt::Display) -> Problem {
    tracing::error!(%error, "hashing a password failed");
    Problem::new(Kind::Internal, "The password could not be checked. Try again.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grace() -> Person {
        Person {
            handle: "grace-h".parse().unwrap(),
            name: "Grace Hopper".parse().unwrap(),
        }
    }

    #[tokio::test]
    async fn a_common_password_is_looked_for_when_it_is_the_peers_turn() {
        let mut running = Vec::new();
        for _ in 0..AT_ONCE {
            running.push(HASHES.turn_of(None).await.unwrap());
        }
        let common = hash("password".parse().unwrap(), grace(), [7; 16], None);
        let mut common = std::pin::pin!(common);
        assert!(futures::poll!(&mut common).is_pending());
        drop(running);
        assert_eq!(common.await.unwrap_err().field.as_deref(), Some("password"));
    }

    #[test]
    fn common_passwords_and_the_names_of_the_person_are_refused() {
        let person = grace();
        let check = |password: &str| refuse_common(&password.parse().unwrap(), &person);
        for common in [
            "password",
            "12345678",
            "Password1",
            "p4ssw0rd",
            "qwertyuiop",
            "grace-hgrace-h",
        ] {
            let problem = check(common).unwrap_err();
            assert_eq!(problem.field.as_deref(), Some("password"), "{common}");
        }
        assert!(check(&"a".repeat(Password::MAX)).is_err());
        for other in ["correct horse", "a wet weir", "日本語のパスワード"] {
            assert!(check(other).is_ok(), "{other}");
        }
    }

    #[tokio::test]
    async fn the_dummy_hash_costs_as_much_as_others_and_matches_no_password() {
        let password: Password = "correct horse".parse().unwrap();
        let made = hash(password.clone(), grace(), [7; 16], None).await.unwrap();
        let (made_for, nobodys) = (
            PasswordHash::new(&made).unwrap(),
            PasswordHash::new(DUMMY_HASH).unwrap(),
        );
        assert_eq!(nobodys.algorithm, made_for.algorithm);
        assert_eq!(nobodys.params, made_for.params);
        assert_eq!(
            nobodys.hash.map(|hash| hash.len()),
            made_for.hash.map(|hash| hash.len())
        );
        assert!(verify(password.clone(), Some(made), None).await.unwrap());
        assert!(!verify(password, None, None).await.unwrap());
    }
}
