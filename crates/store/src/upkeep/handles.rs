//! Lists that are an array of plain handles, as in `followers: ["ada", "bob"]`.

use bson::{Bson, Document};
use model::{Counterpart, Handle, Relation, Timestamp};
use outlier::Elements;
use sha2::{Digest, Sha256};
use uuid::{Builder, Uuid};

use crate::overflow::{Item, Owner, owner_id};

/// Reads an array's elements as items `{id, by, at, …}` or, where everybody is in the list at most once, as plain
/// handles.
///
/// What a handle lacks is derived from its place, so that a repetition gives the same result: `at` is the owner's plus
/// a millisecond per place, which keeps the order of the array, and `id` is derived from the two people and the
/// relation.
pub(super) fn parse_array(
    owner: &Owner,
    document: &Document,
    relation: Relation,
    array: &[Bson],
) -> Elements {
    let since = document.get_datetime("at").ok().map(|at| at.timestamp_millis());
    let mut elements = Elements {
        form: "{id: UUID, by: handle, at: date}".to_owned(),
        ..Elements::default()
    };
    for (place, element) in array.iter().enumerate() {
        let item = match element {
            Bson::Document(item) => Item::from_document(item.clone()).map_err(|error| error.to_string()),
            Bson::String(handle) => from_handle(owner, relation, handle, place, since).inspect(|_| {
                elements.converted += 1;
            }),
            other => Err(format!("{other} is neither an item nor a handle")),
        };
        let item = item.and_then(|item| {
            if relation.once_per_actor() && item.by.is_none() {
                return Err("`by` is missing".to_owned());
            }
            Ok(item)
        });
        match item {
            Ok(item) => elements.items.push(item.into()),
            Err(why) => elements.unfit.push((place, why)),
        }
    }
    elements
}

fn from_handle(
    owner: &Owner,
    relation: Relation,
    handle: &str,
    place: usize,
    since: Option<i64>,
) -> Result<Item, String> {
    if !relation.once_per_actor() {
        return Err(format!("a plain handle is not enough for one of the {relation}"));
    }
    let by: Handle = handle
        .parse()
        .map_err(|_| format!("{handle:?} is not a handle; rename it first"))?;
    let since = since.ok_or("the owner has no date `at` from which the items' times could follow")?;
    let at = since.saturating_add(i64::try_from(place).unwrap_or(i64::MAX));
    Ok(Item::new(
        derived_id(owner, relation, &by),
        by,
        Timestamp::from_millis(at),
    ))
}

/// A name-based UUID (version 8, SHA-256). Both lists of a follow get the same one, as when the feed writes them.
fn derived_id(owner: &Owner, relation: Relation, handle: &Handle) -> Uuid {
    let owner = match owner_id(owner) {
        Bson::String(handle) => handle,
        other => other.to_string(),
    };
    let (relation, actor, of) = match relation.description().counterpart {
        Counterpart::Followers => (Relation::Followers, owner.as_str(), handle.as_str()),
        Counterpart::Nothing | Counterpart::Activity(_) | Counterpart::Object | Counterpart::Mirror(_) => {
            (relation, handle.as_str(), owner.as_str())
        }
    };
    let digest = Sha256::digest(format!("spillway\n{relation}\n{of}\n{actor}"));
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    Builder::from_custom_bytes(bytes).into_uuid()
}

#[cfg(test)]
mod tests {
    use bson::{DateTime, doc};
    use model::Topic;

    use super::*;

    fn user(name: &str) -> Owner {
        Topic::User(name.parse().unwrap())
    }

    #[test]
    fn handles_become_the_same_items_each_time_and_keep_their_order() {
        let document = doc! { "at": DateTime::from_millis(1_000) };
        let array = [Bson::from("bob"), Bson::from("cem")];
        let read = || parse_array(&user("ada"), &document, Relation::Followers, &array).items;
        assert_eq!(read(), read());
        let order = || read().into_iter().map(|item| item.order());
        let at: Vec<i64> = order().map(|(at, _)| at).collect();
        assert_eq!(at, [1_000, 1_001]);
        let ids: Vec<Uuid> = order().map(|(_, id)| id).collect();
        assert_ne!(ids[0], ids[1]);
    }

    #[test]
    fn both_ends_of_a_follow_have_one_id() {
        let bob: Handle = "bob".parse().unwrap();
        let ada: Handle = "ada".parse().unwrap();
        assert_eq!(
            derived_id(&user("ada"), Relation::Followers, &bob),
            derived_id(&user("bob"), Relation::Following, &ada)
        );
    }

    #[test]
    fn elements_that_are_not_items_are_reported_with_their_place() {
        let array = [Bson::from("bob"), Bson::from(7), Bson::from("Not A Handle")];
        let understood = parse_array(&user("ada"), &doc! {}, Relation::Followers, &array);
        let places: Vec<usize> = understood.unfit.iter().map(|(place, _)| *place).collect();
        assert_eq!(places, [0, 1, 2]);
        assert!(understood.unfit[0].1.contains("`at`"), "{:?}", understood.unfit);
    }
}
