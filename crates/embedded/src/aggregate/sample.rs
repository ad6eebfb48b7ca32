//! `$sample`: a few documents at random, each set of them as likely as any other.

use std::collections::BinaryHeap;
use std::hash::{BuildHasher as _, RandomState};

use bson::{Bson, RawDocument};

use super::MOST_HELD;
use crate::filter::whole;
use document::{Error, Result};

/// How many documents to choose.
#[derive(Debug)]
pub(super) struct Sample(usize);

/// Those with the lowest of the random numbers that the documents so far got.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    random: RandomState,
    seen: u64,
    held: BinaryHeap<(u64, u64, Vec<u8>)>,
    bytes: usize,
}

impl Sample {
    pub(super) fn parse(spec: &Bson) -> Result<Self> {
        let Bson::Document(spec) = spec else {
            return Err(Error::refused(
                28745,
                "the $sample stage specification must be an object",
            ));
        };
        let mut wanted = None;
        for (option, value) in spec {
            if option != "size" {
                return Err(Error::refused(
                    28748,
                    format!("unrecognized option to $sample: {option}"),
                ));
            }
            if !matches!(value, Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_)) {
                return Err(Error::refused(28746, "size argument to $sample must be a number"));
            }
            let size = whole(value).and_then(|size| usize::try_from(size).ok());
            wanted = Some(size.filter(|size| *size > 0).ok_or_else(|| {
                Error::refused(28747, "size argument to $sample must be a positive integer")
            })?);
        }
        match wanted {
            Some(size) => Ok(Self(size)),
            None => Err(Error::refused(28749, "$sample stage must specify a size")),
        }
    }
}

impl Chosen {
    pub(super) fn add(&mut self, sample: &Sample, document: &RawDocument) -> Result<()> {
        let number = self.random.hash_one(self.seen);
        self.seen += 1;
        if self.held.len() == sample.0 {
            if self.held.peek().is_some_and(|(largest, ..)| *largest < number) {
                return Ok(());
            }
            let out = self.held.pop().map_or(0, |(.., document)| document.len());
            self.bytes -= out;
        }
        let document = document.as_bytes().to_vec();
        self.bytes += document.len();
        if self.bytes > MOST_HELD {
            let what =
                format!("$sample may hold at most {MOST_HELD} bytes of documents; choose a smaller size");
            return Err(Error::refused(292, what));
        }
        self.held.push((number, self.seen, document));
        Ok(())
    }

    /// The documents, in random order.
    pub(super) fn take(self) -> impl Iterator<Item = Vec<u8>> {
        self.held
            .into_sorted_vec()
            .into_iter()
            .map(|(.., document)| document)
    }
}
