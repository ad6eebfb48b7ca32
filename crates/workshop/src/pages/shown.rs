//! The parts that both stations share: documents with their changes, commands, and the verdict.

#![expect(clippy::needless_pass_by_value, reason = "a component owns its props")]

use std::collections::BTreeMap;

use crate::{Discrepancy, Entry, StageDocument};
use bson::RawDocumentBuf;
use leptos::prelude::*;
use ui::components::{Code, ShownDocument, beside, size};

use super::words;

/// The documents, with their changes since the last step.
#[component]
pub fn Documents(before: Vec<StageDocument>, after: Vec<StageDocument>) -> impl IntoView {
    let name = |shown: &StageDocument| {
        (
            shown.collection,
            shown.document.get("_id").map(document::extjson::inline),
        )
    };
    let old: BTreeMap<_, _> = before.iter().map(|shown| (name(shown), shown)).collect();
    let new: BTreeMap<_, _> = after.iter().map(|shown| (name(shown), shown)).collect();
    let gone = before.iter().filter(|shown| !new.contains_key(&name(shown)));
    let all = after.iter().chain(gone).filter_map(|shown| {
        let name = name(shown);
        let [before, after] = [&old, &new].map(|documents| documents.get(&name).map(|shown| &shown.document));
        let branch = beside(before, after)?;
        let what = format!("db.{}", shown.collection);
        let bytes = RawDocumentBuf::try_from(after.or(before)?).map_or(0, |raw| raw.as_bytes().len() as u64);
        Some(view! { <ShownDocument what note=size(bytes) branch /> })
    });
    view! { <div class="documents">{all.collect_view()}</div> }
}

/// A command with its purpose and its answer.
#[component]
pub fn Command(entry: Entry, name: &'static str) -> impl IntoView {
    let text = entry.call.text();
    let verb = text.split('(').next().unwrap_or_default().to_owned();
    let failure = words::failure(&entry, name);
    view! {
        <p class="command-purpose">{words::purpose(&entry.call)}</p>
        <details class="command">
            <summary>
                <code>{verb} "(…)"</code>
            </summary>
            <div class="command-text">
                <Code text />
            </div>
        </details>
        {words::answer(&entry).map(|answer| view! { <p class="command-answer">{answer}</p> })}
        {failure.map(|failure| view! { <p class="command-failed">{failure}</p> })}
    }
}

/// Whether all invariants hold, and which do not.
#[component]
pub fn Discrepancies(faults: Vec<Discrepancy>, holds: &'static str) -> impl IntoView {
    if faults.is_empty() {
        return view! { <p class="holds">{holds}</p> }.into_any();
    }
    let faults = faults
        .iter()
        .map(|fault| view! { <li>{words::capital(&words::discrepancy(fault))} "."</li> });
    view! { <ul class="faults">{faults.collect_view()}</ul> }.into_any()
}
