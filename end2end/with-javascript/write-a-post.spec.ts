import { expect, expectComplaint, gotoLive, REFUSALS, test } from "../fixtures";

test.use({ tolerated: REFUSALS });

test("a post appears in the feed of its author and on a page of its own", async ({ page, person }) => {
  const text = `Good morning, says ${person.name}`;
  await gotoLive(page, "/");
  const composer = page.getByTestId("composer");
  await composer.getByRole("textbox").fill(text);
  await composer.getByRole("button", { name: /post/i }).click();

  await page.goto(`/@${person.handle}`);
  const post = page.getByTestId("post").filter({ hasText: text });
  await expect(post.getByTestId("post-text")).toHaveText(text);
});

test("a post that is too long is refused by the field and nothing is stored", async ({
  page,
  api,
  person,
}) => {
  await gotoLive(page, "/");
  const field = page.getByTestId("composer").getByRole("textbox");
  await field.fill("a".repeat(5_000));
  await page.getByTestId("composer").getByRole("button", { name: /post/i }).click();

  await expectComplaint(field, /500/);
  await expect(field, "what was typed is not lost").toHaveValue("a".repeat(5_000));
  expect(await api.postsOf(person.handle)).toBe(0);
});
