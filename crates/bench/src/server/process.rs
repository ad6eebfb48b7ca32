//! The measured servers, each in its own process.

use std::io::{BufRead, BufReader};
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

use super::client::{Connection, Question};
use crate::Result;
use crate::machine::{memory_of, processor_time_of};

/// The maximum time until a server answers.
const TIMEOUT: Duration = Duration::from_mins(2);

/// A server in its own process, which ends when this value is dropped.
pub struct Process {
    child: Child,
    pub address: SocketAddr,
}

impl Process {
    /// Starts a program that prints its address, alone on a line or at the end of one.
    fn start(command: &mut Command) -> Result<Self> {
        let mut child = command.stdout(Stdio::piped()).spawn()?;
        let stdout = child.stdout.take().ok_or("its output is not read")?;
        let mut lines = BufReader::new(stdout).lines();
        while let Some(line) = lines.next().transpose()? {
            let last = line.rsplit(['/', ' ']).next().unwrap_or_default();
            if let Ok(address) = last.parse() {
                // It may print more, and its output must be read.
                std::thread::spawn(move || lines.for_each(drop));
                return Ok(Self { child, address });
            }
        }
        Err("the server ended before it named its address".into())
    }

    /// Serves the bytes of `answer` from memory.
    pub fn from_memory(answer: &Path) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        Self::start(command.arg("--from-memory").arg(answer))
    }

    /// The processor time that the process has used so far, in seconds.
    pub fn processor_time(&self) -> Result<f64> {
        processor_time_of(&self.child.id().to_string())
    }

    /// A line of the system's report on the process's memory, in kB.
    pub fn memory(&self, field: &str) -> Result<u64> {
        memory_of(&self.child.id().to_string(), field)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Err(error) = self.child.kill().and_then(|()| self.child.wait()) {
            eprintln!("A server could not be stopped: {error}");
        }
    }
}

/// Spillway itself, with the demo town.
pub struct Spillway {
    pub process: Process,
    folder: TempDir,
}

impl Spillway {
    /// Starts it on a free port with a store of its own, without rate limits. It finds the built site through the
    /// environment, as `cargo xtask bench --server` sets it. `on_one_core` is the first one.
    pub async fn start(program: &Path, on_one_core: bool) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let program = program.canonicalize()?;
        let mut command = if on_one_core {
            let mut command = Command::new("taskset");
            command.args(["-c", "0"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command
            .current_dir(folder.path())
            .env("SPILLWAY_ADDR", format!("127.0.0.1:{port}"))
            .env("SPILLWAY_STORE", "embedded:data")
            .env("SPILLWAY_RATE_LIMIT", "off")
            .env("RUST_LOG", "warn");
        let spillway = Self {
            process: Process::start(&mut command)?,
            folder,
        };
        spillway.wait_until_ready().await?;
        Ok(spillway)
    }

    async fn wait_until_ready(&self) -> Result<()> {
        let began = Instant::now();
        loop {
            let ready = match Connection::open(self.process.address).await {
                Ok(mut connection) => connection.ask(&Question::get("/readyz", "")).await.map(drop),
                Err(error) => Err(error),
            };
            match ready {
                Ok(()) => return Ok(()),
                Err(error) if began.elapsed() > TIMEOUT => return Err(error),
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    }

    /// A connection to it.
    pub async fn connect(&self) -> Result<Connection> {
        Connection::open(self.process.address).await
    }

    /// A new person's session, as a `Cookie` header.
    pub async fn sign_up(&self, handle: &str) -> Result<String> {
        let account = json!({ "handle": handle, "name": handle, "password": "long enough for a bench" });
        let question = Question::change(
            hyper::Method::POST,
            "/api/v1/accounts",
            "",
            Some(account.to_string()),
        );
        Ok(self.connect().await?.ask(&question).await?.cookie)
    }

    /// The API's answer for a visitor.
    pub async fn json(&self, path: &str) -> Result<serde_json::Value> {
        let answer = self
            .connect()
            .await?
            .ask(&Question::get(path, "").plain())
            .await?;
        Ok(serde_json::from_slice(&answer.body)?)
    }

    /// Ends the server and removes its store.
    pub fn stop(self) -> Result<()> {
        drop(self.process);
        Ok(self.folder.close()?)
    }
}
