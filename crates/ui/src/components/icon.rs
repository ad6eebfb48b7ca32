use leptos::prelude::*;

use super::avatar::landscape;

/// A drawing that stands beside a word or in a labelled button.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Icon {
    /// Liking.
    Heart,
    /// Commenting.
    Bubble,
    /// Sharing.
    Share,
    /// Going to the top.
    Up,
}

impl Icon {
    const ALL: [Self; 4] = [Self::Heart, Self::Bubble, Self::Share, Self::Up];

    /// The drawing. Screen readers skip it: the button says what it does.
    pub fn view(self) -> impl IntoView {
        view! {
            <svg class="icon" aria-hidden="true">
                <use href=format!("#{}", self.id()) />
            </svg>
        }
    }

    fn id(self) -> &'static str {
        match self {
            Self::Heart => "heart",
            Self::Bubble => "bubble",
            Self::Share => "share",
            Self::Up => "up",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Heart => {
                "M12 20.3s-7.6-4.4-9.2-9.1C1.6 7.6 3.9 4.5 7.1 4.5c2 0 3.7 1.1 4.9 2.9 1.2-1.8 2.9-2.9 4.9-2.9 3.2 0 5.5 3.1 4.3 6.7-1.6 4.7-9.2 9.1-9.2 9.1z"
            }
            Self::Bubble => {
                "M20.5 11.5a7.6 7.6 0 0 1-8.2 7.5c-1.2 0-2.3-.2-3.3-.6L4 20l1.3-4.3a7.2 7.2 0 0 1-1.3-4.2A8 8 0 0 1 12.3 4a7.9 7.9 0 0 1 8.2 7.5z"
            }
            Self::Share => "M12 15V3.5M8 7l4-3.5L16 7M5 12.5V18a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2v-5.5",
            Self::Up => "M12 20V5M6 11l6-6 6 6",
        }
    }
}

/// The drawings themselves, once on each page: a list of posts shows the same few again and again.
#[component]
pub fn Drawings() -> impl IntoView {
    let symbols = Icon::ALL.map(|icon| {
        view! {
            <symbol id=icon.id() viewBox="0 0 24 24">
                <path d=icon.path() />
            </symbol>
        }
    });
    view! {
        <svg class="drawings" aria-hidden="true">
            {symbols}
            {landscape()}
        </svg>
    }
}
