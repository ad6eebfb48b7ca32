#[cfg(feature = "ssr")]
use leptos::prelude::*;
#[cfg(target_arch = "wasm32")]
use web_sys::Element;

#[cfg(feature = "ssr")]
use super::bound;

/// The numbers of a post or a person, and how their lists are stored. They change as people react, here and
/// elsewhere.
///
/// The island wraps the forms that `Reactions` and `FollowButton` render, meters, and links with counts. Posts in a
/// list need none of their own: the end of the list wakes them.
#[cfg(feature = "ssr")]
#[component]
pub fn Numbers(children: Children) -> impl IntoView {
    bound("numbers", children)
}

/// Takes over every toggle in the element, and keeps all its numbers current. `data-topic` on an ancestor or the id
/// of the `.post` around it names the owner, and `data-number` on each number names the list.
#[cfg(target_arch = "wasm32")]
pub(super) fn bind(root: &Element) {
    use std::rc::Rc;

    use super::browser::dom::{all, attribute};
    use super::browser::{drawer, live, meter, number, toggle::Toggle};

    drawer::bind(root);

    let Some(topic) = topic_around(root) else {
        return;
    };
    let toggles: Vec<Rc<Toggle>> = all(root, "button[data-relation]")
        .into_iter()
        .filter_map(|button| Toggle::bind(root, button))
        .collect();
    let meters = all(root, ".meter");
    let numbers: Vec<Element> = all(root, "[data-number]")
        .into_iter()
        // A toggle keeps its own count, which may be ahead of the server's.
        .filter(|number| {
            let relation = attribute(number, "data-number").unwrap_or_default();
            toggles.iter().all(|toggle| toggle.relation() != relation)
        })
        .collect();
    live::watch(root, topic, move |overflow| {
        for toggle in &toggles {
            if let Some(stored) = overflow.of(toggle.relation()) {
                toggle.set_count(stored.count);
            }
        }
        for element in &meters {
            if let Some(stored) = overflow.of(&meter::relation_of(element)) {
                meter::show(element, &stored);
            }
        }
        for element in &numbers {
            if let Some(stored) =
                attribute(element, "data-number").and_then(|relation| overflow.number(&relation))
            {
                number::show(element, stored);
            }
        }
    });
}

#[cfg(target_arch = "wasm32")]
fn topic_around(part: &Element) -> Option<String> {
    use super::browser::dom::{around, attribute};

    let owner = around(part, "[data-topic], .post")?;
    attribute(&owner, "data-topic").or_else(|| Some("post:".to_owned() + owner.id().get("post-".len()..)?))
}
