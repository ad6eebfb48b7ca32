use crate::support::{Server, TIMEOUT};

#[test]
fn prometheus_reads_what_the_server_did() {
    let mut server = Server::start_with(&[
        ("SPILLWAY_ADMIN_ADDR", "127.0.0.1:0"),
        ("SPILLWAY_THRESHOLD", "5"),
        ("SPILLWAY_PAGE_SIZE", "3"),
    ]);
    let address = server.says("Prometheus finds metrics at ");
    let author = server.member("author");
    let post = author.writes("Popular");
    for n in 0..6 {
        server
            .member(&format!("fan{n}"))
            .put(&format!("/posts/{post}/like"));
    }
    author.get("/posts/nonsense");
    author.at_root().get("/there/is/no/such/path");
    let events = author.watch(&[&format!("post:{post}")]);
    events.recv_timeout(TIMEOUT).unwrap();

    let text = ureq::get(&address)
        .call()
        .unwrap()
        .body_mut()
        .read_to_string()
        .unwrap();
    let value = |metric: &str| {
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix(&format!("{metric} ")));
        let value = line.unwrap_or_else(|| panic!("{metric} in {text}"));
        // OpenMetrics writes counts as whole numbers, or with a fraction of zero.
        value.trim_end_matches(".0").parse::<u64>().unwrap()
    };
    let like = r#"method="PUT",route="/api/v1/posts/{id}/like",status="200""#;
    let requests = "spillway_http_request_duration_seconds_count";
    assert_eq!(value(&format!("{requests}{{{like}}}")), 6);
    let missing = r#"method="GET",route="/api/v1/posts/{id}",status="404""#;
    assert_eq!(value(&format!("{requests}{{{missing}}}")), 1);
    assert!(
        !text.contains("no/such/path"),
        "what a client makes up names no metric"
    );
    assert_eq!(value(r#"spillway_spills_total{relation="likes"}"#), 1);
    let list = r#"{relation="likes"}"#;
    let (appends, pushes) = (
        value(&format!("spillway_appends_total{list}")),
        value(&format!("spillway_pushes_total{list}")),
    );
    assert_eq!((appends, pushes), (6, 6), "one after the other");
    assert_eq!(value(r#"spillway_guard_retries_total{relation="shares"}"#), 0);
    assert_eq!(value("spillway_event_streams"), 1);
    let security = |event: &str| value(&format!("spillway_security_events_total{{event=\"{event}\"}}"));
    assert_eq!((security("sign-up"), security("limited")), (7, 0));
    let (commits, operations) = (
        value("spillway_store_commit_operations_count"),
        value("spillway_store_commit_operations_sum"),
    );
    assert!(commits > 0 && operations >= commits, "{text}");
    assert_eq!(
        server.visitor().at_root().get("/metrics").status,
        404,
        "only on the admin address"
    );
}
