use std::borrow::Cow;
use std::sync::Arc;

use async_trait::async_trait;

use crate::{Capabilities, Changes, Engine, Layer, Result};

/// An engine seen through a prefix: every collection has another name in the engine below. So an experiment can use
/// the names in its code without touching the feed's collections.
pub struct Prefixed {
    engine: Engine,
    prefix: String,
}

impl Prefixed {
    /// Puts `prefix` before every collection's name.
    #[expect(clippy::new_ret_no_self, reason = "what it makes is an engine like any other")]
    pub fn new(engine: Engine, prefix: impl Into<String>) -> Engine {
        Arc::new(Self {
            engine,
            prefix: prefix.into(),
        })
    }
}

/// A pipeline that names other collections would read them without the prefix; no experiment has one.
#[async_trait]
impl Layer for Prefixed {
    fn below(&self) -> &Engine {
        &self.engine
    }

    fn over(&self, session: Engine) -> Option<Engine> {
        Some(Self::new(session, self.prefix.clone()))
    }

    fn name<'c>(&self, collection: &'c str) -> Cow<'c, str> {
        Cow::Owned(format!("{}{collection}", self.prefix))
    }

    async fn collections(&self) -> Result<Vec<String>> {
        let all = self.engine.collections().await?;
        let ours = all.iter().filter_map(|name| name.strip_prefix(&self.prefix));
        Ok(ours.map(str::to_owned).collect())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            change_streams: false,
            ..self.engine.capabilities()
        }
    }

    /// Changes would have the names of the collections below.
    async fn changes(&self, _collections: &[&str]) -> Result<Changes> {
        Err(crate::Error::refused(
            115,
            "a prefixed engine does not report changes",
        ))
    }
}
