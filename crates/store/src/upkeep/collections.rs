//! The feed's collections of owners, as the tools of the outlier pattern see them.

use bson::{Bson, Document};
use model::{
    ActivityKind, CommentText, DisplayName, Handle, Items, NotificationKind, PostId, PostText, Relation,
    Topic,
};
use outlier::{Collection, Elements, ListSpec, fields};
use uuid::Uuid;

use super::handles::parse_array;
use crate::overflow::{Owner, actor, named, owners_of};
use crate::{Settings, Store, people, posts};

/// The collections of owners.
pub(crate) const COLLECTIONS: [&str; 2] = [people::COLLECTION, posts::COLLECTION];

/// What the tools of the pattern work on, in the order of [`COLLECTIONS`].
pub(crate) fn collections(store: &Store) -> [Collection; 2] {
    let lists = |collection| {
        let relations = relations_of(collection).into_iter();
        relations.map(|relation| store.lists(relation).clone()).collect()
    };
    let mut users = Collection::new(lists(people::COLLECTION), "string");
    users.owner = |id| owner_of(people::COLLECTION, id).map(|owner| named(&owner));
    users.faults = |user| {
        let name = text(user, "name").parse::<DisplayName>().is_ok();
        faults(user, &[("name", name)])
    };
    let mut posts = Collection::new(lists(posts::COLLECTION), "binData");
    posts.owner = |id| owner_of(posts::COLLECTION, id).map(|owner| named(&owner));
    posts.faults = |post| {
        let author = text(post, "author").parse::<Handle>().is_ok();
        let words = text(post, "text").parse::<PostText>().is_ok();
        faults(post, &[("author", author), ("text", words)])
    };
    let mut all = [users, posts];
    for collection in &mut all {
        collection.item = fits;
        collection.most = Settings::MOST;
        collection.beside = &["at"];
        collection.elements = |spec, owner, document, array| {
            let named = owner_of(&spec.owners, &owner.id()).zip(relation_of(spec));
            named.map_or_else(Elements::default, |(owner, relation)| {
                parse_array(&owner, document, relation, array)
            })
        };
    }
    all
}

/// The relations of a collection's owners.
pub(crate) fn relations_of(collection: &str) -> Vec<Relation> {
    let of_it = |relation: &Relation| owners_of(*relation) == collection;
    Relation::ALL.into_iter().filter(of_it).collect()
}

/// The relation whose lists these are.
pub(crate) fn relation_of(spec: &ListSpec) -> Option<Relation> {
    spec.path.parse().ok()
}

/// The owner that an `_id` of a collection names; `None` if it names none.
pub(crate) fn owner_of(collection: &str, id: &Bson) -> Option<Owner> {
    match id {
        Bson::String(handle) if collection == people::COLLECTION => {
            handle.parse::<Handle>().ok().map(Topic::User)
        }
        Bson::Binary(binary) if collection == posts::COLLECTION => Uuid::from_slice(&binary.bytes)
            .ok()
            .map(|id| Topic::Post(PostId::from(id))),
        _ => None,
    }
}

fn text<'d>(document: &'d Document, field: &str) -> &'d str {
    document.get_str(field).unwrap_or_default()
}

/// What is wrong with an owner document apart from its lists.
fn faults(owner: &Document, fields: &[(&str, bool)]) -> Vec<String> {
    let at = ("at", matches!(owner.get("at"), Some(Bson::DateTime(_))));
    let unfit = [at]
        .into_iter()
        .chain(fields.iter().copied())
        .filter(|(_, fits)| !fits);
    unfit
        .map(|(field, _)| format!("`{field}` is missing or not what it should be"))
        .collect()
}

/// Whether an item has what the feed needs of it.
fn fits(spec: &ListSpec, item: &Document) -> Result<(), String> {
    let form = || {
        fields::uuid(item, "id")?;
        let by = actor(item.get("by"))?;
        fields::date(item, "at")?;
        document::Result::Ok(by.is_some())
    };
    let has_actor = form().map_err(|error| error.to_string())?;
    let Some(relation) = relation_of(spec) else {
        return Ok(());
    };
    let (whole, otherwise) = match relation.description().items {
        Items::Activities => (
            text(item, "kind").parse::<ActivityKind>().is_ok(),
            "an activity without a kind",
        ),
        Items::Comments => (
            has_actor && text(item, "text").parse::<CommentText>().is_ok(),
            "a comment without an author or a text",
        ),
        Items::People => (has_actor, "`by` is missing"),
        Items::Posts => (!has_actor, "`by` does not belong to a post"),
        Items::Notifications => (
            text(item, "kind").parse::<NotificationKind>().is_ok(),
            "a notification without a kind",
        ),
    };
    if whole { Ok(()) } else { Err(otherwise.to_owned()) }
}
