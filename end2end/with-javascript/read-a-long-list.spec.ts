import type { Page } from "@playwright/test";
import { expect, test } from "../fixtures";

/** More rows at once would mean a page that grows with its list. */
const MOST_ROWS = 3_300;

test("the address follows the reader, and opens at the same place", async ({ page, api }) => {
  const viral = await api.viralPost();
  const path = `/post/${viral.id}/likes`;
  await page.goto(path);
  await readTo(page, 80);
  const row = page.getByTestId("feed").getByRole("article").nth(60);
  const name = await row.getByRole("link").first().getAttribute("href");
  await row.evaluate((element) => element.scrollIntoView({ block: "start" }));
  await expect(page).toHaveURL(/\?cursor=.+&from=50$/);

  await page.goto(page.url().replace(/#.*/, ""));
  const rows = page.getByTestId("feed").getByRole("article");
  await expect(rows.first()).toHaveAttribute("aria-posinset", "51");
  await expect(page.locator(`.entry a[href="${name}"]`).first()).toBeVisible();
  await page.getByRole("link", { name: "Back to the newest" }).click();
  await expect(rows.first()).toHaveAttribute("aria-posinset", "1");
  expect(new URL(page.url()).pathname).toBe(path);
});

test("the keys j and k, Page Down and Page Up go from item to item", async ({ page, api }) => {
  const viral = await api.viralPost();
  await page.goto(`/post/${viral.id}/likes`);
  const rows = page.getByTestId("feed").getByRole("article");
  await readTo(page, 80);
  await page.evaluate(() => window.scrollTo(0, 0));

  await expect(async () => {
    await page.keyboard.press("j");
    await expect(rows.nth(0)).toBeFocused({ timeout: 100 });
  }).toPass();
  await page.keyboard.press("j");
  await expect(rows.nth(1)).toBeFocused();
  await page.keyboard.press("PageDown");
  await expect(rows.nth(2)).toBeFocused();
  await page.keyboard.press("PageUp");
  await page.keyboard.press("k");
  await expect(rows.nth(0)).toBeFocused();
  await page.keyboard.press("k");
  await expect(rows.nth(0), "there is nothing above").toBeFocused();
  for (let step = 0; step < 55; step++) {
    await page.keyboard.press("j");
  }
  await expect(rows.nth(55), "on into the next stretch").toBeFocused();
});

test("however far a reader scrolls, the page stays small, and earlier items can be restored", async ({
  page,
  api,
}) => {
  // It reads 80 stretches: minutes on a busy machine.
  test.setTimeout(600_000);
  const viral = await api.viralPost();
  await page.goto(`/post/${viral.id}/likes`);
  const first = await handles(page);
  await readTo(page, MOST_ROWS + 700);
  expect(await page.getByRole("article").count()).toBeLessThan(MOST_ROWS);
  const height = await page.evaluate(() => document.documentElement.scrollHeight);

  const left = page.locator(".stretch").nth(1);
  await expect(left).toHaveAttribute("data-away");
  await left.evaluate((stretch) => stretch.scrollIntoView());
  await expect(left).not.toHaveAttribute("data-away");
  await expect(left.getByRole("article")).toHaveCount(50);
  expect(await handles(page)).toEqual(expect.arrayContaining(first));
  const there = await handles(page);
  expect(new Set(there).size, "nobody is there twice").toBe(there.length);
  const now = await page.evaluate(() => document.documentElement.scrollHeight);
  expect(Math.abs(now - height), "nothing jumps").toBeLessThan(2);
});

test("a list that fails to load says so, and continues on request", async ({ page, api }) => {
  const viral = await api.viralPost();
  await page.goto(`/post/${viral.id}/likes`);
  await page.route("**/likes?cursor=*", (route) => route.abort());
  const more = page.getByTestId("load-more");
  await expect(async () => {
    await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
    await expect(more).toHaveText("Try again", { timeout: 200 });
  }).toPass();
  await expect(page.getByText("The items above stay on the page.")).toBeVisible();

  await page.unroute("**/likes?cursor=*");
  const before = await page.getByRole("article").count();
  await more.click();
  await expect.poll(() => page.getByRole("article").count()).toBeGreaterThan(before);
});
test.use({ tolerated: [/ERR_FAILED/] });

async function readTo(page: Page, rows: number): Promise<void> {
  await page.waitForFunction(
    (rows) => {
      const last = [...document.querySelectorAll("[aria-posinset]")].at(-1);
      const isThere = Number(last?.ariaPosInSet) >= rows;
      // At the end the next stretch would come.
      if (!isThere) window.scrollTo(0, document.documentElement.scrollHeight);
      return isThere;
    },
    rows,
    { polling: 50, timeout: 500_000 },
  );
}

async function handles(page: Page): Promise<string[]> {
  return page.getByRole("article").evaluateAll((rows) => rows.map((row) => row.id));
}
