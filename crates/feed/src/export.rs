//! Everything that the store has about a person, for them to keep: one JSON document, written while it is read, so
//! that it may be of any length.

use std::sync::Arc;
use std::time::Duration;

use futures::stream::{self, Stream, StreamExt as _};
use model::{
    ActivityKind, Handle, ItemId, Items, Kind, PostId, Problem, Readers, Relation, Timestamp, Topic,
};
use outlier::fields;
use serde_json::{Value, json};
use store::comments::REPLY_TO;
use store::overflow::Item;
use store::posts::Order;
use store::reactions::Reaction;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::Instant;

use super::fair_queue::Peer;
use super::places::{Full, Place, Places};
use super::problems::{missing, to_problem};
use super::{Accounts, Client, Feed, SecurityEvent, SessionToken};

/// How many pieces are buffered for a reader who is slower than the store.
const WAITING: usize = 16;
/// How many posts are read at once.
const POSTS: usize = 100;

/// How many exports are written at once, of different people: each reads for as long as its reader takes it.
const AT_ONCE: usize = 8;
/// How many of them one peer may read at once: a family behind one address.
const OF_A_PEER: usize = 2;
/// The longest time that an export takes; a place is not kept by reading ever so slowly.
const LONGEST: Duration = Duration::from_mins(15);
/// When to try again to get one that was refused.
const RETRY_AFTER: Duration = Duration::from_secs(30);

/// A piece of the document, or the reason why it breaks off.
type Piece = Result<String, Problem>;

/// Why the writing ended early.
enum Stopped {
    /// The reader has gone.
    Unread,
    /// The store failed.
    Failed(Problem),
}

impl From<document::Error> for Stopped {
    fn from(error: document::Error) -> Self {
        Self::Failed(to_problem(error))
    }
}

/// The places of exports that are being written: by people, and by peers.
pub(super) struct ExportPlaces {
    people: Arc<Places<Handle>>,
    peers: Arc<Places>,
}

impl ExportPlaces {
    pub(super) fn new() -> Self {
        Self {
            people: Places::new(AT_ONCE, 1),
            peers: Places::new(AT_ONCE, OF_A_PEER),
        }
    }

    fn take(&self, handle: &Handle, peer: Peer) -> Result<(Place<Handle>, Place), Problem> {
        let of_person = self.people.take(handle.clone());
        let of_person = of_person.map_err(|full| refusal(full, "Your data is"))?;
        let of_peer = self.peers.take(peer);
        let of_peer =
            of_peer.map_err(|full| refusal(full, "The data of several people at your address is"))?;
        Ok((of_person, of_peer))
    }
}

impl Accounts<'_> {
    /// Everything of a person, in pieces, for somebody with this session. A failure is the last piece; the document is
    /// then incomplete.
    ///
    /// # Errors
    /// [`Kind::TooMany`] while an export of the person, or two of the peer, are read, and [`Kind::Unavailable`] while too many others are.
    pub async fn export(
        self,
        handle: &Handle,
        current: &SessionToken,
        client: &Client,
    ) -> Result<impl Stream<Item = Piece> + Send + 'static, Problem> {
        let place = self.0.exports.take(handle, client.peer).inspect_err(|_| {
            let log = self.0.security();
            log.record(SecurityEvent::Limited, Some(handle), client);
        })?;
        let owner = Topic::User(handle.clone());
        let user = self.0.store.people().get(handle).await.map_err(to_problem)?;
        let user = user.ok_or_else(|| missing(&owner.to_string()))?;
        let summary = self.0.store.people().summary(handle).await.map_err(to_problem)?;
        let beginning = json!({
            "pinned": summary.and_then(|summary| summary.pinned), "handle": user.person.handle, "name": user.person.name, "bio": user.bio, "at": user.at,
            "recoveryCodesLeft": self.recovery_codes_left(handle).await?,
            "told": self.0.notifications().settings(handle).await?.told,
        });
        let (pieces, read) = mpsc::channel(WAITING);
        let export = Export {
            feed: self.0.clone(),
            handle: handle.clone(),
            owner,
            current: current.digest(),
            pieces,
        };
        tokio::spawn(export.run(beginning));
        let end = Instant::now() + LONGEST;
        let pieces = stream::unfold(Some((read, place)), move |reading| async move {
            let (mut read, place): (Receiver<Piece>, (Place<Handle>, Place)) = reading?;
            if Instant::now() > end {
                // As a failure, so that a part is not taken for the whole.
                return Some((Err(too_slow()), None));
            }
            Some((read.recv().await?, Some((read, place))))
        });
        // A reader may ask once more after the end, which `unfold` does not allow.
        Ok(pieces.fuse())
    }
}

fn refusal(full: Full, what: &str) -> Problem {
    let problem = match full {
        Full::ForOne => Problem::new(
            Kind::TooMany,
            format!("{what} being downloaded already. Wait until that has ended."),
        ),
        Full::ForAll => Problem::new(
            Kind::Unavailable,
            "Many people download their data right now. Try again in a minute.",
        ),
    };
    problem.for_now(RETRY_AFTER)
}

fn too_slow() -> Problem {
    Problem::new(
        Kind::Unavailable,
        "The download took too long. Try again over a faster connection.",
    )
}

struct Export {
    feed: Feed,
    handle: Handle,
    owner: Topic,
    /// The digest of the session that it is for.
    current: String,
    pieces: Sender<Piece>,
}

