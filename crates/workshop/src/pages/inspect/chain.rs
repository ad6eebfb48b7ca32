//! The chain: the head and the pages of a list, each a sheet that shows how full it is. Of hundreds, some are
//! drawn, and all of them as one strip.

use leptos::prelude::*;
use model::RelationOverflow;
use ui::components::grouped;
use ui::meter_words::is_nearly_full;

use super::super::sheets::Sheet;

/// Up to this many pages are all drawn. Of more, only the newest, the oldest, some in between, and the neighbours
/// of the selected page are drawn.
const ALL: usize = 12;
const NEWEST: usize = 4;
const OLDEST: usize = 2;
const BETWEEN: usize = 4;
/// How many cells the strip has at most; with more pages a cell stands for several.
const CELLS: usize = 120;

/// The chain of one list.
#[component]
pub fn Chain(
    /// The address that the number of a page is added to.
    at: String,
    /// How it is stored.
    list: RelationOverflow,
    /// How many items each page holds, by page number.
    chain: Vec<u64>,
    /// The page whose document is shown.
    page: Option<u32>,
) -> impl IntoView {
    let near = is_nearly_full(list.head, list.threshold);
    let sheet = |number: usize| {
        let items = chain[number];
        let current = page.is_some_and(|page| page as usize == number);
        view! {
            <li>
                <a
                    class="sheet-of"
                    id=format!("page-{number}")
                    href=format!("{at}&page={number}")
                    aria-current=current.then_some("true")
                >
                    <Sheet items most=list.page_size class="meter-water" />
                    <span>{format!("page {}", grouped(number as u64))}</span>
                    <b>{grouped(items)}</b>
                    <span class="sr-only">" items"</span>
                </a>
            </li>
        }
    };
    let mut above = chain.len();
    let sheets = drawn(chain.len(), page).into_iter().map(|number| {
        let between = above - number - 1;
        above = number;
        let gap = (between > 0).then(|| view! { <li class="sheets-between">{format!("… {between} …")}</li> });
        view! {
            {gap}
            {sheet(number)}
        }
    });
    let sheets = sheets.collect_view();
    let many = chain.len() > ALL;
    let strip = many.then(|| view! { <Strip pages=chain.clone() most=list.page_size /> });
    view! {
        <section aria-labelledby="chain" data-testid="chain">
            <h2 id="chain" class="section-head">
                {in_words(&list)}
            </h2>
            <ol class="sheets">
                <li class="sheet-head">
                    <Sheet items=list.head most=list.threshold class=if near { "water-near" } else { "meter-water" } />
                    <span>"head"</span>
                    <b data-testid="in-the-head">{format!("{} of {}", grouped(list.head), grouped(list.threshold))}</b>
                </li>
                {sheets}
            </ol>
            {strip}
            <p class="lab-source">
                "Head: the newest items, in the owner’s document. Page: another document, with the next older ones. When the head is full, \
                 its oldest items move into a new page: it spills."
            </p>
        </section>
    }
}

/// The numbers of the drawn pages, newest first.
fn drawn(pages: usize, chosen: Option<u32>) -> Vec<usize> {
    if pages <= ALL {
        return (0..pages).rev().collect();
    }
    let chosen = chosen.map(|page| page as usize);
    let wanted = |number: &usize| {
        let near = chosen.is_some_and(|chosen| chosen.abs_diff(*number) <= 1);
        let between = (1..=BETWEEN).any(|nth| *number == pages * nth / (BETWEEN + 1));
        *number < OLDEST || *number >= pages - NEWEST || near || between
    };
    (0..pages).rev().filter(wanted).collect()
}

fn in_words(list: &RelationOverflow) -> String {
    let room = list.threshold.saturating_sub(list.head);
    let what = match list.pages {
        0 => "One document".to_owned(),
        1 => "The head and 1 page".to_owned(),
        pages => format!("The head and {} pages", grouped(pages)),
    };
    let spills = "the oldest items of the head move into a new page";
    if room == 0 {
        format!("{what}. The head is full: with the next one {spills}")
    } else {
        format!("{what}. After {} more {spills}", grouped(room))
    }
}

/// All pages, newest first: a fuller page is darker.
#[component]
fn Strip(pages: Vec<u64>, most: u64) -> impl IntoView {
    let each = pages.len().div_ceil(CELLS);
    let cells = pages.rchunks(each).zip(0_u64..).map(|(cell, place)| {
        let items: u64 = cell.iter().sum();
        let tenths = (items * 10).checked_div(most * cell.len() as u64).unwrap_or(0);
        let opacity = match tenths {
            0..10 => format!("0.{}", tenths.max(1)),
            _ => "1".to_owned(),
        };
        view! { <rect x=place width="0.9" height="1" fill-opacity=opacity /> }
    });
    let [fewest, most] = [pages.iter().min(), pages.iter().max()].map(|items| grouped(*items.unwrap_or(&0)));
    let items = if fewest == most {
        most
    } else {
        format!("{fewest} to {most}")
    };
    let all = grouped(pages.len() as u64);
    let grouping = if each == 1 {
        String::new()
    } else {
        format!(", {each} in each cell")
    };
    let about = format!("All {all} pages{grouping}, newest first: {items} items each.");
    view! {
        <svg
            class="strip"
            viewBox=format!("0 0 {} 1", pages.len().div_ceil(each))
            preserveAspectRatio="none"
            aria-hidden="true"
        >
            {cells.collect_view()}
        </svg>
        <p class="lab-source">{about}</p>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_chain_is_drawn_whole() {
        assert_eq!(drawn(0, None), Vec::<usize>::new());
        assert_eq!(drawn(3, Some(1)), [2, 1, 0]);
        assert_eq!(drawn(ALL, None).len(), ALL);
    }

    #[test]
    fn a_long_chain_shows_both_ends_some_between_and_the_chosen_page() {
        assert_eq!(drawn(195, None), [194, 193, 192, 191, 156, 117, 78, 39, 1, 0]);
        assert_eq!(
            drawn(195, Some(100)),
            [194, 193, 192, 191, 156, 117, 101, 100, 99, 78, 39, 1, 0]
        );
        assert!(drawn(1_000_000, Some(7)).len() <= ALL + 1);
    }
}
