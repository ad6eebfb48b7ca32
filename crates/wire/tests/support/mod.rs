//! Messages as they are on the wire.

use bson::Document;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A message of one section.
pub fn message(body: &Document) -> Vec<u8> {
    let body = body.to_vec().unwrap();
    let length = i32::try_from(21 + body.len()).unwrap();
    let mut bytes = Vec::new();
    for number in [length, 1, 0, 2013, 0] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.push(0);
    bytes.extend(body);
    bytes
}

/// The answer to some bytes; `None` if the connection is closed.
pub async fn exchange(stream: &mut TcpStream, bytes: &[u8]) -> Option<Document> {
    stream.write_all(bytes).await.unwrap();
    let mut length = [0; 4];
    stream.read_exact(&mut length).await.ok()?;
    let mut rest = vec![0; usize::try_from(i32::from_le_bytes(length)).unwrap() - 4];
    stream.read_exact(&mut rest).await.unwrap();
    Some(Document::from_reader(&rest[17..]).unwrap())
}
