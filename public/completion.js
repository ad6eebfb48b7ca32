// @ts-check
// Offers people while somebody types `@` and the beginning of a handle or name, or searches, and words of MongoDB's shell
// in the console. The pages load it once such a field has the focus. It follows the ARIA pattern of a list box whose
// options have the focus of a text field.

/** How long to wait for the next letter, in milliseconds. */
const PAUSE = 120;
/** How many words of the shell are offered. */
const WORDS = 8;

/** @typedef {HTMLTextAreaElement | HTMLInputElement} Field */

/** The field that the list belongs to. @type {Field | null} */
let field = null;
/** The request under way, with the pause before it. */
let request = new AbortController();

const list = document.createElement("ul");
list.id = "completions";
list.className = "completions";
list.role = "listbox";
list.hidden = true;
const announcement = document.createElement("p");
announcement.className = "sr-only";
announcement.role = "status";

/** @param {EventTarget | null} target @returns {target is Field} */
function isCompleted(target) {
  return target instanceof HTMLElement && "completes" in target.dataset;
}

/** @param {Field} field */
function isSearch(field) {
  return field.dataset.completes === "search";
}

/** @param {Field} field */
function isShell(field) {
  return field.dataset.completes === "shell";
}

/** What begins a word of the shell, by kind. The word itself is the last group. */
const SHELL = {
  collection: /(?:^|[^\w$.])db\.(\w*)$/,
  method: /(?:^|[^\w$.])db\.\w+\.(\w*)$/,
  cursor: /\)\s*\.(\w*)$/,
  operator: /(\$\w*)$/,
};

/**
 * The text before the caret, if nothing is selected.
 * @param {Field} field
 */
function before(field) {
  const { selectionStart: caret, selectionEnd: end } = field;
  return caret === end ? field.value.slice(0, caret ?? 0) : "";
}

/**
 * The words of the shell that go on with what stands before the caret, as options.
 * @param {Field} field
 */
function words(field) {
  for (const [kind, pattern] of Object.entries(SHELL)) {
    const begun = pattern.exec(before(field))?.[1]?.toLowerCase();
    if (begun === undefined) continue;
    const known = [...document.querySelectorAll(`#console-words [data-kind=${kind}]`)];
    const found = known.map((option) => option.getAttribute("value") ?? "");
    const fitting = found.filter(
      (word) => word.toLowerCase().startsWith(begun) && word.toLowerCase() !== begun,
    );
    return fitting.slice(0, WORDS).map((word, nth) => {
      const option = document.createElement("li");
      option.id = `completion-${nth + 1}`;
      option.role = "option";
      option.dataset.word = word;
      option.textContent = word;
      return option;
    });
  }
  return [];
}

/**
 * What to look for: all of a search, or the `@word` before the caret.
 * @param {Field} field
 */
