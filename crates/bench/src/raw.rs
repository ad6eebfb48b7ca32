//! The same durable writes without a document engine: redb behind a group commit like the engine's.

use std::path::Path;
use std::thread::JoinHandle;

use redb::{Database, Durability, TableDefinition};
use tokio::sync::{mpsc, oneshot};

use crate::Result;

const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("documents");
/// As in the engine's writer.
const MOST: usize = 256;

type Failure = redb::Error;
type Request = (Vec<u8>, oneshot::Sender<()>);

/// One thread that writes all waiting documents and commits them together. Its last answer is the number of
/// commits.
pub struct Raw {
    requests: mpsc::Sender<Request>,
    thread: JoinHandle<std::result::Result<u64, Failure>>,
}

impl Raw {
    /// Opens an empty database in a folder.
    pub fn open(folder: &Path) -> Result<Self> {
        let database = Database::create(folder.join("raw.redb"))?;
        let (requests, waiting) = mpsc::channel(MOST);
        let thread = std::thread::spawn(move || run(&database, waiting));
        Ok(Self { requests, thread })
    }

    /// The clients' handle for writing: each gets its own.
    pub fn requests(&self) -> mpsc::Sender<Request> {
        self.requests.clone()
    }

    /// Ends the thread, when all clients have gone, and returns the number of commits.
    pub fn close(self) -> Result<u64> {
        drop(self.requests);
        let commits = self.thread.join().map_err(|_| "the raw writer panicked")?;
        Ok(commits?)
    }
}

/// Writes a document under the one key that all clients use, and waits until it is durable.
pub async fn write(requests: &mpsc::Sender<Request>, document: Vec<u8>) -> Result<()> {
    let (answer, answered) = oneshot::channel();
    requests.send((document, answer)).await?;
    Ok(answered.await?)
}

fn run(database: &Database, mut waiting: mpsc::Receiver<Request>) -> std::result::Result<u64, Failure> {
    let mut batch = Vec::with_capacity(MOST);
    let mut commits = 0;
    while waiting.blocking_recv_many(&mut batch, MOST) > 0 {
        let mut transaction = database.begin_write()?;
        transaction.set_durability(Durability::Immediate)?;
        transaction.set_quick_repair(true);
        {
            let mut table = transaction.open_table(TABLE)?;
            for (document, _) in &batch {
                table.insert(b"post".as_slice(), document.as_slice())?;
            }
        }
        transaction.commit()?;
        commits += 1;
        for (_, answer) in batch.drain(..) {
            // A client that has gone does not need the answer.
            answer.send(()).unwrap_or_default();
        }
    }
    Ok(commits)
}
