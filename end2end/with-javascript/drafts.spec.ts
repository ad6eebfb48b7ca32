import type { Page } from "@playwright/test";
import { expect, test, typeInto } from "../fixtures";

const composer = (page: Page) => page.getByTestId("composer").getByRole("textbox");
const unfold = (page: Page, form: string) =>
  page
    .locator("details.edit")
    .filter({ has: page.getByTestId(form) })
    .locator("summary")
    .click();
/** Opens a page, and waits for the script of its plain forms. */
async function openWithForms(page: Page, path: string): Promise<void> {
  const script = page.waitForResponse("**/forms.js");
  await page.goto(path);
  await (await script).finished();
}
const kept = (page: Page) =>
  page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith("draft ")));

test("a draft survives navigation until it is sent", async ({ page, api, person }) => {
  const post = await api.post(`${person.name} is interrupted`);
  await page.goto("/");
  await typeInto(page.getByTestId("composer"), "Half a thought");
  await page.goto(`/post/${post.id}`);
  await typeInto(page.getByTestId("comment-form"), "Half a comment");
  await page.getByRole("link", { name: "Home", exact: true }).click();

  await expect(composer(page)).toHaveValue("Half a thought");
  await expect(page.getByTestId("composer")).toContainText("14 / 500");
  await page.goto(`/post/${post.id}`);
  await expect(page.getByTestId("comment-form").getByRole("textbox")).toHaveValue("Half a comment");

  await page.goto("/");
  await expect(composer(page)).toHaveValue("Half a thought");
  await page.getByTestId("composer").getByRole("button", { name: "Post" }).click();
  await expect(page.getByTestId("post").filter({ hasText: "Half a thought" })).toHaveCount(1);
  await expect.poll(() => kept(page)).toEqual([`draft ${post.id}`]);
  await page.reload();
  await expect(page.getByTestId("post").filter({ hasText: "Half a thought" })).toHaveCount(1);
  await expect(composer(page)).toHaveValue("");
});

test("a draft is not shown to the next account on the device", async ({ page, api, person }) => {
  await page.goto("/");
  await typeInto(page.getByTestId("composer"), `Only for the eyes of ${person.name}`);
  await expect.poll(() => kept(page)).toHaveLength(1);
  await page.getByRole("button", { name: "Sign out" }).click();
  await expect(page.getByRole("banner").getByRole("link", { name: "Sign in" })).toBeVisible();
  expect(await kept(page), "nothing is left behind").toEqual([]);

  // Somebody else's session on the same device, without a sign-out between the two.
  await api.signUp();
  await page.goto("/");
  await typeInto(page.getByTestId("composer"), "Mine");
  await api.signUp();
  await page.goto("/");
  await expect.poll(() => kept(page)).toEqual([]);
  await expect(composer(page)).toHaveValue("");
});

test("drafts of a quote, a reply and an edit survive navigation, too", async ({ page, api, person }) => {
  const post = await api.post(`${person.name} thinks twice`);
  const path = `/post/${post.id}`;
  await page.goto(path);
  await typeInto(page.getByTestId("comment-form"), "A question");
  await page.getByTestId("comment-form").getByRole("button").click();
  await expect(page.getByTestId("comment")).toHaveCount(1);
  const forms = ["quote-form", "reply-form", "edit-form"];
  await page.goto(path);
  for (const form of forms) {
    const field = page.getByTestId(form).getByRole("textbox", { includeHidden: true });
    const before = (await kept(page)).length;
    await unfold(page, form);
    // Before the page's script is awake it keeps nothing.
    await expect(async () => {
      await field.fill("");
      await field.fill(`Half of the ${form}`);
      expect(await kept(page)).toHaveLength(before + 1);
    }).toPass();
  }
  await page.getByRole("link", { name: "Home", exact: true }).click();
  await page.goto(path);
  for (const form of forms) {
    const field = page.getByTestId(form).getByRole("textbox", { includeHidden: true });
    await expect(field).toHaveValue(`Half of the ${form}`);
  }
  await page.getByTestId("edit-form").getByRole("button").click();
  await expect(page.getByTestId("post").getByTestId("post-text")).toHaveText("Half of the edit-form");
  await expect.poll(() => kept(page)).toHaveLength(2);
});

