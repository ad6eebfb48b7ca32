//! The lines of an export.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Read as _, Write};

use bson::{Bson, Document};
use serde::{Deserialize, Serialize};

use super::COLLECTIONS;
use super::canonical::CanonicalDocument;
use crate::{people, posts, shared_posts};

const FORMAT: &str = "spillway-export";
const VERSION: u32 = 1;

/// The collections whose documents have a UUID as `_id`; it is a string in all others.
const NAMED_BY_UUID: [&str; 2] = [posts::COLLECTION, shared_posts::COLLECTION];

/// The longest line, in bytes: a document of 16 MB in which every byte is a control character takes six times as many,
/// and a little more.
const LONGEST: u64 = 128 * 1024 * 1024;

/// The number of documents of each collection.
pub type Counts = BTreeMap<String, u64>;

/// What is wrong with a file that should be an export.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LineError {
    /// The file itself failed.
    #[error("it cannot be read")]
    Read(#[from] io::Error),
    /// It is another kind of file.
    #[error(r#"line 1 is not {{"format":"{FORMAT}",…}}, with which an export begins"#)]
    Foreign,
    /// It was written by a later Spillway.
    #[error("it has version {0} of the format, and this program reads version {VERSION}")]
    Version(u32),
    /// A line is malformed.
    #[error("line {line}, field {field}: {cause}")]
    Malformed {
        /// The line; the first is 1.
        line: u64,
        /// The field, as in `document.at`.
        field: String,
        /// What is wrong there.
        cause: String,
    },
    /// It stops before its last line.
    #[error("it ends in line {line} without the line that ends an export, so a part of it is missing")]
    Truncated {
        /// The line that was read last.
        line: u64,
    },
    /// Its number of documents differs from what its last line says.
    #[error("its last line counts {stated} documents of {collection}, and there are {found}")]
    Miscounted {
        /// The collection.
        collection: String,
        /// How many documents there should be.
        stated: u64,
        /// How many there are.
        found: u64,
    },
    /// Something follows its last line.
    #[error("line {line} follows the line that ends the export")]
    AfterEnd {
        /// The line.
        line: u64,
    },
}

/// A document of an export.
#[derive(Debug)]
pub struct Line {
    /// Its line number; the first line is 1.
    pub number: u64,
    /// The document's collection.
    pub collection: &'static str,
    /// The document.
    pub document: Document,
    /// How long the line is.
    pub bytes: usize,
}

/// Every kind of line at once, because an untagged enum would lose the path to a faulty field.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct AnyLine {
    format: Option<String>,
    version: Option<u32>,
    collection: Option<String>,
    document: Option<Document>,
    end: Option<Counts>,
}

/// The documents of an export, one after the other, in bounded memory.
pub struct Lines<R> {
    reader: R,
    number: u64,
    buffer: Vec<u8>,
    counts: Counts,
    ended: bool,
}

impl<R: BufRead> Lines<R> {
    /// Reads the first line.
    pub fn begin(reader: R) -> Result<Self, LineError> {
        let mut lines = Self {
            reader,
            number: 0,
            buffer: Vec::new(),
            counts: Counts::new(),
            ended: false,
        };
        match lines.any_line() {
            Ok(Some(AnyLine {
                format: Some(format),
                version: Some(version),
                ..
            })) if format == FORMAT => {
                if version == VERSION {
                    Ok(lines)
                } else {
                    Err(LineError::Version(version))
                }
            }
            Err(LineError::Read(error)) => Err(error.into()),
            _ => Err(LineError::Foreign),
        }
    }

    /// The next document; `None` after the last line, once its counts were found to be correct.
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator would have to go on after an error"
    )]
    pub fn next(&mut self) -> Result<Option<Line>, LineError> {
        if self.ended {
            return Ok(None);
        }
        let line = self
            .any_line()?
            .ok_or(LineError::Truncated { line: self.number })?;
        match line {
            AnyLine {
                end: Some(stated), ..
            } => self.end(&stated).map(|()| None),
            AnyLine {
                collection: Some(collection),
                document: Some(document),
                ..
            } => self.document(&collection, document).map(Some),
            _ => Err(self.malformed(
                "document",
                "expected a `collection` and a `document`, or an `end`",
            )),
        }
    }

    /// Reads to the end and returns how many documents there were.
    pub fn count(mut self) -> Result<Counts, LineError> {
        while self.next()?.is_some() {}
        Ok(self.counts)
    }

    /// How many documents were read.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    fn document(&mut self, collection: &str, document: Document) -> Result<Line, LineError> {
        let Some(collection) = COLLECTIONS.into_iter().find(|known| *known == collection) else {
            return Err(self.malformed(
                "collection",
                format!("expected one of {}", COLLECTIONS.join(", ")),
            ));
        };
        match document.get("_id") {
            Some(Bson::String(_)) => {}
            Some(Bson::Binary(_)) if NAMED_BY_UUID.contains(&collection) => {}
            _ => {
                let kind = if collection == people::COLLECTION {
                    "a handle"
                } else {
                    "its identity"
                };
                return Err(self.malformed("document._id", format!("expected {kind}")));
            }
        }
        *self.counts.entry(collection.to_owned()).or_default() += 1;
        Ok(Line {
            number: self.number,
            collection,
            document,
            bytes: self.buffer.len(),
        })
    }

    fn end(&mut self, stated: &Counts) -> Result<(), LineError> {
        for collection in COLLECTIONS {
            let number = |counts: &Counts| counts.get(collection).copied().unwrap_or(0);
            if number(stated) != number(&self.counts) {
                return Err(LineError::Miscounted {
                    collection: collection.to_owned(),
                    stated: number(stated),
                    found: number(&self.counts),
                });
            }
        }
        self.ended = true;
        if self.fill()? {
            return Err(LineError::AfterEnd { line: self.number });
        }
        Ok(())
    }

    /// The next line; `None` at the end of the file.
    fn any_line(&mut self) -> Result<Option<AnyLine>, LineError> {
        if !self.fill()? {
            return Ok(None);
        }
        let mut json = serde_json::Deserializer::from_slice(&self.buffer);
        match serde_path_to_error::deserialize(&mut json) {
            Ok(line) => match json.end() {
                Ok(()) => Ok(Some(line)),
                Err(error) => Err(self.malformed(".", words(&error))),
            },
            Err(error) if error.inner().is_eof() && !self.buffer.ends_with(b"\n") => {
                Err(LineError::Truncated { line: self.number })
            }
            Err(error) => Err(self.malformed(error.path().to_string(), words(error.inner()))),
        }
    }

    /// Reads one line into the buffer; false at the end of the file.
    fn fill(&mut self) -> Result<bool, LineError> {
        self.buffer.clear();
        let read = (&mut self.reader)
            .take(LONGEST)
            .read_until(b'\n', &mut self.buffer)?;
        if read == 0 {
            return Ok(false);
        }
        self.number += 1;
        if read as u64 == LONGEST && !self.buffer.ends_with(b"\n") {
            return Err(self.malformed(".", format!("no line is longer than {LONGEST} bytes")));
        }
        Ok(true)
    }

    fn malformed(&self, field: impl Into<String>, cause: impl Into<String>) -> LineError {
        LineError::Malformed {
            line: self.number,
            field: field.into(),
            cause: cause.into(),
        }
    }
}

