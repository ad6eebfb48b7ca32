//! Two writers, one place left: their commands interleave in the order in which somebody clicks.

use std::fmt;
use std::str::FromStr;

use document::gate::{CallerGuard, Decision, Gate, GateEvent, WaitingCall};
use document::{Error, Result};
use model::Problem;
use store::Limits;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;

use crate::Fill;
use crate::cast::handle;
use crate::{Entry, Expected, List, Protocol, Record, Recorded, Stage, StageDocument, Tally};

/// The two actors.
pub const WRITERS: [&str; 2] = ["ada", "bob"];

/// The number of items before the race: one fewer than the articles' threshold.
pub const BEFOREHAND: u64 = 999;

/// The writer that continues, click by click.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Clicks(Vec<usize>);

/// One click, and the command that it let through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// The writer.
    pub writer: usize,
    /// The index of the writer's entry.
    pub entry: usize,
}

/// The state of a writer.
#[derive(Debug, Clone, PartialEq)]
pub struct Writer {
    /// The actor.
    pub name: &'static str,
    /// Its commands so far. While the writer is not done, the last entry waits for the next click.
    pub entries: Vec<Entry>,
    /// Whether it is done: its append was acknowledged.
    pub done: bool,
}

/// The result of the clicks.
#[derive(Debug, Clone, PartialEq)]
pub struct Race {
    /// The protocol that ran.
    pub protocol: Protocol,
    /// The clicks that had an effect. A click for a writer that is done has none.
    pub clicks: Clicks,
    /// The command that each of them let through.
    pub steps: Vec<Step>,
    /// The writers.
    pub writers: [Writer; 2],
    /// The documents before the last click.
    pub before: Vec<StageDocument>,
    /// The documents now.
    pub after: Vec<StageDocument>,
    /// How full the documents are now.
    pub fill: Fill,
    /// The verdict, once both are done.
    pub verdict: Option<Tally>,
}

/// The articles' numbers. Our page is smaller than the head, so that a spill leaves the newest items where readers
/// look first.
const fn limits(protocol: Protocol) -> Limits {
    Limits {
        threshold: 1_000,
        page_size: match protocol {
            Protocol::Ours => 800,
            Protocol::CheckThenAct | Protocol::GuardedAppend | Protocol::AddFollower => 1_000,
        },
    }
}

/// Lays out the list from scratch and replays the clicks on it.
pub async fn run(protocol: Protocol, clicks: &Clicks) -> Result<Race> {
    let stage = Stage::with(protocol, List::Items, limits(protocol), BEFOREHAND).await?;
    let mut running = Running::start(&stage).await?;
    let mut before = None;
    let mut steps = Vec::new();
    for (nth, writer) in clicks.0.iter().copied().enumerate() {
        if nth + 1 == clicks.0.len() {
            before = Some(stage.documents().await?);
        }
        let entry = running.records[writer].len();
        if running.advance(writer).await? {
            steps.push(Step {
                writer,
                entry: entry.saturating_sub(1),
            });
        }
    }
    let after = stage.documents().await?;
    let writers = [running.writer(0), running.writer(1)];
    let verdict = if writers.iter().all(|writer| writer.done) {
        let mut expected = Expected::default();
        expected.in_it.extend(stage.loaded()?);
        for name in WRITERS {
            expected.in_it.insert(handle(name)?);
        }
        Some(Tally::of(&stage, &expected).await?)
    } else {
        None
    };
    Ok(Race {
        protocol,
        clicks: Clicks(steps.iter().map(|step| step.writer).collect()),
        steps,
        writers,
        before: before.unwrap_or_else(|| after.clone()),
        fill: stage.fill(&after),
        after,
        verdict,
    })
}

/// Both writers, each in its own process.
struct Running {
    tasks: JoinSet<Result<()>>,
    inbox: UnboundedReceiver<GateEvent>,
    waiting: [Option<WaitingCall>; 2],
    records: [Record; 2],
    done: [bool; 2],
}

impl Running {
    async fn start(stage: &Stage) -> Result<Self> {
        let (messages, inbox) = unbounded_channel();
        let mut tasks = JoinSet::new();
        let records = [Record::default(), Record::default()];
        for (writer, name) in WRITERS.into_iter().enumerate() {
            let gate = Gate::new(stage.engine().clone(), writer, messages.clone());
            let recorded = Recorded::new(gate, stage.engine().clone(), records[writer].clone());
            let server = stage.another_server(recorded).await?;
            let item = stage.new_item(1 + writer as u64, name)?;
            let ending = CallerGuard::new(writer, messages.clone());
            tasks.spawn(async move {
                let _ending = ending;
                server.append(item).await
            });
        }
        let mut running = Self {
            tasks,
            inbox,
            waiting: [None, None],
            records,
            done: [false; 2],
        };
        for _ in WRITERS {
            running.settle().await?;
        }
        Ok(running)
    }

    /// Lets a writer's next command through, and waits until it has sent another or is done. False when it was
    /// already done.
    async fn advance(&mut self, writer: usize) -> Result<bool> {
        let Some(turn) = self.waiting[writer].take() else {
            return Ok(false);
        };
        turn.decide(Decision::Proceed);
        self.settle().await?;
        Ok(true)
    }

    async fn settle(&mut self) -> Result<()> {
        match self.inbox.recv().await {
            Some(GateEvent::CallArrived(turn)) => {
                let writer = turn.caller;
                self.waiting[writer] = Some(turn);
            }
            Some(GateEvent::CallerEnded(writer)) => {
                self.done[writer] = true;
                if let Some(ended) = self.tasks.join_next().await {
                    ended.map_err(|error| Error::Unavailable(error.to_string()))??;
                }
            }
            None => {}
        }
        Ok(())
    }

    fn writer(&self, writer: usize) -> Writer {
        Writer {
            name: WRITERS[writer],
            entries: self.records[writer].entries(),
            done: self.done[writer],
        }
    }
}

impl Clicks {
    /// More than any order of two appends takes.
    pub const MOST: usize = 60;

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// These clicks, with one more at the end.
    #[must_use]
    pub fn and(&self, writer: usize) -> Self {
        let mut clicks = self.0.clone();
        clicks.push(writer);
        Self(clicks)
    }

    /// These clicks without the last one.
    #[must_use]
    pub fn without_the_last(&self) -> Self {
        Self(
            self.0
                .split_last()
                .map_or_else(Vec::new, |(_, rest)| rest.to_vec()),
        )
    }
}

impl FromStr for Clicks {
    type Err = Problem;

    fn from_str(text: &str) -> std::result::Result<Self, Problem> {
        let clicks: Option<Vec<usize>> = text
            .chars()
            .map(|letter| match letter {
                'a' => Some(0),
                'b' => Some(1),
                _ => None,
            })
            .collect();
        clicks
            .filter(|clicks| clicks.len() <= Self::MOST)
            .map(Self)
            .ok_or_else(|| {
                let most = Self::MOST;
                Problem::invalid(
                    "clicks",
                    format!("`clicks` is made of the letters a and b, {most} at most, such as “abab”."),
                )
            })
    }
}

impl fmt::Display for Clicks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for writer in &self.0 {
            f.write_str(if *writer == 0 { "a" } else { "b" })?;
        }
        Ok(())
    }
}
