//! Line charts, as SVG that suits light and dark themes: a file of its own, or a part of a page.
//!
//! Both have the look of `chart.css`. A file contains it; on a page, whose content security policy allows no
//! styles but its stylesheet's, it comes from there. [`numbers`] formats the labels of the axes and of the table
//! beside the chart.

use std::fmt::Write;

use scale::Scale;

pub mod numbers;
mod scale;

/// A chart. A table with the same numbers is shown beside it everywhere.
pub struct Chart {
    /// The name for screen readers.
    pub title: String,
    /// The description for screen readers.
    pub description: String,
    /// The label under the horizontal axis.
    pub x: Axis,
    /// The label above the vertical axis.
    pub y: Axis,
    /// The lines. There are colours for seven.
    pub lines: Vec<Line>,
}

/// One axis.
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// A logarithmic scale with powers of ten, or a linear one: from zero upwards, and between the ends across.
    pub logarithmic: bool,
    /// Formats a number on it.
    pub write: fn(f64) -> String,
}

/// One line.
pub struct Line {
    /// The name, written at its end.
    pub name: String,
    /// The points.
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 330.0;
const LEFT: f64 = 94.0;
const RIGHT: f64 = 224.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 58.0;
/// The minimum distance between the names at the ends of lines.
const LINE_HEIGHT: f64 = 20.0;

/// A line with more points has no marks at them.
const MARKED: usize = 30;

const STYLE: &str = include_str!("../chart.css");

impl Chart {
    /// The chart as a document of its own.
    pub fn file(&self) -> String {
        self.svg(
            " xmlns=\"http://www.w3.org/2000/svg\"",
            "chart",
            &format!("<style>{STYLE}</style>\n"),
        )
    }

    /// The chart as a part of a page that already has the style. No other part may have an id that begins with
    /// `id`.
    pub fn inline(&self, id: &str) -> String {
        self.svg("", id, "")
    }

    fn svg(&self, namespace: &str, id: &str, style: &str) -> String {
        let (across, up) = (self.scale(true), self.scale(false));
        let (title, description) = (escape(&self.title), escape(&self.description));
        let mut svg = format!(
            "<svg{namespace} class=\"chart\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             aria-labelledby=\"{id}-title {id}-desc\">\n<title id=\"{id}-title\">{title}</title>\n\
             <desc id=\"{id}-desc\">{description}</desc>\n{style}\
             <rect class=\"ground\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"8\"/>\n",
        );
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        for tick in up.ticks() {
            let y = up.place(tick);
            line(
                &mut svg,
                &format!("<line class=\"rule\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"),
            );
            label(&mut svg, LEFT - 10.0, y + 4.0, "end", &tick_label(&self.y, tick));
        }
        for tick in across.ticks() {
            let x = across.place(tick);
            label(&mut svg, x, bottom + 25.0, "middle", &tick_label(&self.x, tick));
        }
        label(&mut svg, LEFT - 10.0, TOP - 20.0, "start", &self.y.label);
        label(
            &mut svg,
            f64::midpoint(LEFT, right),
            HEIGHT - 10.0,
            "middle",
            &self.x.label,
        );
        let names = self.places_of_names(&up);
        for ((nth, drawn), name_at) in self.lines.iter().enumerate().zip(names) {
            draw(&mut svg, nth, drawn, &across, &up, name_at);
        }
        svg.push_str("</svg>\n");
        svg
    }

    fn scale(&self, across: bool) -> Scale {
        let points = self.lines.iter().flat_map(|line| &line.points);
        if across {
            Scale::of(&self.x, points.map(|(x, _)| *x), (LEFT, WIDTH - RIGHT), false)
        } else {
            Scale::of(&self.y, points.map(|(_, y)| *y), (HEIGHT - BOTTOM, TOP), true)
        }
    }

