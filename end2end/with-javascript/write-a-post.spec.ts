import { expect, expectComplaint, test, typeInto } from "../fixtures";

test("a post appears in the feed at once, and on the page of its author", async ({ page, person }) => {
  const text = `Good morning, says ${person.name}`;
  await page.goto("/");
  const composer = page.getByTestId("composer");
  await typeInto(composer, text);
  await composer.getByRole("button", { name: "Post" }).click();

  const post = page.getByTestId("post").filter({ hasText: text });
  await expect(post).toHaveCount(1);
  await expect(composer.getByRole("textbox"), "the composer is ready for the next one").toHaveValue("");
  await page.goto(`/@${person.handle}`);
  await expect(post.getByTestId("post-text")).toHaveText(text);
});

test("a post that is too long is refused by the field and nothing is stored", async ({
  page,
  api,
  person,
}) => {
  const text = "a".repeat(5_000);
  await page.goto("/");
  const composer = page.getByTestId("composer");
  await typeInto(composer, text);
  await composer.getByRole("button", { name: "Post" }).click();

  await expectComplaint(composer.getByRole("textbox"), /500/);
  await expect(composer.getByRole("textbox"), "what was typed is not lost").toHaveValue(text);
  expect(await api.postsOf(person.handle)).toBe(0);
});

test("a double click publishes once, without an error", async ({ page, api, person }) => {
  const text = `Twice is once, says ${person.name}`;
  await page.goto("/");
  const composer = page.getByTestId("composer");
  await typeInto(composer, text);
  await composer.getByRole("button", { name: "Post" }).dblclick();
  await expect(page.getByTestId("post").filter({ hasText: text })).toHaveCount(1);
  await expect(composer.getByRole("textbox")).toHaveValue("");

  // However late the second click is, until something is typed it means the same post.
  await composer.getByRole("button", { name: "Post" }).click();
  await expect(composer.getByRole("textbox")).toHaveAttribute("aria-invalid", "false");
  await expect(composer.getByRole("alert")).toBeEmpty();
  expect(await api.postsOf(person.handle)).toBe(1);

  await composer.getByRole("textbox").fill(" ");
  await composer.getByRole("button", { name: "Post" }).click();
  await expectComplaint(composer.getByRole("textbox"), /empty/);
});
