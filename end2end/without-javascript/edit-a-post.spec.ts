import { expect, test } from "../fixtures";

test("a post is edited on its own page, says so, and keeps its likes", async ({ page, api, person }) => {
  const post = await api.post(`${person.name} makes a tpyo`);
  await api.like(post.id);
  await page.goto(`/post/${post.id}`);
  const text = page.getByLabel("What the post says");
  await page.getByText("Edit this post").click();
  await text.fill("");
  await page.getByRole("button", { name: "Save the post" }).click();
  await expect(page.getByTestId("edit-form").getByRole("alert")).toContainText("empty");

  await text.fill(`${person.name} makes no typo`);
  await page.getByRole("button", { name: "Save the post" }).click();
  await expect(page.getByRole("status").first()).toHaveText("Your post is changed.");
  await expect(page.getByTestId("post-text")).toHaveText(`${person.name} makes no typo`);
  await expect(page.locator(".edited")).toContainText("Edited");
  await expect(page.getByTestId("like-count").first()).toHaveText("1");

  await page.goto(`/@${person.handle}`);
  await expect(page.locator(".edited")).toHaveCount(1);
});
