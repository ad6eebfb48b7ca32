//! Signing in with a password that is never sent: SCRAM-SHA-256, RFC 5802 and RFC 7677.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// The name of the mechanism.
pub(crate) const MECHANISM: &str = "SCRAM-SHA-256";

/// How often the password is hashed, as in MongoDB.
const ITERATIONS: u32 = 15_000;

/// The one user that may connect.
#[derive(Clone)]
pub struct Login {
    /// Its name.
    pub user: String,
    /// Its password, as the user typed it.
    pub password: String,
    /// 32 unpredictable bytes, different ones each time.
    pub random: fn() -> [u8; 32],
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login")
            .field("user", &self.user)
            .finish_non_exhaustive()
    }
}

/// Why a sign-in failed. One reason for all failures, so that it reveals nothing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rejected;

/// What the server stores of the password.
#[derive(Debug)]
pub(crate) struct Keys {
    user: String,
    salt: [u8; 32],
    stored: [u8; 32],
    server: [u8; 32],
    random: fn() -> [u8; 32],
}

/// A conversation after its first round.
#[derive(Debug)]
pub(crate) struct Conversation {
    /// The client's and the server's first messages, as both sides sign them.
    signed: String,
    /// The client's channel binding header, which it repeats.
    header: String,
    nonce: String,
    known: bool,
    /// The client does not want to confirm the server's proof with an empty message.
    pub(crate) short: bool,
}

impl Keys {
    /// Hashes the password. Takes some milliseconds.
    pub(crate) fn of(login: &Login) -> Self {
        let password =
            stringprep::saslprep(&login.password).unwrap_or_else(|_| login.password.as_str().into());
        let salt = (login.random)();
        let mut salted = [0; 32];
        pbkdf2::pbkdf2_hmac::<Sha256>(password.as_bytes(), &salt, ITERATIONS, &mut salted);
        let client = sign(&salted, "Client Key");
        Self {
            user: login.user.clone(),
            salt,
            stored: Sha256::digest(client).into(),
            server: sign(&salted, "Server Key"),
            random: login.random,
        }
    }

    /// The user that may sign in.
    pub(crate) fn user(&self) -> &str {
        &self.user
    }

    /// Answers the client's first message.
    pub(crate) fn start(&self, message: &str) -> Result<(String, Conversation), Rejected> {
        // "n,," or "y,,": no channel binding, and no other identity.
        let cut = message.match_indices(',').nth(1).ok_or(Rejected)?.0 + 1;
        let (header, bare) = message.split_at(cut);
        if !["n,,", "y,,"].contains(&header) {
            return Err(Rejected);
        }
        let user = attribute(bare, 0, "n")?.replace("=2C", ",").replace("=3D", "=");
        let nonce = format!("{}{}", attribute(bare, 1, "r")?, STANDARD.encode((self.random)()));
        let answer = format!("r={nonce},s={},i={ITERATIONS}", STANDARD.encode(self.salt));
        let conversation = Conversation {
            signed: format!("{bare},{answer}"),
            header: STANDARD.encode(header),
            nonce,
            known: user == self.user,
            short: false,
        };
        Ok((answer, conversation))
    }

    /// Checks the client's proof and answers with the server's.
    pub(crate) fn finish(&self, conversation: &Conversation, message: &str) -> Result<String, Rejected> {
        let (unproven, proof) = message.rsplit_once(",p=").ok_or(Rejected)?;
        if attribute(unproven, 0, "c")? != conversation.header
            || attribute(unproven, 1, "r")? != conversation.nonce
        {
            return Err(Rejected);
        }
        let proof: [u8; 32] = STANDARD
            .decode(proof)
            .ok()
            .and_then(|bytes| bytes.try_into().ok())
            .ok_or(Rejected)?;
        let signed = format!("{},{unproven}", conversation.signed);
        let mut client = sign(&self.stored, &signed);
        for (byte, proof) in client.iter_mut().zip(proof) {
            *byte ^= proof;
        }
        let computed: [u8; 32] = Sha256::digest(client).into();
        let proven = bool::from(computed.ct_eq(&self.stored));
        if proven && conversation.known {
            Ok(format!("v={}", STANDARD.encode(sign(&self.server, &signed))))
        } else {
            Err(Rejected)
        }
    }
}

