//! The process dies after a chosen write: what readers then see, what `check` finds, and what the next operation
//! does with it.

use std::collections::BTreeSet;
use std::time::Duration;

use articles::Layout;
use document::gate::{CallerGuard, Decision, Gate, GateEvent};
use document::{Engine, Result};
use model::{Handle, Problem};
use store::Limits;
use store::upkeep::{CheckOptions, Finding, check};
use tokio::sync::mpsc::unbounded_channel;
use tracing::instrument::WithSubscriber;
use tracing::subscriber::NoSubscriber;

use crate::Fill;
use crate::cast::handle;
use crate::{Entry, Expected, List, Protocol, Record, Recorded, Server, Stage, StageDocument, Tally, one_of};

/// The operation during which the process died.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Adding an item where there is room.
    Append,
    /// Adding one to a full head.
    Spill,
    /// Adding one to a full head, by an actor who tries again because no answer came.
    Again,
    /// Following somebody whose document is full of followers.
    Follow,
    /// The same, by an actor who tries again because no answer came.
    FollowAgain,
    /// Removing an item that is in the head.
    RemoveFromHead,
    /// Removing one that is in a page.
    RemoveFromPage,
    /// Deleting the owner of the list.
    Delete,
}

/// The state at one moment.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// The documents.
    pub documents: Vec<StageDocument>,
    /// How full they are.
    pub fill: Fill,
    /// What a reader finds, compared with what was promised.
    pub tally: Tally,
    /// What `check` reports; `None` for the articles, which have no check.
    pub findings: Option<Vec<Finding>>,
    /// Whether the actor's own list says that they follow; `None` where there is no such list.
    pub own_list: Option<bool>,
}

/// One crash.
#[derive(Debug, Clone, PartialEq)]
pub struct Crash {
    /// The protocol that ran.
    pub protocol: Protocol,
    /// The operation.
    pub operation: Operation,
    /// All commands of the operation, as if it had not been interrupted.
    pub script: Vec<Entry>,
    /// The number of writes after which the process died.
    pub after: usize,
    /// The documents before the operation.
    pub before: Vec<StageDocument>,
    /// Right after the crash.
    pub crashed: Moment,
    /// The commands of the next operation.
    pub next: Vec<Entry>,
    /// After it.
    pub later: Moment,
}

/// A request that is sent again is a new one, with its own id and time.
const FIRST_TRY: u64 = 1;
const SECOND_TRY: u64 = 2;

/// Small enough that every item can be shown. Our page is smaller than the head, so that a spill leaves the newest
/// items where readers look first.
const fn limits(protocol: Protocol) -> Limits {
    Limits {
        threshold: 5,
        page_size: match protocol {
            Protocol::Ours => 4,
            Protocol::CheckThenAct | Protocol::GuardedAppend | Protocol::AddFollower => 5,
        },
    }
}

/// Every point at which the process can die, from before the first write to after the last.
pub async fn everywhere(protocol: Protocol, operation: Operation) -> Result<Vec<Crash>> {
    let script = script(protocol, operation).await?;
    let mut crashes = Vec::new();
    for after in 0..=writes(&script) {
        crashes.push(crash(protocol, operation, script.clone(), after).await?);
    }
    Ok(crashes)
}

/// Lays out the list from scratch and kills the process once `after` writes of the operation are done.
async fn crash(protocol: Protocol, operation: Operation, script: Vec<Entry>, after: usize) -> Result<Crash> {
    let stage = operation.stage(protocol).await?;
    let before = stage.documents().await?;
    let its = &stage;
    die(stage.engine(), commands(&script, after), |engine| async move {
        let server = its.another_server(engine).await?;
        operation.carry_out(its, &server, FIRST_TRY).await
    })
    .await?;
    let crashed = Moment::of(&stage, operation, false).await?;
    let record = Record::default();
    let behind = stage.engine().clone();
    let next = stage
        .another_server(Recorded::new(behind.clone(), behind, record.clone()))
        .await?;
    operation.next(&stage, &next).await?;
    let later = Moment::of(&stage, operation, true).await?;
    Ok(Crash {
        protocol,
        operation,
        script,
        after,
        before,
        crashed,
        next: record.entries(),
        later,
    })
}

