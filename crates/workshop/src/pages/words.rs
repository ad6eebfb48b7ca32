//! The stations' texts about commands, guards and lists.

use crate::{Answer, Call, Discrepancy, Entry, Verb};
use bson::{Bson, Document};
use document::{Change, Find, Update};
use model::{Handle, Relation};
use ui::components::grouped;

/// A name at the beginning of a sentence.
pub fn capital(name: &str) -> String {
    with_first(name, |first| first.to_uppercase().collect())
}

/// The beginning of a sentence within another one.
pub fn small(words: &str) -> String {
    with_first(words, |first| first.to_lowercase().collect())
}

/// The words with another first letter.
fn with_first(words: &str, change: fn(char) -> String) -> String {
    let mut letters = words.chars();
    letters
        .next()
        .map(|first| change(first) + letters.as_str())
        .unwrap_or_default()
}

/// The purpose of a command.
pub fn purpose(call: &Call) -> &'static str {
    match (call.collection.as_str(), &call.verb) {
        ("accounts" | "entryPages", verb) => booking(&call.collection, verb),
        ("users", Verb::Update(update)) if counts_in(update, "followerCount") => following(update),
        ("users", Verb::FindAndModify(change)) if change.filter.contains_key("activityCount") => {
            "Push the item, if the count is still below the threshold"
        }
        ("users", Verb::Update(update)) if changes(update, "$push", "activities") => {
            "Push the item into the head"
        }
        ("users", Verb::Update(update)) if counts_in(update, "activityCount") => {
            "Count the item, and mark the owner as overflowing"
        }
        ("overflowActivities", _) => "Push the item into an overflow document",
        ("followerOverflow", Verb::Find(_)) => "Read the batch, and check whether it is full",
        ("followerOverflow", Verb::Insert(_)) => "Start a batch with the follower in it",
        ("followerOverflow", _) => "Push the follower into the batch",
        ("timelines", Verb::Update(update)) if update.upsert => {
            "Mark this author in the follower’s timeline: whether the follow succeeds is not known yet"
        }
        ("timelines", Verb::Update(_)) => "Make the timeline agree with the followers, and remove the mark",
        ("timelines", _) => "Read the follower’s timeline",
        ("users", Verb::Find(find)) if find.projection.is_empty() => "Read the number of items",
        ("posts" | "users", Verb::Find(find)) => looking(find),
        ("posts" | "users", Verb::FindAndModify(change)) => match &change.update {
            Change::Operators(change) if has_in_list(change, "$push", "head") => pushing(change),
            Change::Operators(change) if has_in_list(change, "$push", "pending") => {
                "Subtract the item from the count and mark it as pending: from now on readers skip it"
            }
            _ => "Take the item out of the head and out of the count, in one write",
        },
        ("posts" | "users", Verb::Update(update)) if changes_in_list(update, "$pull", "pending") => {
            "Remove the mark: the removal is finished"
        }
        ("posts", Verb::Update(_)) => "Begin a new revision, so that a page left behind can be replaced",
        ("posts", Verb::Delete(..)) => "Delete the owner: from now on its pages are not read",
        ("pages", Verb::Find(find)) if find.filter.keys().any(|field| field.starts_with("items.")) => {
            "Check whether the actor is in a page"
        }
        ("pages", Verb::Find(_)) => "Read the page that exists already: is it this chunk?",
        ("pages", Verb::Update(update)) if update.upsert => {
            "Write the oldest items into a page, which nobody reads yet"
        }
        ("pages", Verb::Update(_)) => "Mark an emptied page so that readers skip it",
        ("pages", Verb::FindAndModify(_)) => "Take the item out of its page",
        ("pages", Verb::Distinct(..) | Verb::Count(_)) => "Find the pages that are left",
        ("pages", Verb::Delete(..)) => "Delete the pages without an owner",
        _ => "Read the documents",
    }
}

/// What a command does to an account.
fn booking(collection: &str, verb: &Verb) -> &'static str {
    match (collection, verb) {
        ("accounts", Verb::Update(update)) => {
            match (counts_in(update, "balance"), changes(update, "$push", "entries")) {
                (true, true) => "Change the balance and push the entry, in one write",
                (true, false) => "Change the balance",
                (false, true) => "Push the entry",
                (false, false) => "Remove the entries that were copied",
            }
        }
        ("accounts", Verb::FindAndModify(change)) => match &change.update {
            Change::Operators(change) if has(change, "$inc", "entries.spilled") => {
                "Commit, push and change the balance: in one write the page counts, its entries leave the head, and the new \
                 one comes in"
            }
            _ => {
                "Push the entry and change the balance in one write, if nothing has changed that it depends on"
            }
        },
        ("entryPages", Verb::Insert(_)) => "Copy the oldest entries into another document",
        ("entryPages", Verb::Update(_)) => "Write the oldest entries into a page, which nobody reads yet",
        ("entryPages", Verb::Count(_)) => "Count the other documents",
        ("entryPages", _) => "Check whether the number is in a page",
        _ => "Read the account",
    }
}

fn looking(find: &Find) -> &'static str {
    let asks = |name| find.projection.keys().any(|field| is_in_list(field, name));
    if find
        .filter
        .keys()
        .any(|field| of_list(field).is_some_and(|rest| rest.starts_with("head")))
    {
        "Check whether the actor is in the head"
    } else if asks("head") {
        "Read the whole head"
    } else if find.projection.contains_key("outlier") {
        "Check whether the author has so many followers that posts are merged in"
    } else {
        "Read the number of items and pages"
    }
}

