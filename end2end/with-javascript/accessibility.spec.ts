import { expect, expectAccessible, test } from "../fixtures";

test("the main pages have no accessibility faults that axe can find", async ({ page, api }) => {
  test.slow();
  const viral = await api.viralPost();
  const pages = ["/", "/explore", `/post/${viral.id}`, `/post/${viral.id}/likes`, `/@${viral.author.handle}`];
  for (const url of [...pages, "/login", "/signup", "/api"]) {
    await page.goto(url);
    await expect(page.getByRole("main")).toBeVisible();
    await test.step(url, () => expectAccessible(page));
  }
});
