//! The headers of every answer.

use axum::http::Method;
use axum::http::header::{ACCEPT, COOKIE, ORIGIN};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use super::stage::{Answer, Call, JSON, PAGE, Stage};

async fn get(stage: &Stage, path: &str) -> Answer {
    let page = Call::new(Method::GET, path).header(ACCEPT.as_str(), PAGE);
    page.send(&stage.open()).await
}

#[tokio::test]
async fn every_answer_has_the_headers_wherever_it_comes_from() {
    let stage = Stage::new().await;
    stage.joins("ada").await;
    let forged = Call::new(Method::POST, "/api/compose")
        .header(ACCEPT.as_str(), PAGE)
        .header(ORIGIN.as_str(), "https://evil.example");
    let mut answers = vec![("a forged form", forged.send(&stage.open()).await)];
    for path in [
        "/",
        "/explore",
        "/@ada",
        "/login",
        "/signup",
        "/nowhere",
        "/explore/",
        "/api/compose",
        "/api/v1/explore",
        "/api/v1/me",
        "/api/v1/nowhere",
        "/api/nowhere",
        "/@ada/feed.atom",
        "/sitemap.xml",
        "/robots.txt",
        "/pkg/missing.js",
        "/healthz",
        "/readyz",
    ] {
        answers.push((path, get(&stage, path).await));
    }
    for (what, answer) in answers {
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; "), "{what}: {policy}");
        for directive in ["frame-ancestors 'none'", "base-uri 'none'"] {
            assert!(policy.contains(directive), "{what}: {policy}");
        }
        assert!(
            !policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"),
            "{what}: {policy}"
        );
        for (name, value) in [
            ("x-content-type-options", "nosniff"),
            ("referrer-policy", "same-origin"),
            ("cross-origin-resource-policy", "same-origin"),
        ] {
            assert_eq!(answer.header(name), value, "{what}");
        }
    }
}

#[tokio::test]
async fn a_page_of_somebody_is_kept_by_no_browser() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    for (path, policy) in [
        ("/settings", "no-store"),
        ("/settings/sessions", "no-store"),
        ("/settings/notifications", "no-store"),
        ("/api/v1/sessions", "no-store"),
        ("/api/v1/me/export", "no-store"),
        ("/", "no-store"),
    ] {
        let page = Call::new(Method::GET, path).header(COOKIE.as_str(), &cookie);
        let answer = page.header(ACCEPT.as_str(), PAGE).send(&stage.open()).await;
        assert_eq!(
            (answer.status, answer.header("cache-control")),
            (200, policy),
            "{path}"
        );
    }
}

#[tokio::test]
async fn signing_out_and_leaving_drop_the_pages_that_the_browser_kept() {
    let fields = "handle=ada&password=correct+horse";
    let form = "application/x-www-form-urlencoded";
    let password = r#"{"password":"correct horse"}"#;
    for (method, path, kind, body) in [
        (Method::POST, "/api/sign_out", form, ""),
        (Method::POST, "/api/leave", form, fields),
        (Method::DELETE, "/api/v1/session", JSON, ""),
        (Method::DELETE, "/api/v1/me", JSON, password),
    ] {
        let stage = Stage::new().await;
        let cookie = stage.joins("ada").await;
        let call = Call::new(method, path).header(COOKIE.as_str(), &cookie);
        let answer = call.body(kind, body).send(&stage.open()).await;
        assert_eq!(
            answer.header("clear-site-data"),
            "\"cache\"",
            "{path}: {answer:?}"
        );
        assert!(answer.header("set-cookie").contains("Max-Age=0"), "{path}");
    }
}

#[tokio::test]
async fn a_page_runs_only_scripts_that_carry_the_number_of_this_answer() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    let post = stage.creates(&cookie, "/api/v1/posts").await;
    let mut seen = Vec::new();
    for path in [
        "/",
        "/",
        "/explore",
        &format!("/post/{post}"),
        "/@ada",
        "/login",
        "/nowhere",
    ] {
        let page = Call::new(Method::GET, path)
            .header(ACCEPT.as_str(), PAGE)
            .header(COOKIE.as_str(), &cookie);
        let answer = page.send(&stage.open()).await;
        let policy = answer.header("content-security-policy");
        assert!(policy.contains("; manifest-src 'self'; "), "{path}: {policy}");
        let (_, rest) = policy.split_once("'nonce-").unwrap();
        let nonce = rest.split('\'').next().unwrap();
        assert!(nonce.len() >= 22, "128 bits or more: {nonce}");
        assert!(!seen.contains(&nonce.to_owned()), "{path}: the number is new");
        let scripts: Vec<&str> = answer.text.split("<script").skip(1).collect();
        assert!(!scripts.is_empty(), "{path} wakes its islands");
        for script in scripts {
            let tag = script.split('>').next().unwrap();
            assert!(
                tag.contains(&format!("nonce=\"{nonce}\"")),
                "{path}: <script{tag}>"
            );
        }
        for inline in [" style=\"", "<style", " onclick=", " onload=", "javascript:"] {
            assert!(!answer.text.contains(inline), "{path}: {inline}");
        }
        seen.push(nonce.to_owned());
    }
}

#[tokio::test]
async fn the_plain_text_page_may_use_its_style() {
    let stage = Stage::new().await;
    let forged = Call::new(Method::POST, "/api/compose")
        .header(ACCEPT.as_str(), PAGE)
        .header("sec-fetch-site", "cross-site");
    let answer = forged.send(&stage.open()).await;
    let (_, rest) = answer.text.split_once("<style>").unwrap();
    let (style, _) = rest.split_once("</style>").unwrap();
    let hash = format!("'sha256-{}'", STANDARD.encode(Sha256::digest(style)));
    assert!(
        answer.header("content-security-policy").contains(&hash),
        "{answer:?}"
    );
}

#[tokio::test]
async fn posts_are_shown_as_text_and_only_web_addresses_are_links() {
    let stage = Stage::new().await;
    let cookie = stage.joins("ada").await;
    let text = "<script>alert(1)</script> <img src=x onerror=alert(1)> javascript:alert(1) https://example.org data:text/html,x";
    let body = serde_json::json!({ "text": text }).to_string();
    let call = Call::new(Method::POST, "/api/v1/posts").header(COOKIE.as_str(), &cookie);
    let post = call.body(super::stage::JSON, body).send(&stage.open()).await;
    let page = get(&stage, &format!("/post/{}", post.body["id"].as_str().unwrap())).await;
    assert!(
        !page.text.contains("<script>alert") && !page.text.contains("<img src=x"),
        "{page:?}"
    );
    let (_, body) = page.text.split_once("<body").unwrap();
    let targets = body
        .split(" href=\"")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap());
    let foreign: Vec<_> = targets
        .filter(|target| !target.starts_with(['/', '?', '#']))
        .collect();
    assert_eq!(foreign, ["https://example.org"]);
    assert!(page.text.contains("rel=\"nofollow ugc noopener noreferrer\""));
}
