//! A counted switch: a like, a share, a follow.

use std::cell::RefCell;
use std::rc::Rc;

use model::ReactionState;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::spawn_local;
use web_sys::{Element, HtmlFormElement};

use super::dom::{self, around, attribute, find, hold, listen, set, set_text};
use super::number;
use super::send::{count, send, truth};
use crate::forms;

/// The button of a toggle. A click shows at once and is then sent. While a request is out, further clicks only
/// change the wanted state; at most one request is out at a time, and the last one asks for the last wanted state.
/// A refusal restores everything and shows the reason.
pub struct Toggle {
    relation: String,
    form: HtmlFormElement,
    /// Its value is the state that the next click asks for.
    button: Element,
    counter: Element,
    problem: Element,
    state: RefCell<State>,
}

struct State {
    shown: ReactionState,
    settled: ReactionState,
    sending: bool,
    /// Whether a count arrived from elsewhere while our own request was out. The event for our own change follows
    /// its answer, so the counts from events are never out of date for long, and the answer may be.
    changed_elsewhere: bool,
}

impl Toggle {
    /// Takes over a toggle's button. Its count may be anywhere in the island.
    pub fn bind(root: &Element, button: Element) -> Option<Rc<Self>> {
        let relation = attribute(&button, "data-relation")?;
        let counter = find(root, &format!("[data-number={relation}]"))?;
        let form = around(&button, "form")?;
        let settled = ReactionState {
            active: attribute(&button, "aria-pressed")? == "true",
            count: dom::number(&counter, "data-count")?,
        };
        let toggle = Rc::new(Self {
            problem: find(&form, ".toggle-problem")?,
            form: form.dyn_into().ok()?,
            state: RefCell::new(State {
                shown: settled,
                settled,
                sending: false,
                changed_elsewhere: false,
            }),
            relation,
            button,
            counter,
        });
        let clicked = Rc::clone(&toggle);
        let listening = listen(&toggle.button, "click", move |event| {
            event.prevent_default();
            clicked.flip();
        });
        hold(root, listening);
        Some(toggle)
    }

    /// The relation of the list.
    pub fn relation(&self) -> &str {
        &self.relation
    }

    /// The count changed elsewhere.
    pub fn set_count(&self, count: u64) {
        let mut state = self.state.borrow_mut();
        state.settled.count = count;
        state.changed_elsewhere = true;
        if !state.sending {
            state.shown.count = count;
            self.show(state.shown);
        }
    }

    fn flip(self: &Rc<Self>) {
        let mut state = self.state.borrow_mut();
        let ReactionState { active, count } = state.shown;
        let wanted = if active {
            count.saturating_sub(1)
        } else {
            count + 1
        };
        state.shown = ReactionState {
            active: !active,
            count: wanted,
        };
        self.show(state.shown);
        set_text(&self.problem, "");
        if !std::mem::replace(&mut state.sending, true) {
            let toggle = Rc::clone(self);
            spawn_local(async move {
                while toggle.send_once().await {}
                toggle.state.borrow_mut().sending = false;
            });
        }
    }

    /// Sends the wanted state; returns whether another state is wanted by the time the answer arrives.
    async fn send_once(&self) -> bool {
        let wanted = self.state.borrow().shown.active;
        self.state.borrow_mut().changed_elsewhere = false;
        set(&self.button, "value", forms::truth(wanted));
        let answer = send(&self.form, Some(&self.button)).await;
        let mut state = self.state.borrow_mut();
        let again = match answer {
            Ok(body) => {
                let active = truth(&body, "active").unwrap_or(wanted);
                state.settled.active = active;
                if !state.changed_elsewhere {
                    state.settled.count = count(&body, "count").unwrap_or(state.shown.count);
                }
                state.shown.active != active
            }
            Err(refusal) => {
                refusal.show(&self.problem);
                false
            }
        };
        if !again {
            state.shown = state.settled;
            self.show(state.shown);
        }
        again
    }

    fn show(&self, shown: ReactionState) {
        set(&self.button, "aria-pressed", forms::truth(shown.active));
        set(&self.button, "value", forms::truth(!shown.active));
        number::show(&self.counter, shown.count);
    }
}
