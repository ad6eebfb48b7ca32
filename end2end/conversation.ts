import type { Locator, Page } from "@playwright/test";
import { stranger, type Person } from "./api";
import { expect, REFUSALS, test } from "./fixtures";

/** How somebody uses a page. */
export interface Hands {
  press(target: Locator): Promise<void>;
  write(field: Locator, text: string): Promise<void>;
}

/** By mouse or finger. */
export const POINTER: Hands = {
  press: (target) => target.click(),
  write: (field, text) => field.fill(text),
};

/** By keyboard only. */
export const KEYBOARD: Hands = {
  async press(target) {
    await reach(target);
    await target.page().keyboard.press("Enter");
  },
  async write(field, text) {
    await reach(field);
    await field.page().keyboard.type(text);
  },
};

/** Presses Tab until something has the focus. */
async function reach(target: Locator): Promise<void> {
  await expect(target).toBeVisible();
  const isReached = () => target.evaluate((element) => element === document.activeElement);
  for (let tabs = 0; !(await isReached()); tabs += 1) {
    expect(tabs, `${target} can be reached with Tab`).toBeLessThan(200);
    await target.page().keyboard.press("Tab");
  }
}

/**
 * Three strangers sign up, find each other, talk, are told of it, and one blocks another. Every step is found on a
 * page, with JavaScript and without.
 */
export function aConversationOfThree({ press, write }: Hands): void {
  test.use({ tolerated: REFUSALS });

  const banner = (page: Page) => page.getByRole("banner");
  const main = (page: Page) => page.getByRole("main");

  async function signsUp(page: Page): Promise<Person> {
    const person = stranger();
    await page.goto("/");
    await press(banner(page).getByRole("link", { name: "Sign up" }));
    await write(page.getByLabel("Handle"), person.handle);
    await write(page.getByLabel("Name", { exact: true }), person.name);
    await write(page.getByLabel("Password"), person.password);
    await press(main(page).getByRole("button", { name: "Sign up" }));
    await expect(page.getByTestId("composer")).toBeVisible();
    return person;
  }

  /** Opens the notifications once they have this one, and follows it. */
  async function isTold(page: Page, of: string): Promise<void> {
    const told = page.getByTestId("notification").filter({ hasText: of });
    await expect(async () => {
      await page.goto("/");
      await press(banner(page).getByRole("link", { name: /^Notifications \d+ unread$/ }));
      await expect(told).toBeVisible({ timeout: 500 });
    }).toPass();
    await press(told.getByRole("link").last());
    await expect(page.getByTestId("comment-form")).toBeVisible();
  }

  test("three strangers find each other, talk, and part", async ({ page, secondWindow }) => {
    test.slow();
    const [ours, theirs] = [await secondWindow(), await secondWindow()];
    const ada = await signsUp(page);
    const bob = await signsUp(ours);
    const cleo = await signsUp(theirs);

    await press(banner(ours).getByRole("link", { name: "Search" }));
    await write(ours.getByTestId("search-input"), ada.handle);
    await press(main(ours).getByRole("button", { name: "Search" }));
    await press(main(ours).getByRole("link", { name: "People" }));
    const found = ours.getByTestId("search-result").filter({ hasText: ada.name });
    await press(found.getByTestId("follow-button"));
    await expect(found.getByTestId("follow-button")).toHaveAttribute("aria-pressed", "true");

    const composer = page.getByTestId("composer");
    await write(composer.getByRole("textbox"), `Who comes to the weir? @${bob.handle}?`);
    await press(composer.getByRole("button", { name: "Post" }));
    await expect(page.getByTestId("post").filter({ hasText: "Who comes to the weir?" })).toBeVisible();

    await isTold(ours, `${ada.name} mentioned you`);
    await write(ours.getByTestId("comment-form").getByRole("textbox"), `I do. You, too, @${cleo.handle}?`);
    await press(ours.getByTestId("comment-form").getByRole("button", { name: "Comment" }));
    await expect(ours.getByTestId("comment").filter({ hasText: "I do." })).toBeVisible();

    await isTold(theirs, `${bob.name} mentioned you`);
    const asked = theirs.getByTestId("comment").filter({ hasText: "I do." });
    await press(asked.getByText(`Reply to ${bob.name}`));
    await write(asked.getByLabel("Your reply"), "Not with the two of you.");
    await press(asked.getByTestId("reply-form").getByRole("button", { name: "Reply" }));
    const answer = (where: Page) => where.getByTestId("comment").filter({ hasText: "Not with the two" });
    await expect(answer(theirs)).toBeVisible();

    await isTold(ours, `${cleo.name} replied to your comment`);
    await expect(answer(ours)).toContainText(`Replying to ${bob.name}`);

    await isTold(page, "commented on your post");
    await press(answer(page).getByRole("link", { name: cleo.name }));
    await expect(page).toHaveURL(`/@${cleo.handle}`);
    await press(main(page).getByText("More", { exact: true }));
    await press(main(page).getByRole("button", { name: `Block @${cleo.handle}` }));
    await expect(page.getByText(`You block @${cleo.handle}.`)).toBeVisible();

    await press(banner(page).getByRole("link", { name: /^Your page/ }));
    await press(page.getByTestId("post").getByRole("link", { name: /^Comments on the post by / }));
    await expect(page.getByTestId("comment").filter({ hasText: "I do." })).toBeVisible();
    await expect(answer(page)).toHaveCount(0);
    await theirs.goto(`/@${ada.handle}`);
    await expect(theirs.getByText(`@${ada.handle} blocks you.`)).toBeVisible();
    await expect(theirs.getByTestId("post")).toHaveCount(0);
  });
}
