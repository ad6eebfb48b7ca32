//! The release: the server, and the site that browsers load. `cargo xtask serve` and `cargo xtask build`.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use wasm_bindgen_cli_support::Bindgen;

use crate::compiled;
use crate::console::{self, Step};
use crate::preflight;
use crate::process::{self, together};
use crate::repository::{Repository, files};
use crate::versions::WASM_TARGET;

/// The maximum size of the first load: JavaScript and WebAssembly after brotli, in bytes.
pub const FIRST_LOAD_LIMIT: u64 = 50_000;

/// Cargo's own message names the host that could not be reached or the line that does not compile.
pub const ADVICE: &str = "if the lines above speak of the network, check it (and HTTPS_PROXY) and run this again; \
                          otherwise they say what does not compile.";

/// The variables that cargo-leptos sets for Cargo, from its configuration in `Cargo.toml`. Leptos reads some of
/// them while it compiles. With the same values here, either of both finds the work of the other done.
const BUILD_ENVIRONMENT: [(&str, &str); 10] = [
    ("LEPTOS_OUTPUT_NAME", "spillway"),
    ("LEPTOS_SITE_ROOT", "target/site"),
    ("LEPTOS_SITE_PKG_DIR", "pkg"),
    ("LEPTOS_SITE_ADDR", "127.0.0.1:3000"),
    ("LEPTOS_RELOAD_PORT", "3001"),
    ("LEPTOS_LIB_DIR", "frontend"),
    ("LEPTOS_BIN_DIR", "server"),
    ("LEPTOS_JS_MINIFY", "true"),
    ("LEPTOS_HASH_FILES", "true"),
    ("LEPTOS_HASH_FILE_NAME", "hash.txt"),
];

/// What the site is made of besides the browser's half; Tailwind looks for the names of its classes in the sources.
const SOURCES: [&str; 6] = [
    "app",
    "crates",
    "package-lock.json",
    "public",
    "style",
    "xtask/site.mjs",
];

/// Builds, then replaces this process by the server.
///
/// It runs at the root of the clone, so that its data is always in `data` there.
pub fn serve(repository: &Repository, arguments: &[String]) -> Result<()> {
    build(repository)?;
    console::summarise();
    let mut server = repository.command(repository.server());
    server.arg("serve").args(arguments).envs(environment(repository));
    let asks_for_help = |argument: &String| argument == "--help" || argument == "-h";
    if !arguments.iter().any(asks_for_help) {
        let address = env::var("SPILLWAY_ADDR").unwrap_or_else(|_| "127.0.0.1:3000".to_owned());
        console::say(&format!(
            "Starting Spillway on http://{address} (stop it with Ctrl+C)"
        ));
    }
    process::become_the(server)
}

/// The server's settings for the site that was built.
pub fn environment(repository: &Repository) -> impl Iterator<Item = (&'static str, PathBuf)> {
    let settings = BUILD_ENVIRONMENT.map(|(name, value)| (name, PathBuf::from(value)));
    // The server has an address of its own to listen on.
    let settings = settings
        .into_iter()
        .filter(|(name, _)| *name != "LEPTOS_SITE_ADDR");
    // Of two values for one name, the last counts.
    settings.chain([
        ("LEPTOS_SITE_ROOT", site(repository)),
        ("LEPTOS_ENV", "PROD".into()),
    ])
}

/// The folder of the files for browsers. cargo-leptos puts it here too, wherever Cargo builds.
fn site(repository: &Repository) -> PathBuf {
    repository.path("target/site")
}

/// Installs what is missing, and builds what has changed of the server and of the site.
pub fn build(repository: &Repository) -> Result<()> {
    preflight::check(repository)?;
    compiled::fetch(repository)?;
    let server = repository.cargo("build --locked --package=server --bin=spillway --release");
    // One half alone often keeps only one core busy.
    together(
        || compile(repository, "compiling the server", server),
        || make_site(repository),
    )?;
    compiled::keep(repository)
}

