use leptos::prelude::*;
use model::{Comment, Member, PostId, Timestamp};
use ui::components::{Avatar, Body, Byline, DeleteControl};

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
    /// Whether the reader wrote it.
    own: bool,
) -> impl IntoView {
    view! {
        <div class="comment">
            <Avatar handle=comment.user.handle.clone() />
            <div>
                <Byline person=comment.user at=comment.at ago=comment.at.ago(now) />
                <p class="comment-text" dir="auto">
                    <Body text=comment.text.to_string() mentions=comment.mentions />
                </p>
                {own.then(|| view! { <DeleteControl post comment=comment.id /> })}
            </div>
        </div>
    }
}
