import { expect, test, typeInto } from "../fixtures";

test("a comment appears under its post", async ({ page, api, person }) => {
  const post = await api.post("Who has seen the heron?");
  await page.goto(`/post/${post.id}`);
  const form = page.getByTestId("comment-form");
  await typeInto(form, "By the weir, an hour ago.");
  await form.getByRole("button").click();

  const comment = page.getByTestId("comment").filter({ hasText: "By the weir, an hour ago." });
  await expect(comment).toHaveCount(1);
  await expect(comment.getByRole("link", { name: person.name }).first()).toBeVisible();
  await page.reload();
  await expect(comment).toHaveCount(1);
  expect((await api.findPost(post.id)).comments).toBe(1);
});
