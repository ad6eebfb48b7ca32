//! Documents, filters and updates from any bytes.

use bson::{Bson, Document, doc};
use document::Change;

/// Reads bytes as words; when there are none left, every further word is zero.
pub struct Words<'b> {
    bytes: &'b [u8],
}

const FIELDS: &[&str] = &["a", "b", "l", "a.b", "l.x", "l.0.x", "l.1", "_id", "a.0", "c"];
const TESTS: &[&str] = &[
    "$eq",
    "$ne",
    "$gt",
    "$gte",
    "$lt",
    "$lte",
    "$in",
    "$nin",
    "$exists",
    "$size",
    "$all",
    "$elemMatch",
    "$not",
    "$type",
    "$regex",
];
const CHANGES: &[&str] = &[
    "$set",
    "$unset",
    "$inc",
    "$min",
    "$max",
    "$push",
    "$addToSet",
    "$pull",
    "$pullAll",
    "$pop",
    "$setOnInsert",
    "$mul",
];
const COMPUTED: &[&str] = &[
    "$size",
    "$add",
    "$sum",
    "$slice",
    "$sortArray",
    "$mergeObjects",
    "$concatArrays",
    "$ifNull",
    "$arrayElemAt",
    "$toString",
    "$divide",
    "$reverseArray",
];
/// How deeply words nest.
const DEEPEST: usize = 4;

impl<'b> Words<'b> {
    pub fn of(bytes: &'b [u8]) -> Self {
        Self { bytes }
    }

    pub fn byte(&mut self) -> u8 {
        match self.bytes.split_first() {
            Some((first, rest)) => {
                self.bytes = rest;
                *first
            }
            None => 0,
        }
    }

    pub fn flag(&mut self) -> bool {
        self.byte() % 2 == 1
    }

    pub fn number(&mut self) -> u32 {
        u32::from_be_bytes([self.byte(), self.byte(), self.byte(), self.byte()])
    }

