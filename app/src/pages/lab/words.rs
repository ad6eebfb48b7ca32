//! What the stations say about commands, guards and lists.

use bson::{Bson, Document};
use lab::{Answer, Call, Entry, Fault, Verb};
use model::Handle;
use store::port::{Change, Find, Update};

use crate::components::grouped;

/// A name as it begins a sentence.
pub fn capital(name: &str) -> String {
    let mut letters = name.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

/// What a command is for.
pub fn purpose(call: &Call) -> &'static str {
    match (call.collection.as_str(), &call.verb) {
        ("users", Verb::Find(_)) => "Look how many items there are",
        ("users", Verb::FindAndModify(_)) => "Push the item, if the count is still below the threshold",
        ("users", Verb::Update(update)) if changes(update, "$push", "activities") => {
            "Push the item into the primary document"
        }
        ("users", Verb::Update(_)) => "Count the item, and mark the owner as overflowing",
        ("overflowActivities", _) => "Push the item into an overflow document",
        ("posts", Verb::Find(find)) => looking(find),
        ("posts", Verb::FindAndModify(change)) => match &change.update {
            Change::Operators(change)
                if has(change, "$inc", "likes.spilled") && has(change, "$push", "likes.head") =>
            {
                "Commit and push: in one write the page counts, its items leave the head, and the item comes in"
            }
            Change::Operators(change) if has(change, "$push", "likes.head") => {
                "Push and count the item in one write, if nothing has changed that this rests on"
            }
            Change::Operators(change) if has(change, "$push", "likes.pending") => {
                "Count the item out and note it as pending: from now on readers leave it out"
            }
            _ => "Take the item out of the head and out of the count, in one write",
        },
        ("posts", Verb::Update(update)) if changes(update, "$pull", "likes.pending") => {
            "Strike the note: the removal is finished"
        }
        ("posts", Verb::Update(_)) => "Begin a new revision, so that a page left behind can be replaced",
        ("posts", Verb::Delete(..)) => "Delete the owner: from now on nobody reads its pages",
        ("pages", Verb::Find(find)) if find.filter.keys().any(|field| field.starts_with("items.")) => {
            "Look whether the actor is in a page"
        }
        ("pages", Verb::Find(_)) => "Read the page that stands there already: is it this chunk?",
        ("pages", Verb::Update(update)) if update.upsert => {
            "Write the oldest items into a page, which nobody reads yet"
        }
        ("pages", Verb::Update(_)) => "Take an emptied page out of readers’ way",
        ("pages", Verb::FindAndModify(_)) => "Take the item out of its page",
        ("pages", Verb::Distinct(..) | Verb::Count(_)) => "Look which pages are left",
        ("pages", Verb::Delete(..)) => "Delete the pages that belong to nobody",
        _ => "Look",
    }
}

fn looking(find: &Find) -> &'static str {
    if find.filter.keys().any(|field| field.starts_with("likes.head")) {
        "Look whether the actor is in the head"
    } else if find.projection.contains_key("likes.head") {
        "Read the whole head"
    } else {
        "Look how many items and pages there are"
    }
}

fn changes(update: &Update, operator: &str, field: &str) -> bool {
    matches!(&update.update, Change::Operators(change) if has(change, operator, field))
}

fn has(change: &Document, operator: &str, field: &str) -> bool {
    change
        .get_document(operator)
        .is_ok_and(|fields| fields.contains_key(field))
}

/// What came back.
pub fn answer(entry: &Entry) -> Option<String> {
    let answer = entry.answer.as_ref()?;
    Some(match answer {
        Answer::Found(documents) => match documents.as_slice() {
            [] => "There is none.".to_owned(),
            [document] => counts(document).unwrap_or_else(|| "Found.".to_owned()),
            several => format!("{} documents.", several.len()),
        },
        Answer::Different(values) => format!("{values} found."),
        Answer::Counted(count) => format!("{count} found."),
        Answer::Inserted => "Written.".to_owned(),
        Answer::Deleted(gone) => format!("{gone} deleted."),
        Answer::Refused(why) if why.starts_with("E11000") => {
            "Refused: there is one with this key already. Nothing was written.".to_owned()
        }
        Answer::Refused(why) => why.clone(),
        changed if changed.changed_nothing() => "Nothing was written.".to_owned(),
        Answer::Updated(_) | Answer::Modified(_) => "Written.".to_owned(),
    })
}

/// What an owner says about its list.
fn counts(document: &Document) -> Option<String> {
    let number = |value: Option<&Bson>| value.and_then(Bson::as_i64).and_then(|n| u64::try_from(n).ok());
    if let Some(count) = number(document.get("activityCount")) {
        return Some(format!("{}.", items(count)));
    }
    let list = document.get_document("likes").ok()?;
    let count = items(number(list.get("count"))?);
    Some(match number(list.get("pages"))? {
        0 => format!("{count}, no page."),
        1 => format!("{count}, 1 page."),
        pages => format!("{count}, {pages} pages."),
    })
}

/// So many items.
pub fn items(count: u64) -> String {
    match count {
        1 => "1 item".to_owned(),
        count => format!("{} items", grouped(count)),
    }
}

/// So many pages.
pub fn pages(count: u64) -> String {
    match count {
        1 => "1 page".to_owned(),
        count => format!("{} pages", grouped(count)),
    }
}

/// Which guard failed, and what the writer does about it; nothing where none did.
pub fn failure(entry: &Entry, name: &str) -> Option<String> {
    if entry.failed.is_empty() {
        return None;
    }
    let conditions: Vec<&str> = entry.failed.keys().map(|field| condition(field)).collect();
    let conditions = conditions.join("; ");
    Some(format!(
        "The guard failed, because this no longer holds: {conditions}. {} has to look again.",
        capital(name)
    ))
}

fn condition(field: &str) -> &str {
    match field {
        "activityCount" => "the count is below the threshold",
        "$expr" => "there is room in the head",
        "likes.pages" => "there are as many pages as when it looked",
        "likes.floor" => "nothing has spilled since it looked",
        "likes.head.by" => "the actor is not in the head",
        "likes.head" => "the head is as long as when it was read",
        "likes.rev" => "the head has the revision that was read",
        "born" => "it is the same owner",
        other => other,
    }
}

/// What is wrong with a list.
pub fn fault(fault: &Fault) -> String {
    let who = |handles: &[Handle]| match handles {
        [one] => one.to_string(),
        several => items(several.len() as u64),
    };
    let are = |handles: &[Handle]| if handles.len() == 1 { "is" } else { "are" };
    match fault {
        Fault::TooMany { held, most } => {
            format!(
                "{} in a primary document that may hold {}",
                items(*held),
                grouped(*most)
            )
        }
        Fault::Lost(lost) => format!("{} {} lost", who(lost), are(lost)),
        Fault::Doubled(twice) => format!("{} {} in the list twice", who(twice), are(twice)),
        Fault::Strangers(strangers) => format!(
            "{} {} in the list and ought not to be",
            who(strangers),
            are(strangers)
        ),
        Fault::Miscounted { said, found } => {
            format!(
                "the count says {}, a reader finds {}",
                grouped(*said),
                grouped(*found)
            )
        }
        Fault::Orphans(pages) => format!("{pages} pages belong to nobody"),
    }
}
