//! Messages: the bytes between a driver and a server, according to MongoDB's specification of `OP_MSG`.
//!
//! A request is `OP_MSG`, except that old handshakes come as `OP_QUERY`. Sizes and depths are checked before anything is
//! decoded, so that no sequence of bytes costs more than its length.

use bson::{Bson, Document};

use crate::bytes::{Bytes, number};
use crate::malformed::Malformed;

/// The largest message, in bytes, as `hello` announces it.
pub(crate) const LARGEST_MESSAGE: usize = 48_000_000;

/// The length of a message's header.
pub(crate) const HEADER: usize = 16;

const OP_REPLY: i32 = 1;
const OP_QUERY: i32 = 2004;
const OP_MSG: i32 = 2013;

/// The most sequences of documents in a message. No command takes more than two.
const MOST_SEQUENCES: usize = 4;

const CHECKSUM_PRESENT: u32 = 1;
const MORE_TO_COME: u32 = 1 << 1;
/// The flags that a server must understand; it ignores unknown others.
const REQUIRED_FLAGS: u32 = 0xFFFF;

/// The header of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Header {
    /// The length of what follows the header.
    pub(crate) rest: usize,
    /// The sender's number for it.
    pub(crate) id: i32,
    operation: i32,
}

impl Header {
    /// Reads a header of a message that has at most `most` bytes in all.
    pub(crate) fn parse(bytes: &[u8; HEADER], most: usize) -> Result<Self, Malformed> {
        let mut numbers = bytes.chunks_exact(4).map(number);
        let mut next = || numbers.next().unwrap_or_default();
        let (length, id, _, operation) = (next(), next(), next(), next());
        let rest = usize::try_from(length)
            .ok()
            .filter(|whole| (HEADER..=most).contains(whole))
            .ok_or(Malformed::Length(length))?
            - HEADER;
        Ok(Self { rest, id, operation })
    }
}

/// The form of a request, and therefore of its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// `OP_MSG`
    Message,
    /// `OP_QUERY`, answered with `OP_REPLY`.
    Query,
}

/// A command.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Request {
    pub(crate) id: i32,
    pub(crate) form: Form,
    /// The command and its arguments, including those from sequences.
    pub(crate) body: Document,
    /// No answer is wanted.
    pub(crate) silent: bool,
}

impl Request {
    /// Decodes what follows a header.
    pub(crate) fn parse(header: Header, bytes: &[u8]) -> Result<Self, Malformed> {
        match header.operation {
            OP_MSG => message(header.id, bytes),
            OP_QUERY => query(header.id, bytes),
            other => Err(Malformed::Operation(other)),
        }
    }
}

fn message(id: i32, bytes: &[u8]) -> Result<Request, Malformed> {
    let mut bytes = Bytes(bytes);
    let flags = bytes.number()?.cast_unsigned();
    let unknown = flags & REQUIRED_FLAGS & !(CHECKSUM_PRESENT | MORE_TO_COME);
    if unknown != 0 {
        return Err(Malformed::Flags(unknown));
    }
    if flags & CHECKSUM_PRESENT != 0 {
        // TCP has a checksum of its own; this one is for proxies that rewrite messages.
        let end = bytes.0.len().checked_sub(4).ok_or(Malformed::Truncated)?;
        bytes.0 = &bytes.0[..end];
    }
    let mut body = None;
    let mut sequences = Document::new();
    while !bytes.0.is_empty() {
        match bytes.take(1)?[0] {
            0 => {
                if body.replace(bytes.document()?).is_some() {
                    return Err(Malformed::Sections);
                }
            }
            1 => {
                let size = bytes.peek_size()?;
                let mut section = Bytes(&bytes.take(size)?[4..]);
                let name = section.name()?;
                let mut documents = Vec::new();
                while !section.0.is_empty() {
                    documents.push(Bson::Document(section.document()?));
                }
                if sequences.insert(name, documents).is_some() || sequences.len() > MOST_SEQUENCES {
                    return Err(Malformed::Sections);
                }
            }
            kind => return Err(Malformed::Section(kind)),
        }
    }
    let mut body = body.ok_or(Malformed::Sections)?;
    for (name, documents) in sequences {
        if body.insert(name, documents).is_some() {
            return Err(Malformed::Sections);
        }
    }
    Ok(Request {
        id,
        form: Form::Message,
        body,
        silent: flags & MORE_TO_COME != 0,
    })
}

