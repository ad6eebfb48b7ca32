import { expect, type Page } from "@playwright/test";

/** The current contents of a list page. */
export interface Shown {
  /** The people, in the order in which they are shown. */
  handles: string[];
  /** The page documents after the visible seams. */
  seams: number[];
}

/** Reads the people and seams of the list on this page. */
export async function shown(page: Page): Promise<Shown> {
  const rows = page.getByTestId("feed").locator("article, [role=article]");
  const handles = await rows.evaluateAll((articles) =>
    articles.map((article) => article.querySelector('a[href^="/@"]')?.getAttribute("href")?.slice(2) ?? ""),
  );
  const seams = await page
    .getByTestId("seam")
    .evaluateAll((found) => found.map((seam) => Number((seam as HTMLElement).dataset.page)));
  return { handles, seams };
}

/** Scrolls down as a person would until the list has shown `seams` seams, and returns the contents. */
export async function scrollAcross(page: Page, seams: number): Promise<Shown> {
  await expect(page.getByTestId("feed")).toBeVisible();
  let seen = await shown(page);
  while (seen.seams.length < seams) {
    const before = seen.handles.length;
    await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
    await expect
      .poll(async () => (seen = await shown(page)).handles.length, {
        message: `the list goes on after ${before} people`,
        intervals: [20, 50, 100],
      })
      .toBeGreaterThan(before);
  }
  return seen;
}

/** Follows the load-more links, as without JavaScript, until `seams` seams were passed, and collects the contents. */
export async function followLinksAcross(page: Page, seams: number): Promise<Shown> {
  const all: Shown = { handles: [], seams: [] };
  for (;;) {
    const part = await shown(page);
    expect(part.handles.length, `there are people on ${page.url()}`).toBeGreaterThan(0);
    all.handles.push(...part.handles);
    all.seams.push(...part.seams);
    if (all.seams.length >= seams) {
      return all;
    }
    const more = page.getByTestId("load-more");
    const next = new URL((await more.getAttribute("href"))!, page.url());
    await more.click();
    // The head of a page arrives before its list.
    await page.waitForURL((url) => url.href === next.href);
  }
}
