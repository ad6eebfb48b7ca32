//! The result as one HTML page with everything in it.

use std::fmt::Write as _;

use outlier::verdict::{Verdict, percentage};

use crate::report::{ArrayReport, CollectionReport, Report};
use crate::text::{grouped, notes, size};

const STYLE: &str = include_str!("report.css");
/// The size of a picture, and of one bar with its gap.
const HEIGHT: f64 = 120.0;
const BAR: f64 = 28.0;

/// The page. It loads nothing and runs nothing.
pub fn page(report: &Report) -> String {
    let mut body = String::new();
    if let Some(ended) = &report.ended {
        add(
            &mut body,
            format_args!("<p class=\"warning\">Incomplete: {}.</p>", escape(ended)),
        );
    }
    if let Some(sample) = report.sample {
        add(
            &mut body,
            format_args!(
                "<p class=\"warning\">Sampled: at most {} random documents of each collection. Outliers are rare, so a \
             sample may miss them.</p>",
                grouped(sample.into())
            ),
        );
    }
    summary(report, &mut body);
    for collection in &report.collections {
        section(collection, report.threshold, &mut body);
    }
    if !report.skipped.is_empty() {
        body.push_str("<h2>Skipped</h2><ul>");
        for skipped in &report.skipped {
            add(
                &mut body,
                format_args!(
                    "<li><code>{}</code>: {}</li>",
                    escape(&skipped.namespace),
                    escape(&skipped.reason)
                ),
            );
        }
        body.push_str("</ul>");
    }
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width\">\n<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
         style-src 'unsafe-inline'\">\n<title>Arrays at {server}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <main>\n<h1>Arrays at {server}</h1>\n{body}\n<p class=\"foot\">Made by <code>outlier scan</code>. It contains \
         names, counts and sizes, and no contents of documents. Percentiles are within 5 %.</p>\n</main>\n</body>\n\
         </html>\n",
        server = escape(&report.server)
    )
}

fn summary(report: &Report, body: &mut String) {
    let all = report.collections.iter();
    let all = all.flat_map(|collection| collection.arrays.iter().map(move |array| (collection, array)));
    let alarms: Vec<_> = all
        .filter(|(_, array)| array.judgement.verdict != Verdict::Leave)
        .collect();
    if alarms.is_empty() {
        body.push_str("<p>No array needs attention.</p>");
        return;
    }
    body.push_str("<h2>What needs attention</h2><ul>");
    for (collection, array) in alarms {
        add(
            body,
            format_args!(
                "<li><code>{}.{}</code> <code>{}</code>: <b>{}</b></li>",
                escape(&collection.database),
                escape(&collection.collection),
                escape(&array.path),
                array.judgement.verdict.words()
            ),
        );
    }
    body.push_str("</ul>");
}

fn section(collection: &CollectionReport, threshold: u64, body: &mut String) {
    add(
        body,
        format_args!(
            "<section><h2><code>{}.{}</code></h2><p>{} documents{}, {}. The largest has {}, {} of the 16 MB that a document \
         may have.{}{}</p>",
            escape(&collection.database),
            escape(&collection.collection),
            grouped(collection.documents),
            escape(&collection.kind()),
            size(collection.bytes),
            size(collection.document_bytes.max),
            percentage(collection.of_most),
            collection
                .measured
                .note()
                .map(|note| format!(" {note}"))
                .unwrap_or_default(),
            collection
                .obstacle()
                .map(|obstacle| format!(" {}", escape(&obstacle)))
                .unwrap_or_default(),
        ),
    );
    if collection.arrays.is_empty() {
        body.push_str("<p>No arrays.</p></section>");
        return;
    }
    body.push_str(
        "<div class=\"wide\"><table><thead><tr><th scope=\"col\">Array</th><th scope=\"col\">Arrays</th><th \
         scope=\"col\">Items p50</th><th scope=\"col\">p90</th><th scope=\"col\">p99</th><th scope=\"col\">max</th><th \
         scope=\"col\">Bytes p50</th><th scope=\"col\">p90</th><th scope=\"col\">p99</th><th scope=\"col\">max</th><th \
         scope=\"col\">Beyond</th><th scope=\"col\">Verdict</th></tr></thead><tbody>",
    );
    for array in &collection.arrays {
        row(array, body);
    }
    body.push_str("</tbody></table></div>");
    for array in &collection.arrays {
        details(array, threshold, body);
    }
    body.push_str("</section>");
}

