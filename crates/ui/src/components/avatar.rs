use leptos::prelude::*;
use model::Handle;

/// A small landscape that is always the same for the same handle: a sky, a sun and two waves. It is drawn with
/// attributes only, so that a strict content security policy lets it pass.
#[component]
pub fn Avatar(
    /// The handle whose avatar to draw.
    handle: Handle,
) -> impl IntoView {
    let seed = hash(handle.as_str());
    let pick = |shift: u32, below: u64| (seed >> shift) % below;

    let hue = pick(0, 360);
    let neighbour = (hue + 24 + pick(9, 40)) % 360;
    let (sun_x, sun_y, sun) = (10 + pick(16, 20), 9 + pick(22, 8), 4 + pick(27, 4));
    let (far, near) = (19 + pick(32, 6), 27 + pick(36, 5));
    let (swell, chop) = (3 + pick(40, 6), 3 + pick(44, 5));
    let wave = |level: u64, rise: u64, direction: i64| {
        let rise = i64::try_from(rise).unwrap_or(0) * direction;
        format!("M0 {level}q10 {up} 20 0t20 0V40H0z", up = -rise)
    };

    view! {
        <svg class="avatar" viewBox="0 0 40 40" aria-hidden="true" focusable="false">
            <rect width="40" height="40" fill=format!("hsl({hue} 52% 84%)") />
            <circle cx=sun_x.to_string() cy=sun_y.to_string() r=sun.to_string() fill=format!("hsl({neighbour} 80% 96%)") />
            <path d=wave(far, swell, 1) fill=format!("hsl({hue} 42% 58%)") />
            <path d=wave(near, chop, -1) fill=format!("hsl({neighbour} 44% 38%)") />
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
