use leptos::prelude::*;
use model::{Listing, Member, Timestamp};

use crate::actions::lists::{People, read_people};
use crate::browser;
use crate::components::{MemberRow, Scroll, Stretches};

/// A list of people: who likes or shared a post, who follows a person or is followed by them.
#[island]
pub fn MemberFeed(
    /// Which list.
    list: People,
    /// Its first stretch.
    first: Listing<Member>,
    /// How many items come before it.
    before: u64,
    /// The reader's now.
    now: Timestamp,
) -> impl IntoView {
    let (label, empty) = match list {
        People::Likes(_) => ("Likes", "Nobody likes this yet."),
        People::Shares(_) => ("Shares", "Nobody has shared this yet."),
        People::Followers(_) => ("Followers", "No followers yet."),
        People::Following(_) => ("Following", "Follows nobody yet."),
    };
    let list = StoredValue::new(list);
    view! {
        <Scroll
            list=Stretches::new(first, before)
            label
            empty
            load=move |cursor| read_people(list.get_value(), cursor)
            row=move |member| view! { <MemberRow member now=browser::now().unwrap_or(now) /> }
        />
    }
}
