//! Lists of the workshop's tuner. Everybody who is signed in may have one laid out.

use leptos::prelude::*;
use model::Relation;
use ui::refusal::ActionError;
use ui::reply::Form;
use ui::session;

use crate::pages::workshop;

/// Lays out a list in a sandbox, with the limits that follow from a budget in KB and the store's items.
#[server(endpoint = "lay_out")]
pub async fn lay_out(relation: String, kb: String) -> Result<(), ActionError> {
    let result = async {
        let by = session::require()?.handle;
        let relation: Relation = relation.parse()?;
        workshop()?.lay_out(by, relation, &kb).await?;
        Ok(format!("/lab/tune?relation={relation}&kb={kb}"))
    };
    Form::new("lay_out").answer(result.await, String::clone).map(drop)
}
