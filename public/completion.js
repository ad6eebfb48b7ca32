// @ts-check
// Offers people while somebody types `@` and the beginning of a handle or name, or searches. The pages load it once such
// a field has the focus. It follows the ARIA pattern of a list box whose options have the focus of a text field.

/** How long to wait for the next letter, in milliseconds. */
const PAUSE = 120;

/** @typedef {HTMLTextAreaElement | HTMLInputElement} Field */

/** The field that the list belongs to. @type {Field | null} */
let field = null;
/** The request under way, with the pause before it. */
let request = new AbortController();

const list = document.createElement("ul");
list.id = "completions";
list.className = "completions";
list.role = "listbox";
list.ariaLabel = "People";
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

/**
 * What to look for: all of a search, or the `@word` before the caret.
 * @param {Field} field
 */
function wanted(field) {
  if (isSearch(field)) {
    return /[\p{L}\p{N}]/u.test(field.value) && !field.value.includes("#") ? field.value : null;
  }
  const { selectionStart: caret, selectionEnd: end } = field;
  const before = caret === end ? field.value.slice(0, caret ?? 0) : "";
  return /(?:^|\s)@([\p{L}\p{N}][\p{L}\p{N}_-]{0,29})$/u.exec(before)?.[1] ?? null;
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

/** @param {Field} typedIn */
async function offer(typedIn) {
  request.abort();
  const word = wanted(typedIn);
  if (!word) return close();
  const { signal } = (request = new AbortController());
  await new Promise((resolve) => setTimeout(resolve, PAUSE));
  if (signal.aborted) return;
  const answer = await fetch(`/search/people?q=${encodeURIComponent(word)}`, { signal }).catch(() => null);
  const options = answer?.ok ? await answer.text().catch(() => "") : "";
  if (signal.aborted) return;
  if (!options) return close();
  place(typedIn);
  list.innerHTML = options;
  list.hidden = false;
  const count = list.children.length;
  announcement.textContent = count === 1 ? "1 person" : `${count} people`;
  // Where a text is written, the first one is what was probably meant. A search is for what was typed.
  choose(isSearch(typedIn) ? null : list.firstElementChild);
}

/** @param {Element} option */
function take(option) {
  const handle = option.getAttribute("data-handle");
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
      // A handle that is written out needs nothing: Enter begins a new line.
      if (!now || (field && now.getAttribute("data-handle") === wanted(field))) return false;
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

export {};
