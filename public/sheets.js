// @ts-check
// When the documents of a station change, their pictures move from what was to what is: a head fills or empties, and a new
// page slides out of it. Where people asked for less motion, and without JavaScript, the new picture is simply there.
const MOTION = { duration: 500, easing: "ease-out" };
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** @typedef {Map<string, { y: string, height: string }>} Levels */

/** What each list of sheets on the page showed last, by its place on the page. @type {Levels[]} */
let before = [];

/** The levels of a list of sheets, by the names of its documents. @param {Element} list @returns {Levels} */
function levels(list) {
  const all = new Map();
  for (const sheet of list.children) {
    const level = sheet.querySelector("rect:last-of-type");
    const name = sheet.querySelector("span")?.textContent;
    if (level && name) {
      all.set(name, { y: `${level.getAttribute("y")}px`, height: `${level.getAttribute("height")}px` });
    }
  }
  return all;
}

/** @param {Element} list @param {Levels} from */
function move(list, from) {
  for (const sheet of list.children) {
    const level = sheet.querySelector("rect:last-of-type");
    const was = from.get(sheet.querySelector("span")?.textContent ?? "");
    if (!level) continue;
    if (!was) {
      sheet.animate(
        [
          { opacity: 0, transform: "translateX(-1.5rem)" },
          { opacity: 1, transform: "none" },
        ],
        MOTION,
      );
    } else if (was.height !== `${level.getAttribute("height")}px`) {
      level.animate([was, {}], MOTION);
    }
  }
}

function look() {
  const lists = [...document.querySelectorAll(".sheets")];
  const now = lists.map(levels);
  if (!still.matches && now.length === before.length) {
    lists.forEach((list, nth) => move(list, before[nth] ?? new Map()));
  }
  before = now;
}

look();
for (const pane of document.querySelectorAll(".pane")) {
  new MutationObserver(look).observe(pane, { childList: true });
}
