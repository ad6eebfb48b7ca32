//! The parameters of the extractors in the description of the API. The bounds are those that the extractors check.

use feed::Paging;
use model::{Handle, ItemId, PostId, Search, SessionId, Tag};
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, Schema, Type};
use utoipa::openapi::{RefOr, Required};
use utoipa::{IntoParams, PartialSchema};

use crate::events::{MOST_TOPICS, Watched};
use crate::extract::{InPath, Segment, SessionPath, Stretch};
use crate::posts::Explored;
use crate::search::Wanted;

/// A topic as this server writes it.
const TOPIC: &str = "^(post:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|user:[a-z0-9][a-z0-9_-]{1,29})$";
/// A handle in any of the accepted forms.
const HANDLE: &str = r"^\s*@*[A-Za-z0-9][A-Za-z0-9_-]{1,29}\s*$";

impl IntoParams for InPath<PostId> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![in_path(PostId::NAME, "The post.", PostId::schema())]
    }
}

impl IntoParams for InPath<ItemId> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![in_path(ItemId::NAME, "The comment on it.", ItemId::schema())]
    }
}

impl IntoParams for InPath<Handle> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![in_path(Handle::NAME, "The person's handle.", Handle::schema())]
    }
}

impl IntoParams for SessionPath {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![in_path("id", "The session.", SessionId::schema())]
    }
}

impl IntoParams for InPath<Tag> {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let tag = text().examples(["weir"]).into();
        let words =
            "The tag without its #: 1 to 50 letters, digits and _ of any script, with at least one letter.";
        vec![in_path(Tag::NAME, words, tag)]
    }
}

impl IntoParams for Stretch {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let limit = ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(1))
            .maximum(Some(Paging::MAX_LIMIT))
            .default(Some(Paging::DEFAULT_LIMIT.into()));
        vec![
            in_query(
                "cursor",
                "Where to continue: `next` of the previous answer. It stays valid while the list changes. Other lists refuse it.",
                cursor(),
            ),
            in_query("limit", "The maximum number of items.", limit.into()),
        ]
    }
}

impl IntoParams for Wanted {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let words = text()
            .min_length(Some(1))
            .max_length(Some(Search::MAX))
            .examples(["weir #hochwasser"]);
        vec![
            parameter(
                ParameterIn::Query,
                "q",
                "The words. A word that begins with # is a tag. The first eight different words count.",
                words.into(),
            )
            .required(Required::True)
            .build(),
            in_query("kind", "What to find.", one_of(["posts", "people"])),
            in_query(
                "order",
                "Posts: the newest first, or the most liked. People have an order of their own.",
                one_of(["newest", "liked"]),
            ),
        ]
    }
}

impl IntoParams for Explored {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        vec![in_query(
            "order",
            "The most liked first, or those with many likes for their age.",
            one_of(["liked", "rising"]),
        )]
    }
}

impl IntoParams for Watched {
    fn into_params(_: impl Fn() -> Option<ParameterIn>) -> Vec<Parameter> {
        let topics = ArrayBuilder::new()
            .items(text().pattern(Some(TOPIC)).examples(["user:ada"]))
            .max_items(Some(MOST_TOPICS));
        vec![
            in_query(
                "topic",
                "What to watch: `post:{id}` or `user:{handle}`, 1 to 100 of them, each as its own parameter. \
                 Optional with `posts`.",
                topics.into(),
            ),
            in_query(
                "posts",
                "Which new posts to count: those of `home`, or of the person with this handle.",
                text().pattern(Some(HANDLE)).examples(["home"]).into(),
            ),
            in_query(
                "since",
                "Posts after this cursor count as new. It is the `next` of a list of posts that is sorted by time.",
                cursor(),
            ),
        ]
    }
}

fn text() -> ObjectBuilder {
    ObjectBuilder::new().schema_type(Type::String)
}

/// One of two choices, the first of which need not be named.
fn one_of(choices: [&'static str; 2]) -> RefOr<Schema> {
    let choice = text().enum_values(Some(choices));
    choice.default(Some(choices[0].into())).into()
}

/// What a cursor looks like; which of them a list takes, only the list can tell.
fn cursor() -> RefOr<Schema> {
    text().pattern(Some("^[A-Za-z0-9_-]{50}$")).into()
}

fn in_path(name: &str, words: &str, schema: RefOr<Schema>) -> Parameter {
    parameter(ParameterIn::Path, name, words, schema)
        .required(Required::True)
        .build()
}

fn in_query(name: &str, words: &str, schema: RefOr<Schema>) -> Parameter {
    parameter(ParameterIn::Query, name, words, schema)
        .required(Required::False)
        .build()
}

fn parameter(place: ParameterIn, name: &str, words: &str, schema: RefOr<Schema>) -> ParameterBuilder {
    ParameterBuilder::new()
        .name(name)
        .parameter_in(place)
        .description(Some(words))
        .schema(Some(schema))
}