/// Our command, into a head: for a follow, the second goes into the follower’s own document.
fn pushing(change: &Document) -> &'static str {
    if has_in_list(change, "$inc", "spilled") {
        "Commit and push: in one write the page counts, its items leave the head, and the new one comes in"
    } else if has(change, "$push", "following.head") {
        "Push and count in the follower’s own list, under the same kind of guard"
    } else if has(change, "$push", "activities.head") {
        "Push and count in the follower’s activities, under the same kind of guard"
    } else {
        "Push and count the item in one write, if nothing has changed that it depends on"
    }
}

/// The article’s changes to a user whom others follow.
fn following(update: &Update) -> &'static str {
    if changes(update, "$push", "followers") {
        "Push the follower into the head"
    } else if changes(update, "$set", "hasOverflow") {
        "Count the follower, and mark the user as overflowing"
    } else {
        "Count the follower"
    }
}

/// The rest of a field’s name within one of our lists.
fn of_list(field: &str) -> Option<&str> {
    let (list, rest) = field.split_once('.')?;
    list.parse::<Relation>().ok().map(|_| rest)
}

fn is_in_list(field: &str, name: &str) -> bool {
    of_list(field) == Some(name)
}

fn counts_in(update: &Update, field: &str) -> bool {
    changes(update, "$inc", field)
}

fn changes(update: &Update, operator: &str, field: &str) -> bool {
    matches!(&update.update, Change::Operators(change) if has(change, operator, field))
}

fn changes_in_list(update: &Update, operator: &str, name: &str) -> bool {
    matches!(&update.update, Change::Operators(change) if has_in_list(change, operator, name))
}

fn has(change: &Document, operator: &str, field: &str) -> bool {
    change
        .get_document(operator)
        .is_ok_and(|fields| fields.contains_key(field))
}

fn has_in_list(change: &Document, operator: &str, name: &str) -> bool {
    change
        .get_document(operator)
        .is_ok_and(|fields| fields.keys().any(|field| is_in_list(field, name)))
}

/// The answer to a command.
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

/// What an owner document says about its list.
fn counts(document: &Document) -> Option<String> {
    let number = |value: Option<&Bson>| value.and_then(Bson::as_i64).and_then(|n| u64::try_from(n).ok());
    let articles = document
        .get("activityCount")
        .or_else(|| document.get("followerCount"));
    if let Some(count) = number(articles) {
        return Some(format!("{}.", items(count)));
    }
    let list = Relation::ALL
        .iter()
        .find_map(|relation| document.get_document(relation.as_str()).ok())?;
    let count = items(number(list.get("count"))?);
    Some(match number(list.get("pages"))? {
        0 => format!("{count}, no page."),
        1 => format!("{count}, 1 page."),
        pages => format!("{count}, {pages} pages."),
    })
}

/// A number of items.
pub fn items(count: u64) -> String {
    match count {
        1 => "1 item".to_owned(),
        count => format!("{} items", grouped(count)),
    }
}

/// A number of pages.
pub fn pages(count: u64) -> String {
    match count {
        1 => "1 page".to_owned(),
        count => format!("{} pages", grouped(count)),
    }
}

/// A number of documents.
pub fn documents(count: u64) -> String {
    match count {
        1 => "1 document".to_owned(),
        count => format!("{} documents", grouped(count)),
    }
}

/// Which guard failed, and what the writer does about it; nothing where none failed.
pub fn failure(entry: &Entry, name: &str) -> Option<String> {
    if entry.failed.is_empty() {
        return None;
    }
    let conditions: Vec<&str> = entry.failed.keys().map(|field| condition(field)).collect();
    let conditions = conditions.join("; ");
    Some(format!(
        "The guard failed, because this no longer holds: {conditions}. {} has to read again.",
        capital(name)
    ))
}

fn condition(field: &str) -> &str {
    match of_list(field).unwrap_or(field) {
        "activityCount" => "the count is below the threshold",
        "$expr" => "there is room in the head",
        "pages" => "there are as many pages as when it was read",
        "floor" => "nothing has spilled since it was read",
        "head.by" => "the actor is not in the head",
        "head" => "the head is as long as when it was read",
        "rev" => "the head has the revision that was read",
        "born" => "it is the same owner",
        other => other,
    }
}

/// The violations of a list.
pub fn discrepancy(fault: &Discrepancy) -> String {
    let who = |handles: &[Handle]| match handles {
        [one] => one.to_string(),
        several => items(several.len() as u64),
    };
    let are = |handles: &[Handle]| if handles.len() == 1 { "is" } else { "are" };
    match fault {
        Discrepancy::TooMany { held, most } => {
            format!("{} in a head that may hold {}", items(*held), grouped(*most))
        }
        Discrepancy::Lost(lost) => format!("{} {} lost", who(lost), are(lost)),
        Discrepancy::Doubled(twice) => format!("{} {} in the list twice", who(twice), are(twice)),
        Discrepancy::Strangers(strangers) => format!(
            "{} {} in the list and should not be",
            who(strangers),
            are(strangers)
        ),
        Discrepancy::OneSided(some) => {
            format!(
                "{} {} missing in the list of the other person",
                who(some),
                are(some)
            )
        }
        Discrepancy::Miscounted { said, found } => {
            format!(
                "the count says {}, a reader finds {}",
                grouped(*said),
                grouped(*found)
            )
        }
        Discrepancy::Orphans(pages) => format!("{pages} pages have no owner"),
    }
}