fn make_site(repository: &Repository) -> Result<()> {
    let front = repository.target.join("front");
    let mut browser = repository.cargo("build --locked --package=frontend --lib --profile=wasm-release");
    browser
        .args(["--target", WASM_TARGET, "--target-dir"])
        .arg(&front);
    together(
        || npm_packages(repository),
        || compile(repository, "compiling the browser's half", browser),
    )?;
    let module = front.join(WASM_TARGET).join("wasm-release/frontend.wasm");
    let hashes = repository.server().with_file_name("hash.txt");
    let site = site(repository);
    let stamp = repository.target.join("xtask").join("site-stamp");
    // The site as it was left is part of this: cargo-leptos puts its own there.
    let state = || {
        let made = [&module, &hashes, &site].map(PathBuf::as_path);
        repository.fingerprint(SOURCES.map(Path::new).into_iter().chain(made))
    };
    if fs_err::read_to_string(&stamp).ok() == Some(state()?) {
        return Ok(());
    }
    let title = "making the site";
    let step = Step::begin(title, "bindings, style sheet and compression; some seconds");
    let bindings = front.join("bindings");
    Bindgen::new()
        .web(true)?
        .typescript(false)
        .out_name("spillway")
        .input_path(&module)
        .generate(&bindings)?;
    let mut command = repository.command("node");
    command.arg("xtask/site.mjs").args([&bindings, &site, &hashes]);
    let finished = process::observe(&step, command)?;
    if !finished.success {
        return Err(finished.failure(repository, title, None));
    }
    step.done("");
    fs_err::create_dir_all(repository.target.join("xtask"))?;
    Ok(fs_err::write(&stamp, state()?)?)
}

/// Compiles with the variables that Leptos reads.
pub fn compile(repository: &Repository, title: &str, mut command: Command) -> Result<()> {
    let waiting = if repository.server().exists() {
        "what has changed"
    } else {
        "some minutes the first time"
    };
    command.envs(BUILD_ENVIRONMENT);
    process::run(repository, title, waiting, command, Some(ADVICE))
}

/// Installs exactly the versions in `package-lock.json`, unless they are installed.
pub fn npm_packages(repository: &Repository) -> Result<()> {
    let stamp = repository.path("node_modules/.spillway-stamp");
    let wanted = repository.fingerprint(["package.json", "package-lock.json"].map(Path::new))?;
    if fs_err::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return Ok(());
    }
    let mut command = repository.command(preflight::NPM);
    // No package here needs an install script, and Playwright drives the system's browser.
    command.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"]);
    process::run(
        repository,
        "installing the npm packages",
        "Tailwind, wasm-opt, Playwright and Lighthouse, 380 MB; about a minute, once",
        command,
        Some("check the network, then run this again; npm's own words are above."),
    )?;
    Ok(fs_err::write(stamp, wanted)?)
}

/// The JavaScript and WebAssembly that the first page loads, each with its size after brotli in bytes.
pub fn first_load(repository: &Repository) -> Result<Vec<(String, u64)>> {
    let mut weights = Vec::new();
    for path in files(&site(repository).join("pkg")) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Some(file) = name.strip_suffix(".br").filter(|name| is_code(name)) {
            weights.push((file.to_owned(), fs_err::metadata(&path)?.len()));
        }
    }
    ensure!(
        weights.len() > 1,
        "There is no code in {}.\nNext: run `cargo xtask build`.",
        site(repository).display()
    );
    Ok(weights)
}

fn is_code(name: &str) -> bool {
    let ending = Path::new(name).extension();
    ending.is_some_and(|ending| ending == "js" || ending == "wasm")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_code_counts_for_the_first_load() {
        assert!(is_code("spillway.abc123.wasm"));
        assert!(is_code("spillway.abc123.js"));
        assert!(!is_code("spillway.abc123.css"));
        assert!(!is_code("logo.svg"));
    }
}
