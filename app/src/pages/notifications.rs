//! What the reader is told of.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use model::{Listing, Notifications, Relation, Topic};
use ui::request::{feed, loaded, now};
use ui::session;
use ui::title::PageTitle;

use super::request::{ListPosition, person_in_path};
use crate::actions::people::MarkNotificationsRead;
use crate::components::{List, NotificationRow};

/// The notifications of the reader, the latest first.
#[component]
pub fn NotificationsPage() -> impl IntoView {
    loaded(async {
        let (handle, place) = (person_in_path()?, ListPosition::of_this_request()?);
        let reader = session::viewer().map(|account| account.handle);
        let (feed, now) = (feed()?, now());
        let told = feed
            .lists(reader.as_ref())
            .notifications(&handle, place.paging)
            .await?;
        let Notifications {
            items,
            next,
            seams,
            total,
            until,
            unread,
        } = told;
        let listing = Listing {
            items,
            next,
            seams,
            total,
        };
        let (topic, relation) = (Topic::User(handle), Relation::Notifications);
        let listing = feed
            .storage(reader.as_ref())
            .with_costs(&topic, relation, listing)
            .await?;
        let mark = until
            .filter(|_| unread > 0 && place.is_at_the_newest())
            .map(|until| {
                view! {
                    <form method="post" action=MarkNotificationsRead::url()>
                        <input type="hidden" name="until" value=until.to_string() />
                        <button class="button">"Mark all as read"</button>
                    </form>
                }
            });
        let description = relation.description();
        let row = move |notification| view! { <NotificationRow notification now /> };
        Ok(view! {
            <PageTitle text=description.title.to_owned() />
            <header class="page-head">
                <h1>{description.title}</h1>
                <p>
                    "Only you see this list. One entry is enough for a post until you have read it, however many people like the post."
                </p>
                {mark}
            </header>
            <List listing place label=description.title empty=description.empty row />
        })
    })
}
