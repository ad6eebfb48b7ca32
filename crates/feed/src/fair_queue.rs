//! A queue for work that keeps a core busy, shared fairly by those who send it.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use model::{Kind, Problem};
use tokio::sync::oneshot::{self, Receiver, Sender};

/// Who sends work: a peer, or none for what this process does by itself.
pub type Peer = Option<IpAddr>;

/// When there is probably a place again.
const SOON: Duration = Duration::from_secs(5);

/// Some work runs, some waits, and further work is refused at once. Peers take turns, however much each of them sent.
/// When the queue is full, a peer with less work in it takes the last place of the peer with the most. So nobody is
/// refused, or waits for long, because of one other peer.
pub struct FairQueue {
    at_once: usize,
    waiting: usize,
    /// The message of a refusal.
    full: &'static str,
    state: Mutex<State>,
}

struct State {
    running: usize,
    /// The peers whose work waits, the one whose turn is next first, each with at least one waiter.
    peers: VecDeque<(Peer, VecDeque<Sender<Turn>>)>,
}

/// The permission to run. When it is dropped, the next one gets it.
pub struct Turn(&'static FairQueue);

impl FairQueue {
    /// A queue that lets this much run at once, and this much wait. When it is full, people read the message.
    pub const fn new(at_once: usize, waiting: usize, full: &'static str) -> Self {
        Self {
            at_once,
            waiting,
            full,
            state: Mutex::new(State {
                running: 0,
                peers: VecDeque::new(),
            }),
        }
    }

    /// Waits for this peer's turn. A caller that stops waiting leaves the queue.
    ///
    /// # Errors
    /// [`Kind::TooMany`] when the queue is full, or when another peer took the place.
    pub async fn turn_of(&'static self, peer: Peer) -> Result<Turn, Problem> {
        match self.enter(peer) {
            Ok(turn) => Ok(turn),
            Err(Some(waiting)) => waiting.await.map_err(|_| self.refusal()),
            Err(None) => Err(self.refusal()),
        }
    }

    /// A turn at once, or a place in the queue, or nothing.
    fn enter(&'static self, peer: Peer) -> Result<Turn, Option<Receiver<Turn>>> {
        let mut state = self.state();
        if state.running < self.at_once {
            state.running += 1;
            return Ok(Turn(self));
        }
        state.forget_gone();
        if state.waiting() >= self.waiting && !state.displace_for(peer) {
            return Err(None);
        }
        let (waiter, waiting) = oneshot::channel();
        state.add(peer, waiter);
        Err(Some(waiting))
    }

    fn refusal(&self) -> Problem {
        Problem::new(Kind::TooMany, self.full).for_now(SOON)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// How much work waits.
    fn waiting(&self) -> usize {
        self.peers.iter().map(|(_, waiters)| waiters.len()).sum()
    }

    fn forget_gone(&mut self) {
        for (_, waiters) in &mut self.peers {
            waiters.retain(|waiter| !waiter.is_closed());
        }
        self.peers.retain(|(_, waiters)| !waiters.is_empty());
    }

    /// Takes the last place of the peer with the most, if that leaves it at least as many as this peer then has.
    fn displace_for(&mut self, peer: Peer) -> bool {
        let own = self.peers.iter().find(|(of, _)| *of == peer);
        let own = own.map_or(0, |(_, waiters)| waiters.len());
        let most = self.peers.iter_mut().max_by_key(|(_, waiters)| waiters.len());
        most.filter(|(_, waiters)| waiters.len() > own + 1)
            .and_then(|(_, waiters)| waiters.pop_back())
            .is_some()
    }

    fn add(&mut self, peer: Peer, waiter: Sender<Turn>) {
        match self.peers.iter_mut().find(|(of, _)| *of == peer) {
            Some((_, waiters)) => waiters.push_back(waiter),
            None => self.peers.push_back((peer, VecDeque::from([waiter]))),
        }
    }

    /// The next waiter; its peer then waits for all others. Without one, less runs.
    fn next(&mut self) -> Option<Sender<Turn>> {
        let Some((peer, mut waiters)) = self.peers.pop_front() else {
            self.running -= 1;
            return None;
        };
        let next = waiters.pop_front();
        if !waiters.is_empty() {
            self.peers.push_back((peer, waiters));
        }
        next
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let next = self.0.state().next();
        if let Some(waiter) = next {
            // One that has gone returns the turn, whose drop here passes it on.
            drop(waiter.send(Self(self.0)));
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt as _;
    use futures::future::BoxFuture;

    use super::*;

    type Waiting = BoxFuture<'static, Result<Turn, Problem>>;

    fn sent(queue: &'static FairQueue, number: u8) -> Waiting {
        queue.turn_of(Some(IpAddr::from([192, 0, 2, number]))).boxed()
    }

    /// Puts work of this peer into the queue.
    fn wait(queue: &'static FairQueue, number: u8) -> Waiting {
        let mut waiting = sent(queue, number);
        assert!((&mut waiting).now_or_never().is_none(), "it waits");
        waiting
    }

    fn now(waiting: &mut Waiting) -> Option<Result<Turn, Kind>> {
        let turn = waiting.now_or_never()?;
        Some(turn.map_err(|problem| problem.kind))
    }

    #[test]
    fn a_full_queue_refuses_the_work_of_a_peer_that_has_as_much_in_it() {
        static QUEUE: FairQueue = FairQueue::new(1, 1, "full");
        let running = now(&mut sent(&QUEUE, 1)).unwrap().unwrap();
        let mut second = wait(&QUEUE, 1);
        for number in [1, 2] {
            let refused = now(&mut sent(&QUEUE, number));
            assert_eq!(refused.unwrap().err(), Some(Kind::TooMany));
        }
        drop(running);
        drop(now(&mut second).unwrap().unwrap());
        assert!(now(&mut sent(&QUEUE, 2)).unwrap().is_ok(), "there is room again");
    }

    #[test]
    fn a_peer_that_sends_much_does_not_keep_others_waiting_or_out() {
        static QUEUE: FairQueue = FairQueue::new(1, 4, "full");
        let running = now(&mut sent(&QUEUE, 1)).unwrap().unwrap();
        let mut of_one: Vec<_> = (0..4).map(|_| wait(&QUEUE, 1)).collect();
        let mut other = wait(&QUEUE, 2);
        let displaced = now(&mut of_one[3]).unwrap();
        assert_eq!(displaced.err(), Some(Kind::TooMany), "the last one makes room");
        drop(running);
        let running = now(&mut of_one[0]).unwrap().unwrap();
        drop(running);
        assert!(now(&mut of_one[1]).is_none(), "it is the other's turn");
        drop(now(&mut other).unwrap().unwrap());
        drop(now(&mut of_one[1]).unwrap().unwrap());
    }

    #[test]
    fn those_who_stop_waiting_leave_the_queue() {
        static QUEUE: FairQueue = FairQueue::new(1, 3, "full");
        let running = now(&mut sent(&QUEUE, 1)).unwrap().unwrap();
        drop([wait(&QUEUE, 1), wait(&QUEUE, 1)]);
        let mut kept = wait(&QUEUE, 1);
        let gone = wait(&QUEUE, 2);
        let mut last = wait(&QUEUE, 3);
        drop((gone, running));
        // The turn passes those who are gone.
        drop(now(&mut kept).unwrap().unwrap());
        drop(now(&mut last).unwrap().unwrap());
        assert!(now(&mut sent(&QUEUE, 1)).unwrap().is_ok());
    }
}