test.describe("a dead connection", () => {
  test.use({ tolerated: [/ERR_/] });

  test("is reported at once, and so is its return", async ({ page, api, person }) => {
    const post = await api.post(`${person.name} goes through a tunnel`);
    await page.goto(`/post/${post.id}`);
    const form = page.getByTestId("comment-form");
    await typeInto(form, "Still here?");
    const corner = page.locator("#connection");
    await expect(corner).toBeEmpty();

    await page.context().setOffline(true);
    await expect(corner).toContainText("Not connected");
    await page.context().setOffline(false);
    await expect(corner).toBeEmpty();
  });

  test("is reported on a page that has nothing to wake", async ({ page }) => {
    await page.goto("/login");
    await expect(page.locator("leptos-island")).toHaveCount(0);
    const corner = page.locator("#connection");
    // Until the page's script has run, nobody listens.
    await expect(async () => {
      await page.context().setOffline(false);
      await page.context().setOffline(true);
      await expect(corner).toContainText("Not connected", { timeout: 200 });
    }).toPass();
    await page.context().setOffline(false);
    await expect(corner).toBeEmpty();
  });

  test("stays reported when an answer that was on its way arrives", async ({ page, api, person }) => {
    const post = await api.post(`${person.name} loses the network at once`);
    let answer = () => {};
    const offline = new Promise<void>((resolve) => (answer = resolve));
    // The first stream is answered without a network; later ones are neither answered nor refused.
    await page.route("**/api/v1/events*", async (route) => {
      await offline;
      await route.fulfill({ contentType: "text/event-stream", body: ": open\n\n" });
      await page.route("**/api/v1/events*", () => {});
    });
    const asked = page.waitForRequest("**/api/v1/events*");
    await page.goto(`/post/${post.id}`);
    await asked;

    await page.context().setOffline(true);
    const corner = page.locator("#connection");
    await expect(corner).toContainText("Not connected");
    const answered = page.waitForResponse("**/api/v1/events*");
    const askedAgain = page.waitForRequest("**/api/v1/events*");
    answer();
    await answered;
    await askedAgain;
    await expect(corner).toContainText("Not connected");
  });

  test("keeps forms until it is back, and sends all of them", async ({ page, api, person }) => {
    const post = await api.post(`${person.name} reads in a tunnel`);
    await openWithForms(page, `/post/${post.id}`);
    await unfold(page, "edit-form");
    await page.getByTestId("edit-form").getByRole("textbox").fill("Written in a tunnel");
    await page.context().setOffline(true);
    await page.getByTestId("edit-form").getByRole("button").click();
    const pin = page.getByRole("button", { name: "Pin to your profile" });
    await pin.click();
    await pin.click();
    await expect(page.getByText("You are offline. This is sent when you are back.")).toHaveCount(2);
    await page.context().setOffline(false);
    await expect(page.getByRole("button", { name: "Unpin from your profile" })).toBeVisible();
    await expect(page.getByTestId("post").getByTestId("post-text")).toHaveText("Written in a tunnel");
    await expect.poll(() => kept(page)).toEqual([]);
  });

  test("keeps the draft of a form that it lost", async ({ page, api, person }) => {
    const post = await api.post(`${person.name} answers into the void`);
    await openWithForms(page, `/post/${post.id}`);
    await unfold(page, "quote-form");
    const words = page.getByTestId("quote-form").getByRole("textbox", { includeHidden: true });
    await expect(async () => {
      await words.fill("");
      await words.fill("Long thoughts");
      expect(await kept(page)).toHaveLength(1);
    }).toPass();
    await page.route("**/api/compose*", (route) => route.abort("connectionrefused"));
    await page.getByTestId("quote-form").getByRole("button").click();
    await page.waitForURL(/chrome-error|compose/).catch(() => {});
    await page.unroute("**/api/compose*");
    await page.goto(`/post/${post.id}`);
    await expect(words).toHaveValue("Long thoughts");
    await page.getByTestId("quote-form").getByRole("button").click();
    await expect(page.getByTestId("quote").first()).toBeVisible();
    await expect.poll(() => kept(page)).toEqual([]);
  });

  test("is reported after the first failed request", async ({ page, api, person }) => {
    const post = await api.post(`${person.name} asks a server that is gone`);
    await page.goto(`/post/${post.id}`);
    const form = page.getByTestId("comment-form");
    await typeInto(form, "Hello?");
    await page.route("**/add_comment*", (route) => route.abort("connectionrefused"));
    await form.getByRole("button").click();
    // The event stream is still open: only the request shows the failure.
    await expect(page.locator("#connection")).toContainText("Not connected");
    await page.unroute("**/add_comment*");
    await expect(page.getByTestId("comment")).toHaveCount(1);
    await expect(page.locator("#connection")).toBeEmpty();
  });

  test("loses nothing that was in flight when the page was left, and sends it once", async ({
    page,
    api,
    person,
  }) => {
    await page.goto("/");
    const text = `${person.name} left in a hurry`;
    await page.route("**/compose*", (route) => route.abort());
    await typeInto(page.getByTestId("composer"), text);
    await page.getByTestId("composer").getByRole("button", { name: "Post" }).click();
    await expect(page.getByText("Sending…")).toBeVisible();
    await page.unroute("**/compose*");
    await page.goto("/explore");
    await page.goto("/");
    await expect(page.getByTestId("post").filter({ hasText: text })).toHaveCount(1);
    await expect(composer(page)).toHaveValue("");
    await expect.poll(() => kept(page)).toEqual([]);
    expect(await api.postsOf(person.handle)).toBe(1);
  });
});

