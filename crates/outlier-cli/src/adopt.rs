//! `outlier adopt`: from arrays to lists, while others read and write.

use std::io::IsTerminal as _;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use bson::{Bson, Document, doc};
use outlier::describe::{DESCRIPTIONS, Description};
use outlier::document::{Error, session_of};
use outlier::scan::{Owners, Shape};
use outlier::{Collection, ListSpec, Lists, OrderBy, Owner, plain, value_at};

use crate::options::AdoptOptions;
use crate::place::Opened;
use crate::plan::{Plan, draft};
use crate::scan::print;
use crate::targets::IndexOn;
use crate::text::{grouped, size};
use crate::verify::{Content, Verified};

/// How often to go through the collection, as long as the last time has found arrays.
const PASSES: usize = 5;
/// How many lists that stayed as they were to name.
const EXAMPLES: usize = 20;
/// How many commands an array takes to become a list, and a page, roughly.
const COMMANDS: (u64, u64) = (6, 3);

/// What was done so far.
#[derive(Default)]
struct Adopted {
    lists: u64,
    verified: Verified,
    /// Arrays that stayed arrays in the last pass, and why.
    refused: Vec<String>,
}

/// Says what would change, or changes it. Returns whether every array is a list now.
///
/// # Errors
/// Why nothing could be changed, or why it ended early, and what to do next.
pub async fn run(options: &AdoptOptions) -> Result<bool, String> {
    let opened = Opened::connect(&options.place).await?;
    let indexes = opened.inspect().await?;
    let described = opened.described().await?;
    if let Some(described) = &described {
        agree(options, described)?;
    }
    let drafted = draft(&opened, options.order_by.as_deref(), options.key.as_deref());
    let mut description = described.clone().unwrap_or(drafted);
    if described.is_none() && options.order_by.is_some() {
        description.spec.order.by = order_by(&opened, &description.spec).await?;
    }
    let plan = Plan::read(&opened, &description.spec).await?;
    let ids = plan.check(&opened)?;
    if described.is_none() {
        refuse_foreign(&opened, &plan, &description).await?;
        plan.check_elements(&opened)?;
        let wanted = |limit: Option<u32>| limit.and_then(|limit| usize::try_from(limit).ok());
        description.ids = ids;
        let head_bytes = wanted(options.head_bytes);
        description.spec.largest_item = plan.largest_item(head_bytes)?;
        description.spec.head_bytes = head_bytes;
        description.spec.limits =
            plan.limits(wanted(options.threshold), wanted(options.page_size), head_bytes)?;
    }
    let mut lines = plan_lines(&opened, &plan, &description, round_trip(&opened).await);
    lines.extend(notice_lines(&opened, &indexes, &description));
    if options.dry_run {
        lines.push("Nothing was changed. Without --dry-run, it is done.".to_owned());
        print(&(lines.join("\n") + "\n"))?;
        return Ok(true);
    }
    print(&(lines.join("\n") + "\n"))?;
    let adopted = adopt(&opened, &description).await?;
    print(&(adopted.lines().join("\n") + "\n"))?;
    Ok(adopted.refused.is_empty() && adopted.verified.missing == 0)
}

/// What the field that orders the list holds: what the first element has there. Elements with something else are named
/// when the arrays are read.
async fn order_by(opened: &Opened<'_>, spec: &ListSpec) -> Result<OrderBy, String> {
    let (path, field) = (&*spec.path, &*spec.order.at);
    let with_field = doc! { format!("{path}.{field}"): { "$exists": true } };
    let found = opened
        .collection()
        .find_one(with_field)
        .projection(doc! { path: 1 })
        .await
        .map_err(|error| opened.fault(&error.into()))?;
    let array = found.as_ref().and_then(|document| value_at(document, path));
    let mut elements = array.and_then(Bson::as_array).into_iter().flatten();
    let first = elements.find_map(|element| element.as_document()?.get(field));
    Ok(match first {
        Some(Bson::Int32(_) | Bson::Int64(_) | Bson::Double(_)) => OrderBy::Number,
        _ => OrderBy::Date,
    })
}

