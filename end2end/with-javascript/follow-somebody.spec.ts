import { Api } from "../api";
import { expect, gotoLive, test } from "../fixtures";

test("following somebody counts at once and brings their posts home", async ({
  page,
  person,
  secondWindow,
}) => {
  const other = await secondWindow();
  const writer = new Api(other.request);
  const { handle } = await writer.signUp();
  const post = await writer.post(`Written for ${person.name}`);

  await gotoLive(page, `/@${handle}`);
  await expect(page.getByTestId("follower-count").first()).toHaveText(/\b0\b/);
  await page.getByTestId("follow-button").first().click();
  await expect(page.getByTestId("follower-count").first()).toHaveText(/\b1\b/);

  await page.goto("/");
  await expect(page.getByTestId("post").filter({ hasText: post.text })).toBeVisible();
});
