use leptos::prelude::*;
use model::{Person, PostCard, Quote, Relation, Timestamp, Topic};

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
    /// The time since the post that it quotes was written, in words, if that is shown.
    #[prop(optional_no_strip)]
    quoted: Option<String>,
    /// The time since that was edited, in words, if it was and is shown.
    #[prop(optional_no_strip)]
    quoted_edited: Option<String>,
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
            {post.shared_by.clone().zip(post.shared_at).map(shared_by)}
            <Byline person=post.author.clone() at=post.at ago href=Some(format!("/post/{id}")) />
            <p class="post-text" dir="auto" data-testid="post-text">
                <Body text=post.text.to_string() mentions=post.mentions.clone() found />
            </p>
            {post.quote.clone().map(|quote| view! { <QuotedPost quote ago=quoted edited=quoted_edited /> })}
            {post.edited_at.zip(edited).map(edited_note)}
            <Reactions post signed_in />
            <div class="post-storage">
                <Meter relation=Relation::Likes of=about.clone() meter size=MeterSize::Line />
                <StoredDrawer owner=Topic::Post(id) about />
            </div>
            {own.then(|| view! { <DeleteControl post=id /> })}
        </div>
    }
}

fn edited_note((at, ago): (Timestamp, String)) -> impl IntoView {
    view! { <p class="edited">"Edited " <Moment at ago /></p> }
}

fn shared_by((person, at): (Person, Timestamp)) -> impl IntoView {
    view! {
        // When it was shared tells a page which of its items another share has moved.
        <p class="shared-by" data-testid="shared-by" data-share=at.millis()>
            <a href=format!("/@{}", person.handle)>"Shared by " <bdi>{person.name.to_string()}</bdi></a>
        </p>
    }
}

/// A post below the words of somebody who quotes it, or the note that it is not there.
#[component]
fn QuotedPost(
    /// The post.
    quote: Quote,
    /// The time since it was written, in words.
    ago: Option<String>,
    /// The time since it was edited, in words.
    edited: Option<String>,
) -> impl IntoView {
    let href = format!("/post/{}", quote.id);
    let Quote {
        author,
        text,
        at,
        edited_at,
        mentions,
        ..
    } = quote;
    let shown = author.zip(text).zip(at.zip(ago));
    let inside = match shown {
        Some(((person, text), (at, ago))) => view! {
            <Byline person at ago href=Some(href) />
            <p class="post-text" dir="auto">
                <Body text=text.to_string() mentions />
            </p>
            {edited_at.zip(edited).map(edited_note)}
        }
        .into_any(),
        None => view! { <p class="quote-gone">"The quoted post is not here."</p> }.into_any(),
    };
    view! {
        <blockquote class="quote" data-testid="quote">
            {inside}
        </blockquote>
    }
}
