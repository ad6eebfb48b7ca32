use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use model::{Comment, Handle, ItemId, Post, PostId};
use ui::escape::escape;
use ui::refusal::RejectedForm;

use crate::actions::comments::{AddComment, EditComment};
use crate::actions::posts::{Compose, EditPost};

/// Changes the text of the reader's own post.
#[component]
pub fn EditForm(
    /// The post.
    post: Post,
    /// The refusal of this form, if that is why the page is shown.
    refusal: Option<RejectedForm>,
) -> impl IntoView {
    view! {
        <FoldedForm
            test_id="edit-form"
            action=EditPost::url()
            summary=view! { "Edit this post" }.into_any()
            hidden=vec![("post", post.id.to_string())]
            author=post.author.handle
            draft=format!("draft edit {}", post.id)
            field="edit-text".to_owned()
            label="What the post says"
            text=post.text.to_string()
            hint="Likes, comments and shares stay. Everybody sees that the post was edited, and when."
            submit="Save the post"
            refusal
        />
    }
}

/// Changes the text of the reader's own comment.
#[component]
pub fn EditCommentForm(
    /// The comment.
    comment: Comment,
    /// The post that it is on.
    post: PostId,
    /// The refusal of this form, if that is why the page is shown.
    refusal: Option<RejectedForm>,
) -> impl IntoView {
    view! {
        <FoldedForm
            test_id="edit-comment-form"
            action=EditComment::url()
            open=true
            summary=view! { "Edit this comment" }.into_any()
            hidden=vec![("post", post.to_string()), ("comment", comment.id.to_string())]
            author=comment.user.handle
            draft=format!("draft edit {}", comment.id)
            field=format!("edit-{}", comment.id)
            label="What the comment says"
            text=comment.text.to_string()
            hint="Its place and its replies stay. Everybody sees that it was edited, and when."
            submit="Save"
            refusal
        />
    }
}

/// Answers a comment.
#[component]
pub fn ReplyForm(
    /// The comment to answer.
    to: Comment,
    /// The post that both are on.
    post: PostId,
    /// The id of the reply, so that a form that is sent twice is stored once.
    id: ItemId,
    /// The writer.
    author: Handle,
    /// The refusal of this form, if that is why the page is shown.
    refusal: Option<RejectedForm>,
) -> impl IntoView {
    view! {
        <FoldedForm
            test_id="reply-form"
            action=AddComment::url()
            summary=view! {
                "Reply"
                <span class="sr-only">{format!(" to {}", to.user.name)}</span>
            }
                .into_any()
            hidden=vec![("post", post.to_string()), ("reply_to", to.id.to_string()), ("id", id.to_string())]
            author
            draft=format!("draft reply {}", to.id)
            field=format!("reply-{}", to.id)
            label="Your reply"
            text=String::new()
            submit="Reply"
            refusal=refusal.filter(|refusal| refusal.kept("reply_to") == to.id.to_string())
        />
    }
}

/// Quotes a post with own words.
#[component]
pub fn QuoteForm(
    /// The post to quote.
    post: PostId,
    /// The id of the new post, so that a form that is sent twice is stored once.
    id: PostId,
    /// The writer.
    author: Handle,
    /// The refusal of this form, if that is why the page is shown.
    refusal: Option<RejectedForm>,
) -> impl IntoView {
    view! {
        <FoldedForm
            test_id="quote-form"
            action=Compose::url()
            summary=view! { "Quote this post" }.into_any()
            hidden=vec![("quote", post.to_string()), ("id", id.to_string())]
            author
            draft=format!("draft quote {post}")
            field="quote-text".to_owned()
            label="Your words about it"
            text=String::new()
            hint="It becomes a post of your own, with this one below your words."
            submit="Post"
            refusal
        />
    }
}

/// A form with one text, which opens at a click and is open when a text was refused. It needs no JavaScript; with it,
/// `public/forms.js` keeps a draft.
#[component]
fn FoldedForm(
    /// The form's test id.
    test_id: &'static str,
    /// The address of the server function.
    action: &'static str,
    /// What to click to open it.
    summary: AnyView,
    /// What else is sent, as names and values.
    hidden: Vec<(&'static str, String)>,
    /// The writer.
    author: Handle,
    /// The subject: the device stores the draft under it.
    draft: String,
    /// The id of the text field.
    field: String,
    /// The purpose of the text field.
    label: &'static str,
    /// The text to begin with.
    text: String,
    /// What happens when it is sent.
    #[prop(optional)]
    hint: Option<&'static str>,
    /// The button's label.
    submit: &'static str,
    /// Whether it is open already.
    #[prop(optional)]
    open: bool,
    /// The refusal of this form, if that is why the page is shown.
    refusal: Option<RejectedForm>,
) -> impl IntoView {
    let asked = open;
    let open = open || refusal.is_some();
    let text = refusal.as_ref().map_or(text, |refusal| refusal.kept("text"));
    let problem = refusal.and_then(|refusal| refusal.about("text"));
    let problem_id = format!("{field}-problem");
    view! {
        <details class="edit" open=open>
            <summary>{summary}</summary>
            <form method="post" action=action data-author=author.to_string() data-draft=draft data-testid=test_id>
                {hidden
                    .into_iter()
                    .map(|(name, value)| view! { <input type="hidden" name=name value=value autocomplete="off" /> })
                    .collect_view()}
                <label class="sr-only" for=field.clone()>
                    {label}
                </label>
                <textarea
                    id=field
                    name="text"
                    rows="3"
                    dir="auto"
                    autofocus=asked
                    data-completes="mention"
                    aria-invalid=problem.is_some().to_string()
                    aria-describedby=problem_id.clone()
                    autocomplete="off"
                    inner_html=escape(&text)
                ></textarea>
                <p class="field-problem" id=problem_id role="alert">
                    {problem}
                </p>
                {hint.map(|hint| view! { <p class="field-hint">{hint}</p> })}
                <button class="button">{submit}</button>
            </form>
        </details>
    }
}
