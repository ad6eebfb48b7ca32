use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use model::{ItemId, Listing, PostCard, PostText, Timestamp};

use crate::actions::lists::{Posts, read_posts};
use crate::actions::posts::{Compose, compose};
use crate::browser;
use crate::components::{Post, Scroll, Stretches, TextForm, TextFormOptions};
use crate::refusal::Refusal;

/// A list of posts, with a composer on top where the reader may write.
#[island]
pub fn PostFeed(
    /// Which list.
    list: Posts,
    /// Its first stretch.
    first: Listing<PostCard>,
    /// How many items come before it.
    before: u64,
    /// The reader's now.
    now: Timestamp,
    /// Whether the reader is somebody.
    signed_in: bool,
    /// Whether to show the composer.
    composer: bool,
    /// The composer's refusal, if that is why the page is shown.
    refusal: Option<Refusal>,
) -> impl IntoView {
    let posts = Stretches::new(first, before);
    let empty = match list {
        Posts::Home if signed_in => {
            "Nobody you follow has written yet. Explore has plenty of people to follow."
        }
        Posts::Home | Posts::Explore => "Nothing here yet. Write the first post.",
        Posts::By(_) => "No posts yet.",
    };
    let list = StoredValue::new(list);
    view! {
        {composer.then(|| view! { <Composer posts refusal /> })}
        <Scroll
            list=posts
            label="Posts"
            empty
            load=move |cursor| read_posts(list.get_value(), cursor)
            row=move |card| view! { <Post card now=browser::now().unwrap_or(now) signed_in /> }
        />
    }
}

/// One post, on its own page.
#[island]
pub fn OnePost(
    /// The post.
    card: PostCard,
    /// The reader's now.
    now: Timestamp,
    /// Whether the reader is somebody.
    signed_in: bool,
) -> impl IntoView {
    let id = card.post.id.to_string();
    view! {
        <article class="entry entry-alone" id=format!("post-{id}") data-testid="post" data-id=id>
            <Post card now signed_in />
        </article>
    }
}

#[component]
fn Composer(posts: Stretches<PostCard>, refusal: Option<Refusal>) -> impl IntoView {
    let options = TextFormOptions {
        test_id: "composer",
        action: Compose::url(),
        field: "compose-text",
        label: "Write a post",
        placeholder: "What is flowing over today?",
        submit: "Post",
        most: PostText::MAX,
        hidden: None,
    };
    let check = |text: &str| text.parse::<PostText>().map(drop);
    let send = move |text, id: ItemId| async move {
        posts.prepend(compose(text, id.to_string()).await?);
        Ok(())
    };
    view! { <TextForm options refusal check send /> }
}
