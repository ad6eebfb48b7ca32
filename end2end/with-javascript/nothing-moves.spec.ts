import type { Page } from "@playwright/test";
import { Api } from "../api";
import { count, expect, gotoLive, test } from "../fixtures";

const WIDTHS = [390, 1440];

/** A number that grows by a digit moves its neighbours by a few pixels. Google rates a page as good up to 0.1. */
const ONE_DIGIT = 0.0005;

const PAGES: Record<string, (api: Api) => Promise<string>> = {
  home: async () => "/",
  "the viral post": async (api) => `/post/${(await api.viralPost()).id}`,
  "the celebrity": async (api) => `/@${await api.celebrity()}`,
};

for (const width of WIDTHS) {
  for (const [name, path] of Object.entries(PAGES)) {
    test(`nothing moves while ${name} loads and wakes at ${width} px, nor when a like comes in`, async ({
      page,
      api,
      secondWindow,
    }) => {
      await page.setViewportSize({ width, height: 844 });
      await watchShifts(page);
      await gotoLive(page, await path(api));
      await painted(page);
      // Other journeys may like what this page shows, so a number may grow meanwhile.
      expect(sum(await shifts(page)), JSON.stringify(await shifts(page))).toBeLessThan(ONE_DIGIT);

      const post = page.getByTestId("post").first();
      const likes = post.getByTestId("like-count");
      const before = await count(likes);
      const other = new Api((await secondWindow()).request);
      await other.signUp();
      await other.like((await post.getAttribute("id"))!.replace("post-", ""));
      await expect.poll(() => count(likes)).toBeGreaterThan(before);
      await painted(page);
      expect(sum(await shifts(page)), JSON.stringify(await shifts(page))).toBeLessThan(ONE_DIGIT);
    });
  }
}

test("the tenth like does not move its neighbours", async ({ page, api, person, secondWindow }) => {
  const post = await api.post(`${person.name} is about to have ten likes`);
  const guests = new Api((await secondWindow()).request);
  for (let likes = 0; likes < 9; likes++) {
    await guests.signUp();
    await guests.like(post.id);
  }
  await watchShifts(page);
  await gotoLive(page, `/post/${post.id}`);
  const likes = page.getByTestId("like-count").first();
  await expect(likes).toHaveText("9");
  const share = page.getByTestId("share-button").first();
  const before = await share.boundingBox();
  await guests.signUp();
  await guests.like(post.id);
  await expect(likes).toHaveText("10");
  await painted(page);
  expect(await share.boundingBox(), "the button beside it stays where a finger aims").toEqual(before);
  expect(sum(await shifts(page)), JSON.stringify(await shifts(page))).toBeLessThan(ONE_DIGIT);
});

interface Shift {
  value: number;
  what: string[];
}

declare global {
  interface Window {
    shifts: Shift[];
  }
}

/** Records every layout shift without user input, from the first paint on. */
async function watchShifts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    interface LayoutShift extends PerformanceEntry {
      value: number;
      hadRecentInput: boolean;
      sources: { node?: Node }[];
    }
    window.shifts = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as LayoutShift[]) {
        if (!entry.hadRecentInput) {
          const what = entry.sources.map(({ node }) => node?.textContent?.slice(0, 60) ?? "");
          window.shifts.push({ value: entry.value, what });
        }
      }
    }).observe({ type: "layout-shift", buffered: true });
  });
}

function shifts(page: Page): Promise<Shift[]> {
  return page.evaluate(() => window.shifts);
}

function sum(shifts: Shift[]): number {
  return shifts.reduce((sum, { value }) => sum + value, 0);
}

/** Waits for two frames: changes are then laid out, painted and reported. */
async function painted(page: Page): Promise<void> {
  await page.evaluate(
    () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))),
  );
}
