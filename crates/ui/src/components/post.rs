use leptos::prelude::*;
use model::{Person, PostCard, Relation, Topic};

use super::{Avatar, Body, Byline, DeleteControl, Meter, MeterSize, Moment, Reactions, StoredDrawer};

/// A post: its author and text, its reactions, and how its likes are stored. The `article.post` around it, whose
/// element id names the post, is the page's.
#[component]
pub fn Post(
    /// The post.
    card: PostCard,
    /// The time since it was written, in words.
    ago: String,
    /// The time since it was edited, in words, if it was.
    #[prop(optional_no_strip)]
    edited: Option<String>,
    /// Whether the reader is signed in.
    signed_in: bool,
    /// Whether the reader wrote it.
    own: bool,
    /// The words that it was found by, to be marked.
    #[prop(optional)]
    found: Vec<String>,
) -> impl IntoView {
    let PostCard { post, meter } = card;
    let id = post.id;
    let about = format!("the post by {}", post.author.name);
    view! {
        <Avatar handle=post.author.handle.clone() />
        <div class="post-main">
            {post.shared_by.clone().map(shared_by)}
            <Byline person=post.author.clone() at=post.at ago href=Some(format!("/post/{id}")) />
            <p class="post-text" dir="auto" data-testid="post-text">
                <Body text=post.text.to_string() mentions=post.mentions.clone() found />
            </p>
            {post
                .edited_at
                .zip(edited)
                .map(|(at, ago)| view! { <p class="edited">"Edited " <Moment at ago /></p> })}
            <Reactions post signed_in />
            <div class="post-storage">
                <Meter relation=Relation::Likes of=about.clone() meter size=MeterSize::Line />
                <StoredDrawer owner=Topic::Post(id) about />
            </div>
            {own.then(|| view! { <DeleteControl post=id /> })}
        </div>
    }
}

fn shared_by(person: Person) -> impl IntoView {
    view! {
        <p class="shared-by" data-testid="shared-by">
            <a href=format!("/@{}", person.handle)>"Shared by " <bdi>{person.name.to_string()}</bdi></a>
        </p>
    }
}
