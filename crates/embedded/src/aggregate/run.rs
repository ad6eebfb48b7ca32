//! Running a pipeline: documents pass through its stages one by one.
//!
//! Only a sort, a group and a sample hold documents back, and no more than 100 MB of them.

use bson::{Document, RawDocument, RawDocumentBuf};

use super::MOST_HELD;
use super::bucket::Sorted;
use super::group::Groups;
use super::pipeline::{Pipeline, Stage};
use super::sample::{Chosen, Sample};
use crate::effort;
use crate::operation::{LARGEST, check_size};
use crate::raw::decode;
use crate::sort::First;
use document::{Error, Result};

/// The state of a running pipeline.
pub(crate) struct Run<'p> {
    stages: Vec<Working<'p>>,
    answer: Vec<Document>,
}

/// The state of a running stage.
enum Working<'p> {
    Stage(&'p Stage),
    /// How many more to skip.
    Skip(u64),
    /// How many more to pass on.
    Limit(u64),
    Sort(First<'p>),
    Group(&'p super::group::Group, Groups),
    BucketAuto(&'p super::bucket::Automatic, Sorted),
    Sample(&'p Sample, Chosen),
}

impl<'p> Run<'p> {
    /// Before the first document.
    pub(crate) fn of(pipeline: &'p Pipeline) -> Self {
        let stages = pipeline.stages.iter().map(|stage| match stage {
            Stage::Skip(skip) => Working::Skip(*skip),
            Stage::Limit(limit) => Working::Limit(*limit),
            Stage::Sort(order, keep) => Working::Sort(First::by(order, keep.unwrap_or(usize::MAX))),
            Stage::Group(group) => Working::Group(group, Groups::default()),
            Stage::BucketAuto(automatic) => Working::BucketAuto(automatic, Sorted::default()),
            Stage::Sample(sample) => Working::Sample(sample, Chosen::default()),
            Stage::Match(_) | Stage::Reshape(_) | Stage::Unwind(_) => Working::Stage(stage),
        });
        Self {
            stages: stages.collect(),
            answer: Vec::new(),
        }
    }

    /// Adds a document of the collection.
    pub(crate) fn take(&mut self, document: &RawDocument) -> Result<()> {
        feed(&mut self.stages, document, &mut self.answer).map(|_| ())
    }

    /// The result, after all documents were added.
    pub(crate) fn finish(mut self) -> Result<Vec<Document>> {
        let mut stages = self.stages.as_mut_slice();
        while let Some((first, rest)) = stages.split_first_mut() {
            first.release(rest, &mut self.answer)?;
            stages = rest;
        }
        Ok(self.answer)
    }
}

/// Sends a document through the stages. Returns whether they want more.
fn feed(stages: &mut [Working<'_>], document: &RawDocument, answer: &mut Vec<Document>) -> Result<bool> {
    effort::spend(document.as_bytes().len())?;
    let Some((first, rest)) = stages.split_first_mut() else {
        check_size(document, 10334, |bytes| {
            format!(
                "BSONObj size: {bytes} (0x{bytes:X}) is invalid. Size must be between 0 and {LARGEST}(16MB)"
            )
        })?;
        answer.push(decode(document)?);
        return Ok(true);
    };
    match first {
        Working::Stage(Stage::Match(filter)) => {
            if filter.matches(document)? {
                return feed(rest, document, answer);
            }
        }
        Working::Stage(Stage::Reshape(reshape)) => return feed(rest, &reshape.apply(document)?, answer),
        Working::Stage(Stage::Unwind(unwind)) => {
            let mut more = true;
            unwind.apply(document, &mut |document| {
                more = feed(rest, &document, answer)?;
                Ok(more)
            })?;
            return Ok(more);
        }
        Working::Stage(_) => {}
        Working::Skip(0) => return feed(rest, document, answer),
        Working::Skip(left) => *left -= 1,
        Working::Limit(0) => return Ok(false),
        Working::Limit(left) => {
            *left -= 1;
            let last = *left == 0;
            return Ok(feed(rest, document, answer)? && !last);
        }
        Working::Sort(sort) => {
            sort.add(&[], document)?;
            if sort.held().1 > MOST_HELD {
                let message = format!(
                    "Sort exceeded memory limit of {MOST_HELD} bytes, but did not opt in to external sorting."
                );
                return Err(Error::refused(292, message));
            }
        }
        Working::Group(group, groups) => groups.add(group, document)?,
        Working::BucketAuto(automatic, sorted) => sorted.add(automatic, document)?,
        Working::Sample(sample, chosen) => chosen.add(sample, document)?,
    }
    Ok(true)
}

impl Working<'_> {
    /// Passes on what the stage held back.
    fn release(&mut self, rest: &mut [Self], answer: &mut Vec<Document>) -> Result<()> {
        let documents: &mut dyn Iterator<Item = Result<RawDocumentBuf>> = match self {
            Self::Sort(sort) => &mut sort
                .take()
                .map(|(_, document)| Ok(RawDocumentBuf::from_bytes(document)?)),
            Self::Group(group, groups) => &mut std::mem::take(groups).finish(group),
            Self::BucketAuto(automatic, sorted) => {
                &mut std::mem::take(sorted).finish(automatic)?.into_iter().map(Ok)
            }
            Self::Sample(_, chosen) => &mut std::mem::take(chosen)
                .take()
                .map(|document| Ok(RawDocumentBuf::from_bytes(document)?)),
            Self::Stage(_) | Self::Skip(_) | Self::Limit(_) => return Ok(()),
        };
        for document in documents {
            if !feed(rest, &document?, answer)? {
                break;
            }
        }
        Ok(())
    }
}
