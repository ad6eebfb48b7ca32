use crate::support::{Server, spillway};

#[test]
fn the_printed_description_is_the_served_one() {
    let server = Server::start();
    let answer = server.visitor().get("/openapi.json");
    let printed = spillway().arg("openapi").output().unwrap();
    assert!(printed.status.success());
    assert_eq!(answer.text, String::from_utf8(printed.stdout).unwrap());
    assert_eq!(answer.body["openapi"], "3.1.0");
}

#[test]
fn the_description_may_be_kept_and_is_compressed() {
    let server = Server::start();
    let visitor = server.visitor();
    let answer = visitor.get("/openapi.json");
    assert_eq!(answer.headers["cache-control"], "public, max-age=300");
    let etag = &answer.headers["etag"];
    for known in [etag.clone(), format!("\"older\", {etag}")] {
        let again = visitor.with("if-none-match", &known).get("/openapi.json");
        assert_eq!((again.status, again.text.as_str()), (304, ""), "{known}");
    }
    let other = visitor.with("if-none-match", "\"older\"").get("/openapi.json");
    assert_eq!(other.status, 200);
    let compressed = visitor
        .with("accept-encoding", "gzip")
        .headers_of("/openapi.json");
    assert_eq!(compressed["content-encoding"], "gzip");
}

#[test]
fn every_answer_of_the_api_says_where_its_description_is() {
    let server = Server::start();
    let visitor = server.visitor();
    for path in ["/feed", "/posts/nonsense", "/nonsense"] {
        let link = &visitor.get(path).headers["link"];
        assert!(
            link.contains("</api/v1/openapi.json>; rel=\"service-desc\""),
            "{path}: {link}"
        );
    }
}
