//! Feeds in Atom (RFC 4287).

use axum::extract::{Path, Request, State};
use axum::response::Response;
use feed::{Feed, Paging};
use model::{Handle, Kind, Post, PostCard, Problem, Profile, Tag, Timestamp};
use ui::components::beginning;
use ui::escape::escape;
use web::{ErrorResponse, Origin, Version};

use super::Outside;
use super::xml::Xml;
use crate::http::for_a_person;

/// How many posts a feed has.
const POSTS: usize = 50;

/// A person's posts, newest first.
pub async fn of_person(
    State(outside): State<Outside>,
    Path(segment): Path<String>,
    request: Request,
) -> Response {
    let atom = person(&outside.feed, &segment).await;
    respond(&outside, &request, atom)
}

/// Everybody's posts with a tag, newest first.
pub async fn of_tag(State(outside): State<Outside>, Path(tag): Path<String>, request: Request) -> Response {
    let atom = tagged(&outside.feed, &tag).await;
    respond(&outside, &request, atom)
}

/// Everybody's posts, most liked first.
pub async fn of_explore(State(outside): State<Outside>, request: Request) -> Response {
    let atom = explore(&outside.feed).await;
    respond(&outside, &request, atom)
}

/// A feed before it is written.
struct Atom {
    title: String,
    /// The path of the page with the same posts.
    path: String,
    /// Whose posts they are; `None` if each post says so itself.
    author: Option<Profile>,
    posts: Vec<PostCard>,
    /// Whether it cannot change without a new time, as a list by likes can.
    dated: bool,
}

fn paging() -> Paging {
    Paging {
        limit: POSTS,
        ..Paging::default()
    }
}

async fn person(feed: &Feed, segment: &str) -> Result<Atom, Problem> {
    let nobody = || Problem::new(Kind::NotFound, "There is nobody with this handle.");
    let handle = segment.strip_prefix('@').ok_or_else(nobody)?;
    let handle: Handle = handle.parse().map_err(|_| nobody())?;
    let (profile, posts) = futures::try_join!(
        feed.people().profile(&handle, None),
        feed.posts().written_by(&handle, paging())
    )?;
    Ok(Atom {
        title: format!("{} (@{handle})", profile.name),
        path: format!("/@{handle}"),
        author: Some(profile),
        posts: posts.items,
        dated: true,
    })
}

async fn tagged(feed: &Feed, tag: &str) -> Result<Atom, Problem> {
    let tag: Tag = tag
        .parse()
        .map_err(|_| Problem::new(Kind::NotFound, "This is not a valid tag."))?;
    let posts = feed.posts().tagged(&tag, None, paging()).await?;
    Ok(Atom {
        title: format!("#{tag}"),
        path: format!("/tags/{tag}"),
        author: None,
        posts: posts.items,
        dated: true,
    })
}

async fn explore(feed: &Feed) -> Result<Atom, Problem> {
    let posts = feed.posts().explore(None, paging()).await?;
    Ok(Atom {
        title: "Explore".to_owned(),
        path: "/explore".to_owned(),
        author: None,
        posts: posts.items,
        dated: false,
    })
}

fn respond(outside: &Outside, request: &Request, atom: Result<Atom, Problem>) -> Response {
    let atom = match atom {
        Ok(atom) => atom,
        Err(problem) => return ErrorResponse::from(problem).respond(for_a_person(request)),
    };
    let text = atom.written(&outside.origin(request));
    let version = match Version::of(&text) {
        version if atom.dated => version.modified(atom.updated()),
        version => version,
    };
    version.answer(request.headers(), "application/atom+xml; charset=utf-8", text)
}

impl Atom {
    /// The time of the newest post or edit; without one, that of its author's joining, or else the beginning of time.
    fn updated(&self) -> Timestamp {
        let posts = self.posts.iter().map(|card| updated(&card.post));
        let joined = || self.author.as_ref().map(|author| author.at);
        posts.max().or_else(joined).unwrap_or(Timestamp::from_millis(0))
    }

    fn written(&self, origin: &Origin) -> String {
        let own = format!("{}/feed.atom", self.path);
        // An id has to be absolute. Where the site has no address of its own, the feed is read on a local network.
        let id = origin.absolute(&own);
        let id = id.unwrap_or_else(|| format!("urn:spillway:feed:{own}"));
        Xml::document("feed", &[("xmlns", "http://www.w3.org/2005/Atom")], |xml| {
            xml.text("id", &id);
            xml.text("title", &format!("{} · Spillway", self.title));
            xml.text("updated", &self.updated().to_string());
            link(xml, "self", "application/atom+xml", &address(origin, &own));
            link(xml, "alternate", "text/html", &address(origin, &self.path));
            if let Some(profile) = &self.author {
                if !profile.bio.is_empty() {
                    xml.text("subtitle", &profile.bio);
                }
                author(xml, origin, &profile.handle, profile.name.as_str());
            }
            for card in &self.posts {
                entry(xml, origin, &card.post, self.author.is_none());
            }
        })
    }
}

/// When a post got the text that it has.
fn updated(post: &Post) -> Timestamp {
    post.edited_at.unwrap_or(post.at)
}

fn entry(xml: &mut Xml, origin: &Origin, post: &Post, names_author: bool) {
    let text = post.text.as_str();
    xml.within("entry", &[], |xml| {
        xml.text("id", &format!("urn:uuid:{}", post.id));
        xml.text("title", &beginning(text));
        xml.text("published", &post.at.to_string());
        xml.text("updated", &updated(post).to_string());
        let path = format!("/post/{}", post.id);
        link(xml, "alternate", "text/html", &address(origin, &path));
        if names_author {
            author(xml, origin, &post.author.handle, post.author.name.as_str());
        }
        for tag in Tag::all_of(text) {
            xml.empty("category", &[("term", tag.as_str())]);
        }
        let mut content = html(text);
        if let Some(quote) = &post.quote {
            let there = address(origin, &format!("/post/{}", quote.id));
            let words = quote
                .text
                .as_ref()
                .map_or_else(String::new, |text| html(text.as_str()));
            let name = quote
                .author
                .as_ref()
                .map_or("a post", |author| author.name.as_str());
            let name = escape(name);
            let name = format!("<p><a href=\"{there}\">{name}</a></p>");
            content.extend(["<blockquote>", &words, &name, "</blockquote>"]);
        }
        xml.html("content", &content);
    });
}

/// A text as HTML.
fn html(text: &str) -> String {
    escape(text).replace('\n', "<br>")
}

fn author(xml: &mut Xml, origin: &Origin, handle: &Handle, name: &str) {
    xml.within("author", &[], |xml| {
        xml.text("name", name);
        xml.text("uri", &address(origin, &format!("/@{handle}")));
    });
}

fn link(xml: &mut Xml, relation: &str, kind: &str, address: &str) {
    xml.empty("link", &[("rel", relation), ("type", kind), ("href", address)]);
}

/// The absolute address of a path, or else one relative to the feed's own.
fn address(origin: &Origin, path: &str) -> String {
    origin.absolute(path).unwrap_or_else(|| path.to_owned())
}
