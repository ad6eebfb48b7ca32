//! A document as lines and branches, compared with its earlier version. The lines are Extended JSON: without the
//! removed parts and the notes about omitted elements, they are the document as it is now.

use std::collections::HashSet;

use bson::{Bson, Document, RawDocumentBuf};
use document::extjson::{inline, quoted};

/// The length from which a value is split over several lines.
const LINE: usize = 140;
/// How many adjacent elements of one kind an array shows; of a longer run, some are left out.
const ROW: usize = 6;

/// How a part changed since the last look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// It is unchanged.
    Same,
    /// It is new.
    New,
    /// It was removed.
    Gone,
}

/// A part of a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// A value on one line.
    Line(Mark, String),
    /// This many elements that are not shown.
    Rest(Mark, usize),
    /// A document or an array with its parts.
    Branch(Branch),
}

/// A document or an array with its parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Branch {
    /// How it changed.
    pub mark: Mark,
    /// Its opening text, such as `head: [`.
    pub opening: String,
    /// How many elements an array has.
    pub items: Option<usize>,
    /// Its contents.
    pub parts: Vec<Part>,
    /// Its closing text.
    pub closing: String,
}

/// A whole document.
pub fn tree(document: &Document, mark: Mark) -> Branch {
    whole_document("", document, mark)
}

/// A document compared with its earlier version.
pub fn compared(before: &Document, after: &Document) -> Branch {
    documents_compared("", before, after)
}

/// Whether anything in a branch changed.
pub fn changed(branch: &Branch) -> bool {
    branch.mark != Mark::Same
        || branch.parts.iter().any(|part| match part {
            Part::Line(mark, _) | Part::Rest(mark, _) => *mark != Mark::Same,
            Part::Branch(branch) => changed(branch),
        })
}

fn part(label: &str, value: &Bson, mark: Mark) -> Part {
    let text = || format!("{label}{}", inline(value));
    match value {
        Bson::Array(values) if !values.is_empty() => Part::Branch(whole_array(label, values, mark)),
        Bson::Document(document) if has_parts(document) && !label.is_empty() || text().len() > LINE => {
            Part::Branch(whole_document(label, document, mark))
        }
        _ => Part::Line(mark, text()),
    }
}

fn has_parts(document: &Document) -> bool {
    let mut values = document.values();
    values.any(|value| matches!(value, Bson::Array(_) | Bson::Document(_)))
}

fn whole_array(label: &str, values: &[Bson], mark: Mark) -> Branch {
    let elements = values.iter().map(|value| (mark, value)).collect();
    array(label, mark, values.len(), elements)
}

fn whole_document(label: &str, fields: &Document, mark: Mark) -> Branch {
    let parts = fields
        .iter()
        .map(|(name, value)| part(&labelled(name), value, mark));
    document(label, mark, parts.collect())
}

fn array(label: &str, mark: Mark, items: usize, elements: Vec<(Mark, &Bson)>) -> Branch {
    Branch {
        mark,
        opening: format!("{label}["),
        items: Some(items),
        parts: separated(rows(elements)),
        closing: "]".to_owned(),
    }
}

fn document(label: &str, mark: Mark, parts: Vec<Part>) -> Branch {
    Branch {
        mark,
        opening: format!("{label}{{"),
        items: None,
        parts: separated(parts),
        closing: "}".to_owned(),
    }
}

/// Adds a comma after each part that is followed by another part of the same document: removed parts belong to the
/// old one, all others to the new one.
fn separated(mut parts: Vec<Part>) -> Vec<Part> {
    let (mut in_old, mut in_new) = (false, false);
    for part in parts.iter_mut().rev() {
        let (mark, text) = match part {
            Part::Line(mark, text) => (*mark, text),
            Part::Branch(branch) => (branch.mark, &mut branch.closing),
            Part::Rest(..) => continue,
        };
        let followed = if mark == Mark::Gone {
            &mut in_old
        } else {
            &mut in_new
        };
        if *followed {
            text.push(',');
        }
        in_old |= mark != Mark::New;
        in_new |= mark != Mark::Gone;
    }
    parts
}

