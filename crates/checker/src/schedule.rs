//! A stateless model checker: runs a few concurrent operations repeatedly, each time in another interleaving of their
//! engine calls, and with a crash or a lost answer at another place, until all have been tried.
//!
//! A run ends early if it reaches a state that another run has been in: the same documents, the same answers to each
//! operation, and the same remaining bounds. Everything that can follow from there has been tried already. Nothing else
//! is left out: within its bounds, each interleaving is run, or agrees from some state on with one that is.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};
use std::pin::Pin;
use std::sync::Arc;

use document::Engine;
use document::gate::{CallerGuard, Decision, Gate, GateEvent, WaitingCall};
use futures::future::join_all;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

pub use crate::bounds::{Bounds, least, within};
use crate::cached::{Cached, State};
use crate::dice::Dice;
use crate::fingerprint::Digest;
use crate::history::History;
use crate::observed::{Answers, Observed};
use crate::stale::{Age, Versions};
use crate::visited::{Place, Visited};

/// An operation under test. It gets a store whose engine calls all wait for their turn.
pub type Operation<S> = Arc<dyn Fn(S) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// The layer between an operation and the engine whose calls are interleaved.
pub type Between = &'static (dyn Fn(Engine) -> Engine + Sync);

/// One of several ways in which a run can continue.
#[derive(Debug, Clone, Copy)]
struct Choice {
    actor: usize,
    decision: Decision,
    /// How old a read is.
    age: Age,
}

/// How one run ended.
pub struct Run {
    /// The operations that crashed.
    pub crashed: Vec<bool>,
    /// What happened, for a failure's message.
    pub story: Vec<String>,
}

/// Enumerates the runs of one scenario.
pub struct Explorer {
    bounds: Bounds,
    /// The choices of the current run: which option of how many.
    path: Vec<(usize, usize)>,
    /// The number of runs.
    pub runs: usize,
    /// The engine that everything happens in, and its initial content.
    engine: Arc<Cached>,
    beforehand: State,
    /// The versions for old reads, and how many reads of a run may be old.
    stale: Option<(Arc<Versions>, usize)>,
    /// Requests and answers of the current run; to be replaced before the next.
    pub history: History,
    /// The states that runs have been in.
    visited: Visited,
    /// Digests of how runs have ended.
    ends: HashSet<u64>,
}

impl Explorer {
    /// For runs that begin with the current content of the engine.
    pub fn new(bounds: Bounds, engine: &Arc<Cached>) -> Self {
        Self {
            bounds,
            engine: Arc::clone(engine),
            beforehand: engine.now(),
            path: Vec::new(),
            runs: 0,
            stale: None,
            history: History::default(),
            visited: Visited::default(),
            ends: HashSet::new(),
        }
    }

    /// Whether no earlier run ended with the same documents, the same crashes and the same `more`, which is whatever else
    /// determines what the test does after a run. If one did, nothing new can come of it.
    pub fn ends_as_no_other(&mut self, run: &Run, more: impl Hash) -> bool {
        let mut hasher = Digest::default();
        (self.engine.now(), &run.crashed, more).hash(&mut hasher);
        self.ends.insert(hasher.finish())
    }

    /// Prints how much was explored.
    ///
    /// # Panics
    /// If it was next to nothing.
    pub fn assert_explored(&self) {
        println!("{} runs, {} different ends", self.runs, self.ends.len());
        assert!(self.runs > 20, "only {} runs", self.runs);
    }

    /// Allows this many old reads in a run.
    #[must_use]
    pub fn with_stale_reads(mut self, versions: Arc<Versions>, reads: usize) -> Self {
        self.stale = Some((versions, reads));
        self
    }

