//! What a page says about itself to other sites: its address, and the preview that they show for a link to it.

use axum::http::request::Parts;
use leptos::either::Either;
use leptos::prelude::*;
use leptos_meta::{Link, Meta};
use web::{Origin, PublicAddress};

use crate::title::DocumentTitle;

/// The kinds of pages that previews distinguish.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageKind {
    /// A list, or the site itself.
    Website,
    /// A post.
    Article,
    /// A person.
    Profile,
}

impl PageKind {
    /// The word for it in the Open Graph protocol.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Website => "website",
            Self::Article => "article",
            Self::Profile => "profile",
        }
    }
}

/// The title, the description, the canonical address and the preview of a page that everybody can read. Texts may be
/// what people wrote. Twitter reads the tags of Open Graph, except for the kind of card.
#[component]
pub fn PublicPage(
    /// The title of the page.
    #[prop(into)]
    title: String,
    /// What is on it, in a sentence or two.
    #[prop(into)]
    description: String,
    /// What kind of page it is.
    kind: PageKind,
    /// The path that counts as its address, whatever part of a list it shows.
    #[prop(into)]
    path: String,
    /// Whether there is a feed of its posts.
    #[prop(optional)]
    feed: bool,
    /// The path of a picture of it, 1,200 by 630 pixels, with what it shows; without one, the icon is shown.
    #[prop(optional_no_strip)]
    picture: Option<(String, String)>,
) -> impl IntoView {
    let origin = origin();
    let address = origin.absolute(&path);
    let feed = feed.then_some(path + "/feed.atom");
    view! {
        <DocumentTitle text=title.clone() />
        <Meta name="description" content=description.clone() />
        {feed.map(|feed| view! { <Link rel="alternate" type_="application/atom+xml" href=feed /> })}
        <Meta property="og:title" content=title />
        <Meta property="og:description" content=description />
        <Meta property="og:type" content=kind.as_str() />
        <Meta property="og:site_name" content="Spillway" />
        <Meta
            name="twitter:card"
            content=if picture.is_some() { "summary_large_image" } else { "summary" }
        />
        {address
            .map(|address| {
                view! {
                    <Link rel="canonical" href=address.clone() />
                    <Meta property="og:url" content=address />
                }
            })}
        {match picture {
            None => Either::Left(
                origin.absolute("/icon-512.png").map(|icon| view! { <Meta property="og:image" content=icon /> }),
            ),
            Some((path, shows)) => Either::Right(
                origin
                    .absolute(&path)
                    .map(|picture| {
                        view! {
                            <Meta property="og:image" content=picture />
                            <Meta property="og:image:width" content="1200" />
                            <Meta property="og:image:height" content="630" />
                            <Meta property="og:image:alt" content=shows />
                        }
                    }),
            ),
        }}
    }
}

/// The origin for absolute addresses in this answer.
fn origin() -> Origin {
    let (public, parts) = (use_context::<PublicAddress>(), use_context::<Parts>());
    let origin = public.zip(parts);
    let origin = origin.map(|(public, parts)| public.origin(&parts.uri, &parts.headers));
    origin.unwrap_or_default()
}
