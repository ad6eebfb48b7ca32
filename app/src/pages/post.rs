use feed::PrivateList;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use model::{Comment, CommentText, Handle, ItemId, Post, PostId, Problem, Relation, ReportTarget, Topic};
use ui::components::{BookmarkButton, TextForm, beginning, excerpt, grouped};
use ui::islands::Numbers;
use ui::preview::{PageKind, PublicPage};
use ui::request::{feed, loaded, now, query, rejected_form_of};
use ui::session;

use super::request::{ListPosition, post_in_path};
use crate::actions::comments::AddComment;
use crate::components::{
    CommentForms, CommentRow, EditForm, HideForm, List, PinForm, QuoteForm, ReportLink, UpdateSource, post,
};

/// A post with its comments.
#[component]
pub fn PostPage() -> impl IntoView {
    loaded(async { post_page(post_in_path()?, ListPosition::of_this_request()?).await })
}

/// What other sites show of a post.
fn preview(post: &Post) -> impl IntoView + use<> {
    let (path, text) = (format!("/post/{}", post.id), post.text.as_str());
    let likes = match post.likes {
        1 => "one like is".to_owned(),
        likes => format!("{} likes are", grouped(likes)),
    };
    let shows = format!("The post, and how its {likes} stored");
    view! {
        <PublicPage
            title=format!("{}: “{}”", post.author.name, beginning(text))
            description=excerpt(text)
            kind=PageKind::Article
            picture=Some((format!("{path}/card.png"), shows))
            path
        />
    }
}

async fn post_page(id: PostId, mut place: ListPosition) -> Result<impl IntoView, Problem> {
    let (feed, reader) = (feed()?, session::viewer());
    let named = |name| query(name).and_then(|comment| comment.parse::<ItemId>().ok());
    let edited = named("edit");
    if let Some(comment) = edited
        .or_else(|| named("comment"))
        .filter(|_| place.is_at_the_newest())
    {
        // If the comment is gone, the newest ones are shown.
        place.paging.after = feed.reactions().cursor_at_comment(id, comment).await?;
    }
    let reader = reader.map(|account| account.handle);
    let (card, comments, kept) = futures::try_join!(
        feed.posts().get(id, reader.as_ref()),
        feed.reactions().comments(id, reader.as_ref(), place.paging),
        is_kept(id, reader.as_ref())
    )?;

    let comments = feed
        .storage(reader.as_ref())
        .with_costs(&Topic::Post(id), Relation::Comments, comments)
        .await?;
    let signed_in = reader.is_some();
    let preview = preview(&card.post);
    let (likes, shares) = (card.post.likes, card.post.shares);
    let now = now();
    let form = reader
        .as_ref()
        .map(|author| comment_form(id, author, feed.fresh_id(now).into()));
    let fresh = Some(UpdateSource::Items {
        topic: Topic::Post(id),
        relation: Relation::Comments,
    });
    let own = reader.as_ref() == Some(&card.post.author.handle);
    let authors = if own {
        Some(for_the_author(&card.post).await?)
    } else {
        None
    };
    let quote_form = reader
        .as_ref()
        .map(|author| quote_form(id, author, feed.fresh_id(now).into()));
    let refusals = ["add_comment", "edit_comment"].map(rejected_form_of);
    let row = move |comment: Comment| {
        let forms = reader.as_ref().map(|reader| CommentForms {
            reader: reader.clone(),
            editing: edited == Some(comment.id),
            reply: feed.fresh_id(now).into(),
            refusals: refusals.clone(),
        });
        view! { <CommentRow comment post=id now forms /> }
    };
    Ok(view! {
        {preview}
        <h1 class="sr-only">{format!("Post by {}", card.post.author.name)}</h1>
        <article class="entry post entry-alone" id=format!("post-{id}") data-testid="post">
            <Numbers>
                {post(card, now, signed_in, own)}
            </Numbers>
        </article>
        {authors}
        <nav class="about" aria-label="About this post" data-topic=Topic::Post(id).to_string()>
            <Numbers>
                <div class="tabs">
                    <a href=format!("/post/{id}/likes")>
                        <b data-number="likes" data-count=likes>{grouped(likes)}</b>
                        <span>" like" <span class="plural">"s"</span></span>
                    </a>
                    <a href=format!("/post/{id}/shares")>
                        <b data-number="shares" data-count=shares>{grouped(shares)}</b>
                        <span>" share" <span class="plural">"s"</span></span>
                    </a>
                </div>
                {kept.map(|(kept, _)| view! { <BookmarkButton post=id kept /> })}
            </Numbers>
        </nav>
        {kept
            .filter(|_| !own)
            .map(|(_, hidden)| for_a_reader(id, hidden))}
        {quote_form}
        <section aria-labelledby="comments">
            <h2 id="comments" class="section-head">
                "Comments"
            </h2>
            {(!signed_in)
                .then(|| {
                    view! {
                        <p class="invitation">
                            <a href=format!("/login?next=/post/{id}")>"Sign in"</a>
                            " to join the conversation."
                        </p>
                    }
                })}
            <List listing=comments place fresh label="Comments" empty=Relation::Comments.description().empty row form />
        </section>
    })
}

/// The form to quote a post.
fn quote_form(post: PostId, author: &Handle, id: PostId) -> impl IntoView + use<> {
    let refusal = rejected_form_of("compose");
    let refusal = refusal.filter(|refusal| refusal.kept("quote") == post.to_string());
    view! { <QuoteForm post id author=author.clone() refusal /> }
}

/// The form for a comment on a post.
fn comment_form(post: PostId, author: &Handle, id: ItemId) -> AnyView {
    let refusal = rejected_form_of("add_comment");
    view! {
        <TextForm
            test_id="comment-form"
            action=AddComment::url()
            field="comment-text"
            label="Write a comment"
            placeholder="Add a comment"
            submit="Comment"
            most=CommentText::MAX
            id=id.uuid()
            hidden=("post", post.to_string())
            author=author.clone()
            draft=format!("draft {post}")
            // The same action answers a comment.
            refusal=refusal.filter(|refusal| refusal.kept("reply_to").is_empty())
        />
    }
    .into_any()
}

/// Whether the reader keeps a post, and whether they hide it; `None` if nobody is signed in.
async fn is_kept(id: PostId, reader: Option<&Handle>) -> Result<Option<(bool, bool)>, Problem> {
    let Some(reader) = reader else {
        return Ok(None);
    };
    let feed = feed()?;
    let [kept, hidden] = [PrivateList::Bookmarks, PrivateList::Hidden].map(|list| feed.private_posts(list));
    futures::try_join!(kept.has(reader, id), hidden.has(reader, id)).map(Some)
}

/// What a reader can do about somebody else's post.
fn for_a_reader(id: PostId, hidden: bool) -> impl IntoView {
    view! {
        <div class="post-choices">
            <HideForm post=id hidden />
            <ReportLink target=ReportTarget::Post(id) />
        </div>
    }
}

/// What the author can do with a post besides deleting it.
async fn for_the_author(post: &Post) -> Result<impl IntoView + use<>, Problem> {
    let pinned = feed()?.posts().is_pinned(&post.author.handle, post.id).await?;
    let (id, post, refusal) = (post.id, post.clone(), rejected_form_of("edit_post"));
    Ok(view! {
        <EditForm post refusal />
        <PinForm post=id pinned />
    })
}
