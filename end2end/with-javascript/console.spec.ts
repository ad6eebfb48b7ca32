import { expect, expectAccessible, test } from "../fixtures";

test("the console is used by keyboard alone: completion, history, and several lines at once", async ({
  page,
}) => {
  await page.goto("/lab/console");
  const input = page.getByTestId("console-input");
  const answer = page.getByTestId("console-output").getByRole("listitem").first();
  const words = page.getByRole("listbox", { name: "Words" }).getByRole("option");
  await input.focus();
  await page.keyboard.type("db.");
  await expect(words).toHaveText(["pages", "posts", "users"]);
  await page.keyboard.type("po");
  await expect(words).toHaveText(["posts"]);
  await expectAccessible(page);
  await page.keyboard.press("Tab");
  await page.keyboard.type(".countD");
  await page.keyboard.press("Tab");
  await page.keyboard.type("({ text: { $ex");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.keyboard.type(": true } })");
  await expect(input).toHaveValue("db.posts.countDocuments({ text: { $exists: true } })");
  await page.keyboard.press("Enter");
  await expect(answer.locator("pre")).toHaveText("1");
  await expect(input).toHaveValue("");
  await expect(input).toBeFocused();
  await expect(page.locator("#said")).toHaveText("1");

  // Lines that are sent before the last one was answered are run one after the other.
  for (const nth of [1, 2, 3]) {
    await page.keyboard.type(`db.c.insertOne({ _id: ${nth} })`);
    await page.keyboard.press("Enter");
  }
  await expect(answer.locator("pre")).toContainText("insertedId: 3");
  await page.keyboard.type("db.");
  await expect(words).toHaveText(["c", "pages", "posts", "users"]);
  await page.keyboard.type("c.find({");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("})");
  await page.keyboard.press("Enter");
  await expect(answer.locator("pre")).toHaveText("[ { _id: 1 }, { _id: 2 }, { _id: 3 } ]");

  await page.keyboard.type("unfinished");
  for (const line of [/^db.c.find\(\{\n/, "db.c.insertOne({ _id: 3 })"]) {
    await page.keyboard.press("ArrowUp");
    await page.keyboard.press("Home");
    if (typeof line !== "string") await page.keyboard.press("ArrowUp");
    await expect(input).toHaveValue(line);
  }
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await expect(input).toHaveValue("unfinished");
});
