//! Line charts on logarithmic scales, as SVG that is good to look at in light and dark.

use std::fmt::Write;

/// A chart. A table with the same numbers stands beside it wherever it is shown.
pub struct Chart {
    /// What a screen reader says first.
    pub title: String,
    /// What it says then.
    pub description: String,
    /// Under the horizontal axis.
    pub x: Axis,
    /// Above the vertical axis.
    pub y: Axis,
    /// The lines. Beyond seven there are no more colours.
    pub lines: Vec<Line>,
}

/// One axis.
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// Powers of ten, or even steps from zero.
    pub logarithmic: bool,
    /// How a number on it is written.
    pub write: fn(f64) -> String,
}

/// One line.
pub struct Line {
    /// Written at its end.
    pub name: String,
    /// Where it goes.
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 170.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 52.0;
/// Names at the ends of lines stay this far apart.
const LINE_HEIGHT: f64 = 17.0;

/// Colours that people with any colour vision tell apart (Okabe and Ito), darker on white and lighter on black; marks and
/// names say the same without colour.
const STYLE: &str = "
  svg { color-scheme: light dark; font: 13px system-ui, sans-serif; --ink: #1f2933; --soft: #65727f; --rule: #e3e8ec; --ground: #ffffff;
    --c0: #a34a00; --c1: #8a6d00; --c2: #b0256e; --c3: #00724f; --c4: #00639c; --c5: #5a5fc7; --c6: #11181f }
  @media (prefers-color-scheme: dark) { svg { --ink: #e6ebef; --soft: #9aa7b3; --rule: #2c343b; --ground: #14191e;
    --c0: #ff9a56; --c1: #e5c400; --c2: #f58cc0; --c3: #3fd0a0; --c4: #6cc0f5; --c5: #aab0ff; --c6: #ffffff } }
  .ground { fill: var(--ground) } text { fill: var(--soft) } .name { fill: var(--ink) }
  .rule { stroke: var(--rule) } .line { fill: none; stroke-width: 2; stroke-linejoin: round }
";

impl Chart {
    /// The chart as a document of its own.
    pub fn svg(&self) -> String {
        let (across, up) = (self.scale(true), self.scale(false));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
             aria-labelledby=\"title desc\">\n<title id=\"title\">{}</title>\n<desc id=\"desc\">{}</desc>\n\
             <style>{STYLE}</style>\n<rect class=\"ground\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"8\"/>\n",
            escape(&self.title),
            escape(&self.description)
        );
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        for tick in up.ticks() {
            let y = up.place(tick);
            line(
                &mut svg,
                &format!("<line class=\"rule\" x1=\"{LEFT}\" x2=\"{right}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>"),
            );
            label(&mut svg, LEFT - 10.0, y + 4.0, "end", &(self.y.write)(tick));
        }
        for tick in across.ticks() {
            let x = across.place(tick);
            label(&mut svg, x, bottom + 20.0, "middle", &(self.x.write)(tick));
        }
        label(&mut svg, LEFT - 10.0, TOP - 20.0, "start", &self.y.label);
        label(
            &mut svg,
            f64::midpoint(LEFT, right),
            HEIGHT - 12.0,
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
        let values = self
            .lines
            .iter()
            .flat_map(|line| &line.points)
            .map(|(x, y)| if across { *x } else { *y });
        let (least, most) = values.fold((f64::MAX, f64::MIN), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        let axis = if across { &self.x } else { &self.y };
        let (from, to) = if across {
            (LEFT, WIDTH - RIGHT)
        } else {
            (HEIGHT - BOTTOM, TOP)
        };
        let (least, most) = if axis.logarithmic {
            (
                10_f64.powf(least.log10().floor()),
                10_f64.powf(most.log10().ceil()),
            )
        } else if across {
            (least, most)
        } else {
            (0.0, most * 1.15)
        };
        Scale {
            least,
            most,
            from,
            to,
            logarithmic: axis.logarithmic,
        }
    }

    /// The heights of the names: at the ends of the lines, moved apart where they would touch.
    fn places_of_names(&self, up: &Scale) -> Vec<f64> {
        let end = |line: &Line| line.points.last().map_or(0.0, |(_, y)| up.place(*y));
        let mut order: Vec<(usize, f64)> = self.lines.iter().map(end).enumerate().collect();
        order.sort_by(|one, other| one.1.total_cmp(&other.1));
        let mut places = vec![0.0; order.len()];
        let mut lowest = f64::MIN;
        for (nth, place) in order {
            places[nth] = place.max(lowest + LINE_HEIGHT);
            lowest = places[nth];
        }
        let too_low = (lowest - (HEIGHT - BOTTOM)).max(0.0);
        places.iter().map(|place| place - too_low).collect()
    }
}

struct Scale {
    least: f64,
    most: f64,
    from: f64,
    to: f64,
    logarithmic: bool,
}

impl Scale {
    fn place(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value / self.least).log10() / (self.most / self.least).log10().max(1.0)
        } else {
            (value - self.least) / (self.most - self.least).max(f64::MIN_POSITIVE)
        };
        self.from + share * (self.to - self.from)
    }

    fn ticks(&self) -> Vec<f64> {
        let mut ticks = Vec::new();
        if self.logarithmic {
            let mut tick = self.least;
            while tick <= self.most * 1.001 {
                ticks.push(tick);
                tick *= 10.0;
            }
            return ticks;
        }
        let rough = (self.most - self.least) / 4.0;
        let power = 10_f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0]
            .map(|times| times * power)
            .into_iter()
            .find(|step| *step >= rough);
        let step = step.unwrap_or(rough);
        let mut tick = (self.least / step).ceil() * step;
        while tick <= self.most {
            ticks.push(tick);
            tick += step;
        }
        ticks
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
            "<polyline class=\"line\" stroke=\"var(--c{colour})\" stroke-dasharray=\"{dashes}\" points=\"{}\"/>",
            path.join(" ")
        ),
    );
    for (x, y) in &places {
        let mark = if nth.is_multiple_of(2) {
            format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\" fill=\"var(--c{colour})\"/>")
        } else {
            let (x, y) = (x - 3.0, y - 3.0);
            format!("<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"6\" height=\"6\" fill=\"var(--c{colour})\"/>")
        };
        line(svg, &mark);
    }
    let x = WIDTH - RIGHT + 14.0;
    let (y, name) = (name_at + 4.0, escape(&drawn.name));
    line(
        svg,
        &format!("<text class=\"name\" style=\"fill:var(--c{colour})\" x=\"{x}\" y=\"{y:.1}\">{name}</text>"),
    );
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
        let svg = chart(vec![(100.0, 5.0), (1_000.0, 70.0)]).svg();
        assert!(
            svg.contains("<title id=\"title\">Cats &amp; dogs</title>"),
            "{svg}"
        );
        assert!(svg.contains("a &lt; b") && !svg.contains("NaN"), "{svg}");
        assert!(svg.contains("prefers-color-scheme: dark"));
    }

    #[test]
    fn names_of_lines_that_end_together_stay_apart() {
        let chart = chart(vec![(100.0, 5.0), (1_000.0, 70.0)]);
        let places = chart.places_of_names(&chart.scale(false));
        assert!((places[0] - places[1]).abs() >= LINE_HEIGHT, "{places:?}");
    }

    #[test]
    fn a_line_of_one_value_has_a_place() {
        let svg = chart(vec![(100.0, 10.0)]).svg();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    }
}
