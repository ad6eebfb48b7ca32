//! Writing, liking and sharing posts.

#![expect(
    missing_docs,
    reason = "the macro turns arguments into public fields that cannot carry docs"
)]

use feed::PrivateList;
use leptos::prelude::*;
use model::{PostId, PostText, Problem, ReactionState};
use ui::notice::Done;
use ui::refusal::ActionError;
use ui::reply::{Form, page_of_form, referring_page};
use ui::request::feed;
use ui::session;

/// Publishes a post, which may quote another one. Sending the same `id` again does not publish it twice.
#[server(endpoint = "compose")]
pub async fn compose(
    text: String,
    #[server(default)] id: String,
    #[server(default)] quote: String,
) -> Result<PostId, ActionError> {
    let form = Form::new("compose")
        .keeping("text", &text)
        .keeping("quote", &quote);
    let result = async {
        let author = session::require()?.handle;
        let named = |id: String| (!id.is_empty()).then(|| id.parse::<PostId>()).transpose();
        let (id, quote) = (named(id)?, named(quote)?);
        let (posts, text) = (feed()?, text.parse::<PostText>()?);
        let posts = posts.posts();
        let post = posts.compose(&author, id, text.clone(), quote).await?.post;
        if post.text == text {
            return Ok(post.id);
        }
        // The browser went back to a form that was sent before, and this is another text.
        Ok(posts.compose(&author, None, text, quote).await?.post.id)
    };
    form.answer(result.await, |post| format!("/#post-{post}"))
}

/// Changes the text of one of the reader's own posts.
#[server(endpoint = "edit_post")]
pub async fn edit_post(post: String, text: String) -> Result<(), ActionError> {
    let form = Form::new("edit_post").keeping("text", &text);
    let result = async {
        let (reader, text) = (session::require()?.handle, text.parse::<PostText>()?);
        feed()?.posts().edit(&reader, post.parse()?, text).await
    };
    form.answer(result.await.map(drop), |()| {
        Done::PostEdited.at(&format!("/post/{post}"))
    })
}

/// Deletes one of the reader's own posts.
#[server(endpoint = "delete_post")]
pub async fn delete_post(post: String) -> Result<(), ActionError> {
    let result = async {
        let reader = session::require()?.handle;
        feed()?.posts().delete(&reader, post.parse()?).await?;
        Ok(reader)
    };
    let result = result.await;
    let own_page = result
        .as_ref()
        .map_or_else(|_| String::new(), |reader| format!("/@{reader}"));
    Form::new("delete_post").answer(result.map(drop), |()| {
        // The page of the post itself is gone.
        let back = referring_page().filter(|page| !page.starts_with("/post/"));
        Done::PostDeleted.at(&back.unwrap_or(own_page))
    })
}

/// Sets whether the reader likes a post. Sending it again changes nothing.
#[server(endpoint = "set_like")]
pub async fn set_like(post: String, on: bool) -> Result<ReactionState, ActionError> {
    let result = async {
        let (reader, post) = (session::require()?.handle, post.parse()?);
        if on {
            feed()?.reactions().like(&reader, post).await
        } else {
            feed()?.reactions().unlike(&reader, post).await
        }
    };
    Form::new("set_like").answer(result.await, |_| back_to_post(&post))
}

/// Sets whether the reader shares a post. Sending it again changes nothing.
#[server(endpoint = "set_share")]
pub async fn set_share(post: String, on: bool) -> Result<ReactionState, ActionError> {
    let result = async {
        let (reader, post) = (session::require()?.handle, post.parse()?);
        if on {
            feed()?.reactions().share(&reader, post).await
        } else {
            feed()?.reactions().unshare(&reader, post).await
        }
    };
    Form::new("set_share").answer(result.await, |_| back_to_post(&post))
}

/// Sets whether the reader keeps a post. Sending it again changes nothing.
#[server(endpoint = "set_bookmark")]
pub async fn set_bookmark(post: String, on: bool) -> Result<ReactionState, ActionError> {
    let result = list_post(PrivateList::Bookmarks, &post, on);
    Form::new("set_bookmark").answer(result.await, |_| back_to_post(&post))
}

/// Sets whether the reader hides a post. Sending it again changes nothing.
#[server(endpoint = "set_hidden")]
pub async fn set_hidden(post: String, on: bool) -> Result<ReactionState, ActionError> {
    let result = list_post(PrivateList::Hidden, &post, on);
    let done = if on { Done::PostHidden } else { Done::PostShown };
    Form::new("set_hidden").answer(result.await, |_| done.at(&page_of_form()))
}

/// Adds a post to one of the reader's private lists, or removes it.
async fn list_post(list: PrivateList, post: &str, on: bool) -> Result<ReactionState, Problem> {
    let (reader, post) = (session::require()?.handle, post.parse()?);
    let feed = feed()?;
    let list = feed.private_posts(list);
    if on {
        list.add(&reader, post).await
    } else {
        list.remove(&reader, post).await
    }
}

/// Sets whether one of the reader's own posts stands first on their page. Sending it again changes nothing.
#[server(endpoint = "set_pin")]
pub async fn set_pin(post: String, on: bool) -> Result<(), ActionError> {
    let result = async {
        let (reader, post) = (session::require()?.handle, post.parse()?);
        if on {
            feed()?.posts().pin(&reader, post).await
        } else {
            feed()?.posts().unpin(&reader, post).await
        }
    };
    Form::new("set_pin").answer(result.await, |()| back_to_post(&post))
}

/// The page that the form was on, at the post.
fn back_to_post(post: &str) -> String {
    let anchor = post
        .parse::<PostId>()
        .map(|id| format!("#post-{id}"))
        .unwrap_or_default();
    format!("{}{anchor}", page_of_form())
}
