import { expect, test, typeInto } from "../fixtures";

test("a comment appears under its post", async ({ page, api, person }) => {
  const post = await api.post("Who has seen the heron?");
  await page.goto(`/post/${post.id}`);
  const form = page.getByTestId("comment-form");
  await expect(page.getByText("No comments yet.")).toBeVisible();
  await typeInto(form, "By the weir, an hour ago.");
  await form.getByRole("button").click();

  const comment = page.getByTestId("comment").filter({ hasText: "By the weir, an hour ago." });
  await expect(comment).toHaveCount(1);
  await expect(page.getByText("No comments yet.")).toBeHidden();
  await expect(comment.getByRole("link", { name: person.name }).first()).toBeVisible();
  await page.reload();
  await expect(comment).toHaveCount(1);
  expect((await api.findPost(post.id)).comments).toBe(1);
});

test("a double click comments once, without an error", async ({ page, api, person }) => {
  const post = await api.post(`${person.name} has a nervous finger`);
  await page.goto(`/post/${post.id}`);
  const form = page.getByTestId("comment-form");
  await typeInto(form, "Once.");
  await form.getByRole("button").dblclick();
  await expect(page.getByTestId("comment")).toHaveCount(1);
  await expect(form.getByRole("alert")).toBeEmpty();
  expect((await api.findPost(post.id)).comments).toBe(1);
});

test("a comment that is being sent is marked", async ({ page, api, person }) => {
  const post = await api.post(`${person.name} has a slow line`);
  await page.goto(`/post/${post.id}`);
  let letThrough = () => {};
  const held = new Promise<void>((release) => (letThrough = release));
  await page.route("**/add_comment*", async (route) => {
    await held;
    await route.continue();
  });
  const form = page.getByTestId("comment-form");
  await typeInto(form, "On its way.");
  await form.getByRole("button").click();

  const pending = page.locator("[aria-busy=true]").filter({ hasText: "On its way." });
  await expect(pending.getByText("Sending…")).toBeVisible();
  letThrough();
  await expect(page.getByTestId("comment")).toHaveText(/On its way\./);
  await expect(page.getByText("Sending…")).toHaveCount(0);
});