/// Refuses options that contradict what is stored.
fn agree(options: &AdoptOptions, described: &Description) -> Result<(), String> {
    if described.undoing {
        return Err(
            "an undo of these lists was begun and has not ended. Run `outlier adopt --undo` to its end first"
                .to_owned(),
        );
    }
    let spec = &described.spec;
    let text = |limit: Option<u32>| limit.map(|limit| limit.to_string());
    for (option, wanted, stored) in [
        ("--order-by", options.order_by.clone(), spec.order.at.to_string()),
        (
            "--key",
            options.key.clone(),
            spec.key.as_deref().unwrap_or("none").to_owned(),
        ),
        (
            "--threshold",
            text(options.threshold),
            spec.limits.threshold.to_string(),
        ),
        (
            "--page-size",
            text(options.page_size),
            spec.limits.page_size.to_string(),
        ),
        (
            "--head-bytes",
            text(options.head_bytes),
            spec.head_bytes
                .map_or("none".to_owned(), |bytes| bytes.to_string()),
        ),
    ] {
        if let Some(wanted) = wanted.filter(|wanted| *wanted != stored) {
            return Err(format!(
                "these lists were adopted with {option} {stored}, not {wanted}. Leave the option out, or undo the adoption \
                 first"
            ));
        }
    }
    Ok(())
}

/// Refuses lists that something else made, and pages of something else.
async fn refuse_foreign(opened: &Opened<'_>, plan: &Plan, draft: &Description) -> Result<(), String> {
    if plan.lists > 0 {
        return Err(format!(
            "{} documents have a list at {opened} already, which {DESCRIPTIONS} does not describe. The program that made \
             them has to store its description (`Description::save` of the crate outlier)",
            grouped(plan.lists)
        ));
    }
    let pages = &draft.spec.pages;
    let there = opened.engine.count(pages, Document::new()).await;
    match there.map_err(|error| opened.explain(&error))? {
        0 => Ok(()),
        there => Err(format!(
            "the collection {pages}, where the pages would go, has {there} documents already. Rename it, or drop it if it \
             is left from a test"
        )),
    }
}

/// How long a short command takes.
async fn round_trip(opened: &Opened<'_>) -> Duration {
    let began = Instant::now();
    for _ in 0..4 {
        if opened.engine.ping().await.is_err() {
            break;
        }
    }
    began.elapsed() / 4
}

fn plan_lines(opened: &Opened<'_>, plan: &Plan, description: &Description, trip: Duration) -> Vec<String> {
    let spec = &description.spec;
    let (arrays, pages) = (plan.lengths.len() as u64, plan.pages(spec.limits));
    let longest = plan.lengths.iter().max().copied().unwrap_or(0);
    let order = match (&*spec.order.at, plan.unsorted) {
        (plain::AT, _) => "the order of the array".to_owned(),
        (field, 0) => format!("the {} `{field}`", spec.order.by.name()),
        (field, unsorted) => format!(
            "the {} `{field}`; {} arrays are in another order now, and --undo would return them in this one",
            spec.order.by.name(),
            grouped(unsorted)
        ),
    };
    let commands = arrays * COMMANDS.0 + pages * COMMANDS.1;
    let took = plan.took * 4 + trip * u32::try_from(commands).unwrap_or(u32::MAX);
    let mut lines = vec![
        format!(
            "{opened}: {} documents, {} arrays with {} items ({} as items), the longest {}",
            grouped(plan.documents),
            grouped(arrays),
            grouped(plan.items),
            size(plan.bytes),
            grouped(u64::from(longest))
        ),
        format!(
            "  lists: at most {} items in a head, {} in a page{}; ordered by {order}",
            grouped(spec.limits.threshold as u64),
            grouped(spec.limits.page_size as u64),
            spec.head_bytes.map_or(String::new(), |bytes| format!(
                ", and {} in either",
                size(bytes as u64)
            )),
        ),
        format!(
            "  changes: {} documents; {}{} pages in {}; a description in {DESCRIPTIONS}",
            grouped(arrays),
            // How many items a page has then depends on their sizes.
            if spec.head_bytes.is_some() {
                "at least "
            } else {
                ""
            },
            grouped(pages),
            spec.pages
        ),
        format!("  time: about {} s", grouped(took.as_secs().max(1))),
    ];
    for (number, what) in [
        (plan.lists, "have a list already"),
        (
            plan.missing,
            "have nothing there; the first append makes the list",
        ),
        (plan.other, "have something else there, which stays as it is"),
    ] {
        if number > 0 {
            lines.push(format!("  {} documents {what}", grouped(number)));
        }
    }
    lines
}

/// What others notice.
fn notice_lines(opened: &Opened<'_>, indexes: &[IndexOn], description: &Description) -> Vec<String> {
    let (path, pages) = (&opened.place.path, &description.spec.pages);
    let mut lines = vec![
        format!(
            "  readers: each document keeps its array until one update puts the list in its place; then `{path}` is an \
             object, the newest items in `{path}.head`, older ones in {pages}"
        ),
        "  writers: what they push before that moment is in the list; a $push after it fails and changes nothing (code 2), \
         so change them to the list format, as docs/format.md describes it. Arrays that old code writes again become \
         lists when this is run again"
            .to_owned(),
    ];
    for index in indexes {
        lines.push(format!(
            "  index {}: does not find items of lists. Create it on fields of `{path}.head` too, and on `items` in {pages}",
            index.name
        ));
    }
    lines
}

