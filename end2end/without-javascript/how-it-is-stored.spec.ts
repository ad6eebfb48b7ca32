import { expect, test } from "../fixtures";

test("how a post is stored is a page", async ({ page, api }) => {
  const viral = await api.viralPost();
  await page.goto(`/post/${viral.id}`);
  await page.getByText("How this is stored").first().click();
  await page.getByRole("link", { name: "See its documents" }).first().click();

  await expect(page.getByRole("heading", { name: "How this is stored" })).toBeVisible();
  await expect(page.getByText(`{"$uuid": "${viral.id}"}`).first()).toBeVisible();
});

test("the meter of a profile says what it measures", async ({ page, api }) => {
  await page.goto(`/@${await api.celebrity()}`);
  await expect(page.getByTestId("overflow-meter").first()).toContainText("How the followers are stored");
});