/// The value of an attribute, which has to be at a certain position.
fn attribute<'a>(message: &'a str, position: usize, name: &str) -> Result<&'a str, Rejected> {
    let attribute = message.split(',').nth(position).ok_or(Rejected)?;
    match attribute.split_once('=') {
        Some((found, value)) if found == name && !value.is_empty() => Ok(value),
        _ => Err(Rejected),
    }
}

fn sign(key: &[u8; 32], message: &str) -> [u8; 32] {
    // HMAC itself pads a key with zeros to the length of a block.
    let mut block = [0; 64];
    block[..32].copy_from_slice(key);
    let mut mac = Hmac::<Sha256>::new(&block.into());
    mac.update(message.as_bytes());
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Keys {
        Keys::of(&Login {
            user: "ada".to_owned(),
            password: "pencil".to_owned(),
            random: || [7; 32],
        })
    }

    /// The answer of a client that knows `password` to the server's first message.
    fn prove(password: &str, bare: &str, first: &str) -> String {
        let nonce = attribute(first, 0, "r").unwrap();
        let salt = STANDARD.decode(attribute(first, 1, "s").unwrap()).unwrap();
        let mut salted = [0; 32];
        pbkdf2::pbkdf2_hmac::<Sha256>(password.as_bytes(), &salt, ITERATIONS, &mut salted);
        let mut proof = sign(&salted, "Client Key");
        let stored: [u8; 32] = Sha256::digest(proof).into();
        let unproven = format!("c=biws,r={nonce}");
        for (byte, signature) in proof
            .iter_mut()
            .zip(sign(&stored, &format!("{bare},{first},{unproven}")))
        {
            *byte ^= signature;
        }
        format!("{unproven},p={}", STANDARD.encode(proof))
    }

    fn sign_in(user: &str, password: &str) -> Result<String, Rejected> {
        let keys = keys();
        let bare = format!("n={user},r=abc");
        let (first, conversation) = keys.start(&format!("n,,{bare}"))?;
        keys.finish(&conversation, &prove(password, &bare, &first))
    }

    #[test]
    fn only_the_user_with_the_password_gets_in() {
        assert!(sign_in("ada", "pencil").unwrap().starts_with("v="));
        assert_eq!(sign_in("ada", "pencils"), Err(Rejected));
        assert_eq!(sign_in("bob", "pencil"), Err(Rejected));
    }

    #[test]
    fn the_example_of_the_specification_is_signed_as_there() {
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let mut salted = [0; 32];
        pbkdf2::pbkdf2_hmac::<Sha256>(b"pencil", &salt, 4096, &mut salted);
        let signed = "n=user,r=rOprNGfwEbeRWgbNEkqO,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                      s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
        let signature = STANDARD.encode(sign(&sign(&salted, "Server Key"), signed));
        assert_eq!(signature, "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
    }

    #[test]
    fn malformed_sign_in_messages_are_rejected() {
        let keys = keys();
        for message in [
            "",
            "n,,",
            "n,,r=abc",
            "p=tls-unique,,n=ada,r=abc",
            "n,,n=ada",
            "n,,n=ada,r=",
        ] {
            assert_eq!(keys.start(message).err(), Some(Rejected), "{message}");
        }
        let (first, conversation) = keys.start("n,,n=ada,r=abc").unwrap();
        let proof = prove("pencil", "n=ada,r=abc", &first);
        for message in [
            "",
            "c=biws,r=abc,p=AAAA",
            &proof.replace("c=biws", "c=eSws"),
            &proof[..proof.len() - 4],
        ] {
            assert_eq!(keys.finish(&conversation, message), Err(Rejected), "{message}");
        }
    }
}
