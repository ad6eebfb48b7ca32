import { livesInTown } from "../api";
import { expect, test } from "../fixtures";
import { scrollAcross } from "../lists";

test("the likers of the viral post scroll by across three seams, each once and in order", async ({
  page,
  api,
}) => {
  test.slow();
  const viral = await api.viralPost();
  await page.goto(`/post/${viral.id}/likes`);

  const { handles, seams } = await scrollAcross(page, 3);

  expect(new Set(handles).size, "nobody is shown twice").toBe(handles.length);
  const expected = await api.people(`posts/${viral.id}/likes`, handles.length);
  // Other tests like the same post meanwhile, so only the people of the town are compared.
  const inTown = handles.filter(livesInTown);
  expect(inTown).toEqual(expected.filter(livesInTown).slice(0, inTown.length));
  const [first] = seams;
  expect(seams.slice(0, 3), "pages are read from the newest to the oldest").toEqual([
    first,
    first! - 1,
    first! - 2,
  ]);
});

test("going back to a list restores the place", async ({ page, api }) => {
  const viral = await api.viralPost();
  await page.goto(`/post/${viral.id}/likes`);
  await scrollAcross(page, 0);
  await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
  const row = page.getByTestId("feed").locator("article, [role=article]").nth(30);
  await row.scrollIntoViewIfNeeded();
  const href = await row.locator('a[href^="/@"]').first().getAttribute("href");

  await row.locator('a[href^="/@"]').first().click();
  await expect(page).toHaveURL(new RegExp(`${href}$`));
  await page.goBack();

  await expect(page.getByTestId("feed").locator(`a[href="${href}"]`).first()).toBeInViewport();
});
