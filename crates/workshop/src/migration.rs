//! A migration under load: a list that is one unbounded array becomes head and pages while new likes keep
//! arriving.
//!
//! Every writer begins as a server with the old program, which pushes to the array and knows nothing else. When
//! the store refuses that, because the array is gone, the writer is upgraded: from then on it likes through the
//! store. The acknowledgements of each are counted, and compared with the documents in the end.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bson::{Bson, doc};
use document::{Error, Find, Update};
use futures::future::{BoxFuture, try_join_all, try_join3};
use model::{Handle, PostId, Problem, Relation, Timestamp, Topic};
use store::overflow::{measure, uuid_bson};
use store::posts::{COLLECTION, new_document};
use store::upkeep::{CheckOptions, DetectOptions, Form, Outlier, check, detect, migrate};
use store::{Settings, Store};
use tokio::time::{Instant, sleep};

use crate::cast::handle;
use crate::job::{Job, JobError, Run};
use crate::layouts::lists::{Size, item, items, owner};
use crate::report::{ListForm, MeasuredList, Migration, MigrationSample, MigrationVerdict};
use crate::sandbox::{Sandbox, SandboxError};

type Result<T> = std::result::Result<T, SandboxError>;

/// How many writers like at the same time.
pub const WRITERS: u64 = 8;

/// The most likes that one writer sends.
const MOST: u64 = 2_000;

/// How many likes arrive before the migration begins, and how many more after it has ended.
const BEFORE: u64 = 160;
const AFTER: u64 = 320;

/// The pause of a writer between two likes.
const PAUSE: Duration = Duration::from_millis(40);

/// The interval between two samples of the list.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(250);

/// The likes of the quieter posts beside the outlier: a little more than a head holds, and hardly any.
const QUIET: [u64; 2] = [240, 12];

/// The first number of the new actors.
const NEWCOMERS: u64 = 2_000_000;

/// Where migrations are run, one at a time.
#[derive(Clone)]
pub struct Migrations(Arc<Job<Migration>>);

impl Default for Migrations {
    fn default() -> Self {
        Self(Job::idle(Migration::of(Migration::SIZES[1], None)))
    }
}

impl Migrations {
    /// The current migration, or the last one.
    pub fn shown(&self) -> Migration {
        let (progress, migration) = self.0.shown();
        Migration {
            progress,
            ..migration
        }
    }

    /// Begins a migration of an array of this many likes, in a sandbox that `open` takes; returns the future that
    /// does the work.
    ///
    /// # Errors
    /// Who started the current one, or why there is no sandbox.
    pub async fn begin(
        &self,
        (items, by): (u64, Handle),
        at: Timestamp,
        settings: Settings,
        open: impl Future<Output = Result<Sandbox>>,
    ) -> std::result::Result<BoxFuture<'static, Result<()>>, JobError> {
        let needed = items + QUIET.iter().sum::<u64>() + WRITERS * MOST;
        let begun = Migration::of(items, Some(by));
        let begun = self.0.begin_in(open, (needed, at), begun, |other| other.by);
        let (run, sandbox) = begun.await?;
        Ok(Box::pin(async move {
            let done = pass(&run, &sandbox, (items, at), settings).await;
            run.end_in(sandbox, done).await
        }))
    }

    /// Ends the likes early, and waits for the verdict. The array is migrated all the same.
    pub async fn stop(&self) {
        self.0.stop().await;
    }
}

/// From the first document to the verdict.
async fn pass(
    run: &Run<Migration>,
    sandbox: &Sandbox,
    (items, at): (u64, Timestamp),
    settings: Settings,
) -> Result<()> {
    let store = sandbox.store(settings).await?;
    lay_out(&store, items, at).await?;
    let found = lists(&store).await?;
    run.show(|migration| migration.found = found);

    let scene = Shared {
        run,
        store: &store,
        at,
        began: Instant::now(),
        acknowledged: AtomicU64::new(0),
        over: AtomicBool::new(false),
    };
    // All in one task: a migration then takes at most one core, and leaves the others to the feed.
    let writers = try_join_all((0..WRITERS).map(|writer| scene.write(writer)));
    let ((), refused, _) = try_join3(scene.watch(sandbox), scene.work(), writers).await?;

    scene.take_sample().await?;
    let verdict = scene.verdict(items, refused).await?;
    let left = lists(&store).await?;
    run.show(|migration| {
        migration.left = left;
        migration.verdict = Some(verdict);
    });
    Ok(())
}

/// The outlier, and quieter posts beside it, all of them as code without the pattern would write them.
async fn lay_out(store: &Store, likes: u64, at: Timestamp) -> document::Result<()> {
    let author = handle("author")?;
    let text = "The weir is open.".parse();
    let text = text.map_err(|problem: Problem| Error::refused(2, problem.message))?;
    for (nth, likes) in (0..).zip([likes].into_iter().chain(QUIET)) {
        let mut post = new_document(owner(nth), owner(nth).uuid(), &author, &text, at);
        let array: Vec<Bson> = items(likes, Size::Like)?
            .iter()
            .map(|item| Bson::Document(item.to_document()))
            .collect();
        post.insert(Relation::Likes.as_str(), array);
        store.engine().insert(COLLECTION, vec![post]).await?;
    }
    Ok(())
}

/// What `detect` reports about all lists here, the longest first.
async fn lists(store: &Store) -> document::Result<Vec<MeasuredList>> {
    let all = DetectOptions {
        threshold: Some(1),
        bytes: u64::MAX,
        top: 1 + QUIET.len(),
    };
    let outliers = detect(store, all, &|_, _| {}).await?;
    Ok(outliers.into_iter().map(measured_list).collect())
}

