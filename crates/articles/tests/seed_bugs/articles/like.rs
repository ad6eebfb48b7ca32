//! S4's `addLike`, for any of the post's lists, and `getAllLikes`.

use bson::{Bson, Document, doc};
use document::{DocumentEngine, Engine, Error, Find, Result, Update};

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

/// One `addLike`, or the "similar approach" for another field, without the session around it.
pub async fn add_like(engine: Engine, field: &'static str, user: i64) -> Result<()> {
    let user = name(user);
    let (this_post, overflow_of_it) = (doc! { "_id": owner_bson() }, doc! { "post_id": owner_bson() });
    let post = one(&*engine, POSTS, this_post.clone()).await;
    refuse_if_in(&post, field, &user)?;
    let save = async |change: Document| {
        let update = Update::one(this_post.clone(), change);
        engine.update(POSTS, update).await.map(drop)
    };
    if post.get("has_overflow").and_then(Bson::as_bool) == Some(true) {
        let find = Find::matching(overflow_of_it.clone()).limit(1);
        for overflow in engine.find(OVERFLOWS, find).await? {
            refuse_if_in(&overflow, field, &user)?;
        }
        let add = Update::one(overflow_of_it, doc! { "$addToSet": { field: user } });
        engine.update(OVERFLOWS, add).await.map(drop)
    } else if strings(&post, field).len() >= SMALL.threshold {
        let overflow = doc! { "_id": format!("created for {user}"), "post_id": owner_bson(), field: [user] };
        engine.insert(OVERFLOWS, vec![overflow]).await?;
        save(doc! { "$set": { "has_overflow": true } }).await
    } else {
        save(doc! { "$push": { field: user } }).await
    }
}

fn refuse_if_in(document: &Document, field: &str, user: &str) -> Result<()> {
    if strings(document, field).iter().any(|one| one == user) {
        return Err(Error::refused(0, "User has already liked this post"));
    }
    Ok(())
}