impl Export {
    async fn run(self, beginning: Value) {
        if let Err(Stopped::Failed(problem)) = self.write(beginning).await
            && self.pieces.send(Err(problem)).await.is_err()
        {
            tracing::debug!("an export that failed was not read to its end either");
        }
    }

    async fn write(&self, beginning: Value) -> Result<(), Stopped> {
        self.piece(format!("{{\"profile\":{beginning}")).await?;
        self.sessions().await?;
        self.posts().await?;
        self.reports().await?;
        let readable = |relation: &Relation| relation.description().readers != Readers::Nobody;
        for relation in Relation::OF_A_USER.into_iter().filter(readable) {
            match relation.description().items {
                Items::Activities => {
                    for (name, kind) in [
                        ("comments", ActivityKind::Comment),
                        ("likes", ActivityKind::Like),
                        ("shares", ActivityKind::Share),
                    ] {
                        self.list(name, relation, Some(kind)).await?;
                    }
                }
                Items::People | Items::Comments | Items::Posts | Items::Notifications => {
                    self.list(relation.as_str(), relation, None).await?;
                }
            }
        }
        self.piece("}\n".to_owned()).await
    }

    async fn sessions(&self) -> Result<(), Stopped> {
        self.piece(",\"sessions\":[".to_owned()).await?;
        let mut first = true;
        let visible = self.feed.visible_sessions(&self.handle, &self.current).await;
        let (sessions, _) = visible.map_err(Stopped::Failed)?;
        for session in sessions {
            let value = json!({ "device": session.device, "at": session.at, "used": session.used });
            self.element(&value, &mut first).await?;
        }
        self.piece("]".to_owned()).await
    }

    async fn reports(&self) -> Result<(), Stopped> {
        self.piece(",\"reports\":[".to_owned()).await?;
        let mut first = true;
        for report in self.feed.store().reports().by(&self.handle).await? {
            self.element(&json!(report.report), &mut first).await?;
        }
        self.piece("]".to_owned()).await
    }

    async fn posts(&self) -> Result<(), Stopped> {
        self.piece(",\"posts\":[".to_owned()).await?;
        let authors = [self.handle.clone()];
        let (mut after, mut first) = (None, true);
        loop {
            let stored = self.feed.store().posts();
            let posts = stored.list(Some(&authors), Order::Newest, after, POSTS).await?;
            let Some(last) = posts.last() else {
                return self.piece("]".to_owned()).await;
            };
            after = Some(Order::Newest.cursor_after(last));
            for post in posts {
                let mut value = json!({
                    "id": post.id, "at": post.at, "text": post.text, "likes": post.likes.count,
                    "comments": post.comments, "shares": post.shares,
                });
                if let Some(quote) = post.quote {
                    value["quote"] = json!(quote);
                }
                if let Some(at) = post.edited_at {
                    value["editedAt"] = json!(at);
                }
                self.element(&value, &mut first).await?;
            }
        }
    }

    /// One array: a list of the person, or their activities of one kind.
    async fn list(&self, name: &str, relation: Relation, kind: Option<ActivityKind>) -> Result<(), Stopped> {
        self.piece(format!(",\"{name}\":[")).await?;
        let mut first = true;
        let mut walk = self.feed.store().list(relation).walk(&self.owner);
        while let Some(stretch) = walk.next().await? {
            for item in stretch.items {
                if let Some(value) = self.entry(&item, relation, kind).await? {
                    self.element(&value, &mut first).await?;
                }
            }
        }
        self.piece("]".to_owned()).await
    }

    async fn entry(
        &self,
        item: &Item,
        relation: Relation,
        kind: Option<ActivityKind>,
    ) -> Result<Option<Value>, Stopped> {
        let Some(kind) = kind else {
            return Ok(Some(match relation.description().items {
                Items::Posts => json!({ "post": item.id, "at": item.at }),
                Items::Notifications => {
                    let mut value = json!({
                        "id": item.id, "kind": item.more.get_str("kind").unwrap_or_default(), "at": item.at,
                        "post": fields::uuid(&item.more, "post").ok().map(PostId::from),
                    });
                    if let Ok(comment) = fields::uuid(&item.more, "comment") {
                        value["comment"] = json!(ItemId::from(comment));
                    }
                    value
                }
                _ => json!({ "handle": item.by, "at": item.at }),
            }));
        };
        if item.more.get_str("kind").ok() != Some(kind.as_str()) {
            return Ok(None);
        }
        let post = fields::uuid(&item.more, "post").ok().map(PostId::from);
        let mut value = json!({ "id": item.id, "post": post, "at": item.at });
        if let Some(Reaction::Comment(post, id)) = Reaction::of(item) {
            value["id"] = json!(id);
            // There is nothing to say of a comment whose post is gone.
            let comment = self.feed.store().comments().find(post, id).await?;
            let more = comment.map(|comment| comment.more).unwrap_or_default();
            value["text"] = json!(more.get_str("text").ok());
            if let Ok(answered) = fields::uuid(&more, REPLY_TO) {
                value["replyTo"] = json!(ItemId::from(answered));
            }
            if let Ok(at) = more.get_datetime("editedAt") {
                value["editedAt"] = json!(Timestamp::from_millis(at.timestamp_millis()));
            }
        }
        Ok(Some(value))
    }

    async fn element(&self, value: &Value, first: &mut bool) -> Result<(), Stopped> {
        let comma = if std::mem::take(first) { "" } else { "," };
        self.piece(format!("{comma}{value}")).await
    }

    async fn piece(&self, text: String) -> Result<(), Stopped> {
        self.pieces.send(Ok(text)).await.map_err(|_| Stopped::Unread)
    }
}
