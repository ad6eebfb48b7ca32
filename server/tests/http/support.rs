//! A server for each test, and clients for it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use ureq::Agent;
use ureq::http::{Request, Response};

use crate::conformity::{Description, Seen};

/// The description that every answer of the API is checked against.
static DESCRIBED: LazyLock<Description> = LazyLock::new(|| {
    let printed = spillway().arg("openapi").output().unwrap().stdout;
    Description::strictly(serde_json::from_slice(&printed).unwrap())
});

/// The longest time that anything here is waited for before the test fails.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The program, with an environment that only the test chooses.
pub fn spillway() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spillway"));
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
    }
}

fn store(data: &TempDir) -> String {
    format!("embedded:{}", data.path().join("store").display())
}

fn launch(data: &TempDir, environment: &[(&'static str, String)]) -> (Child, BufReader<ChildStdout>, String) {
    let mut child = spillway()
        .arg("serve")
        .env("SPILLWAY_STORE", store(data))
        .env("SPILLWAY_NO_DEMO", "on")
        .env("SPILLWAY_ADDR", "127.0.0.1:0")
        .env("SPILLWAY_RATE_LIMIT", "off")
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .current_dir(data.path())
        .stdout(Stdio::piped())
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

/// A client that sends requests. Paths are below `/api/v1` unless it is from [`Client::at_root`].
#[derive(Clone)]
pub struct Client {
    agent: Agent,
    address: String,
    prefix: &'static str,
    pub cookie: Option<String>,
    headers: Vec<(&'static str, String)>,
}

impl Client {
    fn new(address: &str) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .build();
        let agent = Agent::new_with_config(config);
        Self {
            agent,
            address: address.to_owned(),
            prefix: "/api/v1",
            cookie: None,
            headers: Vec::new(),
        }
    }

    /// The same client for paths of the whole site.
    pub fn at_root(&self) -> Self {
        Self {
            prefix: "",
            ..self.clone()
        }
    }

    /// The same client, sending one more header.
    pub fn with(&self, name: &'static str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.push((name, value.to_owned()));
        client
    }

    /// The same client, at a restarted server.
    pub fn moved_to(&self, server: &Server) -> Self {
        Self {
            cookie: self.cookie.clone(),
            ..Self::new(&server.address)
        }
    }

    pub fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None)
    }

    pub fn put(&self, path: &str) -> Answer {
        self.send("PUT", path, None)
    }

    pub fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, None)
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        self.with("content-type", "application/json")
            .send("POST", path, Some(body.to_string().into_bytes()))
    }

    /// The answer; it must be one that the description of the API has.
    pub fn send(&self, method: &str, path: &str, body: Option<Vec<u8>>) -> Answer {
        self.try_send(method, path, body).unwrap()
    }

    /// Fails when the connection does, as it will when the server is killed.
    pub fn try_send(&self, method: &str, path: &str, body: Option<Vec<u8>>) -> Result<Answer, ureq::Error> {
        let response = match body {
            Some(body) => self.agent.run(self.request(method, path).body(body)?)?,
            None => self.agent.run(self.request(method, path).body(())?)?,
        };
        let answer = Answer::read(response)?;
        DESCRIBED.allows(&Seen {
            method,
            path: &format!("{}{path}", self.prefix),
            status: answer.status,
            content_type: answer.headers.get("content-type").map_or("", String::as_str),
            body: &answer.text,
        });
        Ok(answer)
    }

    fn request(&self, method: &str, path: &str) -> ureq::http::request::Builder {
        let uri = format!("http://{}{}{path}", self.address, self.prefix);
        let cookie = self.cookie.iter().map(|cookie| ("cookie", cookie));
        let headers = self
            .headers
            .iter()
            .map(|(name, value)| (*name, value))
            .chain(cookie);
        headers.fold(
            Request::builder().method(method).uri(uri),
            |request, (name, value)| request.header(name, value),
        )
    }

    /// Writes a post and returns its id.
    pub fn writes(&self, text: &str) -> String {
        let answer = self.post("/posts", &json!({"text": text}));
        assert_eq!(answer.status, 201, "{answer:?}");
        answer.body["id"].as_str().unwrap().to_owned()
    }

    /// Every item of a list, read in stretches of `limit`, and the seams crossed on the way.
    pub fn walk(&self, path: &str, limit: usize) -> (Vec<Value>, Vec<Value>) {
        let (mut items, mut seams) = (Vec::new(), Vec::new());
        let mut cursor = None::<String>;
        loop {
            let from = cursor
                .map(|cursor| format!("&cursor={cursor}"))
                .unwrap_or_default();
            let answer = self.get(&format!("{path}?limit={limit}{from}"));
            assert_eq!(answer.status, 200, "{answer:?}");
            items.extend(answer.body["items"].as_array().unwrap().iter().cloned());
            seams.extend(answer.body["seams"].as_array().unwrap().iter().cloned());
            match answer.body["next"].as_str() {
                Some(next) => cursor = Some(next.to_owned()),
                None => return (items, seams),
            }
        }
    }

    /// The headers of a response alone, as its body may never end or may be compressed.
    pub fn headers_of(&self, path: &str) -> BTreeMap<String, String> {
        let response = self
            .agent
            .run(self.request("GET", path).body(()).unwrap())
            .unwrap();
        headers(&response)
    }

    /// Opens an event stream; the events arrive on the channel, which closes when the stream ends.
    pub fn watch(&self, topics: &[&str]) -> Receiver<Event> {
        let query: Vec<String> = topics.iter().map(|topic| format!("topic={topic}")).collect();
        self.watch_query(&query.join("&"))
    }

    /// The events that this query asks for.
    pub fn watch_query(&self, query: &str) -> Receiver<Event> {
        let request = self.request("GET", &format!("/events?{query}")).body(()).unwrap();
        let response = self.agent.run(request).unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let mut fields = BTreeMap::new();
            for line in BufReader::new(response.into_body().into_reader())
                .lines()
                .map_while(Result::ok)
            {
                if let Some((name, value)) = line.split_once(':') {
                    fields.insert(name.to_owned(), value.trim_start().to_owned());
                } else if let Some(data) = fields.remove("data") {
                    let id = fields.remove("id").unwrap_or_default();
                    let data = serde_json::from_str(&data).unwrap();
                    let event = Event {
                        name: fields.remove("event").unwrap(),
                        id,
                        data,
                    };
                    if sender.send(event).is_err() {
                        return;
                    }
                }
            }
        });
        receiver
    }
}