fn labelled(name: &str) -> String {
    format!("{}: ", quoted(name))
}

fn documents_compared(label: &str, before: &Document, after: &Document) -> Branch {
    let mut parts = Vec::new();
    for (name, value) in after {
        let label = labelled(name);
        match before.get(name) {
            None => parts.push(part(&label, value, Mark::New)),
            Some(was) => parts.extend(value_compared(&label, was, value)),
        }
    }
    let gone = before.iter().filter(|(name, _)| !after.contains_key(name));
    parts.extend(gone.map(|(name, value)| part(&labelled(name), value, Mark::Gone)));
    document(label, Mark::Same, parts)
}

fn value_compared(label: &str, before: &Bson, after: &Bson) -> Vec<Part> {
    if before == after {
        return vec![part(label, after, Mark::Same)];
    }
    match (before, after) {
        (Bson::Document(was), Bson::Document(is)) => vec![Part::Branch(documents_compared(label, was, is))],
        (Bson::Array(was), Bson::Array(is)) => {
            let elements = elements_compared(was, is);
            vec![Part::Branch(array(label, Mark::Same, is.len(), elements))]
        }
        _ => vec![part(label, before, Mark::Gone), part(label, after, Mark::New)],
    }
}

/// Both arrays' elements in one row. Elements are added and removed, never reordered, so it is enough to know
/// which elements are in both.
fn elements_compared<'a>(before: &'a [Bson], after: &'a [Bson]) -> Vec<(Mark, &'a Bson)> {
    let keys = |values: &[Bson]| values.iter().map(key).collect::<Vec<_>>();
    let (old, new) = (keys(before), keys(after));
    let (in_old, in_new): (HashSet<&[u8]>, HashSet<&[u8]>) = (
        old.iter().map(Vec::as_slice).collect(),
        new.iter().map(Vec::as_slice).collect(),
    );
    let (mut row, mut was, mut is) = (Vec::new(), 0, 0);
    while was < before.len() || is < after.len() {
        if was < before.len() && is < after.len() && old[was] == new[is] {
            row.push((Mark::Same, &after[is]));
            (was, is) = (was + 1, is + 1);
        } else if was < before.len() && (is == after.len() || !in_new.contains(old[was].as_slice())) {
            row.push((Mark::Gone, &before[was]));
            was += 1;
        } else if is < after.len() && (was == before.len() || !in_old.contains(new[is].as_slice())) {
            row.push((Mark::New, &after[is]));
            is += 1;
        } else {
            row.push((Mark::Gone, &before[was]));
            was += 1;
        }
    }
    row
}

/// An element's bytes, which identify equal elements.
fn key(value: &Bson) -> Vec<u8> {
    match value {
        Bson::Document(document) => RawDocumentBuf::try_from(document)
            .map_or_else(|_| document.to_string().into_bytes(), RawDocumentBuf::into_bytes),
        other => other.to_string().into_bytes(),
    }
}

