//! Following a change stream for as long as the process lives, through failures of the server.
//!
//! The server gives out a token for every place in the stream. After a failure the stream is opened again from the
//! last token, so nothing is missed. If the server no longer knows that place, the stream starts again from now, and
//! the listener learns that anything may have changed.

use std::time::Duration;

use async_trait::async_trait;
use bson::{Document, doc};
use document::{Changed, Changes, Error};
use futures::{StreamExt, stream};
use mongodb::Database;
use mongodb::change_stream::ChangeStream;
use mongodb::change_stream::event::{ChangeStreamEvent, ResumeToken};
use mongodb::error::Error as Failure;

use crate::Mongo;
use crate::fault::{Kind, Meaning, meaning};

/// How long to wait before a broken stream is opened again; each further failure doubles it.
const PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(4);

/// The server answers a request for changes after about a second, whether there are any or not. One that takes this
/// long is gone, although the connection may seem to be open.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The label of an error after which a stream may resume from its token.
const RESUMABLE: &str = "ResumableChangeStreamError";

impl Mongo {
    /// Opens a change stream of these collections and follows it.
    pub(crate) async fn follow(&self, collections: &[&str]) -> document::Result<Changes> {
        let server = Streams {
            database: self.database.clone(),
            collections: collections.iter().map(|name| (*name).to_owned()).collect(),
        };
        match server.watch(None).await {
            Ok(tail) => Ok(follow(server, tail)),
            Err(failure) => match meaning("", Kind::Read, &failure) {
                Meaning::Failed(error) => Err(error),
                Meaning::Conflict => Err(Error::Unavailable(failure.to_string())),
            },
        }
    }
}

/// Why a stream broke.
#[derive(Debug, PartialEq, Eq)]
enum Broken {
    /// The server is unreachable. When it is back, the stream resumes.
    Away(String),
    /// The place in the stream is lost, e.g. because the server's history does not reach back that far.
    Lost(String),
}

/// A server that can open a stream of its changes, from now on or from a place in it.
#[async_trait]
trait Server: Send + Sync + 'static {
    type Tail: Tail;

    async fn open(&self, after: Option<<Self::Tail as Tail>::Token>) -> Result<Self::Tail, Broken>;
}

/// An open stream.
#[async_trait]
trait Tail: Send + 'static {
    type Token: Clone + Send + Sync;

    /// The next change, or `None` if there was none for a while.
    async fn next(&mut self) -> Result<Option<Changed>, Broken>;

    /// The place after the last returned change. It also advances while nothing is returned.
    fn token(&self) -> Option<Self::Token>;
}

fn follow<S: Server>(server: S, tail: S::Tail) -> Changes {
    let token = tail.token();
    let follower = Follower {
        server,
        tail: Some(tail),
        token,
        pause: PAUSE,
    };
    stream::unfold(follower, |mut follower| async {
        let changed = follower.next().await;
        Some((changed, follower))
    })
    .boxed()
}

struct Follower<S: Server> {
    server: S,
    tail: Option<S::Tail>,
    token: Option<<S::Tail as Tail>::Token>,
    pause: Duration,
}

impl<S: Server> Follower<S> {
    async fn next(&mut self) -> Changed {
        loop {
            let Some(tail) = &mut self.tail else {
                if self.reopen().await {
                    return Changed::Anything;
                }
                continue;
            };
            match tail.next().await {
                Ok(changed) => {
                    self.token = tail.token();
                    self.pause = PAUSE;
                    if let Some(changed) = changed {
                        return changed;
                    }
                }
                Err(broken) => self.broke(broken),
            }
        }
    }

    /// Waits, then opens the stream again. Returns whether changes may have been missed.
    async fn reopen(&mut self) -> bool {
        tokio::time::sleep(self.pause).await;
        self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        let resumed = self.token.is_some();
        match self.server.open(self.token.clone()).await {
            Ok(tail) => {
                tracing::info!(resumed, "the store reports changes again");
                self.token = tail.token();
                self.tail = Some(tail);
                !resumed
            }
            Err(broken) => {
                self.broke(broken);
                false
            }
        }
    }

    fn broke(&mut self, broken: Broken) {
        // Logged once each time the stream breaks, not for each attempt to open it.
        let first = self.tail.take().is_some();
        match broken {
            Broken::Away(why) if first => {
                tracing::warn!(why, "the store stopped reporting changes; trying again");
            }
            Broken::Away(why) => tracing::debug!(why, "the store does not report changes yet"),
            Broken::Lost(why) => {
                let had_place = self.token.take().is_some();
                if first || had_place {
                    tracing::warn!(why, "changes may have been missed; following from now on");
                }
            }
        }
    }
}

/// The change streams of a database.
struct Streams {
    database: Database,
    collections: Vec<String>,
}

impl Streams {
    async fn watch(&self, after: Option<ResumeToken>) -> mongodb::error::Result<Stream> {
        let wanted = doc! { "$match": { "ns.coll": { "$in": &self.collections } } };
        // The driver needs the first two; the change itself may be large, and is not needed.
        let short = doc! { "$project": { "operationType": 1, "ns": 1, "documentKey": 1 } };
        let watch = self.database.watch().pipeline([wanted, short]);
        let opened = match after {
            Some(token) => watch.resume_after(token).await?,
            None => watch.await?,
        };
        Ok(Stream(opened))
    }
}

#[async_trait]
impl Server for Streams {
    type Tail = Stream;

    async fn open(&self, after: Option<ResumeToken>) -> Result<Stream, Broken> {
        self.watch(after).await.map_err(|failure| broken(&failure))
    }
}

struct Stream(ChangeStream<ChangeStreamEvent<Document>>);

#[async_trait]
impl Tail for Stream {
    type Token = ResumeToken;

    async fn next(&mut self) -> Result<Option<Changed>, Broken> {
        if !self.0.is_alive() {
            return Err(Broken::Lost("the server closed the stream".to_owned()));
        }
        match tokio::time::timeout(TIMEOUT, self.0.next_if_any()).await {
            Ok(Ok(event)) => Ok(event.map(changed)),
            Ok(Err(failure)) => Err(broken(&failure)),
            Err(_) => Err(Broken::Away(format!("no answer within {TIMEOUT:?}"))),
        }
    }

    fn token(&self) -> Option<ResumeToken> {
        self.0.resume_token()
    }
}

/// Events without a document are about a whole collection, e.g. that it was dropped.
fn changed(event: ChangeStreamEvent<Document>) -> Changed {
    let collection = event.ns.and_then(|place| place.coll);
    let id = event.document_key.and_then(|mut key| key.remove("_id"));
    match (collection, id) {
        (Some(collection), Some(id)) => Changed::Document { collection, id },
        _ => Changed::Anything,
    }
}

fn broken(failure: &Failure) -> Broken {
    let text = failure.kind.to_string();
    if failure.contains_label(RESUMABLE) {
        return Broken::Away(text);
    }
    match meaning("", Kind::Read, failure) {
        Meaning::Conflict | Meaning::Failed(Error::Unavailable(_)) => Broken::Away(text),
        Meaning::Failed(_) => Broken::Lost(text),
    }
}

#[cfg(test)]
mod tests;