test.describe("a text that is being sent", () => {
  test.use({ tolerated: [/ERR_|a status of 409/] });

  test("stays while the next one is written, and returns if it is refused", async ({ page, api, person }) => {
    await page.goto("/");
    const text = `${person.name} wrote two at once`;
    await page.route("**/compose*", (route) => route.abort());
    await typeInto(page.getByTestId("composer"), text);
    await page.getByTestId("composer").getByRole("button", { name: "Post" }).click();
    await expect(page.getByText("Sending…")).toBeVisible();
    await composer(page).fill("The second one");
    await page.unroute("**/compose*");
    await page.goto("/explore");
    await page.goto("/");
    await expect(page.getByTestId("post").filter({ hasText: text })).toHaveCount(1);
    expect(await api.postsOf(person.handle)).toBe(1);

    await page.route("**/compose*", (route) =>
      route.fulfill({ status: 409, json: { kind: "conflict", message: "Not now." } }),
    );
    await typeInto(page.getByTestId("composer"), "The first");
    await page.getByTestId("composer").getByRole("button", { name: "Post" }).click();
    await expect(composer(page)).toHaveValue("The first");
  });
});

test("a form that is opened has the focus, and is open again with its draft", async ({
  page,
  api,
  person,
}) => {
  const post = await api.post(`${person.name} is quoted`);
  await openWithForms(page, `/post/${post.id}`);
  await unfold(page, "quote-form");
  const words = page.getByTestId("quote-form").getByRole("textbox");
  await expect(words).toBeFocused();
  await page.keyboard.type("nice, really");
  await expect(words).toHaveValue("nice, really");
  await expect.poll(() => kept(page)).toEqual([`draft quote ${post.id}`]);
  await page.goto("/");
  await page.goto(`/post/${post.id}`);
  await expect(words).toBeVisible();
  await expect(words).toHaveValue("nice, really");
});
