use leptos::prelude::*;
use model::{ItemId, PostId};

use crate::forms::{DELETE_COMMENT, DELETE_POST};

/// Deletes something of the reader's own, after they confirmed it. It needs no JavaScript.
#[component]
pub fn DeleteControl(
    /// The post, or the post that the comment is on.
    post: PostId,
    /// The comment, if it is one.
    #[prop(optional)]
    comment: Option<ItemId>,
) -> impl IntoView {
    let (what, action) = match comment {
        Some(_) => ("comment", DELETE_COMMENT),
        None => ("post", DELETE_POST),
    };
    view! {
        <details class="delete">
            <summary>
                "Delete" <span class="sr-only">{format!(" this {what}")}</span>
            </summary>
            <form method="post" action=action>
                <input type="hidden" name="post" value=post.to_string() />
                {comment
                    .map(|comment| view! { <input type="hidden" name="comment" value=comment.to_string() /> })}
                <p>"It is deleted for everybody and cannot be restored."</p>
                <button class="button button-danger">{format!("Delete {what}")}</button>
            </form>
        </details>
    }
}
