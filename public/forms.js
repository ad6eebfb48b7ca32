// @ts-check
// What plain forms get from a script: a text that was begun is still there when the writer comes back, and a form that is
// sent without a connection waits for it. The pages load it for people who are signed in.

/** The storage keys that `crates/ui/src/islands/browser/draft.rs` names: whose drafts these are, and a setting. */
const AUTHOR = "author";
const KEYS = "keys";

/** The storage of this device; nothing where the reader forbids it. */
function storage() {
  try {
    return localStorage;
  } catch {
    return null;
  }
}

/** Deletes the drafts of other people. @param {string} author */
function belongsTo(author) {
  const kept = storage();
  if (!kept || kept.getItem(AUTHOR) === author) return;
  const keys = kept.getItem(KEYS);
  kept.clear();
  if (keys) kept.setItem(KEYS, keys);
  kept.setItem(AUTHOR, author);
}

/** The draft of a plain form: a space, where a draft that is being sent has its id, and the text. */
class Draft {
  /** @param {HTMLFormElement} form */
  constructor(form) {
    this.key = form.dataset.draft ?? "";
    this.field = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem("text"));
  }

  /** Shows it, unless the page has something newer: what was typed, or a text that was refused. */
  show() {
    const text = storage()?.getItem(this.key)?.slice(1);
    const { value, defaultValue, ariaInvalid } = this.field;
    if (text && value === defaultValue && ariaInvalid !== "true") this.field.value = text;
  }

  keep() {
    const { value, defaultValue } = this.field;
    if (value === "" || value === defaultValue) return this.forget();
    try {
      storage()?.setItem(this.key, ` ${value}`);
    } catch {
      // The storage is full. Only the draft is lost.
    }
  }

  forget() {
    storage()?.removeItem(this.key);
  }
}

/** The forms with a draft that no island has. @param {Element | Document} root */
const drafted = (root) =>
  /** @type {NodeListOf<HTMLFormElement>} */ (root.querySelectorAll("details form[data-draft]"));

for (const form of drafted(document)) {
  belongsTo(form.dataset.author ?? "");
  new Draft(form).show();
}

/** The drafted form around an element. @param {EventTarget | null} target @returns {HTMLFormElement | null} */
const around = (target) => (target instanceof Element ? target.closest("details form[data-draft]") : null);

addEventListener("input", ({ target }) => {
  const form = around(target);
  if (form) new Draft(form).keep();
});

/** Says by a form why nothing happened yet. @param {HTMLFormElement} form */
function wait(form) {
  const said = form.querySelector(".form-waits") ?? document.createElement("p");
  said.className = "form-waits";
  said.role = "status";
  form.append(said);
  said.textContent = "You are offline. This is sent when you are back.";
}

addEventListener("submit", (event) => {
  const { target: form, submitter, defaultPrevented } = event;
  // An island sends its own forms, and waits by itself.
  if (defaultPrevented || !(form instanceof HTMLFormElement) || form.method !== "post") return;
  if (navigator.onLine) {
    if (around(form)) new Draft(form).forget();
    return;
  }
  event.preventDefault();
  if (form.querySelector(".form-waits")) return;
  wait(form);
  addEventListener("online", () => form.requestSubmit(submitter), { once: true });
});
