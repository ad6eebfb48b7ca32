import { expect, expectAccessible, test } from "../fixtures";

test("the drawer of a post shows its numbers and its documents", async ({ page, api }) => {
  const viral = await api.viralPost();
  await page.goto(`/post/${viral.id}`);
  const drawer = page.getByTestId("post").first().locator("details.drawer");
  await expect(async () => {
    await drawer.getByText("How this is stored").click();
    await expect(drawer.locator(".stored")).toBeVisible({ timeout: 1_000 });
  }).toPass();

  const overflow = await api.overflow(`posts/${viral.id}`);
  const likes = drawer.getByRole("row").filter({ hasText: "likes" });
  await expect(likes).toContainText(overflow.likes!.threshold.toLocaleString("en"));
  await expect(likes).toContainText(String(overflow.likes!.pages));
  await expect(drawer).toContainText(`{"$uuid": "${viral.id}"}`);
  await expect(drawer).toContainText("The newest page document of likes");
  await expectAccessible(page);
});

test("a seam shows what was read to reach it", async ({ page, api }) => {
  const viral = await api.viralPost();
  await page.goto(`/post/${viral.id}/likes`);
  const seam = page.getByTestId("seam").first();
  await expect(async () => {
    await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
    await expect(seam).toBeVisible({ timeout: 50 });
  }).toPass({ intervals: [20] });
  const cost = /3 documents, (\d+ KB)\. One unbounded array: 1 document, (\d+\.\d MB)/;
  await expect(seam).toContainText(cost);
  const [, read, unbounded] = cost.exec((await seam.textContent()) ?? "") ?? [];
  // The workshop measures the same for a reader who comes this far.
  await page.goto(`/lab/trace?owner=post:${viral.id}&list=likes&steps=first`);
  await expect(page.getByRole("row").filter({ hasText: "the newest" })).toHaveText(
    new RegExp(`50\\s*3\\s*3\\s*1\\s*\\d+\\s*${read}\\s*${unbounded}`),
  );
});
