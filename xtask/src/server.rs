//! A server with its own store, for checks that are programs in other languages.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::failure::Failure;
use crate::process;
use crate::repository::Repository;
use crate::site;

/// The user that the password belongs to.
const USER: &str = "spillway";

/// A server that started with an empty store, until it is dropped.
pub struct Server {
    child: Child,
    /// Kept open: closing it would make the server's next line fail.
    _stdout: BufReader<ChildStdout>,
    /// Its address, as it printed it.
    pub address: String,
}

impl Server {
    /// The server that the HTTP tests run, for MongoDB's drivers.
    pub fn for_drivers(repository: &Repository, password: Option<&str>) -> Result<Self, Failure> {
        let mut command = repository.command(repository.target().join("debug").join("spillway"));
        command.args(["serve", "--no-demo"]);
        let password_setting = password.map(|password| ("SPILLWAY_MONGO_PASSWORD", password.into()));
        let settings = [("SPILLWAY_MONGO_LISTEN", OsString::from("127.0.0.1:0"))];
        let mut server = Self::start(
            repository,
            command,
            settings.into_iter().chain(password_setting),
            "MongoDB's shells and drivers reach its store at ",
        )?;
        if let Some(password) = password {
            let with_login = format!("mongodb://{USER}:{password}@");
            server.address = server.address.replace("mongodb://", &with_login);
        }
        Ok(server)
    }

    /// The release with the demo town, without limits, for programs that use the API.
    pub fn for_programs(repository: &Repository) -> Result<Self, Failure> {
        let mut command = repository.command(repository.server());
        command.arg("serve").envs(site::environment(repository));
        let settings = [("SPILLWAY_RATE_LIMIT", OsString::from("off"))];
        Self::start(repository, command, settings, "Spillway is at ")
    }

    fn start(
        repository: &Repository,
        mut command: Command,
        settings: impl IntoIterator<Item = (&'static str, OsString)>,
        says: &str,
    ) -> Result<Self, Failure> {
        let store = repository.target().join("xtask").join("checked-store");
        if store.exists() {
            fs::remove_dir_all(&store).map_err(Failure::file(format!("remove {}", store.display())))?;
        }
        for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SPILLWAY_")) {
            command.env_remove(name);
        }
        command
            .env("SPILLWAY_STORE", format!("embedded:{}", store.display()))
            .env("SPILLWAY_ADDR", "127.0.0.1:0")
            .env("RUST_LOG", "error")
            .envs(settings)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        let line = process::command_line(&command);
        let starting = || Failure::file(format!("run `{line}`"));
        let mut child = command.spawn().map_err(starting())?;
        let stdout = child.stdout.take().ok_or(Failure::Cancelled)?;
        let mut stdout = BufReader::new(stdout);
        let mut said = String::new();
        let address = loop {
            said.clear();
            if stdout.read_line(&mut said).map_err(starting())? == 0 {
                break None;
            }
            if let Some(address) = said.trim_end().strip_prefix(says) {
                break Some(address.to_owned());
            }
        };
        let found = address.is_some();
        let server = Self {
            child,
            _stdout: stdout,
            address: address.unwrap_or_default(),
        };
        if found {
            return Ok(server);
        }
        Err(Failure::Missing {
            what: "The server ended before it said where it is.".to_owned(),
            next: format!("run `{line}` and read why."),
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(error) = self.child.kill().and_then(|()| self.child.wait()) {
            eprintln!("the server for a check did not stop: {error}");
        }
    }
}
