//! The page about the JSON API, from the description that programs read.

mod words;

use leptos::prelude::*;
use serde_json::Value;

pub use self::words::Description;
use self::words::{prose, sentence, title_of};
use ui::problem::NotFound;
use ui::title::PageTitle;

/// The page's address.
pub const PATH: &str = "/api";

/// The operations of the API, one by one.
#[component]
pub fn ApiPage() -> impl IntoView {
    let Some(description) = use_context::<Description>() else {
        return view! { <NotFound /> }.into_any();
    };
    let about = text(&description.0["info"]["description"]);
    view! {
        <PageTitle text="API" />
        <header class="page-head">
            <h1>"API"</h1>
            <p>
                <a href="/api/v1/openapi.json">"As OpenAPI 3.1"</a>
            </p>
        </header>
        <article class="reference">
            {prose(about)}
            {groups(description)
                .map(|(name, about)| view! { <Group description name about /> })
                .collect_view()} <section id="shapes" aria-labelledby="shapes-title">
                <h2 id="shapes-title">"Shapes"</h2>
                <p>"The shapes of requests and answers. Every field is present unless it is marked as optional."</p>
                {description
                    .shapes()
                    .map(|(name, schema)| view! { <Shape description name schema /> })
                    .collect_view()}
            </section>
        </article>
    }
    .into_any()
}

/// The page's table of contents, in place of the legend.
#[component]
pub fn ApiContents() -> impl IntoView {
    let groups = use_context::<Description>().map(|description| groups(description).collect::<Vec<_>>());
    view! {
        <nav class="legend" aria-label="On this page">
            <h2>"On this page"</h2>
            <ul class="reference-contents">
                {groups
                    .into_iter()
                    .flatten()
                    .map(|(name, _)| view! { <li><a href=format!("#{name}")>{name}</a></li> })
                    .collect_view()}
                <li>
                    <a href="#shapes">"Shapes"</a>
                </li>
            </ul>
        </nav>
    }
}

/// The groups of operations, with their descriptions.
fn groups(description: Description) -> impl Iterator<Item = (&'static str, &'static str)> {
    let tags = description.0["tags"].as_array().into_iter().flatten();
    tags.map(|tag| (text(&tag["name"]), text(&tag["description"])))
}

#[component]
fn Group(description: Description, name: &'static str, about: &'static str) -> impl IntoView {
    let paths = description.0["paths"].as_object().into_iter().flatten();
    let operations = paths
        .flat_map(|(path, item)| item.as_object().into_iter().flatten().map(move |it| (path, it)))
        .filter(|(_, (_, operation))| operation["tags"][0] == name)
        .map(|(path, (method, operation))| {
            let (path, method) = (path.as_str(), method.as_str());
            view! { <Operation description path method operation /> }
        })
        .collect_view();
    let title = format!("{name}-title");
    view! {
        <section id=name aria-labelledby=title>
            <h2 id=title.clone()>{name}</h2>
            <p>{sentence(about)}</p>
            {operations}
        </section>
    }
}

#[component]
fn Operation(
    description: Description,
    path: &'static str,
    method: &'static str,
    operation: &'static Value,
) -> impl IntoView {
    let needs_session = operation.get("security").is_some();
    let parameters = operation["parameters"].as_array();
    let body = operation
        .get("requestBody")
        .map(|body| &body["content"]["application/json"]["schema"]);
    let responses = operation["responses"].as_object().into_iter().flatten();
    view! {
        <details class="operation">
            <summary>
                <span class="operation-title">{text(&operation["summary"])}</span>
                <code class="operation-address">
                    <b>{method.to_uppercase()}</b>
                    " "
                    {path}
                </code>
            </summary>
            {prose(text(&operation["description"]))}
            {needs_session.then(|| view! { <p>"It requires a session."</p> })}
            {parameters
                .map(|parameters| {
                    view! {
                        <h3>"Parameters"</h3>
                        <dl class="reference-fields">
                            {parameters
                                .iter()
                                .map(|parameter| {
                                    let required = parameter["required"] == true;
                                    let name = text(&parameter["name"]);
                                    let about = text(&parameter["description"]);
                                    view! { <Field description name required schema=&parameter["schema"] about /> }
                                })
                                .collect_view()}
                        </dl>
                    }
                })}
            {body
                .map(|schema| {
                    view! {
                        <h3>"Body: " {description.words(schema)}</h3>
                        <Example description schema />
                    }
                })}
            <h3>"Answers"</h3>
            <dl class="reference-answers">
                {responses
                    .map(|(status, response)| {
                        let status = status.as_str();
                        view! { <Reply description status response /> }
                    })
                    .collect_view()}
            </dl>
        </details>
    }
}

/// An answer; successful ones have an example.
#[component]
fn Reply(description: Description, status: &'static str, response: &'static Value) -> impl IntoView {
    let response = description.followed(response);
    let schema = response["content"]["application/json"].get("schema");
    view! {
        <dt>
            <code>{status}</code>
        </dt>
        <dd>
            {sentence(text(&response["description"]))}
            {schema
                .map(|schema| {
                    view! {
                        " "
                        {description.words(schema)}
                        "."
                        <Example description schema />
                    }
                })}
            {text_of(response).map(|text| view! { <pre tabindex="0">{text}</pre> })}
        </dd>
    }
}

/// The example of an answer that is not JSON.
fn text_of(response: &'static Value) -> Option<&'static str> {
    let mut kinds = response["content"].as_object()?.iter();
    kinds.find(|(kind, _)| kind.starts_with("text/"))?.1["example"].as_str()
}

#[component]
fn Shape(description: Description, name: &'static str, schema: &'static Value) -> impl IntoView {
    let required = |field: &str| {
        let required = schema["required"].as_array();
        required.is_some_and(|fields| fields.iter().any(|required| required == field))
    };
    let fields = schema["properties"].as_object().into_iter().flatten();
    view! {
        <section class="shape">
            <h3 id=name>{title_of(name)}</h3>
            <p>{sentence(text(&schema["description"]))}</p>
            <dl class="reference-fields">
                {fields
                    .map(|(name, schema)| {
                        let name = name.as_str();
                        let required = required(name);
                        let own = text(&schema["description"]);
                        let about = if own.is_empty() { text(&description.followed(schema)["description"]) } else { own };
                        view! { <Field description name required schema about /> }
                    })
                    .collect_view()}
            </dl>
        </section>
    }
}

#[component]
fn Field(
    description: Description,
    name: &'static str,
    required: bool,
    schema: &'static Value,
    about: &'static str,
) -> impl IntoView {
    view! {
        <dt>
            <code>{name}</code>
            " "
            <span class="reference-kind">{description.words(schema)} {(!required).then_some(", optional")}</span>
        </dt>
        <dd>{sentence(about)}</dd>
    }
}

#[component]
fn Example(description: Description, schema: &'static Value) -> impl IntoView {
    description
        .example(schema)
        .map(|example| view! { <pre tabindex="0">{example}</pre> })
}

fn text(value: &'static Value) -> &'static str {
    value.as_str().unwrap_or_default()
}