function wanted(field) {
  if (isSearch(field)) {
    return /[\p{L}\p{N}]/u.test(field.value) && !field.value.includes("#") ? field.value : null;
  }
  if (isShell(field)) return /\w*$/.exec(before(field))?.[0] ?? "";
  return (
    /(?:^|[^\p{L}\p{M}\p{N}_@#/&=]|\uFE0F)@([\p{L}\p{N}][\p{L}\p{N}_-]{0,29})$/u.exec(before(field))?.[1] ??
    null
  );
}

function close() {
  request.abort();
  list.hidden = true;
  announcement.textContent = "";
  field?.removeAttribute("aria-activedescendant");
}

/** @param {Element | null | undefined} option */
function choose(option) {
  for (const other of list.children) other.ariaSelected = String(other === option);
  option?.scrollIntoView({ block: "nearest" });
  if (option) field?.setAttribute("aria-activedescendant", option.id);
  else field?.removeAttribute("aria-activedescendant");
}

const chosen = () => list.querySelector('[aria-selected="true"]');

/** Puts the list below a field. @param {Field} below */
function place(below) {
  if (field !== below) {
    field = below;
    field.setAttribute("aria-autocomplete", "list");
    field.setAttribute("aria-controls", list.id);
    field.after(list, announcement);
  }
  list.style.top = `${below.offsetTop + below.offsetHeight}px`;
  list.style.left = `${below.offsetLeft}px`;
  list.style.width = `${below.offsetWidth}px`;
}

/** Shows options below a field. @param {Field} typedIn @param {string} what */
function show(typedIn, what) {
  place(typedIn);
  list.ariaLabel = what;
  list.hidden = false;
  const count = list.children.length;
  if (isShell(typedIn)) announcement.textContent = count === 1 ? "1 word" : `${count} words`;
  else announcement.textContent = count === 1 ? "1 person" : `${count} people`;
}

/** @param {Field} typedIn */
async function offer(typedIn) {
  request.abort();
  if (isShell(typedIn)) {
    const options = words(typedIn);
    if (options.length === 0) return close();
    list.replaceChildren(...options);
    show(typedIn, "Words");
    return choose(null);
  }
  const word = wanted(typedIn);
  if (!word) return close();
  const { signal } = (request = new AbortController());
  await new Promise((resolve) => setTimeout(resolve, PAUSE));
  if (signal.aborted) return;
  const answer = await fetch(`/search/people?q=${encodeURIComponent(word)}`, { signal }).catch(() => null);
  const options = answer?.ok ? await answer.text().catch(() => "") : "";
  if (signal.aborted) return;
  if (!options) return close();
  list.innerHTML = options;
  // A handle that is written out needs no list, which would lie over the button below.
  const [only, another] = list.children;
  if (!isSearch(typedIn) && !another && only?.getAttribute("data-handle") === word.toLowerCase())
    return close();
  show(typedIn, "People");
  // Where a text is written, the first one is what was probably meant. A search is for what was typed.
  choose(isSearch(typedIn) ? null : list.firstElementChild);
}

/** @param {Element} option */
function take(option) {
  const [handle, word] = [option.getAttribute("data-handle"), option.getAttribute("data-word")];
  if (field && word) {
    const caret = field.selectionStart ?? 0;
    const begun = /\$?\w*$/.exec(before(field))?.[0].length ?? 0;
    field.setRangeText(word, caret - begun, caret, "end");
    return close();
  }
  if (!field || !handle) return;
  if (isSearch(field)) {
    location.assign(`/@${handle}`);
    return;
  }
  const caret = field.selectionStart ?? 0;
  const begun = wanted(field)?.length ?? 0;
  field.setRangeText(`@${handle} `, caret - begun - 1, caret, "end");
  close();
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
}

/** @param {KeyboardEvent} event */
function act(event) {
  if (list.hidden || event.target !== field || event.isComposing) return false;
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return false;
  const now = chosen();
  switch (event.key) {
    case "ArrowDown":
      choose(now ? (now.nextElementSibling ?? list.firstElementChild) : list.firstElementChild);
      return true;
    case "ArrowUp":
      choose(now ? (now.previousElementSibling ?? list.lastElementChild) : list.lastElementChild);
      return true;
    case "Escape":
      close();
      return true;
    case "Tab":
    case "Enter":
      // As in the shell, Tab takes the first word.
      if (!now && field && isShell(field) && event.key === "Tab" && list.firstElementChild) {
        take(list.firstElementChild);
        return true;
      }
      // A handle that is written out needs nothing: Enter begins a new line.
      if (!now || !field) return false;
      if (!isSearch(field) && now.getAttribute("data-handle") === wanted(field)) return false;
      take(now);
      return true;
    default:
      return false;
  }
}

addEventListener("input", (event) => {
  if (isCompleted(event.target)) void offer(event.target);
});
addEventListener("keydown", (event) => act(event) && event.preventDefault(), true);
addEventListener("focusout", (event) => event.target === field && close());
list.addEventListener("mousedown", (event) => event.preventDefault());
list.addEventListener("click", (event) => {
  const option = event.target instanceof Element && event.target.closest("li");
  if (option) take(option);
});

// Something may have been typed while this was loaded.
const focused = document.activeElement;
if (isCompleted(focused) && focused.value !== focused.defaultValue) void offer(focused);

export {};
