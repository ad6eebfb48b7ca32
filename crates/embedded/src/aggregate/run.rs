//! Running a pipeline: documents pass through its stages one by one.
//!
//! Only a sort and a group hold documents back, and no more than 100 MB of them.

use std::collections::BinaryHeap;

use bson::{Document, RawDocument, RawDocumentBuf};

use super::MOST_HELD;
use super::bucket::Sorted;
use super::group::Groups;
use super::pipeline::{Pipeline, Stage};
use crate::sort::Order;
use document::{Error, Result};

/// The largest document, in bytes, as in MongoDB.
const LARGEST: usize = 16 * 1024 * 1024;

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
    Sort(Sort<'p>),
    Group(&'p super::group::Group, Groups),
    BucketAuto(&'p super::bucket::Automatic, Sorted),
}

impl<'p> Run<'p> {
    /// Before the first document.
    pub(crate) fn of(pipeline: &'p Pipeline) -> Self {
        let stages = pipeline.stages.iter().map(|stage| match stage {
            Stage::Skip(skip) => Working::Skip(*skip),
            Stage::Limit(limit) => Working::Limit(*limit),
            Stage::Sort(order, keep) => Working::Sort(Sort::by(order, *keep)),
            Stage::Group(group) => Working::Group(group, Groups::default()),
            Stage::BucketAuto(automatic) => Working::BucketAuto(automatic, Sorted::default()),
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
    let Some((first, rest)) = stages.split_first_mut() else {
        let bytes = document.as_bytes().len();
        if bytes > LARGEST {
            let message = format!(
                "BSONObj size: {bytes} (0x{bytes:X}) is invalid. Size must be between 0 and {LARGEST}(16MB)"
            );
            return Err(Error::TooLarge {
                code: 10334,
                message,
                bytes,
            });
        }
        answer.push(Document::try_from(document)?);
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
        Working::Sort(sort) => sort.add(document)?,
        Working::Group(group, groups) => groups.add(group, document)?,
        Working::BucketAuto(automatic, sorted) => sorted.add(automatic, document)?,
    }
    Ok(true)
}

impl Working<'_> {
    /// Passes on what the stage held back.
    fn release(&mut self, rest: &mut [Self], answer: &mut Vec<Document>) -> Result<()> {
        let mut send = |document: RawDocumentBuf| feed(rest, &document, answer);
        match self {
            Self::Sort(sort) => {
                for held in std::mem::take(&mut sort.held).into_sorted_vec() {
                    if !send(held.document)? {
                        break;
                    }
                }
            }
            Self::Group(group, groups) => {
                for document in std::mem::take(groups).finish(group) {
                    if !send(document?)? {
                        break;
                    }
                }
            }
            Self::BucketAuto(automatic, sorted) => {
                for document in std::mem::take(sorted).finish(automatic)? {
                    if !send(document)? {
                        break;
                    }
                }
            }
            Self::Stage(_) | Self::Skip(_) | Self::Limit(_) => {}
        }
        Ok(())
    }
}

/// The state of a running sort, which keeps as many documents as are needed.
struct Sort<'p> {
    order: &'p Order,
    keep: usize,
    held: BinaryHeap<Held>,
    seen: u64,
    bytes: usize,
}

/// A document in a sort. Equal documents stay in their original order.
#[derive(Debug)]
struct Held {
    key: (Vec<u8>, u64),
    document: RawDocumentBuf,
}

impl<'p> Sort<'p> {
    fn by(order: &'p Order, keep: Option<usize>) -> Self {
        Self {
            order,
            keep: keep.unwrap_or(usize::MAX),
            held: BinaryHeap::new(),
            seen: 0,
            bytes: 0,
        }
    }

    fn add(&mut self, document: &RawDocument) -> Result<()> {
        self.seen += 1;
        let key = (self.order.key(document)?, self.seen);
        let full = self.held.len() >= self.keep;
        if full && self.held.peek().is_none_or(|last| last.key <= key) {
            return Ok(());
        }
        let held = Held {
            key,
            document: document.to_owned(),
        };
        self.bytes += held.bytes();
        self.held.push(held);
        if full && let Some(last) = self.held.pop() {
            self.bytes -= last.bytes();
        }
        if self.bytes > MOST_HELD {
            let message = format!(
                "Sort exceeded memory limit of {MOST_HELD} bytes, but did not opt in to external sorting."
            );
            return Err(Error::refused(292, message));
        }
        Ok(())
    }
}

impl Held {
    fn bytes(&self) -> usize {
        self.key.0.len() + self.document.as_bytes().len()
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Held {}