/// The old form: flags, the collection, what to skip and to return, and the query, which is the command.
fn query(id: i32, bytes: &[u8]) -> Result<Request, Malformed> {
    let mut bytes = Bytes(bytes);
    bytes.number()?;
    let collection = bytes.name()?;
    bytes.take(8)?;
    let mut body = bytes.document()?;
    // A command with options may come wrapped.
    for wrapper in ["$query", "query"] {
        if let Some(Bson::Document(inner)) = body.get(wrapper) {
            body = inner.clone();
            break;
        }
    }
    let database = collection.strip_suffix(".$cmd").unwrap_or(&collection);
    body.insert("$db", database);
    Ok(Request {
        id,
        form: Form::Query,
        body,
        silent: false,
    })
}

/// The bytes of an answer.
pub(crate) fn answer(form: Form, id: i32, to: i32, body: &Document) -> Result<Vec<u8>, bson::error::Error> {
    let mut bytes = Vec::with_capacity(256);
    let operation = match form {
        Form::Message => OP_MSG,
        Form::Query => OP_REPLY,
    };
    for number in [0, id, to, operation] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    match form {
        // No flags, and one section of kind 0.
        Form::Message => bytes.extend_from_slice(&[0; 5]),
        Form::Query => {
            bytes.extend_from_slice(&8_i32.to_le_bytes());
            bytes.extend_from_slice(&0_i64.to_le_bytes());
            bytes.extend_from_slice(&0_i32.to_le_bytes());
            bytes.extend_from_slice(&1_i32.to_le_bytes());
        }
    }
    body.to_writer(&mut bytes)?;
    let length = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
    bytes[..4].copy_from_slice(&length.to_le_bytes());
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;
    use crate::bytes::DEEPEST;

    fn parse(operation: i32, rest: &[u8]) -> Result<Request, Malformed> {
        let mut header = [0; HEADER];
        let length = i32::try_from(HEADER + rest.len()).unwrap();
        header[..4].copy_from_slice(&length.to_le_bytes());
        header[4..8].copy_from_slice(&7_i32.to_le_bytes());
        header[12..].copy_from_slice(&operation.to_le_bytes());
        Request::parse(Header::parse(&header, LARGEST_MESSAGE)?, rest)
    }

    fn section(document: &Document) -> Vec<u8> {
        [vec![0], document.to_vec().unwrap()].concat()
    }

    fn sequence(name: &str, documents: &[Document]) -> Vec<u8> {
        let mut inner = [name.as_bytes(), &[0]].concat();
        for document in documents {
            inner.extend(document.to_vec().unwrap());
        }
        let size = i32::try_from(inner.len() + 4).unwrap();
        [vec![1], size.to_le_bytes().to_vec(), inner].concat()
    }

    fn with_flags(flags: u32, sections: &[Vec<u8>]) -> Vec<u8> {
        [flags.to_le_bytes().to_vec(), sections.concat()].concat()
    }

    #[test]
    fn a_sequence_becomes_an_argument_wherever_it_stands() {
        let insert = section(&doc! { "insert": "things", "$db": "spillway" });
        let documents = sequence("documents", &[doc! { "_id": 1 }, doc! { "_id": 2 }]);
        for sections in [[insert.clone(), documents.clone()], [documents, insert]] {
            let request = parse(OP_MSG, &with_flags(0, &sections)).unwrap();
            let expected =
                doc! { "insert": "things", "$db": "spillway", "documents": [{ "_id": 1 }, { "_id": 2 }] };
            assert_eq!(request.body, expected);
            assert_eq!((request.id, request.silent), (7, false));
        }
    }

    #[test]
    fn flags_are_obeyed_ignored_or_refused() {
        let ping = section(&doc! { "ping": 1, "$db": "admin" });
        let exhaust = 1 << 16;
        let request = parse(
            OP_MSG,
            &with_flags(MORE_TO_COME | exhaust, std::slice::from_ref(&ping)),
        )
        .unwrap();
        assert!(request.silent);
        let checked = with_flags(CHECKSUM_PRESENT, &[ping.clone(), vec![1, 2, 3, 4]]);
        assert_eq!(parse(OP_MSG, &checked).unwrap().body.get_i32("ping").unwrap(), 1);
        assert_eq!(
            parse(OP_MSG, &with_flags(4, &[ping])).unwrap_err(),
            Malformed::Flags(4)
        );
    }

    #[test]
    fn an_old_handshake_is_a_command() {
        let hello = doc! { "isMaster": 1 };
        let bytes = [
            &0_i32.to_le_bytes()[..],
            b"admin.$cmd\0",
            &[0; 8],
            &hello.to_vec().unwrap(),
        ]
        .concat();
        let request = parse(OP_QUERY, &bytes).unwrap();
        assert_eq!(request.form, Form::Query);
        assert_eq!(request.body, doc! { "isMaster": 1, "$db": "admin" });
    }

    #[test]
    fn malformed_messages_are_refused() {
        let ping = doc! { "ping": 1 };
        let twice = with_flags(0, &[section(&ping), section(&ping)]);
        assert_eq!(parse(OP_MSG, &twice), Err(Malformed::Sections));
        assert_eq!(parse(OP_MSG, &with_flags(0, &[])), Err(Malformed::Sections));
        let same = with_flags(0, &[section(&ping), sequence("a", &[]), sequence("a", &[])]);
        assert_eq!(parse(OP_MSG, &same), Err(Malformed::Sections));
        let many: Vec<_> = (0..=MOST_SEQUENCES)
            .map(|n| sequence(&n.to_string(), &[]))
            .collect();
        let many = with_flags(0, &[vec![section(&ping)], many].concat());
        assert_eq!(parse(OP_MSG, &many), Err(Malformed::Sections));
        assert_eq!(
            parse(OP_MSG, &with_flags(0, &[vec![9]])),
            Err(Malformed::Section(9))
        );
        assert_eq!(parse(2012, &[]), Err(Malformed::Operation(2012)));
        for length in [-1, 0, 15, i32::MAX] {
            let mut header = [0; HEADER];
            header[..4].copy_from_slice(&length.to_le_bytes());
            assert_eq!(
                Header::parse(&header, LARGEST_MESSAGE),
                Err(Malformed::Length(length))
            );
        }
    }

    #[test]
    fn truncated_or_corrupted_messages_do_not_panic() {
        let insert = section(&doc! { "insert": "things", "a": [{ "b": null }], "$db": "spillway" });
        let whole = with_flags(0, &[insert, sequence("documents", &[doc! { "_id": "x" }])]);
        for end in 0..whole.len() {
            assert!(parse(OP_MSG, &whole[..end]).is_err() || end > 60, "{end}");
        }
        for at in 0..whole.len() {
            for flip in [0x01, 0x80, 0xFF] {
                let mut bytes = whole.clone();
                bytes[at] ^= flip;
                // Either outcome is fine, except a panic.
                drop(parse(OP_MSG, &bytes));
            }
        }
    }

    #[test]
    fn a_deep_document_is_refused_before_it_is_decoded() {
        // Built by hand, because encoding it would be recursive too: each level is a document with one field "a".
        let deep = |levels: usize| {
            let mut bytes = vec![5, 0, 0, 0, 0];
            for _ in 1..levels {
                let size = i32::try_from(bytes.len() + 8).unwrap();
                bytes = [&size.to_le_bytes()[..], &[3, b'a', 0], &bytes, &[0]].concat();
            }
            with_flags(0, &[[vec![0], bytes].concat()])
        };
        assert!(parse(OP_MSG, &deep(DEEPEST)).is_ok());
        assert_eq!(parse(OP_MSG, &deep(DEEPEST + 1)), Err(Malformed::Depth));
        assert_eq!(parse(OP_MSG, &deep(5000)), Err(Malformed::Depth));
    }

    #[test]
    fn an_answer_names_its_request() {
        let body = doc! { "ok": 1.0 };
        let bytes = answer(Form::Message, 5, 7, &body).unwrap();
        assert_eq!(number(&bytes[..4]), i32::try_from(bytes.len()).unwrap());
        assert_eq!((number(&bytes[4..8]), number(&bytes[8..12])), (5, 7));
        assert_eq!(bytes[21..], body.to_vec().unwrap());
        let old = answer(Form::Query, 5, 7, &body).unwrap();
        assert_eq!(number(&old[12..16]), OP_REPLY);
        assert_eq!(old[36..], body.to_vec().unwrap());
    }
}