    fn one_of<'w>(&mut self, words: &[&'w str]) -> &'w str {
        words[usize::from(self.byte()) % words.len()]
    }

    /// A BSON document, if the next bytes are one.
    fn raw(&mut self) -> Option<Document> {
        let mut rest = self.bytes;
        let document = Document::from_reader(&mut rest).ok();
        if document.is_some() {
            self.bytes = rest;
        }
        document
    }

    fn scalar(&mut self) -> Bson {
        match self.byte() % 12 {
            0 => Bson::Null,
            1 => Bson::Double(f64::NAN),
            2 => Bson::Double(f64::from(self.byte()) / 2.0),
            3 => Bson::Int64(i64::from(self.byte() % 4)),
            4 => Bson::Int64(i64::MAX - i64::from(self.byte() % 4)),
            5 => Bson::String(["", "a", "b", "a\0b", "é"][usize::from(self.byte() % 5)].to_owned()),
            6 => Bson::Boolean(self.flag()),
            7 => Bson::DateTime(bson::DateTime::from_millis(i64::from(self.byte()))),
            8 => [Bson::MinKey, Bson::MaxKey][usize::from(self.flag())].clone(),
            9 => Bson::Int32(i32::from_be_bytes(self.number().to_be_bytes())),
            _ => Bson::Int32(i32::from(self.byte() % 4)),
        }
    }

    fn value(&mut self, depth: usize) -> Bson {
        match self.byte() % 6 {
            0 if depth < DEEPEST => {
                Bson::Array((0..self.byte() % 4).map(|_| self.value(depth + 1)).collect())
            }
            1 if depth < DEEPEST => {
                let fields = (0..self.byte() % 3)
                    .map(|_| (self.one_of(&["x", "b", "y"]).to_owned(), self.value(depth + 1)));
                Bson::Document(fields.collect())
            }
            _ => self.scalar(),
        }
    }

    fn test(&mut self, depth: usize) -> Bson {
        let operator = self.one_of(TESTS);
        let operand = match operator {
            "$in" | "$nin" | "$all" => {
                Bson::Array((0..self.byte() % 4).map(|_| self.value(depth + 1)).collect())
            }
            "$not" if depth < DEEPEST => self.test(depth + 1),
            "$elemMatch" if depth < DEEPEST && self.flag() => self.test(depth + 1),
            "$elemMatch" if depth < DEEPEST => Bson::Document(self.words_of_a_filter(depth + 1)),
            _ => self.value(depth + 1),
        };
        let mut test = doc! { operator: operand };
        if self.byte() % 4 == 0 {
            test.insert(self.one_of(TESTS), self.value(depth + 1));
        }
        Bson::Document(test)
    }

    fn words_of_a_filter(&mut self, depth: usize) -> Document {
        let mut filter = Document::new();
        for _ in 0..self.byte() % 3 + 1 {
            match self.byte() % 6 {
                0 if depth < DEEPEST => {
                    let name = self.one_of(&["$and", "$or", "$nor"]);
                    let branches =
                        (0..self.byte() % 3 + 1).map(|_| Bson::Document(self.words_of_a_filter(depth + 1)));
                    filter.insert(name, branches.collect::<Vec<_>>());
                }
                1 => drop(filter.insert(self.one_of(FIELDS), self.value(depth))),
                2 if depth == 0 => {
                    let compared = doc! { "$gt": [self.expression(1), self.expression(1)] };
                    filter.insert("$expr", compared);
                }
                _ => drop(filter.insert(self.one_of(FIELDS), self.test(depth))),
            }
        }
        filter
    }

    fn expression(&mut self, depth: usize) -> Bson {
        match self.byte() % 4 {
            0 => Bson::String(format!("${}", self.one_of(FIELDS))),
            1 if depth < DEEPEST => {
                let operator = self.one_of(COMPUTED);
                let argument = match operator {
                    "$sortArray" => doc! { "input": self.expression(depth + 1), "sortBy": 1 }.into(),
                    _ => Bson::Array(
                        (0..self.byte() % 3 + 1)
                            .map(|_| self.expression(depth + 1))
                            .collect(),
                    ),
                };
                doc! { operator: argument }.into()
            }
            _ => doc! { "$literal": self.value(depth + 1) }.into(),
        }
    }

    /// A filter.
    pub fn filter(&mut self) -> Document {
        if self.byte() == 0xFF
            && let Some(document) = self.raw()
        {
            return document;
        }
        self.words_of_a_filter(0)
    }

    /// An update, by operators or by a pipeline.
    pub fn update(&mut self) -> Change {
        let kind = self.byte();
        if kind == 0xFF
            && let Some(document) = self.raw()
        {
            return crate::change(document, self.flag());
        }
        let mut update = Document::new();
        if kind % 3 == 0 {
            let name = self.one_of(&["$set", "$project", "$replaceWith", "$unset"]);
            let mut fields = Document::new();
            for _ in 0..self.byte() % 3 + 1 {
                fields.insert(self.one_of(FIELDS), self.expression(0));
            }
            update.insert(name, fields);
            return crate::change(update, true);
        }
        for _ in 0..self.byte() % 3 + 1 {
            let name = self.one_of(CHANGES);
            let mut fields = Document::new();
            for _ in 0..self.byte() % 2 + 1 {
                let operand = match (name, self.byte() % 3) {
                    ("$push" | "$addToSet", 0) => {
                        let each: Vec<Bson> = (0..self.byte() % 4).map(|_| self.value(1)).collect();
                        let mut push = doc! { "$each": each };
                        if name == "$push" {
                            push.insert("$slice", i32::from(self.byte() % 8) - 4);
                            push.insert("$position", i32::from(self.byte() % 8) - 4);
                            push.insert(
                                "$sort",
                                [doc! { "x": 1 }.into(), Bson::Int32(-1)][usize::from(self.flag())].clone(),
                            );
                        }
                        push.into()
                    }
                    ("$pull", 0) => self.test(1),
                    ("$pull", 1) => Bson::Document(self.words_of_a_filter(1)),
                    ("$pullAll", _) => vec![self.value(1), self.value(1)].into(),
                    _ => self.value(0),
                };
                fields.insert(self.one_of(FIELDS), operand);
            }
            update.insert(name, fields);
        }
        crate::change(update, false)
    }

    /// A few documents with different `_id`s.
    pub fn documents(&mut self) -> Vec<Document> {
        let count = i32::from(self.byte() % 6);
        let mut documents = Vec::new();
        for id in 0..count {
            let mut document = match self.byte() {
                0xFF => self.raw().unwrap_or_default(),
                _ => Document::new(),
            };
            for name in ["a", "b", "l"] {
                if self.flag() {
                    document.insert(name, self.value(0));
                }
            }
            document.insert("_id", id);
            documents.push(document);
        }
        documents
    }
}
