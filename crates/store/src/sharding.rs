//! How the feed's collections are divided over the shards of a cluster.
//!
//! Every write of a single document names its whole shard key by equality, so the router sends it to one shard. No
//! write changes a field of a key. And the key's fields begin every unique index, so that uniqueness, which a shard
//! can only enforce among its own documents, holds over the cluster. `crates/store/tests/cluster/` tests all three.

use bson::Document;

use crate::{comments, held_handles, overflow, people, posts, reports, sessions, shared_posts, timeline};

/// The shard key of one collection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShardKey {
    /// The collection.
    pub collection: &'static str,
    /// The reason for this key, for people.
    pub why: &'static str,
    /// The field whose hash places a document.
    hashed: &'static str,
    /// The fields that order documents of one hash.
    then: &'static [&'static str],
}

impl ShardKey {
    /// The key as `shardCollection` takes it.
    pub fn document(&self) -> Document {
        let mut key = Document::new();
        key.insert(self.hashed, "hashed");
        for field in self.then {
            key.insert(*field, 1);
        }
        key
    }

    /// Its fields, in order.
    pub fn fields(&self) -> impl Iterator<Item = &'static str> {
        std::iter::once(self.hashed).chain(self.then.iter().copied())
    }
}

/// The collections that are sharded. Any other stays on the database's primary shard: `meta`, which has a few
/// small documents.
pub const PLAN: [ShardKey; 9] = [
    ShardKey {
        collection: people::COLLECTION,
        why: "Every command on one person names the handle, which is the `_id`. Hashed, because many handles begin \
              with the same letters.",
        hashed: "_id",
        then: &[],
    },
    ShardKey {
        collection: posts::COLLECTION,
        why: "Every command on one post names its `_id`. Hashed, because these ids begin with the time: by range, \
              all new posts, and with them most likes, would be on the last shard. Lists of posts by author, date or \
              likes ask all shards.",
        hashed: "_id",
        then: &[],
    },
    ShardKey {
        collection: overflow::PAGES,
        why: "Every command on pages names their list. The owner's hash spreads posts of one day; the rest keeps a list's \
              pages side by side in order, and lets a list of millions be split between two pages. It has the fields of \
              the unique index.",
        hashed: "owner",
        then: &["relation", "born", "page"],
    },
    ShardKey {
        collection: sessions::COLLECTION,
        why: "A session is found by its `_id`, a digest. Only signing in, the list of one's sessions, changing a password \
              and deleting an account ask all shards for the sessions of a person.",
        hashed: "_id",
        then: &[],
    },
    ShardKey {
        collection: timeline::COLLECTION,
        why: "A timeline is found by its reader's handle, which is the `_id`, and by nothing else.",
        hashed: "_id",
        then: &[],
    },
    ShardKey {
        collection: held_handles::COLLECTION,
        why: "A held handle is found by its digest, which is the `_id`, and by nothing else.",
        hashed: "_id",
        then: &[],
    },
    ShardKey {
        collection: reports::COLLECTION,
        why: "A report is written once, by its `_id`. Only the operator and deleting an account ask all shards.",
        hashed: "_id",
        then: &[],
    },
    ShardKey {
        collection: comments::COLLECTION,
        why: "The new text of a comment is found by its `_id`. Only deleting a post or an account asks all shards.",
        hashed: "_id",
        then: &[],
    },
    ShardKey {
        collection: shared_posts::COLLECTION,
        why: "A share is written by its `_id`, which is made from the post and the sharer. The shares of some people are found \
              on all shards, like their posts.",
        hashed: "_id",
        then: &[],
    },
];