/// The operation without a crash.
async fn script(protocol: Protocol, operation: Operation) -> Result<Vec<Entry>> {
    let stage = operation.stage(protocol).await?;
    let record = Record::default();
    let behind = stage.engine().clone();
    let server = stage
        .another_server(Recorded::new(behind.clone(), behind, record.clone()))
        .await?;
    operation.carry_out(&stage, &server, FIRST_TRY).await?;
    Ok(record.entries())
}

/// How many of the commands are writes.
pub fn writes(script: &[Entry]) -> usize {
    script.iter().filter(|entry| entry.wrote()).count()
}

/// How many commands there are up to and including a write.
pub(crate) fn commands(script: &[Entry], write: usize) -> usize {
    let places = (1..).zip(script).filter(|(_, entry)| entry.wrote());
    let mut places = places.map(|(place, _)| place);
    write.checked_sub(1).and_then(|nth| places.nth(nth)).unwrap_or(0)
}

/// Runs an operation in a separate process, which dies after this many commands. What it does then is not logged: a dead
/// process writes no lines, and operators would read them as faults of the server.
pub(crate) async fn die<Work: Future<Output = Result<()>>>(
    engine: &Engine,
    commands: usize,
    operation: impl FnOnce(Engine) -> Work,
) -> Result<()> {
    let (messages, mut inbox) = unbounded_channel();
    let gate = Gate::new(engine.clone(), 0, messages.clone());
    let dying = async {
        let _ending = CallerGuard::new(0, messages);
        operation(gate).await
    }
    .with_subscriber(NoSubscriber::new());
    let watching = async {
        let mut done = 0;
        while let Some(GateEvent::CallArrived(turn)) = inbox.recv().await {
            if done == commands {
                break;
            }
            done += 1;
            turn.decide(Decision::Proceed);
        }
    };
    tokio::select! {
        biased;
        () = watching => Ok(()),
        ended = dying => ended,
    }
}

impl Moment {
    async fn of(stage: &Stage, operation: Operation, later: bool) -> Result<Self> {
        let expected = operation.expected(stage, later)?;
        let findings = match stage.server().store() {
            Some(store) => {
                let options = CheckOptions {
                    repair: false,
                    // Only a follow's stage has all lists that should agree.
                    lists_only: stage.list() == List::Items,
                    pause: Duration::ZERO,
                };
                Some(check(store, options, &|_, _| {}).await?.findings)
            }
            None => None,
        };
        let documents = stage.documents().await?;
        Ok(Self {
            fill: stage.fill(&documents),
            documents,
            tally: Tally::of(stage, &expected).await?,
            findings,
            own_list: stage.own_list_contains(&handle(operation.actor())?).await?,
        })
    }
}

impl Operation {
    /// All of them, the plainest first.
    pub const ALL: [Self; 8] = [
        Self::Append,
        Self::Spill,
        Self::Again,
        Self::Follow,
        Self::FollowAgain,
        Self::RemoveFromHead,
        Self::RemoveFromPage,
        Self::Delete,
    ];

