import { Api } from "../api";
import { expect, test } from "../fixtures";

test("a share is seen by followers and on the sharer's page, until it is taken back", async ({
  page,
  person,
  secondWindow,
}) => {
  const [author, follower] = [await secondWindow(), await secondWindow()];
  const writer = new Api(author.request);
  const { name } = await writer.signUp();
  const post = await writer.post(`${name} has seen a heron`);
  await new Api(follower.request).signUp();
  await follower.goto(`/@${person.handle}`);
  await follower.getByTestId("follow-button").click();

  await page.goto(`/post/${post.id}`);
  await page.getByTestId("share-button").click();
  await expect(page.getByTestId("share-button")).toHaveAttribute("aria-pressed", "true");
  for (const path of ["/", `/@${person.handle}`]) {
    await follower.goto(path);
    const shared = follower.locator(`#post-${post.id}`);
    await expect(shared.getByTestId("shared-by")).toHaveText(`Shared by ${person.name}`);
    await expect(shared.getByTestId("post-text")).toHaveText(`${name} has seen a heron`);
  }
  await follower.getByTestId("shared-by").getByRole("link").click();
  await expect(follower).toHaveURL(`/@${person.handle}`);

  await page.getByTestId("share-button").click();
  await expect(page.getByTestId("share-button")).toHaveAttribute("aria-pressed", "false");
  await follower.goto("/");
  await expect(follower.locator(`#post-${post.id}`)).toHaveCount(0);
});

test("a post is quoted with own words, and its author is told", async ({ page, person, secondWindow }) => {
  const author = await secondWindow();
  const writer = new Api(author.request);
  const { name } = await writer.signUp();
  const post = await writer.post(`${name} has seen a heron`);

  await page.goto(`/post/${post.id}`);
  await page.getByText("Quote this post").click();
  const form = page.getByTestId("quote-form");
  await form.getByRole("button", { name: "Post" }).click();
  await expect(page.getByLabel("Your words about it")).toHaveAttribute("aria-invalid", "true");
  await page.getByLabel("Your words about it").fill("Two of them!");
  await form.getByRole("button", { name: "Post" }).click();
  await expect(page).toHaveURL(/\/#post-/);
  const quoting = page.getByTestId("post").filter({ hasText: "Two of them!" });
  await expect(quoting.getByTestId("quote")).toContainText(`${name} has seen a heron`);

  await expect(async () => {
    await author.goto("/notifications");
    await expect(author.getByText(`${person.name} quoted your post`)).toBeVisible({ timeout: 200 });
  }).toPass();
  await author.getByTestId("notification").getByRole("link").last().click();
  await author.getByTestId("quote").getByRole("link", { name }).click();
  await expect(author.getByRole("heading", { name })).toBeVisible();

  await author.request.delete(`/api/v1/posts/${post.id}`);
  await page.reload();
  await expect(quoting.getByTestId("quote")).toHaveText("The quoted post is not here.");
});
