//! Whether there is a server to send commands to, according to the driver's own monitoring.

use std::time::Duration;

use mongodb::ServerType;
use mongodb::event::EventHandler;
use mongodb::event::sdam::{SdamEvent, TopologyDescription};
use mongodb::options::ClientOptions;
use tokio::sync::watch;

/// How long a server may be missing before callers stop waiting for it. A broken connection is made again in less
/// time; later callers get an error at once.
const GRACE: Duration = Duration::from_secs(2);

/// Whether the server is lost: it was there once, and has been missing for longer than a moment.
#[derive(Debug, Clone)]
pub(crate) struct Presence(watch::Receiver<bool>);

impl Presence {
    /// Watches what the client that will be made from these options finds out about its servers.
    pub(crate) fn watching(options: &mut ClientOptions) -> Self {
        let (sender, usable) = watch::channel(false);
        options.sdam_event_handler = Some(EventHandler::callback(move |event| {
            if let SdamEvent::TopologyDescriptionChanged(change) = event {
                sender.send_replace(takes_commands(&change.new_description));
            }
        }));
        Self::after(usable, GRACE)
    }

    fn after(usable: watch::Receiver<bool>, grace: Duration) -> Self {
        let (sender, lost) = watch::channel(false);
        tokio::spawn(report_losses(usable, grace, sender));
        Self(lost)
    }

    /// Whether the server is lost now.
    pub(crate) fn is_lost(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until the server is lost.
    pub(crate) async fn lost(&self) {
        let mut lost = self.0.clone();
        if lost.wait_for(|lost| *lost).await.is_err() {
            // The client was dropped, so nothing changes any more.
            std::future::pending::<()>().await;
        }
    }
}

/// Reports when the server is lost and when it is back. Ends with the client.
async fn report_losses(mut usable: watch::Receiver<bool>, grace: Duration, lost: watch::Sender<bool>) {
    loop {
        if usable.wait_for(|usable| *usable).await.is_err() {
            return;
        }
        lost.send_replace(false);
        if usable.wait_for(|usable| !usable).await.is_err() {
            return;
        }
        let back = tokio::time::timeout(grace, usable.wait_for(|usable| *usable));
        if back.await.is_err() {
            lost.send_replace(true);
        }
    }
}

fn takes_commands(servers: &TopologyDescription) -> bool {
    servers.servers().values().any(|server| {
        matches!(
            server.server_type(),
            ServerType::Standalone | ServerType::Mongos | ServerType::RsPrimary | ServerType::LoadBalancer
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_server_is_lost_after_a_while_and_found_when_it_returns() {
        let (sender, usable) = watch::channel(false);
        let presence = Presence::after(usable, GRACE);
        for _ in 0..3 {
            for there in [true, false] {
                sender.send_replace(there);
                tokio::time::sleep(GRACE * 2).await;
                assert_eq!(presence.is_lost(), !there);
            }
            presence.lost().await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_was_never_up_or_returns_in_time_is_not_lost() {
        let (sender, usable) = watch::channel(false);
        let presence = Presence::after(usable, GRACE);
        let long = GRACE * 10;
        tokio::time::timeout(long, presence.lost()).await.unwrap_err();
        for _ in 0..3 {
            sender.send_replace(true);
            tokio::time::sleep(long).await;
            sender.send_replace(false);
            tokio::time::sleep(GRACE / 2).await;
            assert!(!presence.is_lost());
        }
        tokio::time::timeout(GRACE, presence.lost()).await.unwrap();
    }
}
