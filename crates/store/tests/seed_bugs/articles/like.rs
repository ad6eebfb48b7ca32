//! S4's `addLike`, for any of the post's lists, and `getAllLikes`.

use bson::{Bson, Document, doc};
use document::{DocumentEngine, Error, Find, Result, Update};
use store::layouts::{Answer, Command, Steps};

use crate::support::{SMALL, one, owner_bson};

/// Mongoose's collection for `Post`.
pub const POSTS: &str = "posts";
/// Mongoose's collection for `Overflow`.
pub const OVERFLOWS: &str = "overflows";

/// A post with this many likes, none of them in an overflow document.
pub fn new_post(likes: i64) -> Document {
    let likes: Vec<String> = (1..=likes).map(name).collect();
    doc! { "_id": owner_bson(), "likes": likes, "comments": [], "shares": [], "has_overflow": false }
}

/// `getAllLikes`.
pub async fn all_likes(engine: &dyn DocumentEngine) -> Vec<String> {
    let post = one(engine, POSTS, doc! { "_id": owner_bson() }).await;
    let mut all = strings(&post, "likes");
    if post.get_bool("has_overflow").unwrap() {
        let find = Find::matching(doc! { "post_id": owner_bson() }).limit(1);
        if let Some(overflow) = engine.find(OVERFLOWS, find).await.unwrap().first() {
            all.extend(strings(overflow, "likes"));
        }
    }
    all
}

pub fn name(user: i64) -> String {
    format!("user{user}")
}

/// The elements of a list; empty if the field is missing.
pub fn strings(document: &Document, field: &str) -> Vec<String> {
    let Ok(elements) = document.get_array(field) else {
        return Vec::new();
    };
    elements
        .iter()
        .map(|element| element.as_str().unwrap().to_owned())
        .collect()
}

/// One `addLike`, a command at a time, without the session around it.
pub struct AddLike {
    field: &'static str,
    user: String,
    next: Next,
}

enum Next {
    FindPost,
    LookInOverflow,
    AddToOverflow,
    CreateOverflow,
    SaveFlag,
    SaveLike,
    Nothing,
}

impl AddLike {
    /// A like, or the "similar approach" for another field.
    pub fn new(field: &'static str, user: i64) -> Self {
        Self {
            field,
            user: name(user),
            next: Next::FindPost,
        }
    }

    fn refuse_if_in(&self, document: &Document) -> Result<()> {
        if strings(document, self.field).contains(&self.user) {
            return Err(Error::refused(0, "User has already liked this post"));
        }
        Ok(())
    }
}

impl Steps for AddLike {
    fn next(&self) -> Option<Command> {
        let (post, overflow) = (doc! { "_id": owner_bson() }, doc! { "post_id": owner_bson() });
        let save = |change: Document| Command::UpdateOne {
            collection: POSTS,
            update: Update::one(post.clone(), change),
        };
        Some(match self.next {
            Next::FindPost => Command::FindOne {
                collection: POSTS,
                filter: post,
            },
            Next::LookInOverflow => Command::FindOne {
                collection: OVERFLOWS,
                filter: overflow,
            },
            Next::AddToOverflow => Command::UpdateOne {
                collection: OVERFLOWS,
                update: Update::one(overflow, doc! { "$addToSet": { self.field: &self.user } }),
            },
            Next::CreateOverflow => Command::InsertOne {
                collection: OVERFLOWS,
                document: doc! {
                    "_id": format!("created for {}", self.user), "post_id": owner_bson(), self.field: [&self.user],
                },
            },
            Next::SaveFlag => save(doc! { "$set": { "has_overflow": true } }),
            Next::SaveLike => save(doc! { "$push": { self.field: &self.user } }),
            Next::Nothing => return None,
        })
    }

    fn take(&mut self, answer: Answer) -> Result<()> {
        self.next = match self.next {
            Next::FindPost => {
                let post = answer.document()?.unwrap();
                self.refuse_if_in(&post)?;
                if post.get("has_overflow").and_then(Bson::as_bool) == Some(true) {
                    Next::LookInOverflow
                } else if strings(&post, self.field).len() >= SMALL.threshold {
                    Next::CreateOverflow
                } else {
                    Next::SaveLike
                }
            }
            Next::LookInOverflow => {
                if let Some(overflow) = answer.document()? {
                    self.refuse_if_in(&overflow)?;
                }
                Next::AddToOverflow
            }
            Next::CreateOverflow => Next::SaveFlag,
            Next::AddToOverflow | Next::SaveFlag | Next::SaveLike | Next::Nothing => Next::Nothing,
        };
        Ok(())
    }
}
