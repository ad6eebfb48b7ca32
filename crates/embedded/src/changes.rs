//! Reports to listeners what each group commit changed.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::{StreamExt, stream};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{self, Receiver, Sender};

use document::{Changed, Changes};

/// How many commits a listener may fall behind. A listener that falls behind further learns that anything may have
/// changed.
const MOST: usize = 1024;

/// The listeners.
#[derive(Debug)]
pub(super) struct Listeners(Sender<Arc<[Changed]>>);

impl Default for Listeners {
    fn default() -> Self {
        Self(broadcast::channel(MOST).0)
    }
}

impl Listeners {
    /// Reports what a commit changed, which can be read by now.
    pub(super) fn report(&self, changed: Vec<Changed>) {
        if self.0.send(changed.into()).is_err() {
            tracing::trace!("nobody listens for changes");
        }
    }

    /// Every change from now on to these collections. The stream ends with the engine and does not keep it open.
    pub(super) fn listen(&self, collections: &[&str]) -> Changes {
        let listener = Listener {
            receiver: self.0.subscribe(),
            collections: collections.iter().map(|name| (*name).to_owned()).collect(),
            pending: VecDeque::new(),
        };
        stream::unfold(listener, |mut listener| async {
            let changed = listener.next().await?;
            Some((changed, listener))
        })
        .boxed()
    }
}

struct Listener {
    receiver: Receiver<Arc<[Changed]>>,
    collections: Vec<String>,
    pending: VecDeque<Changed>,
}

impl Listener {
    async fn next(&mut self) -> Option<Changed> {
        loop {
            if let Some(changed) = self.pending.pop_front() {
                return Some(changed);
            }
            match self.receiver.recv().await {
                Ok(commit) => {
                    let wanted = commit.iter().filter(|changed| match changed {
                        Changed::Document { collection, .. } => self.collections.contains(collection),
                        Changed::Anything => true,
                    });
                    self.pending.extend(wanted.cloned());
                }
                Err(RecvError::Lagged(_)) => return Some(Changed::Anything),
                Err(RecvError::Closed) => return None,
            }
        }
    }
}
