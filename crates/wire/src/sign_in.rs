//! The commands of signing in.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use bson::spec::BinarySubtype;
use bson::{Binary, Bson, Document, doc};

use crate::arguments::{Arguments, whole};
use crate::fault::{AUTHENTICATION_FAILED, CommandError, Outcome, TOO_MANY_CONNECTIONS, done, fine};
use crate::scram::{MECHANISM, Rejected};
use crate::server::{Server, Session};

/// What became of a try to sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignInEvent {
    /// The driver is signed in.
    SignedIn,
    /// The name or the password was wrong.
    Failed,
    /// Nothing was checked, because the address failed too often; or there is no place for one more connection.
    Refused,
}

/// Hears of tries to sign in, for a log of the program around this.
pub trait Observer: fmt::Debug + Send + Sync {
    /// A client at this address tried to sign in.
    fn signed_in(&self, event: SignInEvent, peer: IpAddr);
}

/// The only conversation that a connection has at a time.
const CONVERSATION: i32 = 1;

/// `saslStart`
pub(crate) fn start(server: &Server, session: &mut Session, mut arguments: Arguments) -> Outcome<Document> {
    session.conversation = None;
    session.proven = false;
    let mechanism = arguments.text("mechanism")?;
    if mechanism != MECHANISM {
        let message = format!("Received authentication for mechanism {mechanism} which is not enabled");
        return Err(CommandError::new(334, message));
    }
    let keys = server.keys.as_ref().ok_or(Rejected)?;
    let (answer, mut conversation) = keys.start(&payload(&mut arguments)?)?;
    conversation.short = arguments
        .document("options")?
        .get_bool("skipEmptyExchange")
        .unwrap_or(false);
    session.conversation = Some(conversation);
    Ok(step(&answer, false))
}

/// `saslContinue`
pub(crate) async fn continue_conversation(
    server: &Server,
    session: &mut Session,
    mut arguments: Arguments,
) -> Outcome<Document> {
    let number = arguments.take("conversationId").as_ref().and_then(whole);
    if number != Some(CONVERSATION.into()) {
        return Err(Rejected.into());
    }
    if std::mem::take(&mut session.proven) {
        enter(server, session)?;
        return Ok(step("", true));
    }
    let conversation = session.conversation.take().ok_or(Rejected)?;
    let keys = server.keys.as_ref().ok_or(Rejected)?;
    let address = session.peer.ip();
    if let Some(wait) = server.strangers.pause(address) {
        report(server, session, SignInEvent::Refused);
        let seconds = wait.as_secs();
        let message = format!("too many wrong passwords from this address: try again in {seconds} seconds");
        return Err(CommandError::new(AUTHENTICATION_FAILED, message));
    }
    let Ok(answer) = keys.finish(&conversation, &payload(&mut arguments)?) else {
        report(server, session, SignInEvent::Failed);
        tokio::time::sleep(server.strangers.failed(address)).await;
        return Err(Rejected.into());
    };
    if conversation.short {
        enter(server, session)?;
    } else {
        session.proven = true;
    }
    Ok(step(&answer, conversation.short))
}

/// `logout`
pub(crate) fn logout(server: &Server, session: &mut Session) -> Document {
    if server.keys.is_some() {
        session.place = None;
        session.stranger = Some(server.strangers.admit(session.peer.ip(), &session.removed));
    }
    done()
}

/// Gives a connection a place among those that may read and write.
fn enter(server: &Server, session: &mut Session) -> Outcome<()> {
    let place = Arc::clone(&server.places).try_acquire_owned();
    let Ok(place) = place else {
        report(server, session, SignInEvent::Refused);
        return Err(CommandError::new(TOO_MANY_CONNECTIONS, "too many connections"));
    };
    session.place = Some(place);
    session.stranger = None;
    report(server, session, SignInEvent::SignedIn);
    Ok(())
}

fn report(server: &Server, session: &Session, event: SignInEvent) {
    if let Some(observer) = &server.observer {
        observer.signed_in(event, session.peer.ip());
    }
}

fn payload(arguments: &mut Arguments) -> Result<String, Rejected> {
    let bytes = match arguments.take("payload") {
        Some(Bson::Binary(payload)) => payload.bytes,
        Some(Bson::String(payload)) => payload.into_bytes(),
        _ => return Err(Rejected),
    };
    String::from_utf8(bytes).map_err(|_| Rejected)
}

fn step(answer: &str, done: bool) -> Document {
    let payload = Binary {
        subtype: BinarySubtype::Generic,
        bytes: answer.as_bytes().to_vec(),
    };
    fine(doc! { "conversationId": CONVERSATION, "done": done, "payload": payload })
}

impl From<Rejected> for CommandError {
    fn from(_: Rejected) -> Self {
        Self::new(AUTHENTICATION_FAILED, "Authentication failed.")
    }
}
