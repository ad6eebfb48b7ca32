//! Where the documents of an answer come from, batch by batch.

use std::collections::vec_deque::VecDeque;

use bson::Document;

use document::catalogue::Documents;

/// The most bytes of documents in one answer, as in MongoDB. A single document always fits.
const BATCH_BYTES: usize = 16 * 1024 * 1024;

/// Where the documents of a cursor come from.
pub(crate) enum Source {
    /// They are all in memory, and have about this many bytes.
    Kept {
        documents: VecDeque<Document>,
        bytes: usize,
    },
    /// They are read when they are needed. One may have been read that did not fit.
    Scanned {
        documents: Box<dyn Documents>,
        ahead: Option<Document>,
    },
}

impl From<Vec<Document>> for Source {
    fn from(documents: Vec<Document>) -> Self {
        Self::Kept {
            documents: documents.into(),
            bytes: 0,
        }
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Kept { documents, .. } => write!(f, "{} documents", documents.len()),
            Self::Scanned { .. } => f.write_str("a scan"),
        }
    }
}

impl Source {
    /// Documents that come one by one.
    pub(crate) fn scanned(documents: Box<dyn Documents>) -> Self {
        Self::Scanned {
            documents,
            ahead: None,
        }
    }

    /// How many bytes of documents it keeps in memory.
    pub(crate) fn buffered_bytes(&self) -> usize {
        match self {
            Self::Kept { bytes, .. } => *bytes,
            Self::Scanned { documents, .. } => documents.buffered_bytes(),
        }
    }

    /// Measures the documents in memory, once it is known that they are kept.
    pub(crate) fn measure(&mut self) -> document::Result<()> {
        if let Self::Kept { documents, bytes } = self {
            *bytes = 0;
            for document in documents {
                *bytes += document.to_vec()?.len();
            }
        }
        Ok(())
    }

    async fn next(&mut self) -> document::Result<Option<Document>> {
        match self {
            Self::Kept { documents, .. } => Ok(documents.pop_front()),
            Self::Scanned { documents, ahead } => match ahead.take() {
                Some(document) => Ok(Some(document)),
                None => documents.next().await.transpose(),
            },
        }
    }

    fn give_back(&mut self, document: Document) {
        match self {
            Self::Kept { documents, .. } => documents.push_front(document),
            Self::Scanned { ahead, .. } => *ahead = Some(document),
        }
    }

    /// As many documents as there may be in one answer, and whether there are more.
    pub(crate) async fn batch(&mut self, size: u64) -> document::Result<(Vec<Document>, bool)> {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while let Some(document) = self.next().await? {
            let length = document.to_vec()?.len();
            // Includes the overhead of a document in an array.
            bytes += length + 16;
            if batch.len() as u64 >= size || (bytes > BATCH_BYTES && !batch.is_empty()) {
                self.give_back(document);
                return Ok((batch, true));
            }
            if let Self::Kept { bytes, .. } = self {
                *bytes = bytes.saturating_sub(length);
            }
            batch.push(document);
        }
        Ok((batch, false))
    }
}