    /// The vertical positions of the names: at the ends of the lines, moved apart where they would touch.
    fn places_of_names(&self, up: &Scale) -> Vec<f64> {
        let end = |line: &Line| line.points.last().map_or(TOP, |(_, y)| up.place(*y));
        let mut order: Vec<(usize, f64)> = self.lines.iter().map(end).enumerate().collect();
        order.sort_by(|one, other| one.1.total_cmp(&other.1));
        // Names that would touch stand together, around the middle of their lines' ends.
        let size = |group: &[usize]| numbers::number(group.len() as u64);
        let mut groups: Vec<(Vec<usize>, f64)> = Vec::new();
        for (nth, place) in order {
            let (mut group, mut middle) = (vec![nth], place);
            while let Some((above, above_middle)) = groups.pop_if(|(above, above_middle)| {
                middle - *above_middle < LINE_HEIGHT * f64::midpoint(size(above), size(&group))
            }) {
                let (ours, theirs) = (size(&group), size(&above));
                middle = (middle * ours + above_middle * theirs) / (ours + theirs);
                group = [above, group].concat();
            }
            groups.push((group, middle));
        }
        let mut places = vec![0.0; self.lines.len()];
        for (group, middle) in groups {
            let height = LINE_HEIGHT * (size(&group) - 1.0);
            let mut place = (middle - height / 2.0).min(HEIGHT - BOTTOM - height);
            for line in group {
                places[line] = place;
                place += LINE_HEIGHT;
            }
        }
        places
    }
}

fn draw(svg: &mut String, nth: usize, drawn: &Line, across: &Scale, up: &Scale, name_at: f64) {
    let places: Vec<(f64, f64)> = drawn
        .points
        .iter()
        .map(|(x, y)| (across.place(*x), up.place(*y)))
        .collect();
    let path: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    let colour = nth.min(6);
    let dashes = ["none", "7 4", "2 4"][nth % 3];
    line(
        svg,
        &format!(
            "<polyline class=\"line-{colour}\" stroke-dasharray=\"{dashes}\" points=\"{}\"/>",
            path.join(" ")
        ),
    );
    let marked = if places.len() > MARKED { &[][..] } else { &places };
    for (x, y) in marked {
        let mark = if nth.is_multiple_of(2) {
            format!("<circle class=\"mark line-{colour}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"/>")
        } else {
            let (x, y) = (x - 3.0, y - 3.0);
            format!("<rect class=\"mark line-{colour}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"6\" height=\"6\"/>")
        };
        line(svg, &mark);
    }
    let x = WIDTH - RIGHT + 14.0;
    let (y, name) = (name_at + 4.0, escape(&drawn.name));
    line(
        svg,
        &format!("<text class=\"name line-{colour}\" x=\"{x}\" y=\"{y:.1}\">{name}</text>"),
    );
}

/// The number at a tick: 10 MB and 1 ms, where measurements would be 10.0 MB and 1.00 ms.
fn tick_label(axis: &Axis, tick: f64) -> String {
    (axis.write)(tick).replace(".00 ", " ").replace(".0 ", " ")
}

fn label(svg: &mut String, x: f64, y: f64, anchor: &str, text: &str) {
    line(
        svg,
        &format!(
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>",
            escape(text)
        ),
    );
}

fn line(svg: &mut String, element: &str) {
    // Writing to a string does not fail.
    writeln!(svg, "{element}").unwrap_or_default();
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(points: Vec<(f64, f64)>) -> Chart {
        let axis = || Axis {
            label: "a < b".to_owned(),
            logarithmic: true,
            write: |value| value.to_string(),
        };
        Chart {
            title: "Cats & dogs".to_owned(),
            description: "Both.".to_owned(),
            x: axis(),
            y: axis(),
            lines: vec![
                Line {
                    name: "one".to_owned(),
                    points: points.clone(),
                },
                Line {
                    name: "two".to_owned(),
                    points,
                },
            ],
        }
    }

    #[test]
    fn it_says_what_it_shows_and_escapes_it() {
        let svg = chart(vec![(100.0, 5.0), (1_000.0, 70.0)]).file();
        assert!(
            svg.contains("<title id=\"chart-title\">Cats &amp; dogs</title>"),
            "{svg}"
        );
        assert!(svg.contains("a &lt; b"), "{svg}");
        assert!(svg.contains("prefers-color-scheme: dark"));
    }

    #[test]
    fn within_a_page_it_has_no_styles_and_ids_of_its_own() {
        let svg = chart(vec![(100.0, 5.0), (1_000.0, 70.0)]).inline("latency");
        assert!(!svg.contains("style"), "{svg}");
        assert!(
            svg.contains("aria-labelledby=\"latency-title latency-desc\""),
            "{svg}"
        );
        assert!(svg.contains("<desc id=\"latency-desc\">"), "{svg}");
    }

    #[test]
    fn a_tick_has_no_decimals_that_are_zero() {
        let axis = |write| Axis {
            label: String::new(),
            logarithmic: false,
            write,
        };
        assert_eq!(tick_label(&axis(numbers::time), 10_000.0), "10 ms");
        assert_eq!(tick_label(&axis(numbers::time), 2_500.0), "2.50 ms");
        assert_eq!(tick_label(&axis(numbers::bytes), 1e7), "10 MB");
    }

    #[test]
    fn names_of_lines_that_end_together_stay_apart() {
        let chart = chart(vec![(100.0, 5.0), (1_000.0, 70.0)]);
        let up = chart.scale(false);
        let places = chart.places_of_names(&up);
        assert!((places[0] - places[1]).abs() >= LINE_HEIGHT, "{places:?}");
        // Around the end of both, and not below it.
        let end = up.place(70.0);
        assert!(
            (f64::midpoint(places[0], places[1]) - end).abs() < 1e-9,
            "{places:?}"
        );
    }

    #[test]
    fn every_number_of_it_is_one() {
        for points in [vec![], vec![(100.0, 10.0)], vec![(0.0, 0.0), (1.0, 0.0)]] {
            let svg = chart(points).file();
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
}