    /// The name used in addresses.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Append => "append",
            Self::Spill => "append-that-spills",
            Self::Again => "append-again",
            Self::Follow => "follow",
            Self::FollowAgain => "follow-again",
            Self::RemoveFromHead => "remove-from-head",
            Self::RemoveFromPage => "remove-from-page",
            Self::Delete => "delete-owner",
        }
    }

    /// The operation of this name.
    ///
    /// # Errors
    /// A problem with the field `operation` that lists the known names.
    pub fn named(name: &str) -> std::result::Result<Self, Problem> {
        let missing = format_args!("There is no operation called “{name}”");
        one_of("operation", name, (&Self::ALL, Self::as_str), missing)
    }

    /// The protocols that have it: two of the articles say how to add an item and one how to follow, and none how
    /// to remove.
    pub fn protocols(self) -> impl Iterator<Item = Protocol> {
        Protocol::ALL
            .into_iter()
            .filter(move |protocol| self.is_of(*protocol))
    }

    /// Whether the protocol has it.
    pub const fn is_of(self, protocol: Protocol) -> bool {
        match protocol {
            Protocol::CheckThenAct | Protocol::GuardedAppend => {
                matches!(self, Self::Append | Self::Spill | Self::Again)
            }
            Protocol::AddFollower => matches!(self, Self::Follow | Self::FollowAgain),
            Protocol::Ours => true,
        }
    }

    async fn stage(self, protocol: Protocol) -> Result<Stage> {
        let (list, items) = match self {
            Self::Append => (List::Items, 3),
            Self::Spill | Self::Again => (List::Items, 5),
            Self::Follow | Self::FollowAgain => (List::Followers, 5),
            Self::RemoveFromHead | Self::RemoveFromPage | Self::Delete => (List::Items, 8),
        };
        Stage::with(protocol, list, limits(protocol), items).await
    }

    /// The actor whose item is added or removed.
    pub const fn actor(self) -> &'static str {
        match self {
            Self::Append | Self::Spill | Self::Again | Self::Follow | Self::FollowAgain => "ada",
            Self::RemoveFromHead => "fan8",
            Self::RemoveFromPage | Self::Delete => "fan1",
        }
    }

    async fn carry_out(self, stage: &Stage, server: &Server, attempt: u64) -> Result<()> {
        match self {
            Self::Append | Self::Spill | Self::Again | Self::Follow | Self::FollowAgain => {
                let item = stage.new_item(attempt, self.actor())?;
                server.append(item).await
            }
            Self::RemoveFromHead | Self::RemoveFromPage => remove(server, &handle(self.actor())?).await,
            Self::Delete => delete(server).await,
        }
    }

    /// The next operation: the same again if the operation is one that is retried, else somebody adds an item.
    async fn next(self, stage: &Stage, server: &Server) -> Result<()> {
        match self {
            Self::Again | Self::FollowAgain | Self::Delete => self.carry_out(stage, server, SECOND_TRY).await,
            _ => server.append(stage.new_item(SECOND_TRY, "bob")?).await,
        }
    }

    /// The people who must be in the list after the crash, or after the next operation.
    fn expected(self, stage: &Stage, later: bool) -> Result<Expected> {
        let mut expected = Expected {
            in_it: stage.loaded()?.into_iter().collect(),
            ..Expected::default()
        };
        let actor = handle(self.actor())?;
        match self {
            Self::Again | Self::FollowAgain if later => drop(expected.in_it.insert(actor)),
            Self::Append | Self::Spill | Self::Again | Self::Follow | Self::FollowAgain => {
                expected.perhaps.insert(actor);
            }
            Self::RemoveFromHead | Self::RemoveFromPage => {
                expected.in_it.remove(&actor);
                expected.perhaps.insert(actor);
            }
            Self::Delete if later => {
                expected.in_it = BTreeSet::new();
                expected.swept = true;
            }
            Self::Delete => expected.gone = true,
        }
        if later && !matches!(self, Self::Again | Self::FollowAgain | Self::Delete) {
            expected.in_it.insert(handle("bob")?);
        }
        Ok(expected)
    }
}

async fn remove(server: &Server, actor: &Handle) -> Result<()> {
    match server.ours() {
        Some(layout) => layout.remove(Stage::owner(), actor).await.map(drop),
        None => Err(document::Error::refused(
            2,
            "the articles do not say how to remove",
        )),
    }
}

async fn delete(server: &Server) -> Result<()> {
    match server.store() {
        Some(store) => store.posts().delete(Stage::owner()).await.map(drop),
        None => Err(document::Error::refused(
            2,
            "the articles do not say how to delete an owner",
        )),
    }
}
