//! Checks that answers conform to the description of the API. The tests within the program and those of the
//! running program both check every answer against it.

use jsonschema::Draft;
use serde_json::{Value, json};

/// An answer, as far as the description covers it.
pub struct Seen<'a> {
    pub method: &'a str,
    /// The path from the root, with or without a query.
    pub path: &'a str,
    pub status: u16,
    pub content_type: &'a str,
    pub body: &'a str,
}

/// A description in which no object has other fields than it lists.
pub struct Description(Value);

impl Description {
    pub fn strictly(mut description: Value) -> Self {
        close(&mut description["components"]["schemas"]);
        Self(description)
    }

    /// Asserts that the description has this answer. For routes that it does not cover, such as unknown ones, the
    /// answer must be a problem under the API and may be anything elsewhere.
    #[track_caller]
    pub fn allows(&self, seen: &Seen<'_>) {
        let Seen { method, status, .. } = *seen;
        let path = seen.path.split('?').next().unwrap_or_default();
        let what = format!(
            "{method} {path} answers {status} {}: {}",
            seen.content_type, seen.body
        );
        let Some(operation) = self.operation(method, path) else {
            if path.starts_with("/api/v1") {
                assert!(
                    (400..500).contains(&status),
                    "what is not described is there: {what}"
                );
            }
            if path.starts_with("/api/v1") && method != "HEAD" {
                self.fits(
                    &json!({ "$ref": "#/components/schemas/Problem" }),
                    seen.body,
                    &what,
                );
            }
            return;
        };
        let response = self.followed(&operation["responses"][status.to_string()]);
        assert!(response.is_object(), "this status is not described: {what}");
        let content = response["content"].as_object();
        let essence = |kind: &str| kind.split(';').next().unwrap_or_default().to_owned();
        let described = content.and_then(|kinds| {
            kinds
                .iter()
                .find(|(kind, _)| essence(kind) == essence(seen.content_type))
        });
        match described {
            // Nothing is sent after the headers.
            _ if method == "HEAD" => {}
            None => assert!(
                content.is_none() && seen.body.is_empty(),
                "this kind is not described: {what}"
            ),
            Some((kind, described)) if kind.ends_with("json") => {
                self.fits(&described["schema"], seen.body, &what);
            }
            Some(_) => {}
        }
    }

    /// Asserts that a JSON text fits a schema of the description.
    #[track_caller]
    pub fn fits(&self, schema: &Value, text: &str, what: &str) {
        let whole = json!({ "components": self.0["components"], "allOf": [schema] });
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .should_validate_formats(true)
            .build(&whole)
            .unwrap();
        let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {what}"));
        let faults: Vec<String> = validator
            .iter_errors(&value)
            .map(|error| format!("{} at {}", error, error.instance_path()))
            .collect();
        assert!(faults.is_empty(), "{faults:?}: {what}");
    }

    fn operation(&self, method: &str, path: &str) -> Option<&Value> {
        let method = if method == "HEAD" {
            "get"
        } else {
            &method.to_lowercase()
        };
        let paths = self.0["paths"].as_object()?.iter();
        // A path without parameters is the better match: those come first.
        let mut fitting: Vec<_> = paths.filter(|(template, _)| matches(template, path)).collect();
        fitting.sort_by_key(|(template, _)| template.matches('{').count());
        fitting.first()?.1.get(method)
    }

    fn followed<'a>(&'a self, response: &'a Value) -> &'a Value {
        match response["$ref"]
            .as_str()
            .and_then(|place| place.strip_prefix('#'))
        {
            Some(place) => self.0.pointer(place).unwrap_or(&Value::Null),
            None => response,
        }
    }
}

fn matches(template: &str, path: &str) -> bool {
    let (template, path) = (template.split('/'), path.split('/'));
    template.clone().count() == path.clone().count()
        && template.zip(path).all(|(expected, segment)| {
            expected.starts_with('{') && !segment.is_empty() || expected == segment
        })
}

fn close(schema: &mut Value) {
    if let Value::Object(fields) = schema
        && fields.contains_key("properties")
    {
        fields.entry("additionalProperties").or_insert(false.into());
    }
    match schema {
        Value::Object(fields) => fields.values_mut().for_each(close),
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}