    /// Runs the operations once, in the next interleaving; each operation sees the engine through a `between` of its
    /// own, in a store that `open` makes of it; `after_write` checks the store after every write. `None` when the run
    /// reached a state that another has been in.
    pub async fn run<S>(
        &mut self,
        engine: &Engine,
        open: &impl AsyncFn(Engine) -> S,
        operations: &[Operation<S>],
        between: Between,
        after_write: impl AsyncFn(),
    ) -> Option<Run> {
        self.runs += 1;
        self.engine.go_back_to(self.beforehand);
        if let Some((versions, _)) = &self.stale {
            versions.begin();
        }
        let answers: Vec<Answers> = operations.iter().map(|_| Answers::default()).collect();
        let (mut tasks, mut inbox) = start(engine, open, operations, between, &self.history, &answers).await;
        let mut waiting: Vec<Option<WaitingCall>> = operations.iter().map(|_| None).collect();
        let mut run = Run {
            crashed: vec![false; operations.len()],
            story: Vec::new(),
        };
        settle(&mut inbox, operations.len(), &mut waiting, &mut run).await;
        let mut left = self.bounds;
        let mut stale = self.stale.as_ref().map_or(0, |(_, reads)| *reads);
        let mut last: Option<usize> = None;
        let mut depth = 0;
        let mut ends_early = false;
        loop {
            if depth >= self.path.len() {
                let mut digest = Digest::default();
                (self.engine.now(), left.faults, stale).hash(&mut digest);
                self.history.digest().hash(&mut digest);
                self.stale
                    .as_ref()
                    .map(|(versions, _)| versions.all())
                    .hash(&mut digest);
                for actor in 0..operations.len() {
                    // A crashed caller restarts from nothing.
                    let answered = (!run.crashed[actor]).then(|| answers[actor].digest());
                    (answered, waiting[actor].is_some()).hash(&mut digest);
                }
                let place = Place {
                    state: digest.finish(),
                    last,
                    switches: left.switches,
                };
                if !self.visited.note(place) {
                    ends_early = true;
                    break;
                }
            }
            let behind = self.stale.as_ref().map_or(0, |(versions, _)| versions.behind());
            // Only as the one fault of a run, so that there are not too many runs.
            let loses_calls = self.bounds.faults == 1;
            let options = options(&waiting, last, left, behind.min(stale), loses_calls);
            if options.is_empty() {
                break;
            }
            let choice = options[self.decide(depth, options.len())];
            depth += 1;
            let turn = waiting[choice.actor].take().unwrap();
            left.switches -= usize::from(last.is_some_and(|last| last != choice.actor));
            let call = match (turn.writes, choice.age) {
                (true, _) => "writes".to_owned(),
                (false, Age::Newest) => "reads".to_owned(),
                (false, age) => format!("reads {age:?}"),
            };
            run.story
                .push(format!("{} {call} {:?}", choice.actor, choice.decision));
            if let Some((versions, _)) = &self.stale {
                versions.lose_next(choice.decision == Decision::LoseAnswer);
                if choice.age != Age::Newest {
                    stale -= 1;
                    versions.answer_next(choice.age);
                }
            }
            left.faults -= usize::from(choice.decision != Decision::Proceed);
            run.crashed[choice.actor] |= choice.decision == Decision::Crash;
            let writes = turn.writes;
            assert!(turn.decide(choice.decision), "a caller gave up while it waited");
            if choice.decision != Decision::Crash {
                settle(&mut inbox, 1, &mut waiting, &mut run).await;
                if let Some((versions, _)) = &self.stale {
                    answers[choice.actor].note_version(versions.last_seen());
                }
            }
            last = waiting[choice.actor].is_some().then_some(choice.actor);
            if writes {
                after_write().await;
            }
        }
        tasks.abort_all();
        end(tasks).await;
        (!ends_early).then_some(run)
    }

    /// Moves on to the next interleaving; false when there is none.
    pub fn advance(&mut self) -> bool {
        while let Some((taken, options)) = self.path.pop() {
            if taken + 1 < options {
                self.path.push((taken + 1, options));
                return true;
            }
        }
        false
    }

    fn decide(&mut self, depth: usize, options: usize) -> usize {
        if let Some((taken, _)) = self.path.get(depth) {
            return *taken;
        }
        self.path.push((0, options));
        0
    }
}

/// Runs operations one after the other.
pub fn in_turn<S: Clone + Send + Sync + 'static>(operations: Vec<Operation<S>>) -> Operation<S> {
    Arc::new(move |store: S| {
        let operations = operations.clone();
        Box::pin(async move {
            for operation in operations {
                operation(store.clone()).await;
            }
        })
    })
}

/// Runs several operations at once, like a server with several people.
pub fn at_once<S: Clone + Send + Sync + 'static>(operations: Vec<Operation<S>>) -> Operation<S> {
    Arc::new(move |store: S| {
        let operations = operations.clone();
        Box::pin(async move {
            join_all(operations.iter().map(|operation| operation(store.clone()))).await;
        })
    })
}

