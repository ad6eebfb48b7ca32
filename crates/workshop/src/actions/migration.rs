//! Migrations of the workshop. Everybody who is signed in may start and stop one: a class has a teacher.

use leptos::prelude::*;
use ui::refusal::ActionError;
use ui::reply::Form;
use ui::session;

use crate::pages::workshop;

/// The page that shows the migration.
const PAGE: &str = "/lab/migrate";

/// Starts a migration of an array of this many likes.
#[server(endpoint = "start_migration")]
pub async fn start_migration(items: u64) -> Result<(), ActionError> {
    let result = async {
        let by = session::require()?.handle;
        workshop()?.start_migration(by, items).await
    };
    Form::new("start_migration")
        .keeping("items", &items.to_string())
        .answer(result.await.map(drop), |()| PAGE.to_owned())
}

/// Ends the likes early, and answers when the verdict is there.
#[server(endpoint = "stop_migration")]
pub async fn stop_migration() -> Result<(), ActionError> {
    let result = async {
        session::require()?;
        workshop()?.stop_migration().await;
        Ok(())
    };
    Form::new("stop_migration").answer(result.await, |()| PAGE.to_owned())
}
