//! Operations that run one command at a time, in an order that the check chooses.

use document::gate::{CallerGuard, Decision, Gate, GateEvent, WaitingCall};
use document::{Engine, Result};
use tokio::sync::mpsc::unbounded_channel;

/// The number of orders that are tried for two operations: every one of their first eight commands.
pub const ORDERS: u32 = 1 << 8;

/// Runs two operations at once. Bit `n` of `order` says which of them sends the `n`th command; when that one has
/// ended, the other continues.
pub async fn in_order(
    db: &Engine,
    order: u32,
    first: impl AsyncFnOnce(Engine) -> Result<()>,
    second: impl AsyncFnOnce(Engine) -> Result<()>,
) {
    let (messages, mut inbox) = unbounded_channel();
    let ways = [0, 1].map(|caller| Gate::new(db.clone(), caller, messages.clone()));
    let endings = [0, 1].map(|caller| CallerGuard::new(caller, messages.clone()));
    let [first_way, second_way] = ways;
    let [first_ending, second_ending] = endings;
    let one = async {
        let _ending = first_ending;
        super::sure(first(first_way).await);
    };
    let other = async {
        let _ending = second_ending;
        super::sure(second(second_way).await);
    };
    let director = async {
        let mut waiting: [Option<WaitingCall>; 2] = [None, None];
        let mut over = [false; 2];
        let mut step = 0;
        while over != [true; 2] {
            if (0..2).any(|caller| waiting[caller].is_none() && !over[caller]) {
                match inbox.recv().await {
                    Some(GateEvent::CallArrived(turn)) => {
                        let caller = turn.caller;
                        waiting[caller] = Some(turn);
                    }
                    Some(GateEvent::CallerEnded(caller)) => over[caller] = true,
                    None => break,
                }
                continue;
            }
            let wanted = usize::from(order.checked_shr(step).is_some_and(|rest| rest & 1 == 1));
            let turn = waiting[wanted].take().or_else(|| waiting[1 - wanted].take());
            turn.map(|turn| turn.decide(Decision::Proceed));
            step += 1;
        }
    };
    futures::join!(one, other, director);
}

/// Runs an operation that dies after this many commands. False when it had ended before.
pub async fn up_to(db: &Engine, commands: usize, operation: impl AsyncFnOnce(Engine) -> Result<()>) -> bool {
    let (messages, mut inbox) = unbounded_channel();
    let way = Gate::new(db.clone(), 0, messages.clone());
    let dying = async {
        let _ending = CallerGuard::new(0, messages);
        super::sure(operation(way).await);
        false
    };
    let watching = async {
        let mut done = 0;
        while let Some(GateEvent::CallArrived(turn)) = inbox.recv().await {
            if done == commands {
                return true;
            }
            done += 1;
            turn.decide(Decision::Proceed);
        }
        false
    };
    tokio::select! {
        biased;
        died = watching => died,
        died = dying => died,
    }
}