/// The parser's message without a line number, because each line is the first to the parser.
fn words(error: &serde_json::Error) -> String {
    error.to_string().replace(" at line 1 column ", " at column ")
}

#[derive(Serialize)]
struct Header {
    format: &'static str,
    version: u32,
}

#[derive(Serialize)]
struct DocumentLine<'a> {
    collection: &'a str,
    document: CanonicalDocument<'a>,
}

#[derive(Serialize)]
struct End<'a> {
    end: &'a Counts,
}

pub(super) fn write_header(out: &mut dyn Write) -> io::Result<()> {
    write_line(
        out,
        &Header {
            format: FORMAT,
            version: VERSION,
        },
    )
}

pub(super) fn write_document(out: &mut dyn Write, collection: &str, document: &Document) -> io::Result<()> {
    let document = CanonicalDocument(document);
    write_line(out, &DocumentLine { collection, document })
}

pub(super) fn write_end(out: &mut dyn Write, counts: &Counts) -> io::Result<()> {
    write_line(out, &End { end: counts })
}

fn write_line(out: &mut dyn Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    fn file() -> Vec<u8> {
        let mut file = Vec::new();
        write_header(&mut file).unwrap();
        for handle in ["ada", "bob"] {
            write_document(&mut file, "users", &doc! { "_id": handle, "n": 1_i64 }).unwrap();
        }
        write_end(&mut file, &Counts::from([("users".to_owned(), 2)])).unwrap();
        file
    }

    fn read(file: &[u8]) -> Result<Counts, LineError> {
        Lines::begin(file)?.count()
    }

    fn error_of(file: &str) -> String {
        read(file.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn written_lines_are_read_back() {
        assert_eq!(read(&file()).unwrap()["users"], 2);
        let file = file();
        let mut lines = Lines::begin(&file[..]).unwrap();
        let line = lines.next().unwrap().unwrap();
        assert_eq!((line.number, line.collection), (2, "users"));
        assert_eq!(line.document, doc! { "_id": "ada", "n": 1_i64 });
    }

    #[test]
    fn a_truncated_file_is_never_accepted() {
        let file = file();
        // The last line is complete even without its line break.
        for length in 0..file.len() - 1 {
            let refused = read(&file[..length]).unwrap_err();
            assert!(
                matches!(refused, LineError::Truncated { .. } | LineError::Foreign),
                "{length}: {refused}"
            );
        }
    }

    #[test]
    fn a_wrong_line_is_reported_by_number_and_field() {
        let header = r#"{"format":"spillway-export","version":1}"#;
        for (line, says) in [
            ("nonsense", "line 2, field .: expected"),
            (
                r#"{"collection":"users"}"#,
                "line 2, field document: expected a `collection` and",
            ),
            (
                r#"{"collection":"sessions","document":{"_id":"a"}}"#,
                "line 2, field collection: expected one of",
            ),
            (
                r#"{"collection":"users","document":{"_id":{"$numberInt":"1"}}}"#,
                "line 2, field document._id: expected a handle",
            ),
            (
                r#"{"collection":"users","document":{"name":"Ada"}}"#,
                "line 2, field document._id",
            ),
            (
                r#"{"collection":"users","document":{"_id":"a","at":{"$date":"noon"}}}"#,
                "line 2, field document.at",
            ),
            (
                r#"{"collection":"users","document":{"_id":"a"}} x"#,
                "line 2, field .: trailing characters at column",
            ),
            (
                r#"{"colection":"users"}"#,
                "line 2, field colection: unknown field",
            ),
            (
                r#"{"end":{"users":1}}"#,
                "its last line counts 1 documents of users, and there are 0",
            ),
            ("{\"end\":{}}\n{}", "line 3 follows"),
        ] {
            let refused = error_of(&format!("{header}\n{line}\n"));
            assert!(refused.contains(says), "{line}: {refused}");
        }
        assert!(error_of("{\"format\":\"spillway-export\",\"version\":2}\n").contains("version 2"));
        assert!(error_of("{\"_id\":1}\n").contains("line 1"));
    }
}
