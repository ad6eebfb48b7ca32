//! What the students of a class do: join by name, and bring people to the class's post.

use leptos::prelude::*;
use model::Handle;
use ui::refusal::ActionError;
use ui::reply::Form;
use ui::request::feed;
use ui::session;

/// The page of the class.
const CLASS: &str = "/lab/class";

/// Joins the class and signs in. There is no password: a student who loses their session joins again.
#[server(endpoint = "join_class")]
pub async fn join_class(name: String) -> Result<Handle, ActionError> {
    let form = Form::new("join_class").keeping("name", &name);
    let result = async {
        let feed = feed()?;
        let (account, token) = feed.join(name.parse()?).await?;
        session::start(&feed, &token).await?;
        Ok(account.handle)
    };
    form.answer(result.await, |_| CLASS.to_owned())
}

/// Makes the next people of the town like the class's post. Returns how many did.
#[server(endpoint = "bring_people")]
pub async fn bring_people() -> Result<u64, ActionError> {
    let result = async { feed()?.add_likes(&session::require()?.handle).await };
    Form::new("bring_people").answer(result.await, |_| CLASS.to_owned())
}
