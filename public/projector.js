// @ts-check
// The projector's view of a station: large, without instructions, and with the verdict first. The key p and the button
// switch it; this device remembers it. In it, the arrow keys lead to the next station and to the previous one, and the
// time of the station is shown. It runs before the station is drawn, so that nothing jumps.
(() => {
  const NAME = "projector";
  const KEYS = "keys";
  const page = document.documentElement;
  const opened = Date.now();
  const timer = /** @type {HTMLElement | null} */ (document.querySelector("#timer"));
  const button = /** @type {HTMLButtonElement | null} */ (document.querySelector("#projector"));

  /** @param {string} name */
  function stored(name) {
    try {
      return localStorage.getItem(name);
    } catch {
      return null;
    }
  }

  /** @param {boolean} on */
  function project(on) {
    page.toggleAttribute("data-projected", on);
    if (button) button.ariaPressed = String(on);
    tick();
    try {
      if (on) localStorage.setItem(NAME, "on");
      else localStorage.removeItem(NAME);
    } catch {
      // A device without storage begins with the usual view each time.
    }
  }

  /** @param {string} rel */
  function go(rel) {
    const link = document.querySelector(`.lab-head [rel="${rel}"]`);
    if (link instanceof HTMLAnchorElement) location.assign(link.href);
  }

  /** When this station was first projected in this tab. */
  function begin() {
    const name = `begun:${location.pathname}`;
    try {
      const begun = Number(sessionStorage.getItem(name) ?? Date.now());
      sessionStorage.setItem(name, String(begun));
      return begun;
    } catch {
      return opened;
    }
  }

  /** Shows how long this station has been projected, of the minutes that it takes. */
  function tick() {
    if (!timer) return;
    const minutes = Number(timer.dataset.minutes);
    if (!page.hasAttribute("data-projected")) {
      timer.textContent = `${minutes} minutes`;
      return;
    }
    const begun = begin();
    const seconds = Math.floor((Date.now() - begun) / 1000);
    const shown = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    timer.textContent = `${shown} of ${minutes} minutes`;
    timer.toggleAttribute("data-over", seconds > minutes * 60);
  }

  const toggle = () => project(!page.hasAttribute("data-projected"));
  project(stored(NAME) === "on");
  if (button) {
    button.hidden = false;
    button.addEventListener("click", toggle);
  }
  setInterval(tick, 1000);
  addEventListener("keydown", (event) => {
    const written =
      event.target instanceof Element && event.target.closest("input, textarea, select, [contenteditable]");
    const alone = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
    if (!alone || written || event.defaultPrevented || stored(KEYS) === "off") return;
    if (event.key === "p") toggle();
    if (!page.hasAttribute("data-projected")) return;
    // What scrolls by itself needs these keys.
    if (event.target instanceof Element && event.target.closest("[tabindex]:not(#main)")) return;
    if (event.key === "ArrowRight") go("next");
    if (event.key === "ArrowLeft") go("prev");
  });
})();
