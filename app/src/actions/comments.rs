//! Commenting on posts.

#![expect(
    missing_docs,
    reason = "the macro turns arguments into public fields that cannot carry docs"
)]

use feed::NewComment;
use leptos::prelude::*;
use model::{ItemId, PostId};
use ui::notice::Done;
use ui::refusal::ActionError;
use ui::reply::Form;
use ui::request::feed;
use ui::session;

use crate::components::comment_address;

/// Comments on a post. Sending the same `id` again does not create a second comment.
#[server(endpoint = "add_comment")]
pub async fn add_comment(
    post: String,
    text: String,
    #[server(default)] id: String,
    #[server(default)] reply_to: String,
) -> Result<ItemId, ActionError> {
    let form = Form::new("add_comment")
        .keeping("text", &text)
        .keeping("reply_to", &reply_to);
    let result = async {
        let author = session::require()?;
        let post: PostId = post.parse()?;
        let given = |id: &str| (!id.is_empty()).then(|| id.parse()).transpose();
        let new = NewComment {
            id: given(&id)?,
            text: text.parse()?,
            reply_to: given(&reply_to)?,
        };
        let (feed, author) = (feed()?, &author.handle);
        let comment = feed.reactions().comment(author, post, new.clone()).await?;
        if comment.text == new.text {
            return Ok(comment.id);
        }
        // The browser went back to a form that was sent before, and this is another text.
        let another = NewComment { id: None, ..new };
        Ok(feed.reactions().comment(author, post, another).await?.id)
    };
    form.answer(result.await, |comment| format!("/post/{post}#comment-{comment}"))
}

/// Changes the text of one of the reader's own comments.
#[server(endpoint = "edit_comment")]
pub async fn edit_comment(post: String, comment: String, text: String) -> Result<(), ActionError> {
    let form = Form::new("edit_comment")
        .keeping("text", &text)
        .keeping("comment", &comment);
    let result = async {
        let (reader, text) = (session::require()?.handle, text.parse()?);
        feed()?
            .reactions()
            .edit_comment(&reader, post.parse()?, comment.parse()?, text)
            .await
    };
    form.answer(result.await.map(drop), |()| {
        Done::CommentEdited.at(&comment_address(&post, &comment))
    })
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
