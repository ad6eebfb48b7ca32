import { expect, REFUSALS, test } from "../fixtures";

test.use({ tolerated: REFUSALS });

for (const url of ["/@nobody-of-that-name", "/post/00000000-0000-4000-8000-000000000000", "/no/such/page"]) {
  test(`${url} is a page that says so, with status 404`, async ({ page }) => {
    const response = await page.goto(url);
    expect(response?.status()).toBe(404);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expect(page.getByRole("main").getByRole("link").first()).toBeVisible();
  });
}

test("an unknown API route is a problem in JSON", async ({ request }) => {
  const response = await request.get("/api/v1/no-such-thing");
  expect(response.status()).toBe(404);
  expect(response.headers()["content-type"]).toContain("application/problem+json");
});

test("an invalid cursor is refused in plain words", async ({ page, api }) => {
  const viral = await api.viralPost();
  const response = await page.goto(`/post/${viral.id}/likes?cursor=nonsense`);
  expect(response?.status()).toBeGreaterThanOrEqual(400);
  expect(response?.status()).toBeLessThan(500);
  await expect(page.getByRole("main")).toContainText(/cursor|list/i);
});
