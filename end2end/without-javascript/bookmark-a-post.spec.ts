import { expect, test } from "../fixtures";

test("a post is kept from its own page, found in the bookmarks, and let go there", async ({
  page,
  api,
  person,
}) => {
  const post = await api.post(`${person.name} keeps this`);
  await page.goto(`/post/${post.id}`);
  await page.getByRole("button", { name: "Bookmark" }).click();
  await expect(page.getByRole("button", { name: "Bookmarked" })).toHaveAttribute("aria-pressed", "true");

  await page.goto(`/@${person.handle}`);
  await page.getByRole("link", { name: "Bookmarks" }).click();
  await expect(page.getByRole("heading", { name: "Bookmarks" })).toBeVisible();
  await expect(page.getByTestId("post-text")).toHaveText(`${person.name} keeps this`);

  await page.getByRole("button", { name: "Bookmarked" }).click();
  await expect(page.getByText("No bookmarks yet.")).toBeVisible();
  await expect(page).toHaveURL(new RegExp(`/@${person.handle}/bookmarks`));
});
