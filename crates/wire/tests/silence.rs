//! A server that takes commands and never answers, as behind a network that broke in one direction.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::net::SocketAddr;
use std::sync::Arc;

use bson::doc;
use document::{DocumentEngine, Engine, Error, Find, Update};
use embedded::Embedded;
use mongo::Mongo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use wire::{Options, listen};

/// A proxy to the server that passes everything on, until it drops the answers.
async fn one_way(server: SocketAddr, silent: watch::Receiver<bool>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let Ok(server) = TcpStream::connect(server).await else {
                return;
            };
            let (mut from_client, mut to_client) = client.into_split();
            let (mut from_server, mut to_server) = server.into_split();
            tokio::spawn(async move { tokio::io::copy(&mut from_client, &mut to_server).await });
            let silent = silent.clone();
            tokio::spawn(async move {
                let mut bytes = [0; 4096];
                while let Ok(length) = from_server.read(&mut bytes).await
                    && length > 0
                {
                    if !*silent.borrow() && to_client.write_all(&bytes[..length]).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_without_an_answer_is_in_doubt_and_a_read_is_not() {
    let embedded = Arc::new(Embedded::in_memory().unwrap());
    let behind = Arc::clone(&embedded);
    let listener = listen(
        Arc::clone(&embedded) as Engine,
        behind,
        Options::on("127.0.0.1:0"),
    )
    .await
    .unwrap();
    let (silence, silent) = watch::channel(false);
    let address = one_way(listener.address(), silent).await;
    // The driver's monitoring gives the server up in a second instead of a quarter of a minute.
    let address = format!("mongodb://{address}/spillway?heartbeatFrequencyMS=500&connectTimeoutMS=500");
    let engine = Mongo::connect(&address).await.unwrap();
    engine
        .insert("things", vec![doc! { "_id": 1, "n": 0 }])
        .await
        .unwrap();

    silence.send_replace(true);
    let increment = Update::one(doc! { "_id": 1 }, doc! { "$inc": { "n": 1 } });
    let (written, read) = tokio::join!(
        engine.update("things", increment),
        engine.find("things", Find::default())
    );
    let (written, read) = (written.unwrap_err(), read.unwrap_err());
    assert!(matches!(written, Error::UnknownOutcome(_)), "{written}");
    assert!(matches!(read, Error::Unavailable(_)), "{read}");
    let there = embedded.find("things", Find::default()).await.unwrap();
    assert_eq!(there, [doc! { "_id": 1, "n": 1 }], "the write has happened, once");
}
