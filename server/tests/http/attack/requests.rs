//! Random requests, made from the description of the API.

use std::net::SocketAddr;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::AsyncReadExt as _;
use tokio::task::JoinSet;

use super::{PEERS, Reader, TIMEOUT, attacker, dice, is_sound, sent, start};
use crate::dice::Dice;
use crate::support::{Client, Server};

/// How many requests are sent.
const REQUESTS: usize = 100_000;

/// How many are under way at a time.
const AT_ONCE: usize = 32;

/// How many people have an account, of which the attackers have the sessions.
const MEMBERS: usize = 20;

/// How deep values are nested.
const DEEPEST: u8 = 4;

const HEADERS: [&str; 16] = [
    "Accept: text/html",
    "Accept: */*;q=nonsense",
    "Accept-Encoding: gzip, br;q=0, *",
    "Range: bytes=0-99999999999999999999",
    "If-None-Match: W/\"\"",
    "If-Modified-Since: yesterday",
    "Origin: null",
    "Sec-Fetch-Site: cross-site",
    "X-Forwarded-For: 10.0.0.1, nonsense",
    "X-Forwarded-Host: attacker.example",
    "X-HTTP-Method-Override: DELETE",
    "Content-Encoding: gzip",
    "Transfer-Encoding: nonsense",
    "Last-Event-ID: user:ada@18446744073709551615",
    "Cookie: spillway=\u{1F512}; spillway-notice=%00.%FF",
    "X-Request-Id: \tx status=200",
];

/// What requests are made of.
struct Api {
    description: Value,
    /// Ids and handles that exist.
    known: Vec<String>,
    cookies: Vec<String>,
}

impl Api {
    fn of(server: &Server) -> Self {
        let visitor = server.visitor();
        let members: Vec<Client> = (0..MEMBERS)
            .map(|nth| server.member(&format!("member{nth}")))
            .collect();
        let posts = visitor.get("/explore").body;
        let posts = posts["items"].as_array().unwrap();
        let ids = posts.iter().map(|post| &post["id"]);
        let handles = posts.iter().map(|post| &post["author"]["handle"]);
        let known = ids.chain(handles).map(|name| name.as_str().unwrap().to_owned());
        Self {
            description: visitor.get("/openapi.json").body,
            known: known
                .chain((0..MEMBERS).map(|nth| format!("member{nth}")))
                .collect(),
            cookies: members.into_iter().filter_map(|member| member.cookie).collect(),
        }
    }

    fn followed<'a>(&'a self, schema: &'a Value) -> &'a Value {
        let Some(name) = schema["$ref"].as_str() else {
            return schema;
        };
        self.description.pointer(&name[1..]).unwrap()
    }

    /// Text that may be the name of something.
    fn text(&self, dice: &mut Dice) -> String {
        match dice.below(8) {
            0..4 => dice.one_of(&self.known).clone(),
            4 => dice.uuid(),
            5 => String::from_utf8_lossy(&dice.bytes(40)).into_owned(),
            6 => "\u{202e}x".repeat(usize::try_from(dice.below(3_000)).unwrap()),
            _ => String::new(),
        }
    }

    /// A value that often satisfies the schema.
    fn value(&self, schema: &Value, depth: u8, dice: &mut Dice) -> Value {
        if dice.one_in(12) || depth == DEEPEST {
            return self.nonsense(depth, dice);
        }
        let schema = self.followed(schema);
        if let Some(allowed) = schema["enum"].as_array() {
            return dice.one_of(allowed).clone();
        }
        for several in ["oneOf", "anyOf", "allOf"] {
            if let Some(schemas) = schema[several].as_array() {
                return self.value(dice.one_of(schemas), depth, dice);
            }
        }
        let kind = match &schema["type"] {
            Value::Array(kinds) => dice.one_of(kinds),
            kind => kind,
        };
        match kind.as_str().unwrap_or_default() {
            "boolean" => json!(dice.one_in(2)),
            "integer" | "number" => dice
                .one_of(&[
                    json!(0),
                    json!(1),
                    json!(20),
                    json!(-1),
                    json!(u64::MAX),
                    json!(1e300),
                ])
                .clone(),
            "array" => (0..dice.below(4))
                .map(|_| self.value(&schema["items"], depth + 1, dice))
                .collect(),
            "object" => {
                let fields = schema["properties"].as_object().into_iter().flatten();
                fields
                    .filter_map(|(name, schema)| {
                        let value = self.value(schema, depth + 1, dice);
                        (!dice.one_in(5)).then(|| (name.clone(), value))
                    })
                    .collect()
            }
            _ if dice.one_in(3) && !schema["example"].is_null() => schema["example"].clone(),
            _ => json!(self.text(dice)),
        }
    }

    fn nonsense(&self, depth: u8, dice: &mut Dice) -> Value {
        match dice.below(8) {
            0 => Value::Null,
            1 => json!({ "$gt": "" }),
            2 => (0..100).fold(json!([]), |inner, _| json!([inner])),
            3 => json!(-0.0),
            4 if depth < DEEPEST => json!({ self.text(dice): self.nonsense(depth + 1, dice) }),
            _ => json!(self.text(dice)),
        }
    }

