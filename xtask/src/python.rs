//! MongoDB's driver for Python, and a server that speaks MongoDB's protocol to it.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::console::Console;
use crate::failure::Failure;
use crate::process::{self, Cancel};
use crate::repository::Repository;
use crate::tools;
use crate::versions::PYMONGO;

/// What the server says before the address for shells and drivers.
const ADDRESS: &str = "MongoDB's shells and drivers reach its store at ";
/// The user that a password is for.
const USER: &str = "spillway";

/// A Python that has the driver.
#[derive(Debug)]
pub enum Driver {
    /// This one.
    Ready(PathBuf),
    /// There is none, and none can be made here, for this reason.
    Absent(&'static str),
}

/// The pinned driver in an environment of its own, which is made if need be.
pub fn driver(repository: &Repository, console: &Console, cancel: &Cancel) -> Result<Driver, Failure> {
    let home = tools::folder()?.join(format!("pymongo-{PYMONGO}"));
    let python = home.join("bin").join("python");
    if has_driver(&python) {
        return Ok(Driver::Ready(python));
    }
    if process::ask(repository.command("python3").arg("--version")).is_none() {
        return Ok(Driver::Absent("python3 is not installed"));
    }
    tools::in_the_folder(console, cancel, |_| {
        let step = console.begin(
            format!("installing PyMongo {PYMONGO}"),
            "some seconds, once per user",
        );
        let mut environment = repository.command("python3");
        environment.args(["-m", "venv", "--clear"]).arg(&home);
        let mut install = Command::new(&python);
        install
            .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .arg(format!("pymongo=={PYMONGO}"));
        for (command, absent) in [
            (
                environment,
                "this Python cannot make environments (Debian: `apt-get install python3-venv`)",
            ),
            (install, "PyPI cannot be reached"),
        ] {
            if !process::observe(&step, command, cancel)?.status.success() {
                step.failed("not to be had");
                return Ok(Driver::Absent(absent));
            }
        }
        step.done("");
        Ok(Driver::Ready(python))
    })
}

fn has_driver(python: &Path) -> bool {
    let version = process::ask(Command::new(python).args(["-c", "import pymongo; print(pymongo.version)"]));
    version.is_some_and(|version| version.trim() == PYMONGO.to_string())
}

/// A server with an empty store, until it is dropped.
pub struct Server {
    child: Child,
    /// Kept open: closing it would make the server's next line fail.
    _stdout: BufReader<ChildStdout>,
    address: String,
}

impl Server {
    /// Starts the server that the HTTP tests run.
    pub fn start(repository: &Repository, password: Option<&str>) -> Result<Self, Failure> {
        let store = repository.target().join("xtask").join("pymongo-store");
        if store.exists() {
            fs::remove_dir_all(&store).map_err(Failure::file(format!("remove {}", store.display())))?;
        }
        let program = repository.target().join("debug").join("spillway");
        let mut command = repository.command(&program);
        for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SPILLWAY_")) {
            command.env_remove(name);
        }
        command
            .args(["serve", "--no-demo"])
            .env("SPILLWAY_STORE", format!("embedded:{}", store.display()))
            .env("SPILLWAY_ADDR", "127.0.0.1:0")
            .env("SPILLWAY_MONGO_LISTEN", "127.0.0.1:0")
            .env("RUST_LOG", "error")
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        command.envs(password.map(|password| ("SPILLWAY_MONGO_PASSWORD", password)));
        let starting = || Failure::file(format!("run `{} serve`", program.display()));
        let mut child = command.spawn().map_err(starting())?;
        let stdout = child.stdout.take().ok_or(Failure::Cancelled)?;
        let mut stdout = BufReader::new(stdout);
        let mut line = String::new();
        let found = loop {
            line.clear();
            if stdout.read_line(&mut line).map_err(starting())? == 0 {
                break None;
            }
            if let Some(address) = line.trim_end().strip_prefix(ADDRESS) {
                break Some(address);
            }
        };
        let address = match (found, password) {
            (Some(address), Some(password)) => {
                address.replace("mongodb://", &format!("mongodb://{USER}:{password}@"))
            }
            (Some(address), None) => address.to_owned(),
            (None, _) => String::new(),
        };
        let server = Self {
            child,
            _stdout: stdout,
            address,
        };
        if server.address.is_empty() {
            return Err(Failure::Missing {
                what: "The server ended before it said where drivers reach it.".to_owned(),
                next: format!(
                    "run `{} serve --mongo-listen 127.0.0.1:0` and read why.",
                    program.display()
                ),
            });
        }
        Ok(server)
    }

    /// The script that uses the store as a Python program would.
    pub fn check(&self, repository: &Repository, python: &Path) -> Command {
        let mut command = repository.command(python);
        command
            .arg(repository.path("end2end/pymongo_check.py"))
            .arg(&self.address);
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(error) = self.child.kill().and_then(|()| self.child.wait()) {
            eprintln!("the server for PyMongo did not stop: {error}");
        }
    }
}
