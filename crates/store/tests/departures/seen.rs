//! What there is to see of both people: for a check, for readers, and in the documents.

use std::time::Duration;

use bson::doc;
use document::{Error, Find};
use model::{Relation, Topic};
use store::Store;
use store::overflow::{Owner, PAGES};
use store::reactions::Reaction;
use store::upkeep::{CheckOptions, Finding, Violation, check};
use store::{comments, people, posts, sessions, shared_posts, timeline};

use crate::support::{leaver, neighbour, post};

pub async fn findings(store: &Store, repair: bool) -> Vec<Finding> {
    let options = CheckOptions {
        repair,
        lists_only: false,
        pause: Duration::ZERO,
    };
    let mut findings = check(store, options, &|_, _| ()).await.unwrap().findings;
    // The activities of others stay when a post is deleted; its author's does not.
    let own = Topic::User(leaver()).to_string();
    findings
        .retain(|finding| finding.owner == own || !matches!(finding.violation, Violation::TargetGone { .. }));
    findings
}

/// What a reader sees of both people and their posts, without ids and times.
pub async fn picture(store: &Store) -> Vec<String> {
    let mut seen = Vec::new();
    let own: Vec<Owner> = [leaver(), neighbour()].into_iter().map(Topic::User).collect();
    let posts = (0..3).map(|number| Topic::Post(post(number)));
    for owner in own.into_iter().chain(posts) {
        let relations: &[Relation] = match owner {
            Topic::User(_) => &Relation::OF_A_USER,
            Topic::Post(_) => &Relation::OF_A_POST,
        };
        for &relation in relations {
            match store.list(relation).newest_first(&owner, None, 20).await {
                // The likes of a post are still in the activities of others when the post is gone.
                Ok(stretch) => seen.extend(
                    stretch
                        .items
                        .iter()
                        .filter(|item| !matches!(Reaction::of(item), Some(Reaction::Like(liked)) if liked != post(0)))
                        .map(|item| format!("{owner} {relation}: {:?} {}", item.by, item.more)),
                ),
                Err(Error::NoOwner(_)) => seen.push(format!("no {owner}")),
                Err(error) => panic!("{error}"),
            }
        }
    }
    for session in store.sessions().of(&leaver()).await.unwrap() {
        seen.push(session.digest);
    }
    let timeline = doc! { "_id": leaver().as_str() };
    let timelines = store.engine().count(timeline::COLLECTION, timeline).await;
    seen.push(format!("timelines: {}", timelines.unwrap()));
    let home = store.timelines().home(&neighbour(), None, 5).await.unwrap();
    seen.extend(home.posts.iter().map(|post| format!("home: {}", post.id)));
    seen.sort();
    seen
}

/// The documents that name the handle.
pub async fn traces(store: &Store) -> Vec<String> {
    let mut found = Vec::new();
    for collection in [
        people::COLLECTION,
        posts::COLLECTION,
        PAGES,
        sessions::COLLECTION,
        timeline::COLLECTION,
        comments::COLLECTION,
        shared_posts::COLLECTION,
    ] {
        let all = store.engine().find(collection, Find::default()).await.unwrap();
        let theirs = all.iter().map(|document| format!("{collection}: {document}"));
        found.extend(theirs.filter(|document| document.contains("leaver")));
    }
    found
}
