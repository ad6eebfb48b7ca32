use leptos::prelude::*;
use model::{Activity, ActivityKind, Comment, Member, PostId, Timestamp};

use super::{Avatar, Body, Byline, DeleteControl, Moment};

/// An entry of a list of people.
#[component]
pub fn MemberRow(
    /// The entry.
    member: Member,
    /// The reader's now.
    now: Timestamp,
) -> impl IntoView {
    view! {
        <div class="member">
            <Avatar handle=member.user.handle.clone() />
            <Byline person=member.user at=member.at now />
        </div>
    }
}

/// A comment.
#[component]
pub fn CommentRow(
    /// The comment.
    comment: Comment,
    /// The post that it is on.
    post: PostId,
    /// The reader's now.
    now: Timestamp,
    /// Whether the reader wrote it.
    own: bool,
) -> impl IntoView {
    view! {
        <div class="comment">
            <Avatar handle=comment.user.handle.clone() />
            <div>
                <Byline person=comment.user at=comment.at now />
                <p class="comment-text" dir="auto">
                    <Body text=comment.text.to_string() />
                </p>
                {own.then(|| view! { <DeleteControl post comment=comment.id /> })}
            </div>
        </div>
    }
}

/// Something that a person did.
#[component]
pub fn ActivityRow(
    /// What.
    activity: Activity,
    /// The reader's now.
    now: Timestamp,
) -> impl IntoView {
    let Activity {
        kind, at, post, user, ..
    } = activity;
    let did = match kind {
        ActivityKind::Post => "Wrote ",
        ActivityKind::Like => "Liked ",
        ActivityKind::Comment => "Commented on ",
        ActivityKind::Share => "Shared ",
        ActivityKind::Follow => "Followed ",
    };
    let object = if let Some(user) = user {
        view! { <a href=format!("/@{user}")>{format!("@{user}")}</a> }.into_any()
    } else if let Some(post) = post {
        view! { <a href=format!("/post/{post}")>"a post"</a> }.into_any()
    } else {
        "something that is gone".into_any()
    };
    view! {
        <p class="activity">
            <span>{did} {object}</span>
            <Moment at now />
        </p>
    }
}