fn row(array: &ArrayReport, body: &mut String) {
    add(
        body,
        format_args!("<tr><th scope=\"row\"><code>{}</code></th>", escape(&array.path)),
    );
    let (items, bytes) = (array.items, array.bytes);
    let counts = [array.arrays, items.p50, items.p90, items.p99, items.max].map(grouped);
    let sizes = [bytes.p50, bytes.p90, bytes.p99, bytes.max].map(size);
    for cell in counts.iter().chain(&sizes) {
        add(body, format_args!("<td>{cell}</td>"));
    }
    add(
        body,
        format_args!(
            "<td>{}</td><td class=\"verdict\">{}</td></tr>",
            percentage(array.beyond_share),
            array.judgement.verdict.words()
        ),
    );
}

fn details(array: &ArrayReport, threshold: u64, body: &mut String) {
    let open = if array.judgement.verdict == Verdict::Leave {
        ""
    } else {
        " open"
    };
    add(
        body,
        format_args!(
            "<details{open}><summary><code>{}</code>: {}</summary><ul>",
            escape(&array.path),
            array.judgement.verdict.words()
        ),
    );
    for note in notes(array) {
        add(body, format_args!("<li>{}</li>", escape(&note)));
    }
    body.push_str("</ul>");
    picture(array, threshold, body);
    body.push_str("</details>");
}

/// How many arrays there are of each length, on a logarithmic scale, so that one outlier among a million is seen.
#[expect(clippy::cast_precision_loss, reason = "pixels")]
fn picture(array: &ArrayReport, threshold: u64, body: &mut String) {
    let most = array
        .lengths
        .iter()
        .map(|(_, count)| *count)
        .max()
        .unwrap_or(1)
        .max(1);
    let width = BAR * array.lengths.len() as f64 + 8.0;
    let label = format!(
        "Arrays by their number of items, from {} to {}; the table has the percentiles",
        grouped(array.lengths.first().map_or(0, |(start, _)| *start)),
        grouped(array.items.max)
    );
    add(
        body,
        format_args!(
            "<svg role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {width} {}\" width=\"{width}\">",
            escape(&label),
            HEIGHT + 34.0
        ),
    );
    for (nth, (start, count)) in array.lengths.iter().enumerate() {
        let x = BAR * nth as f64 + 4.0;
        let height = if *count == 0 {
            0.0
        } else {
            // A single array is still seen.
            4.0 + (HEIGHT - 20.0) * (*count as f64).ln_1p() / (most as f64).ln_1p()
        };
        let class = if *start > threshold { "bar beyond" } else { "bar" };
        add(
            body,
            format_args!(
                "<rect class=\"{class}\" x=\"{x}\" y=\"{:.1}\" width=\"{}\" height=\"{height:.1}\"><title>{} arrays with {} \
             items or more</title></rect><text x=\"{:.1}\" y=\"{}\">{}</text>",
                HEIGHT - height,
                BAR - 4.0,
                grouped(*count),
                grouped(*start),
                x + BAR / 2.0 - 2.0,
                HEIGHT + 14.0,
                short(*start)
            ),
        );
    }
    add(
        body,
        format_args!(
            "<text class=\"axis\" x=\"4\" y=\"{}\">items, at least</text></svg>",
            HEIGHT + 30.0
        ),
    );
}

fn short(number: u64) -> String {
    match number {
        0..1_024 => number.to_string(),
        1_024..1_048_576 => format!("{}k", number / 1_024),
        _ => format!("{}M", number / 1_048_576),
    }
}

fn add(body: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    body.write_fmt(text).unwrap_or_default();
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Measured;
    use crate::tally::{Cell, Row, Tally};
    use crate::targets::Target;

    #[test]
    fn the_page_loads_nothing_and_escapes_names() {
        let mut tally = Tally::default();
        let path = "<script>alert(1)</script>".to_owned();
        tally.add(Row::Arrays(Box::new(Cell {
            path,
            arrays: 1,
            most: 5_000,
            items: 5_000,
            beyond: 1,
            ..Cell::default()
        })));
        let target = Target {
            database: "a\"b".to_owned(),
            collection: "c&d".to_owned(),
            capped: false,
            shard_key: None,
        };
        let report = Report {
            server: "localhost".to_owned(),
            threshold: 1_000,
            sample: Some(10),
            ended: None,
            collections: vec![CollectionReport::of(
                &target,
                &tally,
                Measured::OnServer,
                &[],
                1_000,
            )],
            skipped: Vec::new(),
        };
        let page = page(&report);
        assert!(
            !page.contains("<script") && page.contains("&lt;script&gt;"),
            "{page}"
        );
        assert!(
            page.contains("a&quot;b.c&amp;d") && page.contains("Sampled"),
            "{page}"
        );
        assert!(
            !page.contains("http:") && !page.contains("https:") && !page.contains("NaN"),
            "{page}"
        );
        assert!(
            page.contains("prefers-color-scheme: dark") && page.contains("<svg"),
            "{page}"
        );
    }
}
