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

/** The forms with a draft that no island has. */
const DRAFTED = "details form[data-draft]";

for (const form of /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll(DRAFTED))) {
  belongsTo(form.dataset.author ?? "");
  new Draft(form).show();
}

addEventListener("input", ({ target }) => {
  const form = target instanceof Element ? target.closest(DRAFTED) : null;
  if (form) new Draft(/** @type {HTMLFormElement} */ (form)).keep();
});

/** How long to wait before a form is sent again, in milliseconds. It doubles up to the longest. */
const FIRST_WAIT = 1_000;
const LONGEST_WAIT = 32_000;
const UNAVAILABLE = 503;
const NOT_SIGNED_IN = 401;

/** Waits, and not longer than the connection is gone. @param {number} wait */
const pause = (wait) =>
  new Promise((resolve) => {
    setTimeout(resolve, wait);
    addEventListener("online", resolve, { once: true });
  });

/** Says something by a form. @param {HTMLFormElement} form @param {string} message */
function say(form, message) {
  const said = form.querySelector(".form-says") ?? document.createElement("p");
  said.className = "form-says";
  said.role = "status";
  said.textContent = message;
  form.append(said);
  return said;
}

/**
 * Sends a form until the server answers: each may be sent again. Returns the result, or nothing if it was refused, and
 * says why.
 * @param {HTMLFormElement} form @param {HTMLElement | null} submitter
 */
async function send(form, submitter) {
  const action = submitter?.getAttribute("formaction") ?? form.getAttribute("action") ?? "";
  const headers = { Accept: "application/json" };
  for (let wait = FIRST_WAIT; ; wait = Math.min(2 * wait, LONGEST_WAIT)) {
    const fields = new URLSearchParams(/** @type {any} */ (new FormData(form, submitter)));
    const answer = await fetch(action, { method: "POST", headers, body: fields }).catch(() => null);
    if (answer && answer.status !== UNAVAILABLE) {
      const result = await answer.json().catch(() => null);
      if (answer.ok) return { result };
      const said = say(
        form,
        result?.message ?? result?.detail ?? "Something went wrong. Try again in a moment.",
      );
      if (answer.status === NOT_SIGNED_IN) {
        const link = document.createElement("a");
        link.href = `/login?next=${encodeURIComponent(location.pathname)}`;
        link.textContent = "Sign in";
        said.append(" ", link);
      }
      return null;
    }
    const offline = "You are offline. This is sent when you are back.";
    say(form, navigator.onLine ? "Spillway does not answer. This is sent again." : offline);
    await pause(wait);
  }
}

/** Loads a page, also if it is this one. @param {string} address */
function show(address) {
  const { pathname, search } = new URL(address, location.href);
  const isHere = pathname + search === location.pathname + location.search;
  location.assign(address);
  // Another place on this page would only be scrolled to.
  if (isHere) location.reload();
}

/** The forms under way. */
const sending = new Set();

addEventListener("submit", async (event) => {
  const { target: form, submitter } = event;
  // An island sends its own forms.
  if (event.defaultPrevented || !(form instanceof HTMLFormElement) || form.method !== "post") return;
  const isDrafted = form.matches(DRAFTED);
  // Without a draft, it only needs help while there is no connection.
  if (!isDrafted && navigator.onLine && sending.size === 0) return;
  event.preventDefault();
  if (sending.has(form)) return;
  sending.add(form);
  const sent = await send(form, submitter);
  sending.delete(form);
  if (!sent) return;
  form.querySelector(".form-says")?.remove();
  if (isDrafted) new Draft(form).forget();
  // The page shows what was done once nothing else is under way.
  if (sending.size > 0) return;
  const { next } = form.dataset;
  const item = typeof sent.result === "string" ? sent.result : "";
  show(next ? next + item : location.pathname + location.search);
});
