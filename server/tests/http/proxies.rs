//! A site behind a proxy: the settings that the documents give operators, and the behaviour without them.

use std::net::TcpListener;

use serde_json::json;

use crate::support::{Client, Server, read, spillway};

const SITE: &str = "https://feed.example.org";

/// Far more guesses than one visitor may make at once.
const MANY: usize = 40;

/// The settings in those commands of a document that start a server of a public site.
fn commands(document: &str) -> Vec<Vec<(String, String)>> {
    let text = read(document).replace("\\\n", " ");
    let starts = text
        .lines()
        .filter(|line| line.contains("SPILLWAY_PUBLIC_URL=") && line.contains("spillway serve"));
    starts
        .map(|line| {
            let words = line.split(|c: char| c.is_whitespace() || c == '`');
            let settings = words.filter_map(|word| word.split_once('='));
            settings
                .filter(|(name, _)| name.starts_with("SPILLWAY_"))
                .map(|(name, value)| (name.to_owned(), value.trim_matches('\'').to_owned()))
                .collect()
        })
        .collect()
}

/// The settings of the servers of docker-compose.yml, with the address that it takes from the shell.
fn compose() -> Vec<(String, String)> {
    let text = read("docker-compose.yml");
    let settings = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("SPILLWAY_"))
        .filter_map(|setting| setting.split_once(':'));
    settings
        .map(|(name, value)| {
            let value = if name == "PUBLIC_URL" { SITE } else { value.trim() };
            (format!("SPILLWAY_{name}"), value.to_owned())
        })
        .collect()
}

/// A server with these settings, except for its address and its store; with limits and perhaps a demo town, as nothing
/// turns them off.
fn start(settings: Vec<(String, String)>) -> Server {
    let ours = ["SPILLWAY_ADDR", "SPILLWAY_STORE"];
    let mut environment: Vec<(&str, &str)> = vec![("SPILLWAY_RATE_LIMIT", "on"), ("SPILLWAY_NO_DEMO", "off")];
    for (name, value) in settings {
        if !ours.contains(&name.as_str()) {
            environment.push((name.leak(), value.leak()));
        }
    }
    Server::start_with(&environment)
}

/// Tries to sign in as forwarded by a proxy.
fn guess(server: &Server, visitor: &str) -> u16 {
    let through: Client = server.visitor().with("x-forwarded-for", visitor);
    let credentials = json!({"handle": "?", "password": "a guess"});
    through
        .with("host", "feed.example.org")
        .post("/session", &credentials)
        .status
}

#[test]
fn every_recipe_for_a_public_site_tells_visitors_apart() {
    let mut recipes = vec![("docker-compose.yml", compose())];
    for document in ["docs/scale.md", "docs/reference.md", "deploy/Caddyfile"] {
        let found = commands(document);
        assert!(!found.is_empty(), "{document} starts no server of a public site");
        recipes.extend(found.into_iter().map(|settings| (document, settings)));
    }
    for (document, settings) in recipes {
        let server = start(settings);
        let explore = server.visitor().get("/explore");
        assert_eq!(explore.body["total"], 0, "{document}: there is a demo town");
        assert!(
            (0..MANY).any(|_| guess(&server, "203.0.113.1") == 429),
            "{document}: nobody has to wait"
        );
        assert_eq!(
            guess(&server, "203.0.113.2"),
            401,
            "{document}: others are kept waiting"
        );
    }
}

#[test]
fn a_public_site_without_a_proxy_is_refused_by_name() {
    // A start that gets past the settings fails at this address.
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let starts = |settings: &[(&str, &str)]| {
        let output = spillway()
            .args(["serve", "--no-demo"])
            .env("SPILLWAY_ADDR", taken.local_addr().unwrap().to_string())
            .env("SPILLWAY_PUBLIC_URL", SITE)
            .envs(settings.iter().copied())
            .current_dir(folder.path())
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for settings in [&[][..], &[("SPILLWAY_PROXIES", "0")]] {
        let (code, said) = starts(settings);
        assert_eq!(code, Some(2), "{said}");
        assert!(
            said.contains(SITE) && said.contains("SPILLWAY_PROXIES=1"),
            "{said}"
        );
    }
    for settings in [("SPILLWAY_PROXIES", "1"), ("SPILLWAY_RATE_LIMIT", "off")] {
        let (code, said) = starts(&[settings]);
        assert_eq!(code, Some(1), "{settings:?}: {said}");
    }
}
