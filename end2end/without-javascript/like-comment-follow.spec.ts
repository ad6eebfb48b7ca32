import { Api } from "../api";
import { expect, REFUSALS, test } from "../fixtures";

test.use({ tolerated: REFUSALS });

test("liking and removing a like are plain forms", async ({ page, api, person }) => {
  const post = await api.post(`${person.name} likes plain forms`);
  await page.goto(`/post/${post.id}`);
  const button = page.getByTestId("like-button").first();
  const likes = page.getByTestId("like-count").first();

  await expect(likes).toHaveText(/\b0\b/);
  await button.click();
  await expect(likes).toHaveText(/\b1\b/);
  await expect(button).toHaveAttribute("aria-pressed", "true");
  await button.click();
  await expect(likes).toHaveText(/\b0\b/);
  await expect(button).toHaveAttribute("aria-pressed", "false");
});

test("a comment is a plain form", async ({ page, api, person }) => {
  const post = await api.post(`${person.name} asks for comments`);
  await page.goto(`/post/${post.id}`);
  const form = page.getByTestId("comment-form");
  await form.getByRole("textbox").fill("Here is one.");
  await form.getByRole("button").click();

  await page.goto(`/post/${post.id}`);
  await expect(page.getByTestId("comment").filter({ hasText: "Here is one." })).toHaveCount(1);
});

test("following is a plain form", async ({ page, person, secondWindow }) => {
  const other = await secondWindow();
  const { handle } = await new Api(other.request).signUp();
  await page.goto(`/@${handle}`);
  await page.getByTestId("follow-button").first().click();
  await expect(page.getByTestId("follower-count").first()).toHaveText(/\b1\b/);

  await page.goto(`/@${handle}/followers`);
  await expect(page.getByTestId("feed").locator(`a[href="/@${person.handle}"]`).first()).toBeVisible();
});

test("a visitor who is not signed in is asked to sign in, and nothing is liked", async ({
  page,
  api,
  person,
}) => {
  const post = await api.post(`${person.name} is liked by members only`);
  await api.signOut();
  await page.goto(`/post/${post.id}`);
  const like = page.getByTestId("like-button").first();
  if (await like.isVisible()) {
    await like.click();
    await expect(page).toHaveURL(/\/login/);
  }
  expect((await api.findPost(post.id)).likes).toBe(0);
});
