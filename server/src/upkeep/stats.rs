use feed::Paging;
use model::Relation;
use serde::Serialize;
use store::upkeep::{Advice, BARS, RelationStats, advise, by_week, evaluate, stats};
use store::{Limits, Store};

use super::table::{Table, grouped, size};
use super::{interrupted, open, print_json, watched};
use crate::cli::StatsOptions;
use crate::error::CliError;

/// The widest bar of a histogram, in characters.
const WIDEST: u64 = 40;
/// How many days of growth to show; before them, weeks.
const DAYS: usize = 14;

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    relations: Vec<RelationStats>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    advice: Vec<Tuned>,
}

/// A relation's present numbers, and what would fit the budget.
#[derive(Debug, Serialize)]
struct Tuned {
    relation: Relation,
    now: Advice,
    fitting: Advice,
}

/// Prints how lists are stored, and which limits fit a budget.
pub async fn run(options: StatsOptions) -> Result<(), CliError> {
    let store = open(&options.data).await?;
    let relations = watched("Measuring", async |progress| stats(&store, progress).await);
    let relations = relations
        .await
        .map_err(|error| interrupted("The store cannot be measured", &error))?;
    let advice = match options.budget {
        Some(budget) => relations
            .iter()
            .map(|relation| tuned(&store, budget, relation))
            .collect(),
        None => Vec::new(),
    };
    if options.json {
        return print_json(&Report { relations, advice });
    }
    print_overview(&relations);
    print_sizes(&relations);
    for relation in relations.iter().filter(|relation| relation.lists > 0) {
        print_fills(relation);
    }
    print_growth(&relations);
    if let Some(budget) = options.budget {
        print_advice(budget, &advice);
    }
    Ok(())
}

fn tuned(store: &Store, budget: u64, stats: &RelationStats) -> Tuned {
    let Limits { threshold, page_size } = store.settings().of(stats.relation);
    let screen = Paging::DEFAULT_LIMIT;
    Tuned {
        relation: stats.relation,
        now: evaluate(budget, stats.sizes, screen, threshold, page_size),
        fitting: advise(budget, stats.sizes, screen),
    }
}

fn print_overview(relations: &[RelationStats]) {
    let mut table = Table::new(
        1,
        [
            "relation",
            "owners",
            "with items",
            "overflowed",
            "unbounded",
            "items",
            "pages",
            "in owners",
            "in pages",
            "longest",
        ],
    );
    for relation in relations {
        table.row([
            relation.relation.to_string(),
            grouped(relation.owners),
            grouped(relation.lists),
            format!(
                "{} ({})",
                grouped(relation.overflowed),
                percent(relation.overflowed, relation.lists)
            ),
            grouped(relation.unbounded),
            grouped(relation.items),
            grouped(relation.pages),
            size(relation.head_bytes),
            size(relation.page_bytes),
            relation
                .largest
                .as_ref()
                .map(|(owner, items)| format!("{} ({owner})", grouped(*items)))
                .unwrap_or_default(),
        ]);
    }
    print!("{}", table.text());
}

fn print_sizes(relations: &[RelationStats]) {
    let mut table = Table::new(1, ["item size in bytes", "p50", "p90", "p99", "largest"]);
    for relation in relations.iter().filter(|relation| relation.items > 0) {
        let sizes = relation.sizes;
        let [p50, p90, p99, max] = [sizes.p50, sizes.p90, sizes.p99, sizes.max].map(grouped);
        table.row([relation.relation.to_string(), p50, p90, p99, max]);
    }
    if !table.is_empty() {
        print!("\n{}", table.text());
    }
}

fn print_fills(relation: &RelationStats) {
    println!("\n{}: how full its heads are", relation.relation);
    print_bars(&relation.head_fill);
    if relation.pages > 0 {
        println!("{}: how full its pages are", relation.relation);
        print_bars(&relation.page_fill);
    }
}

fn print_bars(fill: &[u64; BARS]) {
    for (index, number) in fill.iter().enumerate().filter(|(_, number)| **number > 0) {
        let label = if index + 1 == BARS {
            "over".to_owned()
        } else {
            format!("≤ {} %", (index + 1) * 10)
        };
        println!(
            "  {label:>7} {} {}",
            bar_of(*number, fill.iter().copied().max()),
            grouped(*number)
        );
    }
}

fn bar_of(number: u64, most: Option<u64>) -> String {
    let length = (number * WIDEST).div_ceil(most.unwrap_or(1).max(1));
    "█".repeat(usize::try_from(length).unwrap_or(0))
}

fn print_growth(relations: &[RelationStats]) {
    for relation in relations.iter().filter(|relation| relation.pages > 0) {
        let mut weeks = relation.growth.clone();
        let first_day = weeks.keys().rev().nth(DAYS - 1).cloned();
        let days = match first_day {
            Some(day) => weeks.split_off(&day),
            None => std::mem::take(&mut weeks),
        };
        let weeks = by_week(&weeks);
        let most = days.values().chain(weeks.values()).copied().max();
        println!("\n{}: pages made", relation.relation);
        for (week, pages) in &weeks {
            println!("  week of {week} {} {}", bar_of(*pages, most), grouped(*pages));
        }
        for (day, pages) in &days {
            println!("          {day} {} {}", bar_of(*pages, most), grouped(*pages));
        }
    }
}

fn print_advice(budget: u64, advice: &[Tuned]) {
    println!(
        "\nA list within {} of its owner, for the largest items, or the p99 size where these are rare:",
        size(budget)
    );
    let mut table = Table::new(
        2,
        [
            "relation",
            "",
            "threshold",
            "page size",
            "full head",
            "worst case",
            "first screen",
            "per append",
            "spills",
            "seams",
        ],
    );
    let measured = advice
        .iter()
        .filter(|tuned| tuned.fitting.head_bytes > 0 && tuned.now.spills > 0.0);
    for Tuned {
        relation,
        now,
        fitting,
    } in measured.clone()
    {
        for (name, advice) in [("now", now), ("fitting", fitting)] {
            table.row([
                relation.to_string(),
                name.to_owned(),
                grouped(advice.threshold as u64),
                grouped(advice.page_size as u64),
                size(advice.head_bytes),
                format!(
                    "{}{}",
                    size(advice.worst_head_bytes),
                    if advice.always_within { "" } else { " !" }
                ),
                if advice.first_screen_from_head {
                    "from the head"
                } else {
                    "needs a page"
                }
                .to_owned(),
                size(advice.bytes_per_append),
                format!("{:.1}", advice.spills),
                format!("{:.1}", advice.seams),
            ]);
        }
    }
    print!("{}", table.text());
    println!("(spills per 1,000 appends, seams per 1,000 items read; ! passes the budget)\n");
    for Tuned {
        relation, fitting, ..
    } in measured
    {
        let name = relation.as_str().to_ascii_uppercase();
        println!("SPILLWAY_THRESHOLD_{name}={}", fitting.threshold);
        println!("SPILLWAY_PAGE_SIZE_{name}={}", fitting.page_size);
    }
}

fn percent(part: u64, whole: u64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "one decimal place is shown")]
    let percent = if whole == 0 {
        0.0
    } else {
        part as f64 * 100.0 / whole as f64
    };
    format!("{percent:.1} %")
}