/// The elements of an array; of a long run of one kind, the first two, the last, and the number between them.
fn rows(elements: Vec<(Mark, &Bson)>) -> Vec<Part> {
    let mut parts = Vec::new();
    for stretch in elements.chunk_by(|one, other| one.0 == other.0) {
        let Some((mark, _)) = stretch.first() else {
            continue;
        };
        let shown = |(_, value): &(Mark, &Bson)| part("", value, *mark);
        match stretch {
            [first, second, between @ .., last] if stretch.len() > ROW => {
                parts.extend([
                    shown(first),
                    shown(second),
                    Part::Rest(*mark, between.len()),
                    shown(last),
                ]);
            }
            all => parts.extend(all.iter().map(shown)),
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use bson::spec::BinarySubtype;
    use bson::{Binary, DateTime, Uuid, doc};

    use super::*;

    /// The parts as text, marks first.
    fn written(branch: &Branch) -> Vec<String> {
        let sign = |mark: Mark| match mark {
            Mark::Same => ' ',
            Mark::New => '+',
            Mark::Gone => '-',
        };
        let mut lines = vec![format!("{}{}", sign(branch.mark), branch.opening)];
        for part in &branch.parts {
            match part {
                Part::Line(mark, text) => lines.push(format!("{}{text}", sign(*mark))),
                Part::Rest(mark, more) => lines.push(format!("{}… {more} more", sign(*mark))),
                Part::Branch(branch) => lines.extend(written(branch)),
            }
        }
        lines.push(format!("{}{}", sign(branch.mark), branch.closing));
        lines
    }

    /// The text that is copied from a document: without notes and without removed parts.
    fn copied(branch: &Branch) -> String {
        let lines = written(branch).into_iter();
        lines
            .filter(|line| !line.starts_with('-') && !line.contains('…'))
            .map(|line| line[1..].to_owned())
            .collect()
    }

    #[test]
    fn a_long_array_is_cut_and_says_so() {
        let document = doc! { "_id": "ada", "head": [1, 2, 3, 4, 5, 6, 7], "pending": [] };
        assert_eq!(
            written(&tree(&document, Mark::Same)),
            [
                " {",
                " \"_id\": \"ada\",",
                " \"head\": [",
                " 1,",
                " 2,",
                " … 4 more",
                " 7",
                " ],",
                " \"pending\": []",
                " }"
            ]
        );
    }

    #[test]
    fn only_additions_and_removals_are_marked() {
        let head = |from: i32, to: i32| (from..=to).collect::<Vec<i32>>();
        let before = doc! { "list": { "count": 6, "head": head(1, 6), "old": true }, "name": "ada" };
        let after = doc! { "list": { "count": 5, "head": head(3, 7), "flag": true }, "name": "ada" };
        let compared = compared(&before, &after);
        assert!(changed(&compared));
        assert_eq!(
            written(&compared),
            [
                " {",
                " \"list\": {",
                "-\"count\": 6,",
                "+\"count\": 5,",
                " \"head\": [",
                "-1,",
                "-2,",
                " 3,",
                " 4,",
                " 5,",
                " 6,",
                "+7",
                " ],",
                "+\"flag\": true",
                "-\"old\": true",
                " },",
                " \"name\": \"ada\"",
                " }"
            ]
        );
        assert!(!changed(&super::compared(&after, &after)));
    }

    #[test]
    fn copied_text_is_the_current_document() {
        let item = |nth: u8| {
            doc! { "id": Uuid::from_bytes([nth; 16]), "by": "fan", "at": DateTime::from_millis(i64::from(nth)) }
        };
        let before = doc! {
            "_id": Uuid::from_bytes([9; 16]),
            "text": "say \"é\",\n{ \"$date\": [",
            "likes": { "count": 2, "head": [item(1), item(2)], "pending": [], "hasOverflow": false },
            "hash": Binary { subtype: BinarySubtype::Generic, bytes: vec![1, 2, 3] },
            "share": 0.5,
            "none": null,
            "went": [{ "deep": [[1], { "long": "x".repeat(LINE) }] }],
        };
        let mut after = before.clone();
        after.remove("went");
        after.insert(
            "likes",
            doc! { "count": 2, "head": [item(2), item(3)], "hasOverflow": true },
        );
        for branch in [compared(&before, &after), tree(&after, Mark::New)] {
            let text = copied(&branch);
            let read: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(
                Bson::try_from(read).unwrap(),
                Bson::Document(after.clone()),
                "{text}"
            );
        }
        let read: serde_json::Value = serde_json::from_str(&copied(&tree(&before, Mark::Same))).unwrap();
        assert_eq!(Bson::try_from(read).unwrap(), Bson::Document(before));
    }
}
