// @ts-check
// Runs a line of the console without leaving the page, and goes back to earlier lines with the arrow keys. Without this,
// the form and the links of the page do the same.

const form = /** @type {HTMLFormElement} */ (document.querySelector("#console"));
const input = /** @type {HTMLTextAreaElement} */ (document.querySelector("#console-input"));
const shown = /** @type {HTMLElement} */ (document.querySelector("#console-shown"));
const examples = /** @type {HTMLDetailsElement} */ (document.querySelector(".console-examples"));
const status = document.querySelector("#said");

/** The lines that were entered, the newest first; the one that is being written stands before them. */
let place = -1;
let draft = "";
/** The lines that are sent one after the other. */
let sending = Promise.resolve();

const lines = () =>
  [...shown.querySelectorAll("[data-line]")].map((link) => link.getAttribute("data-line") ?? "");

/** @param {string} line */
function write(line) {
  input.value = line;
  input.setSelectionRange(line.length, line.length);
}

/** @param {string} line */
async function run(line) {
  const body = new URLSearchParams({ line });
  const answer = await fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
  const page = answer.ok ? await fetch(location.pathname) : null;
  const html = page?.ok ? await page.text() : "";
  const found = new DOMParser().parseFromString(html, "text/html").querySelector("#console-shown");
  if (!found) throw new Error("the console does not answer");
  shown.innerHTML = found.innerHTML;
  examples.open = false;
  if (status) status.textContent = shown.querySelector(".console-text")?.textContent?.slice(0, 400) ?? "";
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const line = input.value;
  write("");
  place = -1;
  shown.ariaBusy = "true";
  sending = sending
    .then(() => run(line))
    .catch(() => {
      // The browser sends it: the next page shows the reason.
      write(line);
      form.submit();
    })
    .finally(() => (shown.ariaBusy = "false"));
});

/** Whether the caret is in the first or in the last line of the text. @param {boolean} first */
function isAtTheEdge(first) {
  const [before, after] = [input.value.slice(0, input.selectionStart), input.value.slice(input.selectionEnd)];
  return !(first ? before : after).includes("\n");
}

/** @param {number} next */
function goTo(next) {
  const earlier = lines();
  if (next < -1 || next >= earlier.length) return;
  if (place === -1) draft = input.value;
  place = next;
  write(next === -1 ? draft : (earlier[next] ?? ""));
}

input.addEventListener("keydown", (event) => {
  // A completion that is open takes these keys first.
  if (event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Enter" && !event.shiftKey) {
    event.preventDefault();
    form.requestSubmit();
  } else if (event.key === "ArrowUp" && isAtTheEdge(true)) {
    event.preventDefault();
    goTo(place + 1);
  } else if (event.key === "ArrowDown" && isAtTheEdge(false)) {
    event.preventDefault();
    goTo(place - 1);
  }
});

addEventListener("click", (event) => {
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
  const link = event.target instanceof Element && event.target.closest(".console [data-line]");
  if (!link) return;
  event.preventDefault();
  write(link.getAttribute("data-line") ?? "");
  input.focus();
});

export {};
