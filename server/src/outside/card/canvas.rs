//! What pictures are drawn with.

use tiny_skia::{Color, FillRule, Mask, Paint, Path, PathBuilder, Pixmap, Rect, Stroke, Transform};

use super::font::Font;

/// An area of pixels.
pub struct Canvas {
    pixels: Pixmap,
    clip: Option<Mask>,
}

impl Canvas {
    /// One of a single colour.
    pub fn new(width: u32, height: u32, colour: Color) -> Option<Self> {
        let mut pixels = Pixmap::new(width, height)?;
        pixels.fill(colour);
        Some(Self { pixels, clip: None })
    }

    /// Draws only within this path from now on; everywhere again without one.
    pub fn clip(&mut self, path: Option<&Path>) {
        self.clip = path.and_then(|path| {
            let mut mask = Mask::new(self.pixels.width(), self.pixels.height())?;
            mask.fill_path(path, FillRule::Winding, true, Transform::identity());
            Some(mask)
        });
    }

    /// Fills a path.
    pub fn fill(&mut self, path: &Path, colour: Color) {
        let transform = Transform::identity();
        self.pixels.fill_path(
            path,
            &paint(colour),
            FillRule::Winding,
            transform,
            self.clip.as_ref(),
        );
    }

    /// Draws the edge of a path.
    pub fn stroke(&mut self, path: &Path, colour: Color, width: f32) {
        let stroke = Stroke {
            width,
            ..Stroke::default()
        };
        let transform = Transform::identity();
        self.pixels
            .stroke_path(path, &paint(colour), &stroke, transform, self.clip.as_ref());
    }

    /// Writes a text in one line; `at` is where its baseline begins.
    pub fn write(&mut self, font: &Font, text: &str, size: f32, at: (f32, f32), colour: Color) {
        if let Some(outlines) = font.outlines(text, size, at) {
            self.fill(&outlines, colour);
        }
    }

    /// The file.
    pub fn png(&self) -> Option<Vec<u8>> {
        self.pixels.encode_png().ok()
    }
}

fn paint(colour: Color) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color(colour);
    paint
}

/// A colour by its parts from 0 to 255.
pub fn rgb([red, green, blue]: [u8; 3]) -> Color {
    Color::from_rgba8(red, green, blue, u8::MAX)
}

/// A rectangle by its left upper corner and its size.
pub fn rectangle(x: f32, y: f32, width: f32, height: f32) -> Option<Path> {
    Rect::from_xywh(x, y, width, height).map(PathBuilder::from_rect)
}

/// The same with round corners.
pub fn rounded(x: f32, y: f32, width: f32, height: f32, radius: f32) -> Option<Path> {
    let (right, bottom) = (x + width, y + height);
    let mut path = PathBuilder::new();
    path.move_to(x + radius, y);
    path.line_to(right - radius, y);
    path.quad_to(right, y, right, y + radius);
    path.line_to(right, bottom - radius);
    path.quad_to(right, bottom, right - radius, bottom);
    path.line_to(x + radius, bottom);
    path.quad_to(x, bottom, x, bottom - radius);
    path.line_to(x, y + radius);
    path.quad_to(x, y, x + radius, y);
    path.close();
    path.finish()
}
