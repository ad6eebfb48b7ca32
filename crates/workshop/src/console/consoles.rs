use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use document::Result;
use model::Timestamp;
use tokio::sync::{Mutex as Turn, OnceCell};
use uuid::Uuid;

use super::{Console, Screen};

/// How many consoles a server keeps: a class, and some others. Each has a store of some megabytes.
const MOST: usize = 48;
/// How long an unused console is kept, in milliseconds.
const IDLE: i64 = 30 * 60 * 1_000;

/// What a browser shows to return to its console. Nobody else can guess it.
pub type Key = Uuid;

/// Everybody's consoles, in memory. If there are too many, the peer that has the most of them loses the one that was
/// unused for longest.
#[derive(Clone, Default)]
pub struct Consoles {
    kept: Arc<Mutex<HashMap<Key, Kept>>>,
    /// What a new one looks like.
    fresh: Arc<OnceCell<Screen>>,
}

struct Kept {
    console: Arc<Turn<Console>>,
    peer: Option<IpAddr>,
    used: Timestamp,
}

impl Consoles {
    fn kept(&self) -> MutexGuard<'_, HashMap<Key, Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is seen of a console; of a new one if this one is not kept.
    pub async fn screen(&self, key: Option<Key>) -> Result<Screen> {
        if let Some(console) = key.and_then(|key| self.of(key)) {
            return console.lock().await.screen().await;
        }
        let fresh = self
            .fresh
            .get_or_try_init(|| async { Console::open().await?.screen().await });
        fresh.await.cloned()
    }

    /// Runs a line in a console, which is opened if it is not kept.
    pub async fn enter(&self, key: Key, line: &str, peer: Option<IpAddr>, now: Timestamp) -> Result<()> {
        let console = match self.of(key) {
            Some(console) => console,
            None => Arc::new(Turn::new(Console::open().await?)),
        };
        self.keep(key, Arc::clone(&console), peer, now);
        console.lock().await.enter(line).await.map(drop)
    }

    /// Closes a console. The next line opens a new one.
    pub fn close(&self, key: Key) {
        self.kept().remove(&key);
    }

    fn of(&self, key: Key) -> Option<Arc<Turn<Console>>> {
        self.kept().get(&key).map(|kept| Arc::clone(&kept.console))
    }

    fn keep(&self, key: Key, console: Arc<Turn<Console>>, peer: Option<IpAddr>, now: Timestamp) {
        let mut kept = self.kept();
        kept.retain(|_, one| now.millis() - one.used.millis() <= IDLE);
        let one = Kept {
            console,
            peer,
            used: now,
        };
        kept.insert(key, one);
        if kept.len() > MOST
            && let Some(surplus) = surplus(&kept, key)
        {
            kept.remove(&surplus);
        }
    }
}

/// The console that has to go: of the peer with the most, the one that was unused for longest.
fn surplus(kept: &HashMap<Key, Kept>, latest: Key) -> Option<Key> {
    let mut counts: HashMap<Option<IpAddr>, usize> = HashMap::new();
    for one in kept.values() {
        *counts.entry(one.peer).or_default() += 1;
    }
    let others = kept.iter().filter(|(key, _)| **key != latest);
    let worst = others.max_by_key(|(key, one)| (counts[&one.peer], -one.used.millis(), **key));
    worst.map(|(key, _)| *key)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const A: Option<IpAddr> = Some(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1)));
    const B: Option<IpAddr> = Some(IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2)));

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    async fn lines(consoles: &Consoles, key: u128) -> usize {
        let screen = consoles.screen(Some(Uuid::from_u128(key))).await.unwrap();
        screen.entered.len()
    }

    #[tokio::test]
    async fn a_console_is_kept_until_it_is_closed_or_unused_for_half_an_hour() {
        let consoles = Consoles::default();
        let [a, b] = [1, 2].map(Uuid::from_u128);
        for (key, line) in [
            (a, "db.c.insertOne({_id: 1})"),
            (a, "db.c.findOne()"),
            (b, "help"),
        ] {
            consoles.enter(key, line, A, at(0)).await.unwrap();
        }
        assert_eq!((lines(&consoles, 1).await, lines(&consoles, 2).await), (2, 1));
        assert_eq!(lines(&consoles, 3).await, 0);
        consoles.close(b);
        assert_eq!(lines(&consoles, 2).await, 0);
        consoles.enter(b, "help", A, at(30 * 60 + 1)).await.unwrap();
        assert_eq!((lines(&consoles, 1).await, lines(&consoles, 2).await), (0, 1));
    }

    #[tokio::test]
    async fn who_opens_many_loses_their_own() {
        let consoles = Consoles::default();
        consoles
            .enter(Uuid::from_u128(1), "help", A, at(0))
            .await
            .unwrap();
        let most = u32::try_from(MOST).unwrap();
        for nth in 0..=most {
            let key = Uuid::from_u128(100 + u128::from(nth));
            consoles
                .enter(key, "help", B, at(1 + i64::from(nth)))
                .await
                .unwrap();
        }
        assert_eq!(consoles.kept().len(), MOST);
        let counts = [lines(&consoles, 1).await, lines(&consoles, 100).await];
        assert_eq!(counts, [1, 0]);
        assert_eq!(lines(&consoles, 100 + u128::from(most)).await, 1);
    }
}
