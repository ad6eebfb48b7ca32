import type { Page } from "@playwright/test";
import { expect, gotoLive, test, typeInto } from "../fixtures";
import { Api } from "../api";

test("new posts wait behind a pill, and come on top when it is pressed", async ({
  page,
  api,
  person,
  secondWindow,
}) => {
  const { api: author } = await followed(secondWindow, api);
  await author.post("The first swallow");
  await gotoLive(page, "/");
  const posts = page.getByTestId("post");
  await expect(posts.first()).toContainText("The first swallow");
  const pill = page.getByTestId("new-posts");
  await expect(pill).toBeHidden();

  await author.post("The second swallow");
  await author.post(`${person.name}, a third one`);
  await expect(pill).toHaveText("2 new posts");
  await expect(posts.first(), "nothing jumps").toContainText("The first swallow");

  await pill.click();
  await expect(posts.nth(0)).toContainText("a third one");
  await expect(posts.nth(1)).toContainText("The second swallow");
  await expect(posts.nth(2)).toContainText("The first swallow");
  await expect(pill).toBeHidden();
  await expect(posts.nth(0)).toBeFocused();
  expect(await places(page)).toEqual([1, 2, 3]);

  await author.post("The fourth");
  await expect(pill).toHaveText("1 new post");
});

test("a share of a post that is here moves it to the top", async ({ page, api, person, secondWindow }) => {
  const { api: sharer, name } = await followed(secondWindow, api);
  const post = await api.post(`${person.name}, an old swallow`);
  const newer = await api.post("A newer one of mine");
  await gotoLive(page, "/");
  const posts = page.getByTestId("post");
  await expect(posts.first()).toContainText("A newer one of mine");

  const pill = page.getByTestId("new-posts");
  for (const shared of [newer, post]) {
    await sharer.share(shared.id);
    await expect(pill).toHaveText("1 new post");
    await pill.click();
    await expect(posts.first()).toHaveAttribute("id", `post-${shared.id}`);
    await expect(posts.first()).toContainText(`Shared by ${name}`);
    await expect(posts).toHaveCount(2);
    expect(await places(page)).toEqual([1, 2]);
  }
});

test("a share of a post that is here does not hide that more is new than fits", async ({
  page,
  api,
  person,
  secondWindow,
}) => {
  const { api: author } = await followed(secondWindow, api);
  const old = await api.post(`${person.name}, an old swallow`);
  await gotoLive(page, "/");
  const posts = page.getByTestId("post");
  await expect(posts).toHaveCount(1);

  for (let nth = 1; nth <= 24; nth++) await author.post(`Swallow ${nth}`);
  await author.share(old.id);
  const pill = page.getByTestId("new-posts");
  await expect(pill).toHaveText("25 new posts");
  await pill.click();
  await expect(posts.first()).toHaveAttribute("id", `post-${old.id}`);
  await expect(async () => {
    await page.mouse.wheel(0, 4_000);
    await expect(page.getByText("Swallow 1", { exact: true })).toBeVisible({ timeout: 500 });
  }).toPass();
  await expect(posts).toHaveCount(25);
});

