//! The result of an update on a document.

use std::cmp::Ordering;

use bson::{Bson, Document};

use super::Outcome;
use super::compare::{as_double, compare, sort_value};
use super::filter::{self, is_operators};

/// The document after an update; `inserting` applies `$setOnInsert`.
pub fn updated(before: &Document, update: &Document, inserting: bool) -> Outcome<Document> {
    let mut after = before.clone();
    for (operator, fields) in update {
        if operator == "$setOnInsert" && !inserting {
            continue;
        }
        for (path, operand) in fields.as_document().unwrap() {
            let parts: Vec<&str> = path.split('.').collect();
            change(&mut after, &parts, operator, operand)?;
        }
    }
    Ok(after)
}

/// The document that an upsert inserts for a filter of plain equalities.
pub fn insert_from(filter: &Document, update: &Document) -> Outcome<Document> {
    updated(filter, update, true)
}

fn creates(operator: &str) -> bool {
    !matches!(operator, "$unset" | "$pull" | "$pullAll" | "$pop")
}

fn change(document: &mut Document, parts: &[&str], operator: &str, operand: &Bson) -> Outcome<()> {
    let (name, rest) = (parts[0], &parts[1..]);
    if !document.contains_key(name) {
        if creates(operator) {
            document.insert(name, made(rest, operator, operand)?);
        }
        return Ok(());
    }
    if rest.is_empty() {
        if operator == "$unset" {
            document.remove(name);
        } else {
            let value = document.get(name).unwrap().clone();
            document.insert(name, applied(&value, operator, operand)?);
        }
        return Ok(());
    }
    inside(document.get_mut(name).unwrap(), rest, operator, operand)
}

fn inside(value: &mut Bson, parts: &[&str], operator: &str, operand: &Bson) -> Outcome<()> {
    match value {
        Bson::Document(document) => change(document, parts, operator, operand),
        Bson::Array(items) if parts[0].parse::<usize>().is_ok() => {
            let (position, rest) = (parts[0].parse::<usize>().unwrap(), &parts[1..]);
            if position >= items.len() {
                if creates(operator) {
                    items.resize(position, Bson::Null);
                    items.push(made(rest, operator, operand)?);
                }
                return Ok(());
            }
            if !rest.is_empty() {
                return inside(&mut items[position], rest, operator, operand);
            }
            items[position] = match operator {
                "$unset" => Bson::Null,
                _ => applied(&items[position], operator, operand)?,
            };
            Ok(())
        }
        _ if creates(operator) => Err(28),
        _ => Ok(()),
    }
}

/// The new value of a missing field.
fn made(parts: &[&str], operator: &str, operand: &Bson) -> Outcome<Bson> {
    if let Some((name, rest)) = parts.split_first() {
        let mut document = Document::new();
        document.insert(*name, made(rest, operator, operand)?);
        return Ok(Bson::Document(document));
    }
    match operator {
        "$push" | "$addToSet" => applied(&Bson::Array(Vec::new()), operator, operand),
        _ => Ok(operand.clone()),
    }
}

/// The new value of an existing one.
fn applied(value: &Bson, operator: &str, operand: &Bson) -> Outcome<Bson> {
    let array = |code: i32| value.as_array().cloned().ok_or(code);
    Ok(match operator {
        "$set" | "$setOnInsert" => operand.clone(),
        "$inc" => added(value, operand)?,
        "$min" if compare(operand, value) == Ordering::Less => operand.clone(),
        "$max" if compare(operand, value) == Ordering::Greater => operand.clone(),
        "$min" | "$max" => value.clone(),
        "$push" => Bson::Array(pushed(array(2)?, operand)),
        "$addToSet" => {
            let mut items = array(2)?;
            for new in each(operand) {
                if !items.iter().any(|item| compare(item, &new) == Ordering::Equal) {
                    items.push(new);
                }
            }
            Bson::Array(items)
        }
        "$pull" => {
            let mut items = array(2)?;
            items.retain(|item| !pulled(item, operand));
            Bson::Array(items)
        }
        "$pullAll" => {
            let mut items = array(2)?;
            let gone = operand.as_array().unwrap();
            items.retain(|item| !gone.iter().any(|gone| compare(item, gone) == Ordering::Equal));
            Bson::Array(items)
        }
        "$pop" => {
            let mut items = array(14)?;
            if *operand == Bson::Int32(-1) && !items.is_empty() {
                items.remove(0);
            } else {
                items.pop();
            }
            Bson::Array(items)
        }
        other => panic!("the tests do not use {other}"),
    })
}

fn added(value: &Bson, amount: &Bson) -> Outcome<Bson> {
    let both = (as_double(value).ok_or(14)?, as_double(amount).ok_or(14)?);
    Ok(match (value, amount) {
        (Bson::Double(_), _) | (_, Bson::Double(_)) => Bson::Double(both.0 + both.1),
        (Bson::Int32(a), Bson::Int32(b)) => Bson::Int32(a + b),
        _ => Bson::Int64(whole(value) + whole(amount)),
    })
}

fn whole(value: &Bson) -> i64 {
    value.as_i64().or_else(|| value.as_i32().map(i64::from)).unwrap()
}

fn each(operand: &Bson) -> Vec<Bson> {
    match operand {
        Bson::Document(modifiers) if modifiers.contains_key("$each") => {
            modifiers.get_array("$each").unwrap().clone()
        }
        other => vec![other.clone()],
    }
}

fn pushed(mut items: Vec<Bson>, operand: &Bson) -> Vec<Bson> {
    let modifiers = match operand {
        Bson::Document(modifiers) if modifiers.contains_key("$each") => modifiers.clone(),
        _ => Document::new(),
    };
    let len = i32::try_from(items.len()).unwrap();
    let at = match modifiers.get_i32("$position") {
        Ok(position) if position < 0 => (len + position).max(0),
        Ok(position) => position.min(len),
        Err(_) => len,
    };
    for (nth, new) in each(operand).into_iter().enumerate() {
        items.insert(usize::try_from(at).unwrap() + nth, new);
    }
    match modifiers.get("$sort") {
        Some(Bson::Int32(1)) => items.sort_by(compare),
        Some(Bson::Int32(-1)) => items.sort_by(|a, b| compare(b, a)),
        Some(Bson::Document(by)) => {
            let (path, direction) = by.iter().next().unwrap();
            let down = *direction == Bson::Int32(-1);
            let key = |item: &Bson| match item {
                Bson::Document(item) => sort_value(item, path, down),
                _ => Bson::Null,
            };
            items.sort_by(|a, b| {
                let order = compare(&key(a), &key(b));
                if down { order.reverse() } else { order }
            });
        }
        _ => {}
    }
    if let Ok(slice) = modifiers.get_i32("$slice") {
        let kept = usize::try_from(slice.unsigned_abs()).unwrap().min(items.len());
        if slice < 0 {
            items.drain(..items.len() - kept);
        } else {
            items.truncate(kept);
        }
    }
    items
}

fn pulled(item: &Bson, condition: &Bson) -> bool {
    if is_operators(condition) {
        filter::pulled(item, condition)
    } else if let Bson::Document(condition) = condition {
        matches!(item, Bson::Document(item) if filter::matches(condition, item))
    } else {
        compare(item, condition) == Ordering::Equal
    }
}
