use leptos::prelude::*;
use model::Handle;

/// A small landscape that is always the same for the same handle. Its numbers are classes, which `style/avatar.css`
/// reads.
#[component]
pub fn Avatar(
    /// The handle whose avatar to draw.
    handle: Handle,
) -> impl IntoView {
    let seed = hash(handle.as_str());
    let pick = |shift: u32, below: u64| (seed >> shift) % below;

    let hue = pick(0, 360);
    let class = format!(
        "avatar a-{a} b-{b} n-{neighbour} x-{sun_x} y-{sun_y} r-{sun} f-{far} s-{swell} k-{near} c-{chop}",
        a = hue / 20,
        b = hue % 20,
        neighbour = pick(9, 40),
        sun_x = pick(16, 20),
        sun_y = pick(22, 8),
        sun = pick(27, 4),
        far = pick(32, 6),
        swell = pick(40, 6),
        near = pick(36, 5),
        chop = pick(44, 5),
    );
    view! { <svg class=class aria-hidden="true" inner_html="<use href='#avatar'/>"></svg> }
}

/// The landscape, once on each page. A wave is one pixel high and extends far down, since it is stretched.
#[component]
pub fn Landscape() -> impl IntoView {
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
        let hue = |handle| hash(handle) % 360;
        assert_eq!(hue("ada"), hue("ada"));
        assert_ne!(hue("ada"), hue("adb"));
    }
}
