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
  // The count shows before the server has it; the home page asks the server.
  const followed = page.waitForResponse((response) => response.url().endsWith("/set_follow"));
  await page.getByTestId("follow-button").first().click();
  await expect(page.getByTestId("follower-count").first()).toHaveText(/\b1\b/);

  await followed;
  await page.goto("/");
  await expect(page.getByTestId("post").filter({ hasText: post.text })).toBeVisible();
});
