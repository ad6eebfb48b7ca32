//! The addresses of the server functions that shared forms are sent to. The crate `app` defines the functions.

/// A state as fields of forms and attributes write it.
pub fn truth(state: bool) -> &'static str {
    if state { "true" } else { "false" }
}

/// Sets whether the reader likes a post.
pub const SET_LIKE: &str = "/api/set_like";
/// Sets whether the reader shares a post.
pub const SET_SHARE: &str = "/api/set_share";
/// Sets whether the reader keeps a post.
pub const SET_BOOKMARK: &str = "/api/set_bookmark";
/// Sets whether the reader follows a person.
pub const SET_FOLLOW: &str = "/api/set_follow";
/// Deletes a post.
pub const DELETE_POST: &str = "/api/delete_post";
/// Deletes a comment.
pub const DELETE_COMMENT: &str = "/api/delete_comment";
