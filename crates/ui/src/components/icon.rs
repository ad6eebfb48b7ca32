use leptos::prelude::*;

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
            <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
                <use href=format!("#{}", self.id()) />
            </svg>
        }
    }

    fn id(self) -> &'static str {
        match self {
            Self::Heart => "icon-heart",
            Self::Bubble => "icon-bubble",
            Self::Share => "icon-share",
            Self::Up => "icon-up",
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::Heart => {
                "M12 20.3s-7.6-4.4-9.2-9.1C1.600 7.600 3.900 4.500 7.100 4.500c2 0 3.700 1.100 4.900 2.900 1.200-1.800 2.900-2.900 4.900-2.900 3.200 0 5.500 3.100 4.300 6.700-1.600 4.700-9.200 9.100-9.200 9.100z"
            }
            Self::Bubble => {
                "M20.500 11.500a7.600 7.600 0 0 1-8.200 7.500c-1.200 0-2.300-.2-3.300-.6L4 20l1.300-4.300a7.200 7.200 0 0 1-1.300-4.200A8 8 0 0 1 12.300 4a7.900 7.900 0 0 1 8.200 7.500z"
            }
            Self::Share => "M12 15V3.500M8 7l4-3.500L16 7M5 12.500V18a2 2 0 0 0 2 2h10a2 2 0 0 0 2-2v-5.500",
            Self::Up => "M12 20V5M6 11l6-6 6 6",
        }
    }
}

/// The drawings themselves, once on each page: a list of posts shows the same few again and again.
#[component]
pub fn Drawings() -> impl IntoView {
    let symbols = Icon::ALL.map(|icon| {
        view! {
            <symbol id=icon.id()>
                <path d=icon.path() />
            </symbol>
        }
    });
    view! {
        <svg class="drawings" aria-hidden="true">
            {symbols}
        </svg>
    }
}
