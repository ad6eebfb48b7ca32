import type { Page } from "@playwright/test";
import { EVERY_PAGE } from "../every-page";
import { expect, expectAccessible, REFUSALS, test } from "../fixtures";

test.use({ tolerated: REFUSALS });

const DESKTOP = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

interface Look {
  size: typeof PHONE;
  colorScheme: "light" | "dark";
  rules?: string[];
}

/** All rules in both layouts; the other colours only change contrast. */
const LOOKS: Look[] = [
  { size: DESKTOP, colorScheme: "light" },
  { size: DESKTOP, colorScheme: "dark", rules: ["color-contrast"] },
  { size: PHONE, colorScheme: "light", rules: ["color-contrast"] },
  { size: PHONE, colorScheme: "dark" },
];

/** WCAG 2.2, 2.5.8, in CSS pixels. */
const SMALLEST_TARGET = 24;

for (const { name, open } of EVERY_PAGE) {
  test(`${name}: has its landmarks and headings, is accessible in light and dark, fits every width, and has large enough touch targets`, async ({
    page,
    api,
  }) => {
    test.slow();
    await open(page, api);
    await expect(page.getByRole("main")).toBeVisible();
    await test.step("landmarks and headings", () => expectOutline(page));
    for (const { size, colorScheme, rules } of LOOKS) {
      await page.setViewportSize(size);
      // Without motion nothing is half-way between two colours.
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await test.step(`${size.width} px, ${colorScheme}`, () => expectAccessible(page, rules));
    }
    for (const width of [320, 390, 768, 1024]) {
      await page.setViewportSize({ width, height: 844 });
      expect(await overhang(page), `nothing is wider than ${width} px`).toEqual([]);
    }
    await page.setViewportSize(PHONE);
    expect(await tooSmall(page), "targets that a finger misses").toEqual([]);
  });
}

/** Fails unless the page has its landmarks, one first heading, and no level of headings left out. */
async function expectOutline(page: Page): Promise<void> {
  await expect(page.getByRole("banner")).toHaveCount(1);
  await expect(page.getByRole("main")).toHaveCount(1);
  await expect(page.getByRole("navigation", { name: "Main" })).toHaveCount(1);
  const headings = page.getByRole("heading");
  const levels = await headings.evaluateAll((all) => all.map((heading) => Number(heading.tagName.slice(1))));
  expect(
    levels.filter((level) => level === 1),
    "the title of the page",
  ).toEqual([1]);
  for (const [place, level] of levels.entries()) {
    expect(level, `heading ${place + 1} of ${levels}`).toBeLessThanOrEqual((levels[place - 1] ?? 0) + 1);
  }
}

/** The elements that make the page scroll sideways. */
async function overhang(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    if (scrollWidth <= clientWidth) {
      return [];
    }
    const wide = [...document.body.querySelectorAll("*")].filter(
      (element) => element.getBoundingClientRect().right > clientWidth + 0.5,
    );
    return [`${scrollWidth} px`, ...wide.slice(0, 5).map((element) => element.outerHTML.slice(0, 120))];
  });
}

/** Visible controls that are smaller than allowed. A link within a sentence is as high as its line, which is exempt. */
async function tooSmall(page: Page): Promise<string[]> {
  return page.evaluate((smallest) => {
    const controls = document.querySelectorAll(
      "a[href], button, summary, input:not([type=hidden]), textarea",
    );
    const inASentence = (control: Element) =>
      getComputedStyle(control).display === "inline" &&
      [...(control.parentElement?.childNodes ?? [])].some(
        (node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim(),
      );
    return [...control(controls)].flatMap((element) => {
      const { width, height } = element.getBoundingClientRect();
      return Math.min(width, height) < smallest - 0.01
        ? [`${width.toFixed(1)} × ${height.toFixed(1)}: ${element.outerHTML.slice(0, 120)}`]
        : [];
    });

    function control(all: NodeListOf<Element>): Element[] {
      return [...all].filter(
        (element) => element.checkVisibility() && !element.matches(".skip") && !inASentence(element),
      );
    }
  }, SMALLEST_TARGET);
}
