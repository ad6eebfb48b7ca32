use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Output, Stdio};
use std::time::Duration;

use crate::support::{Server, TIMEOUT, spillway, until};

fn run(arguments: &[&str], environment: &[(&str, &str)]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let output: Output = spillway()
        .args(arguments)
        .env("SPILLWAY_ADDR", "127.0.0.1:0")
        .envs(environment.iter().copied())
        .current_dir(folder.path())
        .output()
        .unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn it_stops_in_time_although_an_event_stream_is_open() {
    let mut server = Server::start_with(&[("SPILLWAY_DEADLINE", "20")]);
    server.member("ada");
    let events = server.visitor().watch(&["user:ada"]);
    events.recv_timeout(TIMEOUT).unwrap();
    server.terminate();
    let (code, took) = server.ended();
    assert_eq!(code, Some(0));
    assert!(
        took < Duration::from_secs(10),
        "it waited for the stream: {took:?}"
    );
    assert!(events.recv_timeout(TIMEOUT).is_err(), "the stream has ended");
}

#[test]
fn a_request_that_never_ends_is_cut_off_at_the_deadline() {
    let mut server = Server::start_with(&[("SPILLWAY_DEADLINE", "1")]);
    let mut stalled = TcpStream::connect(&server.address).unwrap();
    let head = "POST /api/v1/session HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 10\r\n\r\n{";
    stalled.write_all(head.as_bytes()).unwrap();
    assert_eq!(server.visitor().at_root().get("/healthz").status, 200);
    server.terminate();
    let (code, took) = server.ended();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(10), "{took:?}");
}

#[test]
fn requests_that_never_end_are_given_up() {
    let server = Server::start();
    let half_sent = || {
        let mut connection = TcpStream::connect(&server.address).unwrap();
        connection
            .write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
            .unwrap();
        connection.set_read_timeout(Some(TIMEOUT * 4)).unwrap();
        connection
    };
    let silent = TcpStream::connect(&server.address).unwrap();
    silent.set_read_timeout(Some(TIMEOUT * 4)).unwrap();
    let connections: Vec<TcpStream> = (0..100).map(|_| half_sent()).chain([silent]).collect();
    assert_eq!(server.visitor().at_root().get("/healthz").status, 200);
    for mut connection in connections {
        let mut answer = Vec::new();
        // The connection only ends or is reset.
        let ended = connection.read_to_end(&mut answer);
        assert!(ended.map_or_else(|error| error.kind() == ErrorKind::ConnectionReset, |_| true));
        assert!(!answer.starts_with(b"HTTP/1.1 200"));
    }
}

#[test]
fn it_serves_although_nobody_reads_what_it_prints() {
    let folder = tempfile::tempdir().unwrap();
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let mut server = spillway()
        .args(["serve", "--no-demo"])
        .env("SPILLWAY_ADDR", &address)
        .current_dir(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(server.stdout.take());
    until("it listens", || TcpStream::connect(&address).ok());
    // It has printed its last line before it accepts, so an answer proves that it has outlived that.
    let mut request = TcpStream::connect(&address).unwrap();
    request
        .write_all(b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    request.read_to_string(&mut answer).unwrap();
    server.kill().and_then(|()| server.wait()).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer:?}");
}

#[test]
fn a_draining_server_is_not_ready() {
    let mut server = Server::start_with(&[("SPILLWAY_DRAIN", "2"), ("SPILLWAY_DEADLINE", "1")]);
    let visitor = server.visitor().at_root();
    assert_eq!(visitor.get("/readyz").status, 200);
    server.terminate();
    until("it says that it drains", || {
        (visitor.get("/readyz").status == 503).then_some(())
    });
    assert_eq!(visitor.get("/healthz").status, 200);
    assert_eq!(server.ended().0, Some(0));
}

#[test]
fn healthcheck_tells_a_live_server_from_none() {
    let server = Server::start();
    assert_eq!(run(&["healthcheck", "--addr", &server.address], &[]).0, Some(0));
    let (code, stderr) = run(&["healthcheck", "--addr", "127.0.0.1:1"], &[]);
    assert_eq!(code, Some(1));
    assert!(stderr.contains("cause:") && stderr.contains("next:"), "{stderr}");
}

#[test]
fn an_address_in_use_is_reported_with_a_next_step() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let (code, stderr) = run(&["serve", "--no-demo", "--addr", &address], &[]);
    assert_eq!(code, Some(1));
    assert!(
        stderr.contains(&address) && stderr.contains("SPILLWAY_ADDR="),
        "{stderr}"
    );
}

#[test]
fn a_store_that_another_process_has_open_is_reported() {
    let server = Server::start();
    let store = format!("embedded:{}", server.data().join("store").display());
    let (code, stderr) = run(&["serve", "--no-demo", "--store", &store], &[]);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(
        stderr.contains("store") && stderr.contains("cause:") && stderr.contains("stop the other"),
        "{stderr}"
    );
}

#[test]
fn a_folder_that_cannot_be_made_is_reported() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let store = format!("embedded:{}/below", file.path().display());
    let (code, stderr) = run(&["--no-demo", "--store", &store], &[]);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("cause:") && stderr.contains("next:"), "{stderr}");
}

#[test]
fn a_switch_in_the_environment_takes_any_usual_spelling() {
    let server = Server::start_with(&[("SPILLWAY_NO_DEMO", "1")]);
    assert_eq!(server.visitor().get("/explore").body["total"], 0);
}

#[test]
fn wrong_usage_exits_with_2_and_names_the_variable() {
    for (variable, value, says) in [
        ("SPILLWAY_THRESHOLD_LIKES", "0", "SPILLWAY_THRESHOLD_LIKES"),
        ("SPILLWAY_PAGE_SIZE", "many", "SPILLWAY_PAGE_SIZE"),
        (
            "SPILLWAY_STORE",
            "mongodb://ada:secret@127.0.0.1/?readPreference=secondary",
            "readPreference",
        ),
        ("SPILLWAY_STORE", "./data", "embedded:<folder>"),
        ("SPILLWAY_MONGO_LISTEN", "0.0.0.0:0", "SPILLWAY_MONGO_PASSWORD"),
        ("SPILLWAY_PUBLIC_URL", "feed.example.org", "https://"),
        (
            "SPILLWAY_PUBLIC_URL",
            "http://feed.example.org",
            "SPILLWAY_CLASSROOM=on",
        ),
        ("SPILLWAY_ADDR", "here", "SPILLWAY_ADDR"),
        ("SPILLWAY_RATE_LIMIT", "perhaps", "off"),
    ] {
        let (code, stderr) = run(&["serve", "--no-demo"], &[(variable, value)]);
        assert_eq!(code, Some(2), "{variable}={value}: {stderr}");
        assert!(stderr.contains(says), "{variable}={value}: {stderr}");
        assert!(!stderr.contains("secret"), "{stderr}");
    }
    let listen = [
        ("SPILLWAY_MONGO_LISTEN", "0.0.0.0:0"),
        ("SPILLWAY_MONGO_PASSWORD", "hunter2"),
    ];
    let (code, stderr) = run(&["serve", "--no-demo"], &listen);
    assert_eq!(code, Some(2), "{stderr}");
    assert!(
        stderr.contains("12 characters") && !stderr.contains("hunter2"),
        "{stderr}"
    );
    assert_eq!(run(&["fly"], &[]).0, Some(2));
    assert_eq!(run(&["--help"], &[]).0, Some(0));
}