/// One event of a stream.
#[derive(Debug)]
pub struct Event {
    pub name: String,
    pub id: String,
    pub data: Value,
}

/// An answer of the server.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    pub text: String,
    /// The body as JSON; null when it is something else.
    pub body: Value,
}

impl Answer {
    fn read(mut response: Response<ureq::Body>) -> Result<Self, ureq::Error> {
        let headers = headers(&response);
        let text = response.body_mut().read_to_string()?;
        let body = serde_json::from_str(&text).unwrap_or(Value::Null);
        Ok(Self {
            status: response.status().as_u16(),
            headers,
            text,
            body,
        })
    }

    /// The name and value of the cookie that it sets.
    pub fn cookie(&self) -> String {
        self.headers["set-cookie"].split(';').next().unwrap().to_owned()
    }

    /// Asserts that this is problem+json with this status, about this field.
    #[track_caller]
    pub fn is_problem(&self, status: u16, field: Option<&str>) {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(
            self.headers["content-type"], "application/problem+json",
            "{self:?}"
        );
        assert_eq!(self.body["status"], status, "{self:?}");
        assert_eq!(self.body["field"].as_str(), field, "{self:?}");
        for text in ["type", "title", "detail"] {
            assert!(
                self.body[text].as_str().is_some_and(|text| !text.is_empty()),
                "{text} in {self:?}"
            );
        }
    }
}

fn headers(response: &Response<ureq::Body>) -> BTreeMap<String, String> {
    let headers = response.headers().iter();
    headers
        .map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned()))
        .collect()
}

/// Repeats a request until there is an answer.
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(started.elapsed() < PATIENCE, "waited in vain until {what}");
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
