use bson::{Bson, Document};
use document::extjson::{inline, line, quoted};
use document::{Change, Find, FindAndModify, Return, Update, Updated};

/// A command that an operation sent to the database.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The collection.
    pub collection: String,
    /// The request.
    pub verb: Verb,
}

/// The request of a command.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "each is what its method of the port takes")]
pub enum Verb {
    Find(Find),
    Count(Document),
    Distinct(String, Document),
    Aggregate(Vec<Document>),
    Insert(Vec<Document>),
    Update(Update),
    FindAndModify(FindAndModify),
    Delete(Document, bool),
}

/// The answer of the database.
#[derive(Debug, Clone, PartialEq)]
pub enum Answer {
    /// Documents.
    Found(Vec<Document>),
    /// A number of different values.
    Different(usize),
    /// A number of documents.
    Counted(u64),
    /// The document was inserted.
    Inserted,
    /// The result of an update.
    Updated(Updated),
    /// Whether there was a document to change.
    Modified(bool),
    /// The number of deleted documents.
    Deleted(u64),
    /// A refusal, with its reason.
    Refused(String),
}

impl Call {
    /// The conditions under which the command changes a document, without those that identify the document.
    pub fn guard(&self) -> Document {
        let filter = match &self.verb {
            // An upsert has no guard: where its filter finds nothing, it inserts.
            Verb::Update(update) if !update.upsert => &update.filter,
            Verb::FindAndModify(change) => &change.filter,
            _ => return Document::new(),
        };
        let conditions = filter.iter().filter(|(field, _)| *field != "_id");
        conditions
            .map(|(field, condition)| (field.clone(), condition.clone()))
            .collect()
    }

    /// The filter that identifies the document.
    pub fn subject(&self) -> Document {
        let filter = match &self.verb {
            Verb::Update(update) => &update.filter,
            Verb::FindAndModify(change) => &change.filter,
            _ => return Document::new(),
        };
        let id = filter.iter().filter(|(field, _)| *field == "_id");
        id.map(|(field, id)| (field.clone(), id.clone())).collect()
    }

    /// The command as a method of its collection, with its arguments in Extended JSON.
    pub fn text(&self) -> String {
        let Self { collection, verb } = self;
        match verb {
            Verb::Find(find) => find_as_text(collection, find),
            Verb::Count(filter) => format!("db.{collection}.countDocuments({})", line(filter)),
            Verb::Distinct(field, filter) => {
                format!("db.{collection}.distinct({}, {})", quoted(field), line(filter))
            }
            Verb::Aggregate(stages) => format!("db.{collection}.aggregate({})", array_of(stages)),
            Verb::Insert(documents) => match documents.as_slice() {
                [one] => format!("db.{collection}.insertOne({})", line(one)),
                several => format!("db.{collection}.insertMany({})", array_of(several)),
            },
            Verb::Update(update) => {
                let name = if update.many { "updateMany" } else { "updateOne" };
                let options = if update.upsert {
                    r#", { "upsert": true }"#
                } else {
                    ""
                };
                let (filter, change) = (line(&update.filter), change_as_text(&update.update));
                format!("db.{collection}.{name}({filter}, {change}{options})")
            }
            Verb::FindAndModify(change) => {
                let mut options = Document::new();
                if !change.projection.is_empty() {
                    options.insert("projection", &change.projection);
                }
                if change.returning == Return::After {
                    options.insert("returnDocument", "after");
                }
                let (filter, options) = (line(&change.filter), line(&options));
                let change = change_as_text(&change.update);
                format!("db.{collection}.findOneAndUpdate({filter}, {change}, {options})")
            }
            Verb::Delete(filter, many) => {
                let name = if *many { "deleteMany" } else { "deleteOne" };
                format!("db.{collection}.{name}({})", line(filter))
            }
        }
    }
}

fn find_as_text(collection: &str, find: &Find) -> String {
    let mut arguments = line(&find.filter);
    if !find.projection.is_empty() {
        arguments.push_str(", ");
        arguments.push_str(&line(&find.projection));
    }
    if find.limit == 1 && find.sort.is_empty() {
        return format!("db.{collection}.findOne({arguments})");
    }
    let mut text = format!("db.{collection}.find({arguments})");
    if !find.sort.is_empty() {
        text = format!("{text}.sort({})", line(&find.sort));
    }
    if find.limit > 0 {
        text = format!("{text}.limit({})", find.limit);
    }
    text
}

fn change_as_text(change: &Change) -> String {
    match change {
        Change::Operators(operators) | Change::Elements(operators, _) => line(operators),
        Change::Pipeline(stages) => array_of(stages),
        Change::Replacement { document, .. } => line(document),
    }
}

fn array_of(stages: &[Document]) -> String {
    inline(&Bson::Array(stages.iter().cloned().map(Bson::Document).collect()))
}

#[cfg(test)]
mod tests {
    use bson::doc;

    use super::*;

    #[test]
    fn a_command_reads_like_the_shell() {
        let text = |verb| {
            let collection = "users".to_owned();
            Call { collection, verb }.text()
        };
        let push = FindAndModify::after(
            doc! { "_id": 1, "activityCount": { "$lt": 6_i64 } },
            doc! { "$push": { "activities": { "by": "actor1" } } },
        );
        let shown = text(Verb::FindAndModify(push));
        assert!(shown.starts_with("db.users.findOneAndUpdate({ "), "{shown}");
        assert!(shown.contains(r#""activityCount": { "$lt": 6 }"#), "{shown}");
        assert!(
            shown.contains(r#""$push""#) && shown.contains("actor1"),
            "{shown}"
        );
        let upsert = Update::one(doc! { "_id": 1 }, doc! { "$set": { "a": 2 } }).or_insert();
        assert_eq!(
            text(Verb::Update(upsert)),
            r#"db.users.updateOne({ "_id": 1 }, { "$set": { "a": 2 } }, { "upsert": true })"#
        );
    }
}
