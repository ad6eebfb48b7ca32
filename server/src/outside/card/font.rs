//! Text as outlines. Letters stand side by side, without kerning and ligatures, from left to right: a text in a script that
//! needs more, or that the fonts do not have, is not drawn at all.

use std::sync::LazyLock;

use tiny_skia::{Path, PathBuilder};
use ttf_parser::{Face, OutlineBuilder};

/// For texts.
pub static REGULAR: LazyLock<Option<Font>> =
    LazyLock::new(|| Font::of(include_bytes!("../../../fonts/inter-regular.otf")));
/// For names.
pub static SEMIBOLD: LazyLock<Option<Font>> =
    LazyLock::new(|| Font::of(include_bytes!("../../../fonts/inter-semibold.otf")));

/// A font in one weight.
pub struct Font(Face<'static>);

impl Font {
    fn of(bytes: &'static [u8]) -> Option<Self> {
        Face::parse(bytes, 0).ok().map(Self)
    }

    /// The part of a text that can be drawn: pictures and symbols that the font does not have are left out. `None` if it
    /// lacks a letter or a digit, or if nothing is left.
    pub fn drawable(&self, text: &str) -> Option<String> {
        let has = |letter: &char| letter.is_whitespace() || self.0.glyph_index(*letter).is_some();
        if text
            .chars()
            .any(|letter| letter.is_alphanumeric() && !has(&letter))
        {
            return None;
        }
        let drawable: String = text.chars().filter(has).collect();
        Some(drawable).filter(|text| !text.trim().is_empty())
    }

    /// How wide a text in one line is, in pixels.
    pub fn width(&self, text: &str, size: f32) -> f32 {
        text.chars().map(|letter| self.advance(letter, size)).sum()
    }

    fn advance(&self, letter: char, size: f32) -> f32 {
        let glyph = self.0.glyph_index(letter);
        let units = glyph
            .and_then(|glyph| self.0.glyph_hor_advance(glyph))
            .unwrap_or(0);
        f32::from(units) * self.scale(size)
    }

    fn scale(&self, size: f32) -> f32 {
        size / f32::from(self.0.units_per_em())
    }

    /// The outlines of a text in one line that begins here; `y` is its baseline.
    pub fn outlines(&self, text: &str, size: f32, (x, y): (f32, f32)) -> Option<Path> {
        let mut pen = Pen {
            path: PathBuilder::new(),
            x,
            y,
            scale: self.scale(size),
        };
        for letter in text.chars() {
            if let Some(glyph) = self.0.glyph_index(letter) {
                self.0.outline_glyph(glyph, &mut pen);
            }
            pen.x += self.advance(letter, size);
        }
        pen.path.finish()
    }

    /// A text in lines of at most this width. A word that is wider is divided. Empty lines at either end are left out.
    pub fn lines(&self, text: &str, size: f32, width: f32) -> Vec<String> {
        let mut lines = Vec::new();
        for paragraph in text.trim().lines() {
            let mut line = String::new();
            for word in paragraph.split_whitespace() {
                let longer = if line.is_empty() {
                    word.to_owned()
                } else {
                    format!("{line} {word}")
                };
                if self.width(&longer, size) <= width {
                    line = longer;
                    continue;
                }
                if !line.is_empty() {
                    lines.push(std::mem::take(&mut line));
                }
                for letter in word.chars() {
                    if self.width(&line, size) + self.advance(letter, size) > width {
                        lines.push(std::mem::take(&mut line));
                    }
                    line.push(letter);
                }
            }
            lines.push(line);
        }
        lines
    }

    /// A line that is cut so that an ellipsis has room behind it.
    pub fn cut(&self, line: &str, size: f32, width: f32) -> String {
        let mut cut = line.to_owned();
        while !cut.is_empty() && self.width(&cut, size) + self.advance('…', size) > width {
            cut.pop();
        }
        format!("{}…", cut.trim_end())
    }
}

/// Writes the outlines of glyphs, whose units point upwards, into a path, whose pixels go down.
struct Pen {
    path: PathBuilder,
    x: f32,
    y: f32,
    scale: f32,
}

impl Pen {
    fn to(&self, x: f32, y: f32) -> (f32, f32) {
        (self.x + x * self.scale, self.y - y * self.scale)
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.to(x, y);
        self.path.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.to(x, y);
        self.path.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.to(x1, y1), self.to(x, y));
        self.path.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.to(x1, y1), self.to(x2, y2), self.to(x, y));
        self.path.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn regular() -> &'static Font {
        REGULAR.as_ref().unwrap()
    }

    #[test]
    fn what_the_font_lacks_is_left_out_unless_it_is_a_letter() {
        let drawable = |text| regular().drawable(text);
        assert_eq!(drawable("Über Ωmega 🦆 жук"), Some("Über Ωmega  жук".to_owned()));
        for lacking in ["水位", "سد", "ok 水", "🦆", " "] {
            assert_eq!(drawable(lacking), None, "{lacking}");
        }
    }

    #[test]
    fn no_line_is_wider_than_allowed_and_no_letter_is_lost() {
        let text = format!("The weir is open.\n\n{} and a few words more", "w".repeat(100));
        let lines = regular().lines(&text, 40.0, 400.0);
        assert!(lines.len() > 8, "{lines:?}");
        for line in &lines {
            assert!(regular().width(line, 40.0) <= 400.0, "{line}");
        }
        let letters = |text: &str| {
            text.chars()
                .filter(|letter| !letter.is_whitespace())
                .collect::<String>()
        };
        assert_eq!(letters(&lines.concat()), letters(&text));
        let cut = regular().cut(&"w".repeat(100), 40.0, 400.0);
        assert!(regular().width(&cut, 40.0) <= 400.0, "{cut}");
    }
}
