use std::io;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::error::CliError;

const TIMEOUT: Duration = Duration::from_secs(5);

/// Asks the server at `addr` for `/healthz`.
pub async fn run(addr: &str) -> Result<(), CliError> {
    // A server that listens on all addresses is asked at the loopback address.
    let addr = addr.replace("0.0.0.0:", "127.0.0.1:").replace("[::]:", "[::1]:");
    let fault = |cause: &dyn std::error::Error| {
        CliError::failed(
            format!("No healthy Spillway at http://{addr}"),
            "Start it with `spillway serve`, or name its address with SPILLWAY_ADDR.",
        )
        .caused_by(cause)
    };
    match tokio::time::timeout(TIMEOUT, status_line(&addr)).await {
        Ok(Ok(line)) if line.starts_with("HTTP/1.1 200") => Ok(()),
        Ok(Ok(line)) => Err(fault(&io::Error::other(format!("it answered {line}")))),
        Ok(Err(error)) => Err(fault(&error)),
        Err(elapsed) => Err(fault(&elapsed)),
    }
}

async fn status_line(addr: &str) -> io::Result<String> {
    let mut stream = TcpStream::connect(addr).await?;
    let request = format!("GET /healthz HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(4096).read_to_end(&mut answer).await?;
    let answer = String::from_utf8_lossy(&answer);
    Ok(answer.lines().next().unwrap_or("nothing").to_owned())
}
