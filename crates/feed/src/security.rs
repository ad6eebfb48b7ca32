//! The security log: what happened to accounts, to whom and from where. Each event is a line of the log with the target
//! `security`, and is counted. Neither has a secret in it.

use std::sync::atomic::{AtomicU64, Ordering};

use model::{Handle, Kind, Problem, ReportTarget};

use super::{Client, Feed};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecurityEvent {
    /// Somebody signed up.
    SignUp,
    /// Somebody signed in.
    SignIn,
    /// Somebody tried to sign in with a wrong handle or password.
    SignInFailed,
    /// Somebody signed out, also by signing in again in the same browser.
    SignOut,
    /// A person ended another session, or all others.
    SessionsEnded,
    /// A person changed their password. That ends all other sessions.
    PasswordChanged,
    /// Somebody who is signed in gave a wrong password for a change.
    PasswordWrong,
    /// A person made recovery codes. Those from before are not valid any more.
    RecoveryCodesMade,
    /// The operator made a link with which a person can set a new password.
    RecoveryLinkMade,
    /// Somebody set a new password with a code or a link. That ends all sessions.
    Recovered,
    /// Somebody tried to, with a code or a link that is not valid.
    RecoveryFailed,
    /// A driver signed in over MongoDB's protocol.
    DriverSignIn,
    /// A driver tried to sign in with a wrong name or password.
    DriverSignInFailed,
    /// A driver was refused: its address failed too often, or too many are connected.
    DriverRefused,
    /// A person deleted their account.
    AccountDeleted,
    /// The operator suspended a person, who cannot sign in any more.
    AccountSuspended,
    /// The operator ended a suspension.
    AccountReinstated,
    /// The operator deleted a post or a comment.
    ContentRemoved,
    /// The operator decided that what was reported may stay.
    ReportsDismissed,
    /// A limit refused a request.
    Limited,
    /// A peer had as many connections as it may have, so another one was closed.
    ConnectionRefused,
    /// All connections are taken, so others wait until one ends.
    ConnectionsFull,
    /// An event stream was refused: its peer, or all together, have too many of them or watch too many topics.
    StreamRefused,
    /// A request was forbidden: it came from another site or over plain HTTP, or was about somebody else's things.
    Refused,
    /// A request did not arrive in time.
    TimedOut,
    /// The teacher of a class hid a post from everybody.
    PostWithheld,
    /// The teacher ended that.
    PostReleased,
    /// The teacher reset the class, which removes everybody who signed up.
    ClassReset,
}

impl SecurityEvent {
    /// Every event.
    pub const ALL: [Self; 28] = [
        Self::SignUp,
        Self::SignIn,
        Self::SignInFailed,
        Self::SignOut,
        Self::SessionsEnded,
        Self::PasswordChanged,
        Self::PasswordWrong,
        Self::RecoveryCodesMade,
        Self::RecoveryLinkMade,
        Self::Recovered,
        Self::RecoveryFailed,
        Self::DriverSignIn,
        Self::DriverSignInFailed,
        Self::DriverRefused,
        Self::AccountDeleted,
        Self::AccountSuspended,
        Self::AccountReinstated,
        Self::ContentRemoved,
        Self::ReportsDismissed,
        Self::Limited,
        Self::ConnectionRefused,
        Self::ConnectionsFull,
        Self::StreamRefused,
        Self::Refused,
        Self::TimedOut,
        Self::PostWithheld,
        Self::PostReleased,
        Self::ClassReset,
    ];

    /// Its name, in the log and in the metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SignUp => "sign-up",
            Self::SignIn => "sign-in",
            Self::SignInFailed => "sign-in-failed",
            Self::SignOut => "sign-out",
            Self::SessionsEnded => "sessions-ended",
            Self::PasswordChanged => "password-changed",
            Self::PasswordWrong => "password-wrong",
            Self::RecoveryCodesMade => "recovery-codes-made",
            Self::RecoveryLinkMade => "recovery-link-made",
            Self::Recovered => "recovered",
            Self::RecoveryFailed => "recovery-failed",
            Self::DriverSignIn => "driver-sign-in",
            Self::DriverSignInFailed => "driver-sign-in-failed",
            Self::DriverRefused => "driver-refused",
            Self::AccountDeleted => "account-deleted",
            Self::AccountSuspended => "account-suspended",
            Self::AccountReinstated => "account-reinstated",
            Self::ContentRemoved => "content-removed",
            Self::ReportsDismissed => "reports-dismissed",
            Self::Limited => "limited",
            Self::ConnectionRefused => "connection-refused",
            Self::ConnectionsFull => "connections-full",
            Self::StreamRefused => "stream-refused",
            Self::Refused => "refused",
            Self::TimedOut => "timed-out",
            Self::PostWithheld => "post-withheld",
            Self::PostReleased => "post-released",
            Self::ClassReset => "class-reset",
        }
    }
}

impl Feed {
    /// Records it if a limit is the reason why something was not done.
    pub(super) fn record_limits<T>(
        &self,
        done: Result<T, Problem>,
        who: Option<&Handle>,
        client: &Client,
    ) -> Result<T, Problem> {
        if done.as_ref().is_err_and(|problem| problem.kind == Kind::TooMany) {
            self.security().record(SecurityEvent::Limited, who, client);
        }
        done
    }
}

/// Writes the log and counts its events.
#[derive(Debug, Default)]
pub struct SecurityLog([AtomicU64; SecurityEvent::ALL.len()]);

impl SecurityLog {
    /// Records an event. `who` is an account that exists: people type passwords into the field of the handle.
    pub fn record(&self, event: SecurityEvent, who: Option<&Handle>, client: &Client) {
        self.count_one(event);
        let handle = who.map(tracing::field::display);
        let peer = client.peer.map(tracing::field::display);
        tracing::info!(target: "security", handle, peer, "{}", event.as_str());
    }

    /// Records what the operator decided about a target. `who` wrote it, if that matters.
    pub fn record_about(&self, event: SecurityEvent, who: Option<&Handle>, target: &ReportTarget) {
        self.count_one(event);
        let handle = who.map(tracing::field::display);
        tracing::info!(target: "security", handle, about = %target, "{}", event.as_str());
    }

    fn count_one(&self, event: SecurityEvent) {
        self.0[event as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// How often this happened in this process.
    pub fn count(&self, event: SecurityEvent) -> u64 {
        self.0[event as usize].load(Ordering::Relaxed)
    }
}
