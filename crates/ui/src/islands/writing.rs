#[cfg(feature = "ssr")]
use leptos::prelude::*;
#[cfg(target_arch = "wasm32")]
use web_sys::Element;

#[cfg(feature = "ssr")]
use super::bound;

/// A form for writing: a live character counter, a message by the field when a text is refused, and the new post
/// or comment in the list below at once. Unsent text is still there when the writer returns. The island wraps the
/// form that `TextForm` renders.
#[cfg(feature = "ssr")]
#[component]
pub fn WritingForm(children: Children) -> impl IntoView {
    bound("writing", children)
}

#[cfg(target_arch = "wasm32")]
pub(super) fn bind(root: &Element) {
    use std::rc::Rc;

    use super::browser::dom::{hold, listen};

    let Some(desk) = real::ComposeForm::find_in(root).map(Rc::new) else {
        return;
    };
    let typing = Rc::clone(&desk);
    hold(root, listen(root, "input", move |_| typing.typed()));
    desk.resume();
    let listening = listen(root, "submit", move |event| {
        event.prevent_default();
        desk.send();
    });
    hold(root, listening);
}

#[cfg(target_arch = "wasm32")]
mod real {
    use std::cell::Cell;
    use std::rc::Rc;

    use model::{CommentText, PostText, Problem};
    use wasm_bindgen::JsCast;
    use wasm_bindgen_futures::spawn_local;
    use web_sys::{Element, HtmlFormElement, HtmlInputElement, HtmlTextAreaElement};

    use crate::forms::truth;
    use crate::islands::browser::dom::{attribute, document, find, set, set_text, window};
    use crate::islands::browser::draft::Draft;
    use crate::islands::browser::list::{List, here};
    use crate::islands::browser::live;
    use crate::islands::browser::send::{fresh_id, send};
    use crate::islands::browser::stretch::Stretch;
    use crate::number::counter;

    /// A form with one text field.
    pub struct ComposeForm {
        form: HtmlFormElement,
        text: HtmlTextAreaElement,
        id: HtmlInputElement,
        problem: Element,
        counter: Element,
        most: usize,
        draft: Option<Draft>,
        sending: Cell<bool>,
        /// Whether nothing was typed since the last text was sent: a second click then sends nothing, and is not
        /// an error.
        sent: Cell<bool>,
    }

    impl ComposeForm {
        pub fn find_in(root: &Element) -> Option<Self> {
            let (form, counter) = (find(root, "form")?, find(root, ".counter")?);
            Some(Self {
                draft: Draft::of(&form),
                form: form.dyn_into().ok()?,
                text: find(root, "textarea")?.dyn_into().ok()?,
                id: find(root, "[name=id]")?.dyn_into().ok()?,
                problem: find(root, ".text-form-problem")?,
                most: attribute(&counter, "data-most")?.parse().ok()?,
                counter,
                sending: Cell::new(false),
                sent: Cell::new(false),
            })
        }

        /// Shows the draft, unless something was typed already. A text that was being sent when the page was left
        /// is sent again; if it had arrived, it is still stored only once.
        pub fn resume(self: &Rc<Self>) {
            // The page's id is for browsers without JavaScript. Here every text gets its own when it is sent.
            self.id.set_value("");
            let draft = self.draft.as_ref().and_then(Draft::read);
            let Some((id, text)) = draft.filter(|_| self.text.value().is_empty()) else {
                return self.typed();
            };
            self.write(&text);
            if !id.is_empty() {
                self.id.set_value(&id);
                self.send();
            }
        }

        /// Reacts to typing.
        pub fn typed(&self) {
            self.sent.set(false);
            // A text that is being sent stays stored until it has arrived.
            if !self.sending.get() {
                self.keep("");
            }
            self.measure();
        }

        /// Stores the typed text, with the id under which it is being sent, if it is.
        fn keep(&self, id: &str) {
            if let Some(draft) = &self.draft {
                draft.keep(id, &self.text.value());
            }
        }

        fn measure(&self) {
            let length = self.text.value().trim().chars().count();
            set_text(&self.counter, &counter(length, self.most));
            set(&self.counter, "data-over", truth(length > self.most));
            if self.text.value().is_empty() || length <= self.most {
                self.show_message("");
            }
        }

        /// Sends the form. Its id stays until the text arrived, so that trying again after a broken connection
        /// stores it only once.
        pub fn send(self: &Rc<Self>) {
            if self.sending.get() || (self.sent.get() && self.text.value().is_empty()) {
                return;
            }
            if let Err(problem) = self.check() {
                return self.show_message(&problem.message);
            }
            self.sending.set(true);
            if self.id.value().is_empty() {
                self.id.set_value(&fresh_id());
            }
            self.keep(&self.id.value());
            set(&self.form, "aria-busy", "true");
            let desk = Rc::clone(self);
            spawn_local(async move {
                desk.publish().await;
                set(&desk.form, "aria-busy", "false");
                desk.sending.set(false);
            });
        }

        /// Shows the text in the list while it is being sent. A refused text returns to the field, above what was typed
        /// meanwhile.
        async fn publish(&self) {
            let text = self.text.value();
            let sent = send(&self.form, None);
            let list = List::around(&self.form).filter(List::is_from_the_beginning);
            let pending = list.as_ref().and_then(|list| pending(list, text.trim()));
            self.write("");
            self.show_message("");
            self.sent.set(true);
            match sent.await {
                Ok(_) => {
                    self.id.set_value("");
                    self.keep("");
                    let newest = Stretch::fetch(&here("")).await;
                    match (list, newest) {
                        (Some(list), Some(newest)) => {
                            list.refresh(&newest);
                            if let Some(pending) = pending {
                                pending.remove();
                            }
                            live::settle();
                        }
                        // It belongs at the beginning of the list, which is on another page.
                        (None, _) => drop(window().location().set_href(&here(""))),
                        // It arrived, and stays as it is until the list is fetched again.
                        (Some(_), None) => {}
                    }
                }
                Err(refusal) => {
                    if let Some(pending) = pending {
                        pending.remove();
                    }
                    let typed = self.text.value();
                    self.write((text + "\n\n" + &typed).trim());
                    self.keep("");
                    self.sent.set(false);
                    refusal.show(&self.problem);
                    set(&self.text, "aria-invalid", "true");
                }
            }
        }

        fn write(&self, text: &str) {
            self.text.set_value(text);
            self.measure();
        }

        /// The server checks again; this only saves the round trip.
        fn check(&self) -> Result<(), Problem> {
            let text = self.text.value();
            match find(&self.form, "[name=post]") {
                Some(_comment_on) => text.parse::<CommentText>().map(drop),
                None => text.parse::<PostText>().map(drop),
            }
        }

        fn show_message(&self, message: &str) {
            set_text(&self.problem, message);
            set(
                &self.text,
                "aria-invalid",
                if message.is_empty() { "false" } else { "true" },
            );
        }
    }

    /// A text that is being sent to the server, at the top of its list.
    fn pending(list: &List, text: &str) -> Option<Element> {
        let item = document().create_element("article").ok()?;
        item.set_class_name("entry entry-pending");
        set(&item, "aria-busy", "true");
        let written = document().create_element("p").ok()?;
        written.set_class_name("post-text");
        set(&written, "dir", "auto");
        set_text(&written, text);
        item.append_child(&written).ok()?;
        let label = document().create_element("p").ok()?;
        label.set_class_name("entry-sending");
        set_text(&label, "Sending…");
        item.append_child(&label).ok()?;
        list.show_pending(&item);
        Some(item)
    }
}
