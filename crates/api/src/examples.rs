//! An example of everything that is sent and answered: one evening by the river.

use serde_json::{Value, json};

const POST: &str = "0198c0de-7000-8000-a1b2-c3d4e5f60718";
const COMMENT: &str = "0198c0df-1a2b-8000-9f8e-7d6c5b4a3928";
const NEXT: &str = "AwX2pBQAAAGYwN5wAAGYwN5wAIAAobLD1OX2BxgAAAADEjRWeA";

fn all() -> Vec<(&'static str, Value)> {
    let ada = json!({ "handle": "ada", "name": "Ada Lovelace" });
    let bob = json!({ "handle": "bob", "name": "Bob" });
    let post = json!({
        "id": POST, "author": ada, "text": "The weir is open. #hochwasser", "at": "2026-03-01T18:30:00.000Z",
        "likes": 25_000, "comments": 3, "shares": 118, "liked": true, "shared": false
    });
    let comment =
        json!({ "id": COMMENT, "user": bob, "at": "2026-03-01T18:34:12.480Z", "text": "Since when?" });
    let member = json!({ "id": COMMENT, "user": bob, "at": "2026-03-01T18:31:07.003Z" });
    let activity =
        json!({ "id": COMMENT, "kind": "comment", "at": "2026-03-01T18:34:12.480Z", "post": POST });
    let stretch = |item: &Value, seams: Value, total: u64| json!({ "items": [item], "next": NEXT, "seams": seams, "total": total });
    let crossed = json!([{ "after": COMMENT, "page": 47, "pages": 48 }]);
    vec![
        (
            "NewAccount",
            json!({ "handle": "ada", "name": "Ada Lovelace", "password": "correct horse" }),
        ),
        (
            "Credentials",
            json!({ "handle": "ada", "password": "correct horse" }),
        ),
        ("Description", json!({ "bio": "Numbers, mostly." })),
        (
            "NewPassword",
            json!({ "password": "correct horse", "newPassword": "battery staple" }),
        ),
        ("AccountDeletion", json!({ "password": "correct horse" })),
        (
            "NewPost",
            json!({ "id": POST, "text": "The weir is open. #hochwasser" }),
        ),
        ("NewComment", json!({ "id": COMMENT, "text": "Since when?" })),
        (
            "Account",
            json!({ "handle": "ada", "name": "Ada Lovelace", "bio": "Numbers, mostly." }),
        ),
        (
            "User",
            json!({
                "handle": "ada", "name": "Ada Lovelace", "bio": "Numbers, mostly.", "at": "2026-02-11T09:00:00.000Z",
                "followers": 1204, "following": 61, "activities": 388, "followed": true
            }),
        ),
        ("Listing_Post", stretch(&post, json!([]), 412)),
        ("Listing_Comment", stretch(&comment, json!([]), 3)),
        ("Listing_Member", stretch(&member, crossed, 25_000)),
        ("Listing_Activity", stretch(&activity, json!([]), 388)),
        ("Post", post),
        ("Comment", comment),
        ("Member", member),
        ("Activity", activity),
        ("ReactionState", json!({ "active": true, "count": 25_001 })),
        (
            "RelationOverflow",
            json!({
                "count": 25_000, "head": 612, "threshold": 1000, "pages": 48, "pageSize": 500, "hasOverflow": true,
                "headBytes": 47_124, "ownerBytes": 49_880
            }),
        ),
        (
            "Export",
            json!({
                "profile": { "handle": "ada", "name": "Ada Lovelace", "bio": "", "at": "2026-02-11T09:00:00.000Z" },
                "posts": [{
                    "id": POST, "at": "2026-03-01T18:30:00.000Z", "text": "The weir is open. #hochwasser",
                    "likes": 25_000, "comments": 3, "shares": 118
                }],
                "comments": [], "likes": [], "shares": [],
                "following": [{ "handle": "bob", "at": "2026-02-12T20:15:00.000Z" }],
                "followers": []
            }),
        ),
    ]
}

/// Gives the schemas these examples and more.
pub fn add_to(description: &mut Value, more: Vec<(&'static str, Value)>) {
    for (name, example) in all().into_iter().chain(more) {
        description["components"]["schemas"][name]["examples"] = json!([example]);
    }
}
