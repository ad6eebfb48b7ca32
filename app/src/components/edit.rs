use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use model::Post;
use ui::escape::escape;
use ui::refusal::RejectedForm;

use crate::actions::posts::EditPost;

/// Changes the text of the reader's own post. It needs no JavaScript, and is open when a text was refused.
#[component]
pub fn EditForm(
    /// The post.
    post: Post,
    /// The refusal of this form, if that is why the page is shown.
    refusal: Option<RejectedForm>,
) -> impl IntoView {
    let is_refused = refusal.is_some();
    let text = match &refusal {
        Some(refusal) => refusal.kept("text"),
        None => post.text.to_string(),
    };
    let problem = refusal.and_then(|refusal| refusal.about("text"));
    view! {
        <details class="edit" open=is_refused>
            <summary>"Edit this post"</summary>
            <form method="post" action=EditPost::url() data-testid="edit-form">
                <input type="hidden" name="post" value=post.id.to_string() />
                <label class="sr-only" for="edit-text">
                    "What the post says"
                </label>
                <textarea
                    id="edit-text"
                    name="text"
                    rows="4"
                    aria-invalid=problem.is_some().to_string()
                    aria-describedby="edit-text-problem"
                    autocomplete="off"
                    inner_html=escape(&text)
                ></textarea>
                <p class="field-problem" id="edit-text-problem" role="alert">
                    {problem}
                </p>
                <p class="field-hint">"Likes, comments and shares stay. Everybody sees that the post was edited, and when."</p>
                <button class="button">"Save the post"</button>
            </form>
        </details>
    }
}