test("the first post of somebody opens when its text is clicked", async ({ page, person }) => {
  await gotoLive(page, "/");
  const form = page.getByTestId("composer");
  await typeInto(form, `${person.name} is here`);
  await form.getByRole("button", { name: "Post" }).click();
  await expect(page.locator("[aria-busy=true]")).toHaveCount(0);
  await page.getByTestId("post-text").click();
  await expect(page).toHaveURL(/\/post\//);
});

test("after a like, Back shows the post as liked", async ({ page, api, person }) => {
  const post = await api.post(`${person.name} wants to know`);
  await gotoLive(page, `/@${person.handle}`);
  await page.goto(`/post/${post.id}`);
  const like = page.getByTestId("like-button");
  await like.click();
  await expect(like).toHaveAttribute("aria-pressed", "true");
  await expect.poll(async () => (await api.findPost(post.id)).likes).toBe(1);
  await page.goBack();
  await expect(page).toHaveURL(`/@${person.handle}`);
  await expect(like).toHaveAttribute("aria-pressed", "true");
});

test("after a like, a page that the browser kept in memory is loaded again", async ({
  page,
  api,
  person,
}) => {
  const post = await api.post(`${person.name} wants to know`);
  await gotoLive(page, `/post/${post.id}`);
  const comesBack = () =>
    page.evaluate(() => {
      Object.assign(window, { kept: true });
      dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
    });
  const isKept = () => page.evaluate(() => "kept" in window);
  await comesBack();
  expect(await isKept()).toBe(true);
  await page.getByTestId("like-button").click();
  await comesBack();
  await page.waitForFunction(() => !("kept" in window));
});

test("a bookmark is kept without leaving the page", async ({ page, api, person }) => {
  const post = await api.post(`${person.name} keeps this`);
  await gotoLive(page, `/post/${post.id}`);
  const button = page.getByTestId("bookmark-button");
  await button.focus();
  for (const state of ["true", "false", "true"]) {
    await page.keyboard.press("Enter");
    await expect(button).toHaveAttribute("aria-pressed", state);
    await expect(button).toBeFocused();
  }
  await expect(async () => {
    await page.goto(`/@${person.handle}/bookmarks`);
    await expect(page.getByTestId("post")).toContainText("keeps this", { timeout: 1_000 });
  }).toPass();
});

test("a comment by somebody else appears under the open post", async ({
  page,
  api,
  person,
  secondWindow,
}) => {
  const post = await api.post(`${person.name} asks`);
  await api.comment(post.id, "An old comment");
  await gotoLive(page, `/post/${post.id}`);
  await expect(page.getByTestId("comment")).toHaveCount(1);

  const other = await secondWindow();
  const guest = new Api(other.request);
  await guest.signUp();
  await guest.comment(post.id, "A new one");

  await expect(page.getByTestId("comment")).toHaveCount(2);
  await expect(page.getByTestId("comment").first()).toContainText("A new one");
  expect(await places(page)).toEqual([1, 2]);
});

test("a comment shows at once, and a refused one goes back into its field", async ({ page, api, person }) => {
  const post = await api.post(`Who is there? asks ${person.name}`);
  await page.goto(`/post/${post.id}`);
  const form = page.getByTestId("comment-form");
  await typeInto(form, "Me, again and again");
  let answer = () => {};
  const answered = new Promise<void>((resolve) => (answer = resolve));
  await page.route("**/*add_comment*", async (route) => {
    await answered;
    await route.fulfill({ status: 429, json: { message: "Too many comments. Wait a minute." } });
  });
  await form.getByRole("button").click();
  const pending = page.locator("[aria-busy=true]").getByText("Me, again and again");
  await expect(pending).toBeVisible();
  await expect(form.getByRole("textbox")).toHaveValue("");

  answer();
  await expect(form.getByRole("textbox")).toHaveValue("Me, again and again");
  await expect(form).toContainText("Too many comments. Wait a minute.");
  await expect(page.getByTestId("comment")).toHaveCount(0);

  await page.unroute("**/*add_comment*");
  await form.getByRole("button").click();
  await expect(page.getByTestId("comment")).toHaveCount(1);
  expect((await api.findPost(post.id)).comments).toBe(1);
});
test.use({ tolerated: [/status of 429/] });

/** Somebody in another window, whom the reader follows. */
async function followed(secondWindow: () => Promise<Page>, reader: Api): Promise<{ api: Api; name: string }> {
  const api = new Api((await secondWindow()).request);
  const { handle, name } = await api.signUp();
  await reader.follow(handle);
  return { api, name };
}

/** The positions that assistive technology reads out. */
async function places(page: Page): Promise<number[]> {
  return page
    .getByTestId("feed")
    .getByRole("article")
    .evaluateAll((items) => items.map((item) => Number(item.getAttribute("aria-posinset"))));
}
