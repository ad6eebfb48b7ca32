//! A server for each test, and clients for it.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

pub use crate::client::{Answer, Client, Event};

/// The longest time that anything here is waited for before the test fails.
pub const TIMEOUT: Duration = Duration::from_secs(30);

/// A file of the repository.
pub fn read(path: &str) -> String {
    std::fs::read_to_string(format!("{}/../{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Runs a command to its end; returns its exit code and what it printed to each of its outputs.
pub fn ended(command: &mut Command) -> (Option<i32>, String, String) {
    let Output {
        status,
        stdout,
        stderr,
    } = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

/// The program, with an environment that only the test chooses. `SPILLWAY_BINARY` names another one than the build of
/// this test.
pub fn spillway() -> Command {
    let program = std::env::var_os("SPILLWAY_BINARY").unwrap_or(env!("CARGO_BIN_EXE_spillway").into());
    let mut command = Command::new(program);
    for (name, _) in std::env::vars() {
        if ["SPILLWAY_", "LEPTOS_"].iter().any(|ours| name.starts_with(ours)) {
            command.env_remove(name);
        }
    }
    command.env("RUST_LOG", "error");
    command
}

/// A running server with an empty store in a folder that is deleted with it.
pub struct Server {
    child: Child,
    /// Kept open: closing it would make the server's next line fail.
    stdout: BufReader<ChildStdout>,
    pub address: String,
    environment: Vec<(&'static str, String)>,
    data: TempDir,
}

impl Server {
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// With small heads and pages, so that a few items overflow: 5 in a head, 3 in a page.
    pub fn with_small_pages() -> Self {
        Self::start_with(&[("SPILLWAY_THRESHOLD", "5"), ("SPILLWAY_PAGE_SIZE", "3")])
    }

    /// Configured as reached by browsers at <https://feed.example.org>.
    pub fn start_behind_https() -> Self {
        Self::start_with(&[("SPILLWAY_PUBLIC_URL", "https://feed.example.org")])
    }

    pub fn start_with(environment: &[(&'static str, &str)]) -> Self {
        let data = tempfile::tempdir().unwrap();
        let environment: Vec<_> = environment
            .iter()
            .map(|(name, value)| (*name, (*value).to_owned()))
            .collect();
        let (child, stdout, address) = launch(&data, &environment);
        Self {
            child,
            stdout,
            address,
            environment,
            data,
        }
    }

    /// A server whose store others can use, at the returned address, which it keeps when it is restarted.
    pub fn for_drivers() -> (Self, String) {
        let mut server = Self::start_with(&[("SPILLWAY_MONGO_LISTEN", "127.0.0.1:0")]);
        let address = server.says("MongoDB's shells and drivers reach its store at ");
        let host = address.strip_prefix("mongodb://").unwrap().split('/').next();
        server.environment = vec![("SPILLWAY_MONGO_LISTEN", host.unwrap().to_owned())];
        (server, address)
    }

    /// With a class in a small town.
    #[cfg(feature = "workshop")]
    pub fn for_a_class() -> Self {
        let data = tempfile::tempdir().unwrap();
        let seeded = spillway()
            .args([
                "seed",
                "--users=12",
                "--posts=20",
                "--viral-likes=400",
                "--celebrity-followers=300",
            ])
            .env("SPILLWAY_STORE", store(&data))
            .status();
        assert!(seeded.unwrap().success());
        let set = |name, value: &str| (name, value.to_owned());
        let environment = vec![set("SPILLWAY_NO_DEMO", "off"), set("SPILLWAY_CLASSROOM", "on")];
        let (child, stdout, address) = launch(&data, &environment);
        Self {
            child,
            stdout,
            address,
            environment,
            data,
        }
    }

    /// The rest of the next printed line with this beginning.
    pub fn says(&mut self, beginning: &str) -> String {
        loop {
            let mut line = String::new();
            let bytes = self.stdout.read_line(&mut line).unwrap();
            assert!(bytes > 0, "it never said {beginning:?}");
            if let Some(rest) = line.trim_end().strip_prefix(beginning) {
                return rest.to_owned();
            }
        }
    }

    /// kill -9, and start again on the same data.
    pub fn crash_and_restart(&mut self) {
        self.crash();
        self.restart();
    }

    /// kill -9.
    pub fn crash(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Starts again on the same data, after it has ended.
    pub fn restart(&mut self) {
        (self.child, self.stdout, self.address) = launch(&self.data, &self.environment);
    }

    /// Asks the process to stop, as an operator would.
    pub fn terminate(&self) {
        let id = self.child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-TERM", &id])
                .status()
                .unwrap()
                .success()
        );
    }

    /// Waits for the process to end; its exit code and how long that took.
    pub fn ended(&mut self) -> (Option<i32>, Duration) {
        let started = Instant::now();
        let status = until("the server has ended", || self.child.try_wait().unwrap());
        (status.code(), started.elapsed())
    }

    /// What the server has logged.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.data.path().join(LOG)).unwrap()
    }

    /// A line of the system's report on the process's memory, in kB.
    pub fn memory(&self, field: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
        let number = line.split_whitespace().nth(1).unwrap();
        number.parse().unwrap()
    }

    pub fn data(&self) -> &std::path::Path {
        self.data.path()
    }

    /// Somebody who is not signed in.
    pub fn visitor(&self) -> Client {
        Client::new(&self.address)
    }

    /// A new person, signed up and signed in.
    pub fn member(&self, handle: &str) -> Client {
        let mut client = self.visitor();
        let account = json!({"handle": handle, "name": handle, "password": "correct horse"});
        let answer = client.post("/accounts", &account);
        assert_eq!(answer.status, 201, "{answer:?}");
        client.cookie = Some(answer.cookie());
        client
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if self.child.try_wait().ok().flatten().is_none() {
            self.child.kill().and_then(|()| self.child.wait()).unwrap();
        }
        eprint!("{}", self.log());
    }
}

/// The file in the server's folder that has what it logs.
const LOG: &str = "log";

fn store(data: &TempDir) -> String {
    format!("embedded:{}", data.path().join("store").display())
}

fn launch(data: &TempDir, environment: &[(&'static str, String)]) -> (Child, BufReader<ChildStdout>, String) {
    let log = File::options()
        .create(true)
        .append(true)
        .open(data.path().join(LOG));
    let mut child = spillway()
        .arg("serve")
        .env("SPILLWAY_STORE", store(data))
        .env("SPILLWAY_NO_DEMO", "on")
        .env("SPILLWAY_ADDR", "127.0.0.1:0")
        .env("SPILLWAY_RATE_LIMIT", "off")
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .current_dir(data.path())
        .stdout(Stdio::piped())
        .stderr(log.unwrap())
        .spawn()
        .unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("Spillway is at http://");
    let address = address
        .unwrap_or_else(|| panic!("the server did not start; it said {line:?}"))
        .to_owned();
    (child, stdout, address)
}

/// An address to listen on repeatedly. Its port is not one of those that the system gives to connections, so none
/// can take it in between.
pub fn free_address() -> String {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let first = 10_000 + (std::process::id() as usize * 16) % 20_000;
    until("a port is free", || {
        let port = first + NEXT.fetch_add(1, Ordering::Relaxed);
        let address = format!("127.0.0.1:{port}");
        TcpListener::bind(&address).is_ok().then_some(address)
    })
}

/// Repeats a request until there is an answer.
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(started.elapsed() < TIMEOUT, "waited in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The handles of members of a list.
pub fn handles(members: &[Value]) -> Vec<&str> {
    members
        .iter()
        .map(|member| member["user"]["handle"].as_str().unwrap())
        .collect()
}

/// The text of a page, without its markup.
pub fn words(page: &str) -> String {
    let texts = page.split('<').filter_map(|tag| tag.split_once('>'));
    let words: String = texts.map(|(_, words)| words).collect();
    words
        .replace("&quot;", "\"")
        .replace("&#x27;", "'")
        .replace("&gt;", ">")
        .replace("&lt;", "<")
        .replace("&amp;", "&")
}
