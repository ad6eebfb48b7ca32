// @ts-check
// What plain forms get from a script: a text that was begun is still there when the writer comes back, a form that is
// sent without a connection waits for it, and what is marked as read is read in all tabs. The pages load it for people
// who are signed in.

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
    if (!text || value !== defaultValue || ariaInvalid === "true") return;
    this.field.value = text;
    this.field.closest("details")?.setAttribute("open", "");
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

/** The key in the storage of this tab for the draft that was sent last. `app/src/pages/scripts.rs` knows it, too. */
const SENT = "sent";

// A draft that was sent is stored if the server led here and says nothing else. From the browser's own page of an error one
// comes back without a referrer, or through the history.
const sent = sessionStorage.getItem(SENT);
if (sent) {
  sessionStorage.removeItem(SENT);
  const [navigation] = performance.getEntriesByType("navigation");
  const isLedHere =
    navigation instanceof PerformanceNavigationTiming &&
    navigation.type === "navigate" &&
    document.referrer.startsWith(`${location.origin}/`);
  const refusal = document.querySelector(".problem, main [role=alert]:not(:empty)");
  if (isLedHere && !refusal) storage()?.removeItem(sent);
}

for (const form of /** @type {NodeListOf<HTMLFormElement>} */ (document.querySelectorAll(DRAFTED))) {
  belongsTo(form.dataset.author ?? "");
  new Draft(form).show();
}

// Opening a form is for writing: typed letters go into its field, not to the keys of the page.
addEventListener("click", ({ target }) => {
  const form =
    target instanceof Element ? target.closest("details:has(> form) > summary")?.parentElement : null;
  if (form instanceof HTMLDetailsElement && !form.open) {
    requestAnimationFrame(() => form.querySelector("textarea")?.focus());
  }
});

addEventListener("input", ({ target }) => {
  const form = target instanceof Element ? target.closest(DRAFTED) : null;
  if (form) new Draft(/** @type {HTMLFormElement} */ (form)).keep();
});

/** The key in the storage of this tab for when something was sent last. */
const CHANGED = "changed";
const loadedAt = Date.now();

// Of some buttons an island sends the form, without a submit event. Enter in a field clicks its form's button, too.
addEventListener("click", ({ target }) => {
  if (target instanceof Element && target.closest("form[method=post] button")) {
    sessionStorage.setItem(CHANGED, String(Date.now()));
  }
});

// Back may show a page from memory as it was left. After a change it is loaded again.
addEventListener("pageshow", ({ persisted }) => {
  if (persisted && Number(sessionStorage.getItem(CHANGED)) > loadedAt) location.reload();
});

/** How long to wait before a form is sent again, in milliseconds. */
const PAUSE = 2_000;
const UNAVAILABLE = 503;

/** Says something by a form. @param {HTMLFormElement} form @param {string} message */
function say(form, message) {
  const said = form.querySelector(".form-says") ?? document.createElement("p");
  said.className = "form-says";
  said.role = "status";
  said.textContent = message;
  form.append(said);
}

/**
 * Sends a form without leaving the page, until the server answers: each may be sent again. Says why it was refused.
 * @param {HTMLFormElement} form @param {HTMLElement | null} submitter
 */
async function send(form, submitter) {
  const action = submitter?.getAttribute("formaction") ?? form.getAttribute("action") ?? "";
  const headers = { Accept: "application/json" };
  for (;;) {
    const fields = new URLSearchParams(/** @type {any} */ (new FormData(form, submitter)));
    const answer = await fetch(action, { method: "POST", headers, body: fields }).catch(() => null);
    if (answer && answer.status !== UNAVAILABLE) {
      const result = await answer.json().catch(() => null);
      if (answer.ok && form.matches(DRAFTED)) new Draft(form).forget();
      const refusal = result?.message ?? result?.detail ?? "Something went wrong. Try again in a moment.";
      say(form, answer.ok ? "Sent." : refusal);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

/** The forms that wait for the connection, with their buttons. @type {Map<HTMLFormElement, HTMLElement | null>} */
const waiting = new Map();

addEventListener("submit", (event) => {
  const { target: form, submitter } = event;
  // An island sends its own forms.
  if (event.defaultPrevented || !(form instanceof HTMLFormElement) || form.method !== "post") return;
  if (navigator.onLine) {
    if (form.matches(DRAFTED)) sessionStorage.setItem(SENT, form.dataset.draft ?? "");
    return;
  }
  event.preventDefault();
  waiting.set(form, submitter);
  say(form, "You are offline. This is sent when you are back.");
});

addEventListener("online", async () => {
  const [last, ...others] = [...waiting].reverse();
  waiting.clear();
  for (const [form, submitter] of others.reverse()) await send(form, submitter);
  // The last one leads to its page, as it does with a connection.
  if (last) last[0].requestSubmit(last[1]);
});
