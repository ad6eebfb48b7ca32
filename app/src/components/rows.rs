use leptos::prelude::*;
use model::{Comment, Member, PostId, ReportTarget, Timestamp};
use ui::components::{Avatar, Body, Byline, DeleteControl};

use super::ReportLink;

/// An entry of a list of people.
#[component]
pub fn MemberRow(
    /// The entry.
    member: Member,
    /// The reader's current time.
    now: Timestamp,
) -> impl IntoView {
    view! {
        <div class="member">
            <Avatar handle=member.user.handle.clone() />
            <Byline person=member.user at=member.at ago=member.at.ago(now) />
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
    /// The reader's current time.
    now: Timestamp,
    /// Whether the reader wrote it; `None` for somebody who is not signed in.
    own: Option<bool>,
) -> impl IntoView {
    let id = comment.id;
    view! {
        <div class="comment">
            <Avatar handle=comment.user.handle.clone() />
            <div>
                <Byline person=comment.user at=comment.at ago=comment.at.ago(now) />
                <p class="comment-text" dir="auto">
                    <Body text=comment.text.to_string() mentions=comment.mentions />
                </p>
                {match own {
                    Some(true) => Some(view! { <DeleteControl post comment=id /> }.into_any()),
                    Some(false) => Some(view! { <ReportLink target=ReportTarget::Comment(post, id) /> }.into_any()),
                    None => None,
                }}
            </div>
        </div>
    }
}
