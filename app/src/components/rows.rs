use std::fmt::Display;

use leptos::prelude::*;
use model::{Comment, Handle, ItemId, Member, PostId, ReportTarget, Timestamp};
use ui::components::{Avatar, Body, Byline, DeleteControl, FollowButton, Moment};
use ui::refusal::RejectedForm;

use super::{EditCommentForm, ReplyForm, ReportLink};

/// An entry of a list of people.
#[component]
pub fn MemberRow(
    /// The entry.
    member: Member,
    /// The reader's current time.
    now: Timestamp,
    /// Whether the reader follows them; `None` where they cannot.
    followed: Option<bool>,
) -> impl IntoView {
    let handle = member.user.handle.clone();
    view! {
        <div class="member">
            <Avatar handle=handle.clone() />
            <Byline person=member.user at=member.at ago=member.at.ago(now) />
            {followed.map(|followed| view! { <FollowButton handle followed signed_in=true /> })}
        </div>
    }
}

/// Where a comment is shown in its place in the list, however long that is.
pub fn comment_address(post: impl Display, comment: impl Display) -> String {
    format!("/post/{post}?comment={comment}#comment-{comment}")
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
    /// What the reader can do with it; `None` for somebody who is not signed in.
    forms: Option<CommentForms>,
) -> impl IntoView {
    let shown = comment.clone();
    let answered = shown.reply_to.map(|answered| {
        let href = comment_address(post, answered);
        match shown.reply_to_user {
            Some(by) => view! {
                <p class="reply-to">
                    "Replying to " <a href=href>
                        <bdi>{by.name.to_string()}</bdi>
                    </a>
                </p>
            }
            .into_any(),
            None => view! { <p class="reply-to">"Replying to a comment that is not here"</p> }.into_any(),
        }
    });
    view! {
        <div class="comment">
            <Avatar handle=shown.user.handle.clone() />
            <div>
                <Byline person=shown.user at=shown.at ago=shown.at.ago(now) />
                {answered}
                <p class="comment-text" dir="auto">
                    <Body text=shown.text.to_string() mentions=shown.mentions />
                </p>
                {shown
                    .edited_at
                    .map(|at| view! { <p class="edited">"Edited " <Moment at ago=at.ago(now) /></p> })}
                {forms.map(|forms| forms.of(comment, post))}
            </div>
        </div>
    }
}

/// The forms below a comment.
pub struct CommentForms {
    /// The reader.
    pub reader: Handle,
    /// Whether the reader is editing it.
    pub editing: bool,
    /// The id of a reply.
    pub reply: ItemId,
    /// The refusal of a comment or a reply, and of an edit, if that is why the page is shown.
    pub refusals: [Option<RejectedForm>; 2],
}

impl CommentForms {
    fn of(self, comment: Comment, post: PostId) -> impl IntoView {
        let (editing, id, [reply, edit]) = (self.editing, comment.id, self.refusals);
        let (reader, own) = (self.reader.clone(), self.reader == comment.user.handle);
        view! {
            <div class="comment-forms">
                <ReplyForm to=comment.clone() post id=self.reply author=reader refusal=reply />
                {if own {
                    let form = if editing {
                        view! { <EditCommentForm comment post refusal=edit /> }.into_any()
                    } else {
                        view! {
                            <a class="comment-edit" href=format!("/post/{post}?edit={id}#comment-{id}")>
                                "Edit"
                                <span class="sr-only">" this comment"</span>
                            </a>
                        }
                            .into_any()
                    };
                    view! {
                        {form}
                        <DeleteControl post comment=id />
                    }
                        .into_any()
                } else {
                    view! { <ReportLink target=ReportTarget::Comment(post, id) /> }.into_any()
                }}
            </div>
        }
    }
}
