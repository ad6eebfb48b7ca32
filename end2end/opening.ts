import type { Locator, Page } from "@playwright/test";
import { expect, test } from "./fixtures";

/** Opens a post from a list: by its time, which is a link, and by its text. It needs no JavaScript. */
export function openingAPost(): void {
  test("the time of a post is a link to it", async ({ page, api, person }) => {
    const post = await api.post(`${person.name} wrote this just now`);
    await page.goto(`/@${person.handle}`);
    const link = page.getByTestId("post").getByRole("link", { name: "now" });
    await link.focus();
    await expect(link).toBeFocused();
    await page.keyboard.press("Enter");
    await expect(page).toHaveURL(`/post/${post.id}`);
  });

  test("the text of a pinned post opens it", async ({ page, api, person }) => {
    const post = await api.post(`${person.name} wants everybody to see this`);
    await api.pin(post.id);
    await page.goto(`/@${person.handle}`);
    await opens(page, page.getByTestId("pinned-post").getByTestId("post-text"), post.id);
  });

  test("the text of a post opens it, and a link within the text does not", async ({ page, api, person }) => {
    const post = await api.post(`Ask @${person.handle} about #weirs`);
    await page.goto(`/@${person.handle}`);
    const text = page.getByTestId("post-text");
    await opens(page, text, post.id);

    await page.goto(`/@${person.handle}`);
    await text.getByRole("link", { name: "#weirs" }).click();
    await expect(page).toHaveURL("/tags/weirs");
    await page.goto(`/@${person.handle}`);
    await page.getByTestId("like-button").click();
    await expect(page.getByTestId("like-button")).toHaveAttribute("aria-pressed", "true");
    await expect(page).toHaveURL(new RegExp(`/@${person.handle}`));
  });
}

/** Clicks the text of a post until its page opens. */
async function opens(page: Page, text: Locator, post: string): Promise<void> {
  await expect(text).toBeVisible();
  // Without a script the link covers the text, so the mouse clicks a position and not an element.
  const { x, y } = (await text.boundingBox())!;
  await expect(async () => {
    await page.mouse.click(x + 4, y + 10);
    await expect(page).toHaveURL(`/post/${post}`, { timeout: 5_000 });
  }).toPass();
}
