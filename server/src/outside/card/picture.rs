//! Where everything is in a picture.

use model::{Handle, Meter, PostCard};
use ui::components::grouped;
use ui::meter_words;

use super::avatar;
use super::canvas::{Canvas, rectangle, rgb, rounded};
use super::font::{Font, REGULAR, SEMIBOLD};

/// The size that other sites crop least.
pub const WIDTH: u16 = 1200;
pub const HEIGHT: u16 = 630;

/// The margin, and how wide a line may be.
const LEFT: f32 = 72.0;
const ACROSS: f32 = 1200.0 - 2.0 * LEFT;
/// Where the text begins.
const TOP: f32 = 212.0;
/// The sizes of the text, the largest first, each with the number of lines that have room, and their distance in sizes.
const SIZES: [(f32, usize); 4] = [(64.0, 3), (52.0, 4), (42.0, 5), (34.0, 6)];
const LINE: f32 = 1.3;
/// The baseline below everything.
const FOOT: f32 = 566.0;
/// The channel of the meter: its width and height.
const CHANNEL: (f32, f32) = (240.0, 22.0);

/// The colours of `style/tokens.css` by day.
const PAPER: [u8; 3] = [0xfb, 0xfa, 0xf7];
const INK: [u8; 3] = [0x16, 0x24, 0x2b];
const SOFT: [u8; 3] = [0x50, 0x61, 0x6a];
const BRIM: [u8; 3] = [0x8b, 0x97, 0x9c];
const EMPTY: [u8; 3] = [0xe2, 0xe4, 0xe3];
const WATER: [u8; 3] = [0x1d, 0x8a, 0xa2];
const AMBER: [u8; 3] = [0xb8, 0x69, 0x0a];
const ACCENT: [u8; 3] = [0x0b, 0x64, 0x77];

/// All that is drawn.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Picture {
    handle: Handle,
    name: String,
    text: String,
    likes: Meter,
}

impl Picture {
    /// The picture of a post.
    pub fn of(card: &PostCard) -> Self {
        Self {
            handle: card.post.author.handle.clone(),
            name: card.post.author.name.to_string(),
            text: card.post.text.to_string(),
            likes: card.meter,
        }
    }

    /// Draws it, as a PNG file.
    pub fn png(&self) -> Option<Vec<u8>> {
        let (regular, bold) = (REGULAR.as_ref()?, SEMIBOLD.as_ref()?);
        let mut canvas = Canvas::new(WIDTH.into(), HEIGHT.into(), rgb(PAPER))?;
        self.author(&mut canvas, regular, bold);
        self.text(&mut canvas, regular);
        self.meter(&mut canvas, regular);
        let site = "Spillway";
        let right = LEFT + ACROSS - bold.width(site, 36.0);
        canvas.write(bold, site, 36.0, (right, FOOT), rgb(ACCENT));
        canvas.png()
    }

    fn author(&self, canvas: &mut Canvas, regular: &Font, bold: &Font) {
        avatar::draw(canvas, &self.handle, (LEFT, 64.0), 104.0);
        let (left, width) = (LEFT + 132.0, ACROSS - 132.0);
        let handle = format!("@{}", self.handle);
        match bold.drawable(&self.name) {
            Some(name) => {
                let name = fitted(bold, name, 42.0, width);
                canvas.write(bold, &name, 42.0, (left, 112.0), rgb(INK));
                canvas.write(regular, &handle, 30.0, (left, 156.0), rgb(SOFT));
            }
            None => canvas.write(bold, &handle, 42.0, (left, 132.0), rgb(INK)),
        }
    }

    /// The text as large as it fits; cut at the smallest size. In its place there is the number of likes if it cannot be
    /// drawn.
    fn text(&self, canvas: &mut Canvas, font: &Font) {
        let text = font.drawable(&self.text).unwrap_or_else(|| likes(&self.likes));
        let laid_out = SIZES.map(|(size, room)| (size, room, font.lines(&text, size, ACROSS)));
        let fitting = laid_out.iter().find(|(_, room, lines)| lines.len() <= *room);
        let Some((size, room, lines)) = fitting.or(laid_out.last()).cloned() else {
            return;
        };
        let is_cut = lines.len() > room;
        let mut lines: Vec<String> = lines.into_iter().take(room).collect();
        if let Some(last) = lines.last_mut().filter(|_| is_cut) {
            *last = font.cut(last, size, ACROSS);
        }
        let mut baseline = TOP + size;
        for line in lines {
            canvas.write(font, &line, size, (LEFT, baseline), rgb(INK));
            baseline += size * LINE;
        }
    }

    /// The meter as on the pages: the head as a channel that fills, and behind its brim the pages.
    fn meter(&self, canvas: &mut Canvas, font: &Font) {
        let (width, height) = CHANNEL;
        let top = FOOT - height;
        let water = if meter_words::is_nearly_full(self.likes.head, self.likes.threshold) {
            AMBER
        } else {
            WATER
        };
        canvas.clip(rounded(LEFT, top, width + height, height, height / 2.0).as_ref());
        for (part, colour) in [(1.0, EMPTY), (filled(&self.likes), water)] {
            if let Some(bar) = rectangle(LEFT, top, width * part, height) {
                canvas.fill(&bar, rgb(colour));
            }
        }
        canvas.clip(None);
        let right = LEFT + width;
        for nth in (0..self.likes.pages.min(5)).rev() {
            let x = right + 4.0 + 12.0 * f32::from(u16::try_from(nth).unwrap_or(0));
            if let Some(sheet) = rounded(x, top - 5.0, 26.0, height + 8.0, 4.0) {
                canvas.fill(&sheet, rgb(PAPER));
                canvas.stroke(&sheet, rgb(WATER), 3.0);
            }
        }
        if let Some(brim) = rectangle(right - 2.0, top, 4.0, height) {
            canvas.fill(&brim, rgb(BRIM));
        }
        let stack = if self.likes.pages > 0 { 96.0 } else { 20.0 };
        let words = format!(
            "{} · {}",
            likes(&self.likes),
            meter_words::pages(self.likes.pages)
        );
        canvas.write(font, &words, 30.0, (right + stack, FOOT - 1.0), rgb(SOFT));
    }
}

fn likes(meter: &Meter) -> String {
    match meter.count {
        1 => "1 like".to_owned(),
        count => format!("{} likes", grouped(count)),
    }
}

/// How full the head is, from 0 to 1.
fn filled(meter: &Meter) -> f32 {
    let permille = (meter.head * 1000)
        .checked_div(meter.threshold)
        .unwrap_or(0)
        .min(1000);
    f32::from(u16::try_from(permille).unwrap_or(1000)) / 1000.0
}

fn fitted(font: &Font, line: String, size: f32, width: f32) -> String {
    if font.width(&line, size) <= width {
        line
    } else {
        font.cut(&line, size, width)
    }
}

#[cfg(test)]
mod tests;
