import { count, expect, gotoLive, meter, test } from "../fixtures";

test("a like moves the count and the meter in a second window within a second", async ({
  page,
  api,
  person,
  secondWindow,
}) => {
  const post = await api.post(`${person.name} watches a meter`);
  const watcher = await secondWindow();
  await gotoLive(watcher, `/post/${post.id}`);
  await expect(watcher.getByTestId("like-count").first()).toHaveText(/\b0\b/);
  expect(await meter(watcher, "head")).toBe(0);

  await gotoLive(page, `/post/${post.id}`);
  await page.getByTestId("like-button").first().click();

  await expect(watcher.getByTestId("like-count").first()).toHaveText(/\b1\b/);
  await expect.poll(() => meter(watcher, "head"), { intervals: [20] }).toBe(1);
  await expect(page.getByTestId("like-button").first()).toHaveAttribute("aria-pressed", "true");
});

test("a like of the viral post moves its meter in a second window", async ({
  page,
  api,
  person,
  secondWindow,
}) => {
  const viral = await api.viralPost();
  const watcher = await secondWindow();
  await gotoLive(watcher, `/post/${viral.id}`);
  const before = await count(watcher.getByTestId("like-count").first());
  expect(await meter(watcher, "pages"), `${person.handle} looks at an outlier`).toBeGreaterThan(0);

  await gotoLive(page, `/post/${viral.id}`);
  await page.getByTestId("like-button").first().click();

  await expect
    .poll(() => count(watcher.getByTestId("like-count").first()), { intervals: [20] })
    .toBeGreaterThan(before);
});

test("taking a like back puts the count back everywhere", async ({ page, api, person, secondWindow }) => {
  const post = await api.post(`${person.name} changes their mind`);
  const watcher = await secondWindow();
  await gotoLive(watcher, `/post/${post.id}`);
  await gotoLive(page, `/post/${post.id}`);
  const button = page.getByTestId("like-button").first();

  await button.click();
  await expect(watcher.getByTestId("like-count").first()).toHaveText(/\b1\b/);
  await button.click();
  await expect(watcher.getByTestId("like-count").first()).toHaveText(/\b0\b/);
  await expect(button).toHaveAttribute("aria-pressed", "false");
  expect((await api.findPost(post.id)).likes).toBe(0);
});

test("the links to the likes and shares of a post follow, too", async ({
  page,
  api,
  person,
  secondWindow,
}) => {
  const post = await api.post(`${person.name} counts along`);
  const watcher = await secondWindow();
  await gotoLive(watcher, `/post/${post.id}`);
  const about = watcher.getByRole("navigation", { name: "About this post" });
  await expect(about.getByRole("link")).toHaveText(["0 likes", "0 shares"]);

  await gotoLive(page, `/post/${post.id}`);
  await page.getByTestId("like-button").click();
  await page.getByTestId("share-button").click();
  await expect(about.getByRole("link", { name: "1 like", exact: true })).toBeVisible();
  await expect(about.getByRole("link", { name: "1 share", exact: true })).toBeVisible();
});
