//! A server with its own store, for checks that are programs in other languages.

use std::env;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context as _, Result};

use crate::process;
use crate::repository::Repository;
use crate::site;

/// A server that started with an empty store, until it is dropped.
pub struct Server {
    child: Child,
    /// Kept open: closing it would make the server's next line fail.
    stdout: BufReader<ChildStdout>,
    /// Its address, as it printed it.
    pub address: String,
}

impl Server {
    /// The server that the HTTP tests run, for MongoDB's drivers.
    pub fn for_drivers(repository: &Repository, password: Option<&str>) -> Result<Self> {
        let mut command = repository.command(repository.target.join("debug").join("spillway"));
        forget_settings(&mut command);
        command
            .args(["serve", "--no-demo"])
            .env("SPILLWAY_MONGO_LISTEN", "127.0.0.1:0")
            .envs(password.map(|password| ("SPILLWAY_MONGO_PASSWORD", password)));
        let says = "MongoDB's shells and drivers reach its store at ";
        let mut server = Self::start(repository, command, says)?;
        if let Some(password) = password {
            let with_login = format!("mongodb://spillway:{password}@");
            server.address = server.address.replace("mongodb://", &with_login);
        }
        Ok(server)
    }

    /// The release with the demo town, without limits, for programs that use the API.
    pub fn for_programs(repository: &Repository) -> Result<Self> {
        let mut command = repository.command(repository.server());
        forget_settings(&mut command);
        command
            .arg("serve")
            .envs(site::environment(repository))
            .env("SPILLWAY_RATE_LIMIT", "off");
        Self::start(repository, command, "Spillway is at ")
    }

    fn start(repository: &Repository, mut command: Command, says: &str) -> Result<Self> {
        let store = repository.target.join("xtask").join("checked-store");
        if store.exists() {
            fs_err::remove_dir_all(&store)?;
        }
        command
            .env("SPILLWAY_STORE", format!("embedded:{}", store.display()))
            .env("SPILLWAY_ADDR", "127.0.0.1:0")
            .env("RUST_LOG", "error")
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let line = process::command_line(&command);
        let mut child = command
            .spawn()
            .with_context(|| format!("could not run `{line}`"))?;
        let stdout = child.stdout.take().context("a server without standard output")?;
        let mut server = Self {
            child,
            stdout: BufReader::new(stdout),
            address: String::new(),
        };
        // The iterator must not own the output, which stays open.
        let mut lines = server.stdout.by_ref().lines().map_while(io::Result::ok);
        let address = lines.find_map(|line| Some(line.strip_prefix(says)?.trim_end().to_owned()));
        server.address = address.with_context(|| {
            format!("The server ended before it said where it is.\nNext: run `{line}` and read why.")
        })?;
        Ok(server)
    }
}

/// The settings of the person who runs the checks do not count.
fn forget_settings(command: &mut Command) {
    for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SPILLWAY_")) {
        command.env_remove(name);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(error) = self.child.kill().and_then(|()| self.child.wait()) {
            eprintln!("the server for a check did not stop: {error}");
        }
    }
}