async fn adopt(opened: &Opened<'_>, description: &Description) -> Result<Adopted, String> {
    let explain = |error: Error| opened.explain(&error);
    // First, so that a run that is interrupted can be continued or undone.
    description.save(&opened.engine).await.map_err(explain)?;
    let collection = description.collection();
    let lists = &collection.lists()[0];
    lists.prepare(&opened.engine).await.map_err(explain)?;
    let mut adopted = Adopted::default();
    for _ in 0..PASSES {
        let before = adopted.lists;
        adopted.refused.clear();
        adopted.pass(opened, &collection, lists).await?;
        if adopted.lists == before {
            break;
        }
    }
    Ok(adopted)
}

impl Adopted {
    /// Goes through the collection once.
    async fn pass(
        &mut self,
        opened: &Opened<'_>,
        collection: &Collection,
        lists: &Lists,
    ) -> Result<(), String> {
        let mut owners = Owners::of(&*opened.engine, collection);
        let mut done = 0;
        loop {
            let batch = owners.next().await.map_err(|error| opened.explain(&error))?;
            if batch.is_empty() {
                return Ok(());
            }
            for document in &batch {
                done += 1;
                let Some(owner) = collection.owner_of(document) else {
                    continue;
                };
                match self.list(opened, lists, &owner, document).await {
                    Ok(()) | Err(Error::NoOwner(_)) => {}
                    Err(error) if ends_the_run(&error) => return Err(opened.explain(&error)),
                    Err(error) => self.refused.push(format!("{owner}: {}", reason(opened, &error))),
                }
                if done % 1_000 == 0 && std::io::stderr().is_terminal() {
                    eprint!("\r{} documents", grouped(done));
                }
            }
        }
    }

    async fn list(
        &mut self,
        opened: &Opened<'_>,
        lists: &Lists,
        owner: &Owner,
        document: &Document,
    ) -> outlier::document::Result<()> {
        let spec = lists.spec();
        let list = lists.on(session_of(&opened.engine));
        match Shape::of(document, &spec.path) {
            Shape::Unbounded(_) => {}
            Shape::List(state) if state.adopting => return list.adopt(owner).await,
            _ => return Ok(()),
        }
        let converted = Mutex::new(None);
        let read = |array: &[Bson]| {
            *converted.lock().unwrap_or_else(PoisonError::into_inner) = Some(Content::of(array));
        };
        list.convert_plain(owner, &read).await?;
        // Nothing if another conversion was faster, which verifies it.
        let Some(before) = converted.into_inner().unwrap_or_else(PoisonError::into_inner) else {
            return Ok(());
        };
        self.lists += 1;
        let mut walk = lists.on(session_of(&opened.engine)).walk(owner);
        let mut elements = Vec::new();
        while let Some(stretch) = walk.next().await? {
            elements.extend(stretch.items.iter().map(plain::element));
        }
        self.verified.list(&before, &Content::of(&elements));
        Ok(())
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("Adopted {} arrays.", grouped(self.lists))];
        lines.extend(self.verified.lines());
        if self.verified.missing > 0 {
            lines.push(format!(
                "  {} elements are not in their list any more. If nobody removed them, run `outlier check`",
                grouped(self.verified.missing)
            ));
        }
        if !self.refused.is_empty() {
            lines.push(format!("Left as arrays: {}", grouped(self.refused.len() as u64)));
            lines.extend(
                self.refused
                    .iter()
                    .take(EXAMPLES)
                    .map(|refused| format!("  {refused}")),
            );
            lines.push("Correct these and run this again; the other lists are converted.".to_owned());
        }
        lines
    }
}

/// Whether an error is about the server and not about one list.
pub fn ends_the_run(error: &Error) -> bool {
    matches!(
        error,
        Error::Unavailable(_)
            | Error::UnknownOutcome(_)
            | Error::Storage(_)
            | Error::Refused { code: 13, .. }
    )
}

/// Why one list stayed as it is.
pub fn reason(opened: &Opened<'_>, error: &Error) -> String {
    match error {
        Error::Contended(_) => "others write to it faster than it can be converted; pause them".to_owned(),
        Error::TooLarge { .. } => {
            "its document is so near to 16 MB that not even the conversion has room; shorten the array by hand".to_owned()
        }
        error => opened.explain(error),
    }
}
