use std::fmt::Display;

use document::{Error, Result};

/// The progress of work that sweeps the whole store, one owner after the other. An owner whose work fails, for example
/// because a document is malformed, does not keep it from the others.
#[derive(Debug, Default)]
pub struct Sweep {
    finished: usize,
    failed: Option<Error>,
}

impl Sweep {
    /// Notes the outcome of the work for one owner. A failure is logged. An owner that is gone needs no work.
    ///
    /// # Errors
    /// [`Error::Unavailable`], because the work for the others would fail too.
    pub fn note(&mut self, owner: &impl Display, outcome: Result<()>) -> Result<()> {
        match outcome {
            Ok(()) => self.finished += 1,
            Err(Error::NoOwner(_)) => {}
            Err(error @ Error::Unavailable(_)) => return Err(error),
            Err(error) => {
                tracing::warn!(%owner, %error, "interrupted work could not be finished; the others go on");
                self.failed = Some(error);
            }
        }
        Ok(())
    }

    /// How many owners there was work for.
    ///
    /// # Errors
    /// The last failure of an owner, if there was one.
    pub fn end(self) -> Result<usize> {
        match self.failed {
            None => Ok(self.finished),
            Some(error) => Err(error),
        }
    }
}
