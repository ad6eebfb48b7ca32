//! Stopping the server: it announces the stop, then closes, and exits after a deadline.

use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

/// The phase of the shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    Serving,
    Draining,
    Closing,
}

/// Informs long-lived work about the phase of the shutdown.
#[derive(Clone)]
pub struct Phases(watch::Receiver<Phase>);

impl Phases {
    /// Whether a signal to stop was received.
    pub fn stopping(&self) -> bool {
        *self.0.borrow() > Phase::Serving
    }

    /// Waits until open responses must end.
    pub async fn closing(mut self) {
        // An error means that the sender is gone, and with it the server.
        if self.0.wait_for(|phase| *phase == Phase::Closing).await.is_err() {
            tracing::debug!("the server has already stopped");
        }
    }
}

/// Drives the phases.
pub struct Shutdown {
    phase: watch::Sender<Phase>,
    interrupt: Signal,
    terminate: Signal,
}

impl Shutdown {
    /// Starts to listen for SIGINT and SIGTERM.
    pub fn listen() -> io::Result<Self> {
        Ok(Self {
            phase: watch::Sender::new(Phase::Serving),
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
        })
    }

    /// A handle for work that needs to know the phase.
    pub fn phases(&self) -> Phases {
        Phases(self.phase.subscribe())
    }

    /// Runs through the phases once a signal comes. Returns when `deadline` has passed after closing began, or at a
    /// second signal.
    pub async fn run(mut self, drain: Duration, deadline: Duration) {
        self.signalled().await;
        tracing::info!("stopping: a second signal stops at once");
        self.phase.send_replace(Phase::Draining);
        tokio::select! {
            () = tokio::time::sleep(drain) => {}
            () = self.signalled() => return,
        }
        self.phase.send_replace(Phase::Closing);
        tokio::select! {
            () = tokio::time::sleep(deadline) => tracing::warn!("requests still under way at the deadline are cut off"),
            () = self.signalled() => {}
        }
    }

    async fn signalled(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
