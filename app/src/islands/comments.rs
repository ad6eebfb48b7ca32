use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use model::{Comment, CommentText, ItemId, Listing, PostId, Timestamp};

use crate::actions::comments::{AddComment, add_comment};
use crate::actions::lists::read_comments;
use crate::browser;
use crate::components::{Avatar, Body, Byline, Scroll, Stretches, TextForm, TextFormOptions};
use crate::refusal::Refusal;

/// What people say about a post, with a form on top for who is signed in.
#[island]
pub fn CommentThread(
    /// The post.
    post: PostId,
    /// The first stretch of its comments.
    first: Listing<Comment>,
    /// How many comments come before it.
    before: u64,
    /// The reader's now.
    now: Timestamp,
    /// Whether the reader is somebody.
    signed_in: bool,
    /// The form's refusal, if that is why the page is shown.
    refusal: Option<Refusal>,
) -> impl IntoView {
    let comments = Stretches::new(first, before);
    view! {
        {signed_in.then(|| view! { <CommentForm post comments refusal /> })}
        <Scroll
            list=comments
            label="Comments"
            empty="No comments yet. Say something kind."
            load=move |cursor| read_comments(post, cursor)
            row=move |comment| view! { <CommentRow comment now=browser::now().unwrap_or(now) /> }
        />
    }
}

#[component]
fn CommentForm(post: PostId, comments: Stretches<Comment>, refusal: Option<Refusal>) -> impl IntoView {
    let options = TextFormOptions {
        test_id: "comment-form",
        action: AddComment::url(),
        field: "comment-text",
        label: "Write a comment",
        placeholder: "Add a comment",
        submit: "Comment",
        most: CommentText::MAX,
        hidden: Some(("post", post.to_string())),
    };
    let check = |text: &str| text.parse::<CommentText>().map(drop);
    let send = move |text, id: ItemId| async move {
        comments.prepend(add_comment(post.to_string(), text, id.to_string()).await?);
        Ok(())
    };
    view! { <TextForm options refusal check send /> }
}

#[component]
fn CommentRow(comment: Comment, now: Timestamp) -> impl IntoView {
    view! {
        <div class="comment">
            <Avatar handle=comment.user.handle.clone() />
            <div>
                <Byline person=comment.user at=comment.at now />
                <p class="comment-text" dir="auto">
                    <Body text=comment.text.to_string() />
                </p>
            </div>
        </div>
    }
}
