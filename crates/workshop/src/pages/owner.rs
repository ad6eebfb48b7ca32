//! The owner that a page is about.

use model::{Handle, Problem, Relation, Topic, View};
use ui::components::beginning;
use ui::request::feed;

/// The address of the station that shows any owner.
pub const INSPECT: &str = "/lab/inspect";

/// The address of an owner there.
pub fn address(owner: &Topic) -> String {
    format!("{INSPECT}/{owner}")
}

/// The list of an owner that the address names, if the reader may see it.
pub fn list_of(owner: &Topic, reader: Option<&Handle>, name: &str) -> Result<Relation, Problem> {
    let view = View::of(owner, reader);
    let what = match owner {
        Topic::Post(_) => "A post",
        Topic::User(_) => "A person",
    };
    let lists = || {
        owner
            .relations()
            .iter()
            .copied()
            .filter(move |list| view.shows(*list))
    };
    lists().find(|list| list.as_str() == name).ok_or_else(|| {
        let names = lists().map(Relation::as_str).collect::<Vec<_>>().join(", ");
        Problem::invalid(
            "list",
            format!("{what} has no list “{name}”. `list` is one of: {names}."),
        )
    })
}

/// The description of an owner.
pub struct OwnerDescription {
    /// In words.
    pub words: String,
    /// The address of its page.
    pub href: String,
}

/// Looks up the description of an owner that the reader sees.
pub async fn about(owner: &Topic, reader: Option<&Handle>) -> Result<OwnerDescription, Problem> {
    feed()?.storage(reader).require(owner).await?;
    Ok(match owner {
        Topic::Post(id) => {
            let post = feed()?.posts().get(*id, None).await?.post;
            OwnerDescription {
                words: format!("{}: “{}”", post.author.name, beginning(post.text.as_str())),
                href: format!("/post/{id}"),
            }
        }
        Topic::User(handle) => OwnerDescription {
            words: format!(
                "{} (@{handle})",
                feed()?.people().profile(handle, None).await?.name
            ),
            href: format!("/@{handle}"),
        },
    })
}
