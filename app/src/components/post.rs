use std::sync::Arc;

use leptos::prelude::*;
use model::{Overflow, PostCard, Relation, Timestamp, Topic};

use super::{Avatar, Body, Byline, Icon, LikeButton, Meter, MeterSize, ShareButton, Toggle, grouped};
use crate::live;

/// What a post shows besides its text: counts that change as people react, here and elsewhere.
#[derive(Clone, Copy)]
struct Counts {
    likes: Toggle,
    shares: Toggle,
    comments: RwSignal<u64>,
    meter: RwSignal<model::Meter>,
}

impl Counts {
    fn of(card: &PostCard) -> Self {
        let counts = Self {
            likes: Toggle::new(card.post.liked, card.post.likes),
            shares: Toggle::new(card.post.shared, card.post.shares),
            comments: RwSignal::new(card.post.comments),
            meter: RwSignal::new(card.meter),
        };
        let news = live::overflow(&Topic::Post(card.post.id));
        Effect::new(move || {
            if let Some(overflow) = news.get() {
                counts.heard(&overflow);
            }
        });
        counts
    }

    fn heard(self, overflow: &Arc<Overflow>) {
        if let Some(likes) = overflow.get(&Relation::Likes) {
            self.likes.heard(likes.count);
            self.meter.set(likes.into());
        }
        if let Some(shares) = overflow.get(&Relation::Shares) {
            self.shares.heard(shares.count);
        }
        if let Some(comments) = overflow.get(&Relation::Comments) {
            self.comments.set(comments.count);
        }
    }
}

/// A post: who wrote what, what people made of it, and how its likes are stored.
#[component]
pub fn Post(
    /// The post.
    card: PostCard,
    /// The reader's now.
    now: Timestamp,
    /// Whether the reader is somebody.
    signed_in: bool,
) -> impl IntoView {
    let counts = Counts::of(&card);
    let post = card.post;
    let id = post.id;
    let page = format!("/post/{id}");

    view! {
        <div class="post">
            <Avatar handle=post.author.handle.clone() />
            <div class="post-main">
                <Byline person=post.author at=post.at now />
                <p class="post-text" dir="auto" data-testid="post-text">
                    <Body text=post.text.to_string() />
                </p>
                <div class="reactions">
                    <LikeButton post=id likes=counts.likes signed_in />
                    <a
                        class="reaction"
                        href=page
                        aria-label=move || format!("Comments: {}", counts.comments.get())
                    >
                        {Icon::Bubble.view()}
                        <span>{move || grouped(counts.comments.get())}</span>
                    </a>
                    <ShareButton post=id shares=counts.shares signed_in />
                </div>
                <Meter relation=Relation::Likes meter=counts.meter size=MeterSize::Line />
            </div>
        </div>
    }
}
