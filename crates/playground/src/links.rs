//! Links of the workshop's pages on a site that has some of these pages, below an address that nobody knows yet.

/// The folders of the site, by the addresses of its pages.
const FOLDERS: [(&str, &str); 5] = [
    ("/lab/race", "race/"),
    ("/lab/crash", "crash/"),
    ("/lab/trace", "trace/"),
    ("/lab/decide", "decide/"),
    ("/lab", ""),
];

/// The files beside the front page that pages name.
const FILES: [&str; 5] = [
    "playground.css",
    "playground.js",
    "projector.js",
    "sheets.js",
    "waiting.js",
];

/// The attributes that are addresses, as they begin when these are absolute.
const ATTRIBUTES: [&str; 2] = [" href=\"/", " src=\"/"];

/// A page whose links are relative to its folder. A link to a page that only a server has is none any more.
pub fn relative(html: &str, address: &str) -> String {
    let root = match folder(address) {
        Some(("", _)) | None => "./",
        Some(_) => "../",
    };
    let mut page = String::with_capacity(html.len());
    let mut rest = html;
    while let Some((at, attribute)) = first(rest) {
        let (before, value) = rest.split_at(at);
        let (path, after) = value
            .strip_prefix(attribute)
            .and_then(|value| value.split_once('"'))
            .unwrap_or_default();
        page.push_str(before);
        match folder(&format!("/{path}")) {
            _ if FILES.contains(&path) => page.extend([attribute.trim_end_matches('/'), root, path, "\""]),
            Some((folder, query)) => {
                page.extend([attribute.trim_end_matches('/'), root, folder, query, "\""]);
            }
            None => {}
        }
        rest = after;
    }
    page.push_str(rest);
    page
}

/// Where the next of these attributes begins.
fn first(html: &str) -> Option<(usize, &'static str)> {
    let found = ATTRIBUTES
        .into_iter()
        .filter_map(|attribute| Some((html.find(attribute)?, attribute)));
    found.min()
}

/// The folder of a page, and what follows its path in the address.
fn folder(address: &str) -> Option<(&'static str, &str)> {
    FOLDERS.into_iter().find_map(|(path, folder)| {
        let rest = address.strip_prefix(path)?;
        (rest.is_empty() || rest.starts_with(['?', '#'])).then_some((folder, rest))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_between_pages_of_the_site_are_relative() {
        let page = r#"<a rel="next" href="/lab/crash?after=1">"#;
        assert_eq!(
            relative(page, "/lab"),
            r#"<a rel="next" href="./crash/?after=1">"#
        );
        assert_eq!(
            relative(page, "/lab/race?clicks=a"),
            r#"<a rel="next" href="../crash/?after=1">"#
        );
        assert_eq!(
            relative(
                r#"<a data-at="/lab" href="/lab#guide"><a href="?clicks=ab">"#,
                "/lab/race"
            ),
            r#"<a data-at="/lab" href="../#guide"><a href="?clicks=ab">"#
        );
    }

    #[test]
    fn a_link_to_what_a_server_has_is_none() {
        let page = r#"<a class="button" href="/lab/storm">Storm</a> <a href="/lab/raced">"#;
        assert_eq!(relative(page, "/lab/race"), r#"<a class="button">Storm</a> <a>"#);
    }

    #[test]
    fn files_are_beside_the_folders() {
        let page = r#"<script src="/projector.js"></script><link rel="stylesheet" href="/playground.css">"#;
        assert_eq!(
            relative(page, "/lab/race"),
            r#"<script src="../projector.js"></script><link rel="stylesheet" href="../playground.css">"#
        );
    }
}