fn measured_list(outlier: Outlier) -> MeasuredList {
    MeasuredList {
        form: match outlier.form {
            Form::Unbounded => ListForm::Unbounded,
            Form::Head => ListForm::Head,
            Form::Overflowed => ListForm::Overflowed,
        },
        owner: outlier.owner,
        items: outlier.items,
        pages: outlier.pages,
        owner_bytes: outlier.owner_bytes,
        page_bytes: outlier.page_bytes,
    }
}

/// The post that everybody likes.
fn post() -> PostId {
    owner(0)
}

/// The state that writers and watchers share.
struct Shared<'a> {
    run: &'a Run<Migration>,
    store: &'a Store,
    at: Timestamp,
    began: Instant,
    acknowledged: AtomicU64,
    over: AtomicBool,
}

impl Shared<'_> {
    /// Migrates once likes arrive, and ends once some have arrived afterwards. Returns how many lists were left
    /// unchanged.
    async fn work(&self) -> Result<u64> {
        self.wait_for(BEFORE).await;
        let migrated = migrate(self.store, false, &|_, _| {}).await?;
        self.wait_for(self.acknowledged.load(Ordering::Relaxed) + AFTER)
            .await;
        self.over.store(true, Ordering::Relaxed);
        Ok(migrated.refused.len() as u64)
    }

    /// Waits until this many likes are acknowledged, or no more will follow.
    async fn wait_for(&self, likes: u64) {
        let likes = likes.min(WRITERS * MOST);
        while self.acknowledged.load(Ordering::Relaxed) < likes && !self.run.is_stopped() {
            sleep(PAUSE).await;
        }
    }

    async fn write(&self, writer: u64) -> Result<()> {
        let mut yesterdays = true;
        for nth in 0..MOST {
            if self.over.load(Ordering::Relaxed) || self.run.is_stopped() {
                break;
            }
            let number = NEWCOMERS + writer * MOST + nth;
            if yesterdays {
                yesterdays = self.push(number).await?;
            }
            if !yesterdays {
                let list = self.store.list(Relation::Likes);
                list.append(&Topic::Post(post()), item(number, Size::Like)?)
                    .await?;
            }
            self.acknowledged.fetch_add(1, Ordering::Relaxed);
            self.run.show(|migration| {
                migration.acknowledged += 1;
                migration.pushed += u64::from(yesterdays);
            });
            sleep(PAUSE).await;
        }
        Ok(())
    }

    /// Likes as code without the pattern does; false when it is refused because the array is gone.
    async fn push(&self, number: u64) -> document::Result<bool> {
        let like = item(number, Size::Like)?.to_document();
        let push = doc! { "$push": { Relation::Likes.as_str(): like } };
        let which = doc! { "_id": uuid_bson(post().uuid()) };
        match self
            .store
            .engine()
            .update(COLLECTION, Update::one(which, push))
            .await
        {
            Ok(_) => Ok(true),
            Err(Error::Refused { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Looks at regular intervals, until it is over.
    async fn watch(&self, sandbox: &Sandbox) -> Result<()> {
        while !self.over.load(Ordering::Relaxed) {
            self.take_sample().await?;
            let elapsed = i64::try_from(self.elapsed()).unwrap_or(i64::MAX);
            let now = Timestamp::from_millis(self.at.millis().saturating_add(elapsed));
            sandbox.touch(now).await?;
            sleep(SAMPLE_INTERVAL).await;
        }
        Ok(())
    }

    async fn take_sample(&self) -> document::Result<()> {
        let acknowledged = self.acknowledged.load(Ordering::Relaxed);
        let find = Find::matching(doc! { "_id": uuid_bson(post().uuid()) }).limit(1);
        let found = self.store.engine().find(COLLECTION, find).await?;
        let post = found
            .first()
            .ok_or_else(|| Error::NoOwner(Topic::Post(post()).to_string()))?;
        let limits = self.store.settings().of(Relation::Likes);
        let stored = measure(post, Relation::Likes, limits)?;
        let sample = MigrationSample {
            at: self.elapsed(),
            acknowledged,
            form: match post.get(Relation::Likes.as_str()) {
                Some(Bson::Array(_)) => ListForm::Unbounded,
                _ if stored.has_overflow => ListForm::Overflowed,
                _ => ListForm::Head,
            },
            count: stored.count,
            head: stored.head,
            pages: stored.pages,
            owner_bytes: stored.owner_bytes,
        };
        self.run.show(|migration| migration.samples.push(sample));
        Ok(())
    }

    fn elapsed(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Reads all documents, and compares them with the acknowledgements.
    async fn verdict(&self, before: u64, refused: u64) -> document::Result<MigrationVerdict> {
        let topic = Topic::Post(post());
        let (mut people, mut found) = (HashSet::new(), 0);
        let mut walk = self.store.list(Relation::Likes).walk(&topic);
        while let Some(stretch) = walk.next().await? {
            found += stretch.items.len() as u64;
            people.extend(stretch.items.into_iter().filter_map(|item| item.by));
        }
        let lists = CheckOptions {
            lists_only: true,
            ..CheckOptions::default()
        };
        let checked = check(self.store, lists, &|_, _| {}).await?;
        let verdict = MigrationVerdict {
            before,
            acknowledged: self.acknowledged.load(Ordering::Relaxed),
            counted: self.store.overflow(&topic).await?[&Relation::Likes].count,
            found,
            distinct: people.len() as u64,
            violations: checked.findings.len() as u64,
            refused,
            holds: false,
        };
        Ok(verdict.evaluated())
    }
}
