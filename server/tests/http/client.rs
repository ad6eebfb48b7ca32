//! A client of the servers that tests start.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, channel};

use serde_json::{Value, json};
use ureq::Agent;
use ureq::http::{Request, Response};

use crate::conformity::{Description, Seen};
use crate::support::{Server, spillway};

/// The description that every answer of the API is checked against.
static DESCRIBED: LazyLock<Description> = LazyLock::new(|| {
    let printed = spillway().arg("openapi").output().unwrap().stdout;
    Description::strictly(serde_json::from_slice(&printed).unwrap())
});

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
    pub fn new(address: &str) -> Self {
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

    /// Sends a form of a page; `accept` says whether as a browser without JavaScript or as a program.
    pub fn submit(&self, accept: &str, form: &str, fields: &str) -> Answer {
        self.at_root()
            .with("accept", accept)
            .with("content-type", "application/x-www-form-urlencoded")
            .send("POST", form, Some(fields.as_bytes().to_vec()))
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
