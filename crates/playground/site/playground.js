// @ts-check
// Shows a station for any address. Its page holds the station as it begins; the program that rendered it runs here for
// every other query, and what it prints takes the place of the page's contents.
import { run } from "./wasi.js";

const page = document.documentElement;
const main = /** @type {HTMLElement} */ (document.querySelector("main"));
const STOPS = "a[href], button, summary, [tabindex]";

/** Counts what was asked for; only the last answer is shown. */
let asked = 0;
let shown = "";
/** @type {Promise<WebAssembly.Module> | undefined} */
let program;

/** @param {string} failure */
function tell(failure) {
  const banner = /** @type {HTMLElement} */ (document.querySelector("#failure"));
  banner.textContent = failure;
  banner.hidden = !failure;
}

/** Some file servers do not know the type that streaming requires. */
async function load() {
  const answer = await fetch(new URL("playground.wasm", import.meta.url));
  if (!answer.ok) throw new Error(`playground.wasm: ${answer.status}`);
  return WebAssembly.compile(await answer.arrayBuffer());
}

/** @param {string} query */
async function show(query) {
  const nth = ++asked;
  const pane = main.querySelector(".pane");
  if (pane) pane.ariaBusy = "true";
  try {
    program ??= load();
    const html = await run(await program, ["playground", `${page.dataset.station}${query}`]);
    if (nth !== asked) return;
    put(new DOMParser().parseFromString(html, "text/html"));
    shown = query;
    tell("");
  } catch (error) {
    if (nth !== asked) return;
    console.error(error);
    program = undefined;
    tell("This page could not be made. Check your connection, and load it again.");
  } finally {
    if (nth === asked) main.querySelector(".pane")?.removeAttribute("aria-busy");
  }
}

/** Puts the contents of a document in the place of this one's, and the focus where it was. @param {Document} made */
function put(made) {
  const [old, pane] = [main.querySelector(".pane"), made.querySelector(".pane")];
  const focused = document.activeElement;
  const place = focused ? [...main.querySelectorAll(STOPS)].indexOf(focused) : -1;
  if (old && pane) {
    old.innerHTML = pane.innerHTML;
  } else {
    main.innerHTML = made.querySelector("main")?.innerHTML ?? "";
    document.title = made.title;
  }
  const same = focused?.id ? document.getElementById(focused.id) : [...main.querySelectorAll(STOPS)][place];
  if (same instanceof HTMLElement) same.focus({ preventScroll: true });
  const said = main.querySelector("[data-said]")?.getAttribute("data-said");
  const status = document.querySelector("#said");
  if (said && status) status.textContent = said;
  page.removeAttribute("data-waiting");
}

main.addEventListener("click", (event) => {
  const link = event.target instanceof Element ? event.target.closest(".pane a[href^='?']") : null;
  const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  if (!(link instanceof HTMLAnchorElement) || !isPlain) return;
  event.preventDefault();
  history.pushState(null, "", link.href);
  void show(location.search);
});

addEventListener("popstate", () => {
  if (location.search !== shown) void show(location.search);
});

if (location.search) void show(location.search);
// So that the first click does not wait for it.
else if (main.querySelector(".pane")) {
  program = load();
  program.catch(() => (program = undefined));
}
