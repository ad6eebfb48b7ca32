//! Commenting on posts.

#![expect(
    missing_docs,
    reason = "the macro turns arguments into public fields that cannot carry docs"
)]

use leptos::prelude::*;
use model::{CommentText, ItemId, PostId};
use ui::notice::Done;
use ui::refusal::ActionError;
use ui::reply::Form;
use ui::request::feed;
use ui::session;

/// Comments on a post. Sending the same `id` again does not create a second comment.
#[server(endpoint = "add_comment")]
pub async fn add_comment(
    post: String,
    text: String,
    #[server(default)] id: String,
) -> Result<ItemId, ActionError> {
    let form = Form::new("add_comment").keeping("text", &text);
    let result = async {
        let author = session::require()?;
        let post: PostId = post.parse()?;
        let id = if id.is_empty() { None } else { Some(id.parse()?) };
        let (feed, author, text) = (feed()?, &author.handle, text.parse::<CommentText>()?);
        let comment = feed.reactions().comment(author, post, id, text.clone()).await?;
        if comment.text == text {
            return Ok(comment.id);
        }
        // The browser went back to a form that was sent before, and this is another text.
        Ok(feed.reactions().comment(author, post, None, text).await?.id)
    };
    form.answer(result.await, |comment| format!("/post/{post}#comment-{comment}"))
}

/// Deletes one of the reader's own comments.
#[server(endpoint = "delete_comment")]
pub async fn delete_comment(post: String, comment: String) -> Result<(), ActionError> {
    let result = async {
        let (reader, post) = (session::require()?.handle, post.parse()?);
        feed()?
            .reactions()
            .delete_comment(&reader, post, comment.parse()?)
            .await?;
        Ok(post)
    };
    let result: Result<PostId, _> = result.await;
    let page = result
        .as_ref()
        .map_or_else(|_| String::new(), |post| format!("/post/{post}"));
    Form::new("delete_comment").answer(result.map(drop), |()| Done::CommentDeleted.at(&page))
}
