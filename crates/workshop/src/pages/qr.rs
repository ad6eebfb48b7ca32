#![expect(clippy::needless_pass_by_value, reason = "a component owns its props")]

use leptos::prelude::*;
use qrcode::{Color, EcLevel, QrCode as Code};

/// The quiet zone that the standard (ISO/IEC 18004) requires, in modules.
const MARGIN: usize = 4;

/// An address as a QR code. Dark on light in every theme: many phones read nothing else.
#[component]
pub fn QrCode(
    /// The address.
    #[prop(into)]
    text: String,
) -> impl IntoView {
    let Ok(code) = Code::with_error_correction_level(&text, EcLevel::M) else {
        return ().into_any();
    };
    let width = code.width();
    let side = width + 2 * MARGIN;
    let dark = code
        .to_colors()
        .into_iter()
        .enumerate()
        .filter(|(_, color)| *color == Color::Dark);
    let square = |(nth, _)| format!("M{} {}h1v1h-1z", nth % width + MARGIN, nth / width + MARGIN);
    let path = dark.map(square).collect::<Vec<_>>().concat();
    view! {
        <svg class="qr" viewBox=format!("0 0 {side} {side}") role="img" aria-label=format!("QR code for {text}")>
            <rect class="qr-light" width=side height=side />
            <path class="qr-dark" d=path shape-rendering="crispEdges" />
        </svg>
    }
    .into_any()
}
