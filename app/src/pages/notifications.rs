//! What the reader is told of.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use model::{Handle, Listing, NotificationKind, Notifications, Problem, Relation, Topic};
use ui::request::{feed, loaded, now};
use ui::session;
use ui::title::PageTitle;

use super::request::{ListPosition, person_in_path};
use super::settings::private;
use crate::actions::people::MarkNotificationsRead;
use crate::actions::settings::{ChooseNotifications, NOTIFICATIONS};
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
                    "Only you see this list. A post has one entry until you have read it, however many people like it. "
                    <a href=NOTIFICATIONS>"Choose your notifications"</a> "."
                </p>
                {mark}
            </header>
            <List listing place label=description.title empty=description.empty row />
        })
    })
}

/// Where the reader chooses of what they are told.
#[component]
pub fn NotificationSettingsPage() -> impl IntoView {
    private(NOTIFICATIONS, |account| {
        loaded(async move { settings_page(&account.handle).await })
    })
}

async fn settings_page(reader: &Handle) -> Result<impl IntoView + use<>, Problem> {
    let told = feed()?.notifications().settings(reader).await?.told;
    let choices = NotificationKind::ALL.into_iter().map(|kind| {
        view! {
            <label>
                <input
                    type="checkbox"
                    name="told[]"
                    value=kind.as_str()
                    checked=told.contains(&kind)
                    autocomplete="off"
                />
                {choice(kind)}
            </label>
        }
    });
    Ok(view! {
        <PageTitle text="Your choice of notifications" />
        <header class="page-head">
            <h1>"Your choice of notifications"</h1>
            <p>
                "Your " <a href="/notifications">"notifications"</a>
                " get entries of these kinds. Those that you already have stay. Back to the " <a href="/settings">"settings"</a> "."
            </p>
        </header>
        <section class="setting">
            <form class="account-form" method="post" action=ChooseNotifications::url() data-testid="notification-settings">
                <fieldset class="choices">
                    <legend>"Notify me when somebody"</legend>
                    {choices.collect_view()}
                </fieldset>
                <button class="button button-primary">"Save"</button>
            </form>
        </section>
    })
}

/// What a box stands for, after “Notify me when somebody”.
fn choice(kind: NotificationKind) -> &'static str {
    match kind {
        NotificationKind::Like => "likes my post",
        NotificationKind::Comment => "comments on my post",
        NotificationKind::Reply => "replies to my comment",
        NotificationKind::Share => "shares my post",
        NotificationKind::Quote => "quotes my post",
        NotificationKind::Follow => "follows me",
        NotificationKind::Mention => "mentions me",
    }
}
