import type { Page } from "@playwright/test";
import { expect, gotoLive, test } from "../fixtures";
import { scrollAcross } from "../lists";

test("a swipe scrolls over a seam, and Back restores the place", async ({ page, api }) => {
  const viral = await api.viralPost();
  await page.goto(`/post/${viral.id}/likes`);
  const { handles } = await scrollAcross(page, 1);
  expect(new Set(handles).size, "nobody is shown twice").toBe(handles.length);
  await page.getByTestId("seam").first().scrollIntoViewIfNeeded();
  await expect(page.getByTestId("seam").first()).toBeInViewport();

  const row = page.getByTestId("feed").getByRole("article").nth(30);
  await row.scrollIntoViewIfNeeded();
  const link = row.getByRole("link");
  const href = await link.getAttribute("href");
  await link.tap();
  await expect(page).toHaveURL(new RegExp(`${href}$`));
  await page.goBack();
  await expect(page.getByTestId("feed").locator(`a[href="${href}"]`).first()).toBeInViewport();
  await expectToFit(page);
});

test("a tap opens and closes the storage drawer", async ({ page, api }) => {
  const viral = await api.viralPost();
  await gotoLive(page, `/post/${viral.id}`);
  const drawer = page.locator(".drawer").first();
  await drawer.locator("summary").first().tap();
  await expect(drawer.getByRole("table")).toBeVisible();
  await expect(drawer.locator(".document").first()).toBeVisible();
  await expectToFit(page);
  await drawer.locator("summary").first().tap();
  await expect(drawer.getByRole("table")).toBeHidden();
});

/** A phone zooms out of a page that does not fit. */
async function expectToFit(page: Page): Promise<void> {
  expect(await page.evaluate(() => window.innerWidth)).toBe(page.viewportSize()!.width);
}
