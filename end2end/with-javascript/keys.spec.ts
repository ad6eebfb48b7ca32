import type { Locator, Page } from "@playwright/test";
import { expect, gotoLive, test } from "../fixtures";

/** How long a page may take to open before its key is pressed again, which would begin again. */
const OPENED = { timeout: 5_000 };

/** Presses a key until it has an effect: before the page's script is awake it has none. */
async function press(page: Page, key: string, effect: () => Promise<void>): Promise<void> {
  await expect(async () => {
    await page.keyboard.press(key);
    await effect();
  }).toPass();
}

/**
 * Leads to a page by the keys g and `key`. Where the script awakes between the two, the second has its own meaning, and
 * n puts the focus into the composer, where keys are letters: the next attempt leaves it first.
 */
async function go(page: Page, key: string, url: string): Promise<void> {
  await expect(async () => {
    await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await expect(page).toHaveURL(url, OPENED);
  }).toPass();
}

const focused = (locator: Locator) => () => expect(locator).toBeFocused({ timeout: 200 });

test("a post is liked, answered and opened by single keys", async ({ page, api, person }) => {
  const post = await api.post(`${person.name} types more than they click`);
  await gotoLive(page, `/@${person.handle}`);
  const item = page.getByTestId("post").first();
  await press(page, "j", focused(item));
  await page.keyboard.press("l");
  await expect(item.getByTestId("like-button")).toHaveAttribute("aria-pressed", "true");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`/post/${post.id}`);

  const comment = page.getByTestId("comment-form").getByRole("textbox");
  await press(page, "r", focused(comment));
  await page.keyboard.type("jklnrgh?");
  await expect(comment, "keys are letters where somebody writes").toHaveValue("jklnrgh?");

  await gotoLive(page, `/@${person.handle}`);
  await press(page, "j", focused(item));
  await page.keyboard.press("r");
  await expect(page).toHaveURL(`/post/${post.id}#comment-text`);
  await expect(comment).toBeFocused();
});

test("n focuses the composer, g h goes home, g e goes to Explore, and g n to the notifications", async ({
  page,
  person,
}) => {
  const text = page.getByTestId("composer").getByRole("textbox");
  await gotoLive(page, "/explore");
  await press(page, "n", () => expect(page).toHaveURL("/#compose-text", OPENED));
  await expect(text).toBeFocused();
  await text.blur();
  await press(page, "n", focused(text));

  await gotoLive(page, "/explore");
  await go(page, "h", "/");
  await go(page, "e", "/explore");
  await go(page, "n", `/@${person.handle}/notifications`);
});

test("/ leads to the search, and there into its field", async ({ page, person }) => {
  const field = page.getByTestId("search-input");
  await gotoLive(page, "/explore");
  await press(page, "/", () => expect(page).toHaveURL("/search", OPENED));
  await expect(field).toBeFocused();
  await page.keyboard.type(person.handle);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "People" }).click();
  await press(page, "/", focused(field));
  await expect(field, "the slash is not typed into it").toHaveValue(person.handle);
});

test("keys lead away from pages without a legend, and ? to it", async ({ page, person }) => {
  for (const path of ["/settings", "/search", "/api", "/lab"]) {
    await page.goto(path);
    await go(page, "n", `/@${person.handle}/notifications`);
  }
  await page.goto("/settings");
  await press(page, "?", () => expect(page).toHaveURL("/#keys", OPENED));
});

test("keys work on a page whose browser is never idle", async ({ page, person }) => {
  await page.addInitScript(() => {
    Object.assign(window, {
      requestIdleCallback: (run: () => void, options?: { timeout?: number }) =>
        options?.timeout && setTimeout(run, options.timeout),
    });
  });
  await page.goto("/search");
  await go(page, "n", `/@${person.handle}/notifications`);
});

test("single keys are switched off on this device from their legend", async ({ page, person }) => {
  await gotoLive(page, "/explore");
  const keys = page.locator("#keys");
  const switched = keys.getByRole("checkbox", { name: "Use these keys on this device" });
  await press(page, "?", focused(keys));
  await page.keyboard.press("Tab");
  await expect(switched).toBeFocused();
  await expect(switched).toBeChecked();
  await page.keyboard.press("Space");
  await expect(switched).not.toBeChecked();

  await gotoLive(page, "/explore");
  await expect(switched).not.toBeChecked();
  const first = page.getByTestId("post").first();
  await first.focus();
  for (const key of ["j", "k", "?", "l", "r", "n", "g", "h", "g", "e", "Enter"]) {
    await page.keyboard.press(key);
  }
  await expect(first, person.name).toBeFocused();
  await expect(first.getByTestId("like-button")).toHaveAttribute("aria-pressed", "false");
  await expect(page).toHaveURL("/explore");
  await page.keyboard.press("PageDown");
  await expect(page.getByTestId("post").nth(1), "the keys of a feed are no single letters").toBeFocused();

  await switched.check();
  await first.focus();
  await page.keyboard.press("j");
  await expect(page.getByTestId("post").nth(1)).toBeFocused();
});

test("r answers the comment that has the focus", async ({ page, api, person }) => {
  const post = await api.post(`${person.name} asks`);
  await api.comment(post.id, "And answers.");
  await gotoLive(page, `/post/${post.id}`);
  const comment = page.getByTestId("comment").first();
  await press(page, "j", focused(comment));
  const reply = comment.getByTestId("reply-form").getByRole("textbox");
  await press(page, "r", focused(reply));
  await page.keyboard.type("nice");
  await expect(reply).toHaveValue("nice");
});