/// Runs the operations once, in an order and with faults that are determined by a seed: out of this many writes one
/// fails and one loses its answer.
pub async fn simulate<S>(
    engine: &Engine,
    open: &impl AsyncFn(Engine) -> S,
    operations: &[Operation<S>],
    seed: u64,
    writes_per_fault: u64,
) {
    let answers: Vec<Answers> = operations.iter().map(|_| Answers::default()).collect();
    let (tasks, mut inbox) = start(
        engine,
        open,
        operations,
        &|engine| engine,
        &History::default(),
        &answers,
    )
    .await;
    let mut waiting: Vec<Option<WaitingCall>> = operations.iter().map(|_| None).collect();
    let mut run = Run {
        crashed: Vec::new(),
        story: Vec::new(),
    };
    let mut dice = Dice::new(seed);
    settle(&mut inbox, operations.len(), &mut waiting, &mut run).await;
    loop {
        let ready: Vec<usize> = (0..waiting.len())
            .filter(|actor| waiting[*actor].is_some())
            .collect();
        if ready.is_empty() {
            break;
        }
        let next = ready[usize::try_from(dice.below(ready.len() as u64)).unwrap()];
        let turn = waiting[next].take().unwrap();
        let decision = match dice.below(writes_per_fault) {
            0 if turn.writes => Decision::Fail,
            1 if turn.writes => Decision::LoseAnswer,
            _ => Decision::Proceed,
        };
        assert!(turn.decide(decision), "a caller gave up while it waited");
        settle(&mut inbox, 1, &mut waiting, &mut run).await;
    }
    end(tasks).await;
}

/// Starts the operations, each with an engine whose calls wait for their turn.
async fn start<S>(
    engine: &Engine,
    open: &impl AsyncFn(Engine) -> S,
    operations: &[Operation<S>],
    between: Between,
    history: &History,
    answers: &[Answers],
) -> (JoinSet<()>, mpsc::UnboundedReceiver<GateEvent>) {
    let (messages, inbox) = mpsc::unbounded_channel();
    let mut tasks = JoinSet::new();
    for (actor, operation) in operations.iter().enumerate() {
        let gate = Gate::new(engine.clone(), actor, messages.clone());
        let gate = Observed::of(gate, answers[actor].clone());
        let gated = open(between(gate)).await;
        let (operation, messages) = (operation(gated), messages.clone());
        let history = history.clone();
        tasks.spawn(async move {
            let _ending = CallerGuard::new(actor, messages);
            history.during(operation).await;
        });
    }
    (tasks, inbox)
}

/// Waits for the operations, and panics if one did.
async fn end(mut tasks: JoinSet<()>) {
    while let Some(ended) = tasks.join_next().await {
        if let Err(error) = ended
            && error.is_panic()
        {
            std::panic::resume_unwind(error.into_panic());
        }
    }
}

/// Waits until this many operations wait for their turn or have ended.
async fn settle(
    inbox: &mut mpsc::UnboundedReceiver<GateEvent>,
    busy: usize,
    waiting: &mut [Option<WaitingCall>],
    run: &mut Run,
) {
    for _ in 0..busy {
        match inbox.recv().await.unwrap() {
            GateEvent::CallArrived(turn) => {
                let actor = turn.caller;
                waiting[actor] = Some(turn);
            }
            GateEvent::CallerEnded(actor) => run.story.push(format!("{actor} ends")),
        }
    }
}

/// The ways in which the run can continue. Two reads in a row commute, but both orders are tried: they differ in the
/// switches that it takes to go on.
fn options(
    waiting: &[Option<WaitingCall>],
    last: Option<usize>,
    left: Bounds,
    stale: usize,
    loses_calls: bool,
) -> Vec<Choice> {
    let mut options = Vec::new();
    for turn in waiting.iter().flatten() {
        let actor = turn.caller;
        if left.switches == 0 && last.is_some_and(|last| last != actor) {
            continue;
        }
        let choice = |decision, age| Choice { actor, decision, age };
        options.push(choice(Decision::Proceed, Age::Newest));
        if turn.writes && left.faults > 0 {
            options.push(choice(Decision::Crash, Age::Newest));
            options.push(choice(Decision::LoseAnswer, Age::Newest));
        }
        if turn.writes && left.faults > 0 && loses_calls {
            options.push(choice(Decision::LoseCall, Age::Newest));
        }
        if !turn.writes && stale > 0 {
            options.push(choice(Decision::Proceed, Age::OneBehind));
            options.push(choice(Decision::Proceed, Age::Oldest));
        }
    }
    options
}
