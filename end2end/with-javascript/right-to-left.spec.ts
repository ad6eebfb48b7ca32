import type { Locator, Page } from "@playwright/test";
import { expect, test } from "../fixtures";

for (const what of ["post", "comment"]) {
  test(`a handle and a tag in a ${what} from right to left stay in one piece`, async ({
    page,
    api,
    person,
  }) => {
    const text = `שלום @${person.handle} וגם #weir שלום`;
    const post = await api.post(what === "post" ? text : "Hello");
    await api.comment(post.id, what === "post" ? "Hello" : text);
    await page.goto(`/post/${post.id}`);
    const written = page.locator(`.${what}-text`).filter({ hasText: "שלום" });
    for (const name of [`@${person.handle}`, "#weir"]) {
      await expectInOnePiece(written.getByRole("link", { name }), name);
    }
  });
}

test("so they do where they are no links: in an activity and in a bio", async ({ page, api, person }) => {
  const text = `שלום @${person.handle} וגם #weir שלום`;
  await api.post(text);
  await describe(page, text);
  for (const [path, where] of [
    ["/activity", ".activity-text"],
    ["", ".profile-bio"],
  ]) {
    await page.goto(`/@${person.handle}${path}`);
    const written = page.locator(where!);
    await expect(written).toHaveText(text);
    await expect(written.getByRole("link")).toHaveCount(0);
    for (const name of [`@${person.handle}`, "#weir"]) {
      await expectInOnePiece(written, name);
    }
  }
});

async function describe(page: Page, bio: string): Promise<void> {
  await page.goto("/settings");
  await page.getByLabel("Bio").fill(bio);
  await page.getByRole("button", { name: "Save profile" }).click();
  await expect(page.getByRole("status").filter({ hasText: "saved" })).toBeVisible();
}

/** Fails unless a name is to the right of its sign. */
async function expectInOnePiece(written: Locator, name: string): Promise<void> {
  const places = await written.evaluate((element, name) => {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    let text = texts.nextNode();
    while (text && !text.textContent!.includes(name)) {
      text = texts.nextNode();
    }
    const start = text!.textContent!.indexOf(name);
    const place = (from: number) => {
      const range = document.createRange();
      range.setStart(text!, from);
      range.setEnd(text!, from + 1);
      return range.getBoundingClientRect().left;
    };
    return { sign: place(start), letter: place(start + 1) };
  }, name);
  expect(places.sign, `${name} begins with its sign`).toBeLessThan(places.letter);
}
