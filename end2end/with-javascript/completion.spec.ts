import type { Page } from "@playwright/test";
import { expect, expectAccessible, test } from "../fixtures";
import { Api, stranger, type Person } from "../api";

const options = (page: Page) => page.getByRole("listbox", { name: "People" }).getByRole("option");
const chosen = (page: Page) => page.getByRole("option", { selected: true });
const composer = (page: Page) => page.getByTestId("composer").getByRole("textbox");

/** Two people whose names begin alike; the reader follows the second one, whom fewer people follow. */
async function alike(api: Api, secondWindow: () => Promise<Page>): Promise<[Person, Person]> {
  const [popular, followed] = [stranger(), stranger()];
  const beginning = stranger().name.slice(5);
  popular.name = `${beginning} Popular`;
  followed.name = `${beginning} Followed`;
  const other = new Api((await secondWindow()).request);
  await other.signUp(followed);
  await other.signUp(popular);
  await other.signUp();
  await other.follow(popular.handle);
  await api.follow(followed.handle);
  return [popular, followed];
}

test("a mention is completed while it is typed, people whom one follows first", async ({
  page,
  api,
  person,
  secondWindow,
}) => {
  const [popular, followed] = await alike(api, secondWindow);
  await page.goto("/");
  await composer(page).click();
  await page.keyboard.type(`Ask ${person.name} or @${popular.name.slice(0, 16)}`);
  await expect(options(page)).toHaveText([
    `${followed.name}@${followed.handle}`,
    `${popular.name}@${popular.handle}`,
  ]);
  await expect(chosen(page)).toContainText(followed.handle);
  await expectAccessible(page);

  await page.keyboard.press("ArrowDown");
  await expect(chosen(page)).toContainText(popular.handle);
  const active = await composer(page).getAttribute("aria-activedescendant");
  await expect(page.locator(`#${active}`)).toContainText(popular.handle);
  await page.keyboard.press("Enter");
  await expect(composer(page)).toHaveValue(`Ask ${person.name} or @${popular.handle} `);
  await expect(options(page)).toHaveCount(0);
  await page.keyboard.type("about it");
  await page.getByTestId("composer").getByRole("button", { name: "Post" }).click();
  const post = page.getByTestId("post").filter({ hasText: `Ask ${person.name}` });
  await expect(post.getByRole("link", { name: `@${popular.handle}` })).toBeVisible();
});

test("what is offered can be clicked, or closed and typed over", async ({
  page,
  api,
  secondWindow,
  person,
}) => {
  const [popular, followed] = await alike(api, secondWindow);
  await page.goto("/");
  const begun = `@${popular.name.slice(0, 16)}`;
  await composer(page).click();
  await page.keyboard.type(`${person.handle} ${begun}`);
  await expect(options(page)).toHaveCount(2);
  await page.keyboard.press("Escape");
  await expect(options(page)).toHaveCount(0);
  await page.keyboard.press("Enter");
  await expect(composer(page)).toHaveValue(`${person.handle} ${begun}\n`);

  await page.keyboard.type(begun);
  await expect(options(page)).toHaveCount(2);
  await options(page).nth(1).click();
  await expect(composer(page)).toHaveValue(`${person.handle} ${begun}\n@${popular.handle} `);
  await expect(composer(page)).toBeFocused();

  const known = page.waitForResponse((answer) =>
    answer.url().endsWith(`/search/people?q=${followed.handle}`),
  );
  await page.keyboard.type(`@${followed.handle}`);
  await (await known).finished();
  await expect(options(page)).toHaveCount(0);
  await page.keyboard.press("Enter");
  await expect(composer(page), "a whole handle needs no completion").toHaveValue(
    `${person.handle} ${begun}\n@${popular.handle} @${followed.handle}\n`,
  );
});

test("people are suggested while somebody searches, and the words stay what is searched for", async ({
  page,
  api,
  secondWindow,
  person,
}) => {
  const [popular, followed] = await alike(api, secondWindow);
  expect(person.handle).not.toBe(popular.handle);
  const begun = popular.name.slice(0, 16);
  await page.goto("/search");
  await page.getByTestId("search-input").click();
  await page.keyboard.type(begun);
  await expect(options(page)).toHaveCount(2);
  await expect(chosen(page)).toHaveCount(0);
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(new RegExp(`q=${begun}`));

  await page.getByTestId("search-input").click();
  await page.keyboard.type(" ");
  await expect(options(page)).toHaveCount(2);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`/@${followed.handle}`);
});

test("a post that ends with a handle is sent with one click", async ({ page, person }) => {
  await page.goto("/");
  await composer(page).click();
  const known = page.waitForResponse((answer) => answer.url().endsWith(`/search/people?q=${person.handle}`));
  await page.keyboard.type(`${person.name} thanks @${person.handle}`);
  await (await known).finished();
  await page.getByTestId("composer").getByRole("button", { name: "Post" }).click();
  await expect(page.getByTestId("post").filter({ hasText: `${person.name} thanks` })).toBeVisible();
});

test("somebody whose whole handle is typed in a search is opened", async ({ page, person }) => {
  await page.goto("/search");
  const search = page.getByTestId("search-input");
  await search.click();
  await page.keyboard.type(person.handle);
  await expect(options(page)).toHaveCount(1);
  await page.keyboard.press("ArrowDown");
  await expect(chosen(page)).toContainText(person.handle);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(`/@${person.handle}`);
});

test.describe("a lost connection", () => {
  test.use({ tolerated: [/ERR_/] });

  test("ends no completion for good", async ({ page, person, context }) => {
    await page.goto("/");
    const failed = page.waitForEvent("requestfailed", (request) => request.url().includes("/completion.js"));
    await context.setOffline(true);
    await composer(page).click();
    await failed;
    await context.setOffline(false);
    await composer(page).blur();
    const loaded = page.waitForResponse((answer) => answer.url().includes("/completion.js"));
    await composer(page).click();
    await (await loaded).finished();
    await page.keyboard.type(`@${person.handle.slice(0, -1)}`);
    await expect(options(page)).toHaveCount(1);
  });
});
