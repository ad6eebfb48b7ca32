use leptos::prelude::*;
use model::{Notification, NotificationKind, Timestamp};
use ui::components::{Avatar, Body, Moment, beginning, grouped};

use super::comment_address;

/// A notification: who did what, and the text that it is about.
#[component]
pub fn NotificationRow(
    /// The notification.
    notification: Notification,
    /// The reader's current time.
    now: Timestamp,
) -> impl IntoView {
    let what = what(&notification);
    let Notification {
        at,
        by,
        post,
        comment,
        text,
        unread,
        ..
    } = notification;
    let href = post.map(|post| match comment {
        Some(comment) => comment_address(post, comment),
        None => format!("/post/{post}"),
    });
    view! {
        <div class="notification" data-testid="notification">
            <Avatar handle=by.handle.clone() />
            <div>
                <p>
                    {unread.then(|| view! { <span class="notification-new">"New: "</span> })}
                    <a href=format!("/@{}", by.handle)>
                        <bdi>{by.name.to_string()}</bdi>
                    </a>
                    " "
                    {what}
                    " "
                    <Moment at ago=at.ago(now) href />
                </p>
                {text
                    .map(|text| {
                        view! {
                            <p class="notification-text" dir="auto">
                                <Body text=beginning(&text) linked=false />
                            </p>
                        }
                    })}
            </div>
        </div>
    }
}

/// What the people did, as words after the first one's name.
pub fn what(notification: &Notification) -> String {
    let verb = match notification.kind {
        NotificationKind::Like => "liked your post",
        NotificationKind::Comment => "commented on your post",
        NotificationKind::Share => "shared your post",
        NotificationKind::Follow if notification.others == 0 => "follows you",
        NotificationKind::Follow => "follow you",
        NotificationKind::Mention => "mentioned you",
        NotificationKind::Reply => "replied to your comment",
        NotificationKind::Quote => "quoted your post",
    };
    match (notification.kind, notification.others) {
        (_, 0) => verb.to_owned(),
        // Others may have commented earlier, too.
        (NotificationKind::Comment, _) => format!("and others {verb}"),
        (_, 1) => format!("and one other person {verb}"),
        (_, others) => format!("and {} others {verb}", grouped(others)),
    }
}
