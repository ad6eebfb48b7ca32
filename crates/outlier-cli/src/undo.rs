//! `outlier adopt --undo`: from lists back to plain arrays.

use outlier::describe::DESCRIPTIONS;
use outlier::document::{Error, session_of};
use outlier::scan::{Owners, Shape};
use outlier::{Collection, Lists, Restored, plain};

use crate::adopt::{ends_the_run, reason};
use crate::options::Place;
use crate::place::Opened;
use crate::scan::print;
use crate::text::{grouped, size};

/// How many lists that stay lists to name.
const EXAMPLES: usize = 20;
/// How often to go through the collection, as long as the last time has found lists.
const PASSES: usize = 5;

#[derive(Default)]
struct Undone {
    arrays: u64,
    items: u64,
    /// Lists that stay lists, and why.
    kept: Vec<String>,
}

/// Turns every list back into an array. Returns whether all of them are arrays now.
///
/// # Errors
/// Why nothing could be changed, or why it ended early, and what to do next.
pub async fn run(place: &Place) -> Result<bool, String> {
    let opened = Opened::connect(place).await?;
    let explain = |error: Error| opened.explain(&error);
    let mut description = opened.adopted().await?;
    description.undoing = true;
    description.save(&opened.engine).await.map_err(explain)?;
    let collection = description.collection();
    let lists = &collection.lists()[0];
    let mut undone = Undone::default();
    for _ in 0..PASSES {
        let before = undone.arrays;
        undone.kept.clear();
        undone.pass(&opened, &collection, lists).await?;
        if undone.arrays == before {
            break;
        }
    }
    lists.sweep_restored(&opened.engine).await.map_err(explain)?;
    let mut lines = vec![format!(
        "Turned {} lists with {} items back into arrays.",
        grouped(undone.arrays),
        grouped(undone.items)
    )];
    if undone.kept.is_empty() {
        description.remove(&opened.engine).await.map_err(explain)?;
        let spec = &description.spec;
        lines.push(format!(
            "The description in {DESCRIPTIONS} is removed. The empty collection {} and the index {}.pending.page_1 of {} \
             can be dropped.",
            spec.pages, spec.path, spec.owners
        ));
    } else {
        // Both directions are open again.
        description.undoing = false;
        description.save(&opened.engine).await.map_err(explain)?;
        lines.push(format!("Still lists: {}", grouped(undone.kept.len() as u64)));
        lines.extend(undone.kept.iter().take(EXAMPLES).map(|kept| format!("  {kept}")));
    }
    print(&(lines.join("\n") + "\n"))?;
    Ok(undone.kept.is_empty())
}

impl Undone {
    async fn pass(
        &mut self,
        opened: &Opened<'_>,
        collection: &Collection,
        lists: &Lists,
    ) -> Result<(), String> {
        let path = &lists.spec().path;
        let mut owners = Owners::of(&*opened.engine, collection);
        loop {
            let batch = owners.next().await.map_err(|error| opened.explain(&error))?;
            if batch.is_empty() {
                return Ok(());
            }
            let is_list = |document: &&bson::Document| matches!(Shape::of(document, path), Shape::List(_));
            for owner in batch
                .iter()
                .filter(is_list)
                .filter_map(|document| collection.owner_of(document))
            {
                let list = lists.on(session_of(&opened.engine));
                match list.restore(&owner, plain::element).await {
                    Ok(Restored::Array(items)) => {
                        self.arrays += 1;
                        self.items += items;
                    }
                    Ok(Restored::NoList) => {}
                    Ok(Restored::TooLarge(bytes)) => self.kept.push(format!(
                        "{owner}: with the array its document would have {} or more, and at most 16 MB can be stored",
                        size(bytes)
                    )),
                    Err(error) if ends_the_run(&error) => return Err(opened.explain(&error)),
                    Err(error) => self.kept.push(format!("{owner}: {}", reason(opened, &error))),
                }
            }
        }
    }
}
