//! Reading on in a list. Pages show the first stretch; islands fetch the next ones here as the reader scrolls.

#![expect(
    missing_docs,
    reason = "the macro turns arguments into public fields that cannot carry docs"
)]

use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use model::{Activity, Comment, Handle, Listing, Member, PostCard, PostId};
use serde::{Deserialize, Serialize};

use crate::refusal::Refused;

#[cfg(feature = "ssr")]
use {
    super::{feed, reply},
    crate::feed::Paging,
    crate::session,
    model::Problem,
};

/// A list of posts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Posts {
    /// Of whom the reader follows; everyone's for a reader who is not signed in.
    Home,
    /// Everyone's, most liked first.
    Explore,
    /// One person's.
    By(Handle),
}

/// A list of people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum People {
    /// Who likes a post.
    Likes(PostId),
    /// Who shared a post.
    Shares(PostId),
    /// Who follows a person.
    Followers(Handle),
    /// Whom a person follows.
    Following(Handle),
}

/// The posts after a cursor.
#[server(endpoint = "read_posts", input = GetUrl)]
pub async fn read_posts(list: Posts, cursor: String) -> Result<Listing<PostCard>, Refused> {
    reply::read(async { posts_after(&list, after(&cursor)?).await }.await)
}

/// The people after a cursor.
#[server(endpoint = "read_people", input = GetUrl)]
pub async fn read_people(list: People, cursor: String) -> Result<Listing<Member>, Refused> {
    reply::read(async { people_after(&list, after(&cursor)?).await }.await)
}

/// The comments on a post after a cursor.
#[server(endpoint = "read_comments", input = GetUrl)]
pub async fn read_comments(post: PostId, cursor: String) -> Result<Listing<Comment>, Refused> {
    reply::read(async { feed()?.comments(post, after(&cursor)?).await }.await)
}

/// What a person did, after a cursor.
#[server(endpoint = "read_activity", input = GetUrl)]
pub async fn read_activity(handle: Handle, cursor: String) -> Result<Listing<Activity>, Refused> {
    reply::read(async { feed()?.activity(&handle, after(&cursor)?).await }.await)
}

/// One stretch of a list of posts, as the reader sees it.
#[cfg(feature = "ssr")]
pub async fn posts_after(list: &Posts, paging: Paging) -> Result<Listing<PostCard>, Problem> {
    let (feed, reader) = (feed()?, session::viewer());
    let reader = reader.as_ref().map(|account| &account.handle);
    match list {
        Posts::Home => feed.home(reader, paging).await,
        Posts::Explore => feed.explore(reader, paging).await,
        Posts::By(author) => feed.posts_by(author, reader, paging).await,
    }
}

/// One stretch of a list of people.
#[cfg(feature = "ssr")]
pub async fn people_after(list: &People, paging: Paging) -> Result<Listing<Member>, Problem> {
    let feed = feed()?;
    match list {
        People::Likes(post) => feed.likes(*post, paging).await,
        People::Shares(post) => feed.shares(*post, paging).await,
        People::Followers(handle) => feed.followers(handle, paging).await,
        People::Following(handle) => feed.following(handle, paging).await,
    }
}

#[cfg(feature = "ssr")]
fn after(cursor: &str) -> Result<Paging, Problem> {
    Ok(Paging {
        after: Some(cursor.parse()?),
        ..Paging::default()
    })
}
