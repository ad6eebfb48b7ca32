use leptos::prelude::*;
use model::Handle;

/// The numbers of a small landscape that is always the same for the same handle. `style/avatar.css` says what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Landscape {
    /// The hue of the sky and of the far wave, in degrees.
    pub hue: u64,
    /// How much further the hue of the sun and of the near wave is, beyond 24 degrees.
    pub neighbour: u64,
    /// The place of the sun, to the right and down, and its size.
    pub sun: [u64; 3],
    /// How far down the far wave is, and how high.
    pub far: [u64; 2],
    /// How far down the near wave is, and how high.
    pub near: [u64; 2],
}

impl Landscape {
    /// The landscape of a handle.
    pub fn of(handle: &Handle) -> Self {
        let seed = hash(handle.as_str());
        let pick = |shift: u32, below: u64| (seed >> shift) % below;
        Self {
            hue: pick(0, 360),
            neighbour: pick(9, 40),
            sun: [pick(16, 20), pick(22, 8), pick(27, 4)],
            far: [pick(32, 6), pick(40, 6)],
            near: [pick(36, 5), pick(44, 5)],
        }
    }
}

/// The landscape of a handle. Its numbers are classes, which `style/avatar.css` reads.
#[component]
pub fn Avatar(
    /// The handle whose avatar to draw.
    handle: Handle,
) -> impl IntoView {
    let Landscape {
        hue,
        neighbour,
        sun,
        far,
        near,
    } = Landscape::of(&handle);
    let class = format!(
        "avatar a-{} b-{} n-{neighbour} x-{} y-{} r-{} f-{} s-{} k-{} c-{}",
        hue / 20,
        hue % 20,
        sun[0],
        sun[1],
        sun[2],
        far[0],
        far[1],
        near[0],
        near[1],
    );
    view! { <svg class=class aria-hidden="true" inner_html="<use href='#avatar'/>"></svg> }
}

/// The landscape, once on each page. A wave is one pixel high and extends far down, since it is stretched.
#[component]
pub fn LandscapeSymbol() -> impl IntoView {
    view! {
        <svg class="landscape" aria-hidden="true">
            <symbol id="avatar" viewBox="0 0 40 40">
                <rect class="avatar-sky" width="40" height="40" />
                <circle class="avatar-sun" />
                <path class="avatar-far" d="M0 0q10-1 20 0t20 0v40H0" />
                <path class="avatar-near" d="M0 0q10 1 20 0t20 0v40H0" />
            </symbol>
        </svg>
    }
}

/// FNV-1a, mixed once more so that handles that differ only in their last letter look unlike.
fn hash(text: &str) -> u64 {
    let fnv = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    (fnv ^ (fnv >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ (fnv >> 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_in_the_alphabet_look_unlike() {
        let hue = |handle: &str| Landscape::of(&handle.parse().unwrap()).hue;
        assert_eq!(hue("ada"), hue("ada"));
        assert_ne!(hue("ada"), hue("adb"));
    }
}
