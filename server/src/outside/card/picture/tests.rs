use tiny_skia::Pixmap;

use super::*;

fn picture(name: &str, text: &str, likes: u64) -> Picture {
    Picture {
        handle: "ada".parse().unwrap(),
        name: name.to_owned(),
        text: text.to_owned(),
        likes: Meter {
            count: likes,
            head: likes.min(160),
            threshold: 160,
            pages: likes.saturating_sub(160).div_ceil(160),
        },
    }
}

fn drawn(picture: &Picture) -> Pixmap {
    Pixmap::decode_png(&picture.png().unwrap()).unwrap()
}

/// How many pixels have a colour.
fn count(pixels: &Pixmap, [red, green, blue]: [u8; 3]) -> usize {
    let all = pixels.pixels().iter();
    all.filter(|pixel| [pixel.red(), pixel.green(), pixel.blue()] == [red, green, blue])
        .count()
}

#[test]
fn nothing_reaches_into_the_margins() {
    let long = "wide ".repeat(100);
    for (name, text) in [
        ("Ada", "Short."),
        ("W W W W W W W W W W W W W W W W W W W W W W W W W", long.as_str()),
        ("Ada", &"W".repeat(500)),
        ("Ada", &"line\n".repeat(100)),
        ("水", "水位"),
        ("Ada", "🦆"),
    ] {
        let pixels = drawn(&picture(name, text, 25_000));
        assert_eq!((pixels.width(), pixels.height()), (1200, 630));
        for y in 0..630 {
            for x in (0..60).chain(1_140..1_200) {
                let pixel = pixels.pixel(x, y).unwrap();
                assert_eq!(
                    [pixel.red(), pixel.green(), pixel.blue()],
                    PAPER,
                    "{text}: {x}, {y}"
                );
            }
        }
        let below = (600..630).flat_map(|y| (0..1_200).map(move |x| (x, y)));
        for (x, y) in below {
            let pixel = pixels.pixel(x, y).unwrap();
            assert_eq!(
                [pixel.red(), pixel.green(), pixel.blue()],
                PAPER,
                "{text}: {x}, {y}"
            );
        }
    }
}

#[test]
fn the_channel_fills_with_the_head_and_turns_amber_before_it_spills() {
    let [empty, half, nearly] = [0, 80, 159].map(|likes| drawn(&picture("Ada", "Hello", likes)));
    assert_eq!(count(&empty, WATER), 0);
    assert!(count(&half, WATER) > 2_000, "{}", count(&half, WATER));
    assert_eq!(count(&half, AMBER), 0);
    assert!(count(&nearly, AMBER) > 4_000, "{}", count(&nearly, AMBER));
}

#[test]
fn a_text_that_cannot_be_written_is_replaced_by_the_number_of_likes() {
    let [chinese, likes] = ["水位", "7 likes"].map(|text| drawn(&picture("Ada", text, 7)));
    assert!(chinese == likes);
    let [named, handle] = ["水", "Ada"].map(|name| drawn(&picture(name, "Hello", 7)));
    assert!(named != handle);
}
