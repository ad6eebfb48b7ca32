//! The images that the recipes for containers are made of.

use std::collections::BTreeSet;

use crate::support::read;

/// A tag may name something else tomorrow; a digest is the SHA-256 of what was chosen.
fn is_named_by_digest(image: &str) -> bool {
    let (tag, digest) = image.split_once("@sha256:").unwrap_or((image, ""));
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    tag.contains(':') && digest.len() == 64 && digest.bytes().all(hex)
}

#[test]
fn every_image_from_elsewhere_has_a_tag_for_people_and_a_digest() {
    let (dockerfile, compose) = (read("Dockerfile"), read("docker-compose.yml"));
    let mut stages = BTreeSet::new();
    let mut images = Vec::new();
    for line in dockerfile.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match *words.as_slice() {
            ["#", syntax] => images.extend(syntax.strip_prefix("syntax=")),
            ["FROM", image, ref name @ ..] => {
                if !stages.contains(image) {
                    images.push(image);
                }
                stages.extend(name.last().copied());
            }
            _ => {}
        }
    }
    let of_compose = compose
        .lines()
        .filter_map(|line| line.trim().strip_prefix("image: "));
    // What compose builds itself, and what a name stands for.
    let of_compose = of_compose.filter(|image| *image != "spillway" && !image.starts_with('*'));
    images.extend(of_compose.map(|image| image.split_whitespace().last().unwrap()));
    assert_eq!(images.len(), 6, "{images:?}");
    for image in images {
        assert!(is_named_by_digest(image), "{image}");
    }
}
