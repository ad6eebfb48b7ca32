use std::future::Future;

use leptos::prelude::*;
use leptos::task::spawn_local;
use model::Counted;

use crate::refusal::Refused;

/// Something that a reader turns on and off and that is counted: a like, a share, a follow.
///
/// A click shows at once and is then sent. While it is on its way further clicks only change what is wanted; at
/// most one request is out, and the last one asks for what was wanted last. A refusal puts everything back.
#[derive(Clone, Copy)]
pub struct Toggle {
    shown: RwSignal<bool>,
    count: RwSignal<u64>,
    problem: RwSignal<Option<String>>,
    settled: StoredValue<Counted>,
    sending: StoredValue<bool>,
}

impl Toggle {
    /// As the server said it is.
    pub fn new(active: bool, count: u64) -> Self {
        Self {
            shown: RwSignal::new(active),
            count: RwSignal::new(count),
            problem: RwSignal::new(None),
            settled: StoredValue::new(Counted { active, count }),
            sending: StoredValue::new(false),
        }
    }

    /// Whether it shows as on.
    pub fn active(self) -> bool {
        self.shown.get()
    }

    /// The count as shown.
    pub fn count(self) -> u64 {
        self.count.get()
    }

    /// Why the last click was refused.
    pub fn problem(self) -> Option<String> {
        self.problem.get()
    }

    /// The count changed elsewhere.
    pub fn heard(self, count: u64) {
        self.settled.update_value(|settled| settled.count = count);
        if !self.sending.get_value() {
            self.count.set(count);
        }
    }

    /// A click: shows it, then sends it with `send`.
    pub fn flip<Send, Sent>(self, send: Send)
    where
        Send: Fn(bool) -> Sent + 'static,
        Sent: Future<Output = Result<Counted, Refused>> + 'static,
    {
        let wanted = !self.shown.get_untracked();
        self.problem.set(None);
        self.shown.set(wanted);
        self.count.update(|count| {
            *count = if wanted {
                *count + 1
            } else {
                count.saturating_sub(1)
            }
        });
        if !self.sending.get_value() {
            self.sending.set_value(true);
            spawn_local(async move {
                self.send_until_settled(send).await;
                self.sending.set_value(false);
            });
        }
    }

    async fn send_until_settled<Send, Sent>(self, send: Send)
    where
        Send: Fn(bool) -> Sent,
        Sent: Future<Output = Result<Counted, Refused>>,
    {
        loop {
            match send(self.shown.get_untracked()).await {
                Ok(counted) => {
                    self.settled.set_value(counted);
                    if self.shown.get_untracked() == counted.active {
                        self.count.set(counted.count);
                        return;
                    }
                }
                Err(Refused(problem)) => {
                    let settled = self.settled.get_value();
                    self.shown.set(settled.active);
                    self.count.set(settled.count);
                    self.problem.set(Some(problem.message));
                    return;
                }
            }
        }
    }
}