    fn request(&self, dice: &mut Dice) -> Vec<u8> {
        let paths: Vec<_> = self.description["paths"].as_object().unwrap().iter().collect();
        let (path, operations) = *dice.one_of(&paths);
        let operations: Vec<_> = operations.as_object().unwrap().iter().collect();
        let (method, operation) = *dice.one_of(&operations);
        let (mut path, mut query) = (path.clone(), Vec::new());
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let name = parameter["name"].as_str().unwrap();
            let value = match self.value(&parameter["schema"], 1, dice) {
                Value::String(text) => text,
                other => other.to_string(),
            };
            match parameter["in"].as_str().unwrap() {
                "path" => path = path.replace(&format!("{{{name}}}"), &encoded(&value)),
                _ if dice.one_in(2) => query.push(format!("{name}={}", encoded(&value))),
                _ => {}
            }
        }
        if dice.one_in(20) {
            let ends = ["/..%2f..%2fetc/passwd", "//", "/%00", "?a=%ff&cursor=%", "/é"];
            path.push_str(dice.one_of::<&str>(&ends));
        }
        let method = if dice.one_in(30) {
            *dice.one_of(&["HEAD", "OPTIONS", "TRACE", "PATCH", "BREW", "PUT"])
        } else {
            &method.to_uppercase()
        };
        let body = &operation["requestBody"]["content"]["application/json"]["schema"];
        let body = match body {
            Value::Null if !dice.one_in(20) => Vec::new(),
            schema => self.value(schema, 0, dice).to_string().into_bytes(),
        };
        let mut request = format!(
            "{method} {path}?{} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n",
            query.join("&"),
            body.len()
        );
        if !dice.one_in(20) {
            request.push_str("Content-Type: application/json\r\n");
        }
        // The sessions have to last.
        let ends_sessions = method == "DELETE" && path.contains("/session");
        if !ends_sessions && !dice.one_in(4) {
            request.extend(["Cookie: ", dice.one_of::<String>(&self.cookies), "\r\n"]);
        }
        if dice.one_in(5) {
            request.extend([*dice.one_of::<&str>(&HEADERS), "\r\n"]);
        }
        let mut request = [request.as_bytes(), b"\r\n", &body].concat();
        if dice.one_in(100) {
            let at = usize::try_from(dice.below(request.len() as u64)).unwrap();
            request[at] ^= 0x84;
        }
        request
    }
}

/// Percent-encoded, as a part of a path or a query.
fn encoded(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b':' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    // Longer ones only have too long a head.
    text.bytes().take(4_000).map(encode).collect()
}

/// The status of the whole answer, or 0 if the connection ended without one. Event streams go on for ever, so of them
/// it is the beginning.
async fn answered(from: [u8; 4], server: SocketAddr, request: &[u8]) -> u16 {
    let Some(mut connection) = sent(from, server, request).await else {
        return 0;
    };
    let mut answer = Vec::new();
    let whole = async {
        // A server may reset a connection of which it has not read everything.
        while connection
            .read_buf(&mut answer)
            .await
            .is_ok_and(|bytes| bytes > 0)
            && !String::from_utf8_lossy(&answer).contains("text/event-stream")
        {}
    };
    let request = String::from_utf8_lossy(request);
    assert!(
        tokio::time::timeout(TIMEOUT, whole).await.is_ok(),
        "no end: {request}"
    );
    let status = answer
        .get(9..12)
        .and_then(|status| std::str::from_utf8(status).ok());
    status.and_then(|status| status.parse().ok()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "takes minutes and both cores"]
async fn an_attack_by_random_requests_causes_no_failure() {
    let mut dice = dice();
    let server = Arc::new(start(&[]).await);
    let address: SocketAddr = server.address.parse().unwrap();
    let known = Arc::clone(&server);
    let api = tokio::task::spawn_blocking(move || Api::of(&known));
    let api = Arc::new(api.await.unwrap());
    let reader = Reader::of(address);
    let mut attackers = JoinSet::new();
    for _ in 0..AT_ONCE {
        let (api, mut dice) = (Arc::clone(&api), dice.split());
        attackers.spawn(async move {
            let mut seen = std::collections::BTreeMap::new();
            for _ in 0..REQUESTS / AT_ONCE {
                let request = api.request(&mut dice);
                let from = attacker(dice.below(u64::from(PEERS)));
                let status = answered(from, address, &request).await;
                assert_ne!(status, 500, "{}", String::from_utf8_lossy(&request));
                *seen.entry(status).or_insert(0_u32) += 1;
            }
            seen
        });
    }
    let mut seen = std::collections::BTreeMap::new();
    for (status, times) in attackers.join_all().await.into_iter().flatten() {
        *seen.entry(status).or_insert(0_u32) += times;
    }
    println!("requests by status: {seen:?}");
    reader.reports().await;
    is_sound(&server);
}
