//! The API description as text and page elements.

use leptos::prelude::*;
use serde_json::Value;

/// The description of the JSON API. The server provides it to the pages.
#[derive(Clone, Copy)]
pub struct Description(pub &'static Value);

impl Description {
    /// The target of a `$ref`, or the value itself.
    pub fn followed(self, value: &'static Value) -> &'static Value {
        let place = value["$ref"].as_str().and_then(|place| place.strip_prefix('#'));
        place.and_then(|place| self.0.pointer(place)).unwrap_or(value)
    }

    /// The shapes that have fields, by name.
    pub fn shapes(self) -> impl Iterator<Item = (&'static str, &'static Value)> {
        let all = self.0["components"]["schemas"].as_object().into_iter().flatten();
        all.map(|(name, schema)| (name.as_str(), schema))
            .filter(|(_, schema)| schema.get("properties").is_some())
    }

    /// A schema in few words, with links to the shapes that it names.
    pub fn words(self, schema: &'static Value) -> AnyView {
        if let Some(name) = name_of(schema)
            && self.followed(schema).get("properties").is_some()
        {
            return view! { <a href=format!("#{name}")>{title_of(name)}</a> }.into_any();
        }
        let schema = self.followed(schema);
        if let Some(alternatives) = schema["oneOf"].as_array() {
            let some = alternatives.iter().find(|schema| schema["type"] != "null");
            return view! { {some.map(|schema| self.words(schema))} " or null" }.into_any();
        }
        if let Some(alternatives) = schema["anyOf"].as_array() {
            let between = |(nth, schema)| view! { {(nth > 0).then_some(" or ")} {self.words(schema)} };
            return alternatives
                .iter()
                .enumerate()
                .map(between)
                .collect_view()
                .into_any();
        }
        let named = &schema["additionalProperties"];
        if named.is_object() {
            return view! { {self.words(named)} " for each name" }.into_any();
        }
        if schema["type"] == "array" {
            return view! { "list of " {self.words(&schema["items"])} }.into_any();
        }
        view! { {plain(schema)} }.into_any()
    }

    /// An example of a schema, formatted for reading.
    pub fn example(self, schema: &'static Value) -> Option<String> {
        let schema = self.followed(schema);
        schema["examples"].get(0).map(|example| format!("{example:#}"))
    }
}

/// The name of the shape that a `$ref` leads to.
fn name_of(schema: &'static Value) -> Option<&'static str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// The readable name of a shape: `Listing_Post` is a listing of `Post`.
pub fn title_of(name: &str) -> String {
    match name.strip_prefix("Listing_") {
        Some(item) => format!("Listing of {item}"),
        None => name.to_owned(),
    }
}

/// A schema without parts: its type and its bounds.
fn plain(schema: &Value) -> String {
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(types) => types.iter().filter_map(Value::as_str).collect(),
        one => one.as_str().into_iter().collect(),
    };
    let format = schema["format"].as_str().unwrap_or_default();
    let mut words = match (types.first().copied().unwrap_or("object"), format) {
        ("string", "uuid") => "UUID".to_owned(),
        ("string", "date-time") => "time".to_owned(),
        ("string", _) => "text".to_owned(),
        ("integer", _) => "whole number".to_owned(),
        ("boolean", _) => "true or false".to_owned(),
        (other, _) => other.to_owned(),
    };
    let (least, most) = match words.as_str() {
        "text" => (&schema["minLength"], &schema["maxLength"]),
        "whole number" => (&schema["minimum"], &schema["maximum"]),
        _ => (&Value::Null, &Value::Null),
    };
    let unit = if words == "text" { " characters" } else { "" };
    let bounds = match (least, most) {
        (_, Value::Null) => String::new(),
        (Value::Null, most) => format!(", at most {most}{unit}"),
        (least, most) => format!(", {least} to {most}{unit}"),
    };
    words.push_str(&bounds);
    if let Some(choices) = schema["enum"].as_array() {
        let choices: Vec<&str> = choices.iter().filter_map(Value::as_str).collect();
        words = choices.join(", ");
    }
    if types.contains(&"null") {
        words.push_str(" or null");
    }
    words
}

/// Text with `code` between backticks, and a paragraph for each blank line.
pub fn prose(text: &'static str) -> impl IntoView {
    let paragraphs = text
        .split("\n\n")
        .filter(|paragraph| !paragraph.trim().is_empty());
    paragraphs
        .map(|paragraph| view! { <p>{sentence(paragraph)}</p> })
        .collect_view()
}

/// The same for text within a paragraph.
pub fn sentence(text: &'static str) -> impl IntoView {
    text.split('`')
        .enumerate()
        .map(|(place, piece)| {
            if place % 2 == 1 {
                view! { <code>{piece}</code> }.into_any()
            } else {
                piece.into_any()
            }
        })
        .collect_view()
}
