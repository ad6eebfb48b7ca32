use leptos::prelude::*;
use model::{PostCard, ReactionState, Relation, Topic};

use super::{
    Avatar, Body, Byline, DeleteControl, Icon, LikeButton, Meter, MeterSize, ShareButton, StoredDrawer,
    grouped,
};
use crate::islands::Numbers;

/// A post: its author and text, its reactions, and how its likes are stored.
#[component]
pub fn Post(
    /// The post.
    card: PostCard,
    /// The time since it was written, in words.
    ago: String,
    /// Whether the reader is signed in.
    signed_in: bool,
    /// Whether the reader wrote it.
    own: bool,
) -> impl IntoView {
    let PostCard { post, meter } = card;
    let id = post.id;
    let author = post.author.name.clone();
    let about = format!("the post by {author}");
    let likes = ReactionState {
        active: post.liked,
        count: post.likes,
    };
    let shares = ReactionState {
        active: post.shared,
        count: post.shares,
    };
    view! {
        <div class="post" data-topic=Topic::Post(id).to_string()>
            <Avatar handle=post.author.handle.clone() />
            <div class="post-main">
                <Byline person=post.author at=post.at ago href=Some(format!("/post/{id}")) />
                <p class="post-text" dir="auto" data-testid="post-text">
                    <Body text=post.text.to_string() />
                </p>
                <Numbers>
                    <div class="reactions">
                        <LikeButton post=id author=author.clone() likes signed_in />
                        <a class="reaction" href=format!("/post/{id}")>
                            {Icon::Bubble.view()}
                            <span class="visually-hidden">{format!("Comments on {about}: ")}</span>
                            <span data-number="comments">{grouped(post.comments)}</span>
                        </a>
                        <ShareButton post=id author shares signed_in />
                    </div>
                    <div class="post-storage">
                        <Meter relation=Relation::Likes of=about.clone() meter size=MeterSize::Line />
                        <StoredDrawer owner=Topic::Post(id) about />
                    </div>
                </Numbers>
                {own.then(|| view! { <DeleteControl post=id /> })}
            </div>
        </div>
    }
}
