// @ts-check
// Keeps the strip of a class up to date, sends its forms without leaving the page, and follows the teacher. In the
// teacher's projector view, a class that is shown something is shown each page that is opened.
(() => {
  // How often the server is asked, in milliseconds: less often while the class is shown nothing.
  const IN_A_LESSON = 2000;
  const BEFORE_ONE = 6000;
  const found = document.querySelector("#lesson");
  if (!(found instanceof HTMLElement)) return;
  const strip = found;
  let asked = 0;
  let looked = Date.now();

  /** Shows the strip as the server renders it now. The focus stays on the same control, if it is still there. */
  async function renew() {
    const nth = ++asked;
    const answer = await fetch(location.href);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("#lesson");
    if (nth !== asked || !(fresh instanceof HTMLElement)) return;
    const controls = () => [...strip.querySelectorAll("a, button")];
    const place = controls().findIndex((control) => control === document.activeElement);
    strip.replaceChildren(...fresh.childNodes);
    for (const name of ["state", "follows"]) {
      const value = fresh.dataset[name];
      if (value === undefined) delete strip.dataset[name];
      else strip.dataset[name] = value;
    }
    const focused = controls()[place];
    if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  }

  /**
   * @param {HTMLFormElement} form
   * @param {HTMLElement | null} button
   */
  async function send(form, button) {
    const fields = [...new FormData(form, button)].map(([name, value]) => [name, String(value)]);
    await fetch(form.action, {
      method: "POST",
      body: new URLSearchParams(fields),
      headers: { accept: "text/html" },
    });
    await renew();
  }

  async function look() {
    if (document.hidden) return;
    looked = Date.now();
    const answer = await fetch(strip.dataset.now ?? "");
    const state = await answer.text();
    if (!answer.ok) return;
    const [station] = state.split(" ");
    const follows = strip.dataset.follows !== undefined;
    if (follows && station && station !== strip.dataset.place) location.assign(`/lab/${station}`);
    else if (state !== strip.dataset.state) await renew();
  }

  const waited = () => Date.now() - looked >= (strip.dataset.state ? IN_A_LESSON : BEFORE_ONE);
  // The server is asked again later.
  const later = () => undefined;
  strip.addEventListener("submit", (event) => {
    if (!(event.target instanceof HTMLFormElement)) return;
    event.preventDefault();
    const form = event.target;
    send(form, event.submitter).catch(() => form.submit());
  });
  setInterval(() => waited() && look().catch(later), IN_A_LESSON / 2);
  document.addEventListener("visibilitychange", () => look().catch(later));
  const lead = strip.querySelector("form[data-lead]");
  if (lead instanceof HTMLFormElement && document.documentElement.hasAttribute("data-projected")) {
    send(lead, null).catch(later);
  }
})();
