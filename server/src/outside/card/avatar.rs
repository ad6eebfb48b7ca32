//! The landscape of a handle, as `style/avatar.css` draws it in 40 by 40 units.

use model::Handle;
use tiny_skia::{Color, PathBuilder};
use ui::components::Landscape;

use super::canvas::{Canvas, rectangle, rounded};

/// Draws it with this size; the corner is the left upper one.
pub fn draw(canvas: &mut Canvas, handle: &Handle, (left, top): (f32, f32), size: f32) {
    let Landscape {
        hue,
        neighbour,
        sun,
        far,
        near,
    } = Landscape::of(handle);
    let unit = size / 40.0;
    let (hue, next) = (small(hue), small(hue + 24 + neighbour));
    canvas.clip(rounded(left, top, size, size, size * 0.32).as_ref());
    if let Some(sky) = rectangle(left, top, size, size) {
        canvas.fill(&sky, hsl(hue, 0.52, 0.84));
    }
    let [x, y, radius] = sun.map(small);
    let centre = (left + (x + 10.0) * unit, top + (y + 9.0) * unit);
    if let Some(sun) = PathBuilder::from_circle(centre.0, centre.1, (radius + 4.0) * unit) {
        canvas.fill(&sun, hsl(next, 0.8, 0.96));
    }
    for ([down, high], above, crest, colour) in [
        (far.map(small), 19.0, -1.0, hsl(hue, 0.42, 0.58)),
        (near.map(small), 27.0, 1.0, hsl(next, 0.44, 0.38)),
    ] {
        let (line, wave) = (top + (down + above) * unit, crest * (high + 3.0) * unit);
        let mut path = PathBuilder::new();
        path.move_to(left, line);
        path.quad_to(left + size / 4.0, line + wave, left + size / 2.0, line);
        path.quad_to(left + size * 0.75, line - wave, left + size, line);
        path.line_to(left + size, top + size);
        path.line_to(left, top + size);
        path.close();
        if let Some(path) = path.finish() {
            canvas.fill(&path, colour);
        }
    }
    canvas.clip(None);
}

fn small(number: u64) -> f32 {
    f32::from(u16::try_from(number).unwrap_or(u16::MAX))
}

/// A colour by its hue in degrees, its saturation and its lightness, as in CSS.
fn hsl(hue: f32, saturation: f32, lightness: f32) -> Color {
    let part = |offset: f32| {
        let turned = (offset + hue / 30.0).rem_euclid(12.0);
        let strength = saturation * lightness.min(1.0 - lightness);
        lightness - strength * (turned - 3.0).min(9.0 - turned).clamp(-1.0, 1.0)
    };
    Color::from_rgba(part(0.0), part(8.0), part(4.0), 1.0).unwrap_or(Color::BLACK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_those_of_css() {
        for (colour, expected) in [
            (hsl(0.0, 1.0, 0.5), [255, 0, 0]),
            (hsl(120.0, 1.0, 0.25), [0, 128, 0]),
            (hsl(210.0, 0.5, 0.4), [51, 102, 153]),
            (hsl(400.0, 0.0, 1.0), [255, 255, 255]),
        ] {
            let colour = colour.to_color_u8();
            assert_eq!([colour.red(), colour.green(), colour.blue()], expected);
        }
    }
}
