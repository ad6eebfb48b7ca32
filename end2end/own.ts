import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { Api, stranger } from "./api";
import { expect, expectAccessible, expectComplaint, REFUSALS, test } from "./fixtures";

/** People edit and delete their own things. All of it is plain forms, so the journeys are the same with JavaScript. */
export function journeysWithOnesOwn(): void {
  test.use({ tolerated: REFUSALS });

  test("a name and a bio are saved and shown", async ({ page, person }) => {
    await page.goto(`/@${person.handle}`);
    await page.getByRole("link", { name: "Settings" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Somebody new");
    await page.getByLabel("Bio").fill("Keeps the weir.");
    await page.getByRole("button", { name: "Save profile" }).click();
    await expect(page.getByRole("status").filter({ hasText: "saved" })).toBeVisible();
    await expect(page.getByLabel("Bio")).toHaveValue("Keeps the weir.");

    await page.goto(`/@${person.handle}`);
    await expect(page.getByRole("heading", { name: "Somebody new" })).toBeVisible();
    await expect(page.getByText("Keeps the weir.")).toBeVisible();
  });

  test("a refusal is shown at its field, and the typed text stays", async ({ page, person }) => {
    await page.goto("/settings");
    await page.getByLabel("Name", { exact: true }).fill("");
    await page.getByLabel("Bio").fill(`${person.name} `.repeat(20));
    await page.getByRole("button", { name: "Save profile" }).click();
    await expectComplaint(page.getByLabel("Name", { exact: true }), /empty/);
    await expectComplaint(page.getByLabel("Bio"), /at most 160/);
    await expect(page.getByLabel("Bio")).toHaveValue(new RegExp(person.name));
  });

  test("a new password signs out everywhere else", async ({ page, person, secondWindow }) => {
    const elsewhere = await secondWindow();
    const { handle, password } = person;
    const session = await elsewhere.request.post("/api/v1/session", { data: { handle, password } });
    expect(session.status(), await session.text()).toBe(200);

    await page.goto("/settings");
    await page.getByLabel("Current password").fill("not the password");
    await page.getByLabel("New password").fill("quite another one");
    await page.getByRole("button", { name: "Change password" }).click();
    await expectComplaint(page.getByLabel("Current password"), /not your current/);

    await page.getByLabel("Current password").fill(password);
    await page.getByLabel("New password").fill("quite another one");
    await page.getByRole("button", { name: "Change password" }).click();
    await expect(page.getByText("Your password is changed")).toBeVisible();
    expect((await page.request.get("/api/v1/me")).status()).toBe(200);
    expect((await elsewhere.request.get("/api/v1/me")).status()).toBe(401);
  });

  test("people see where they are signed in, and end it", async ({ page, person, secondWindow }) => {
    const { handle, password } = person;
    const [first, second] = [await secondWindow(), await secondWindow()];
    const status = (other: Page) => async () => (await other.request.get("/api/v1/me")).status();
    for (const other of [first, second]) {
      const session = await other.request.post("/api/v1/session", { data: { handle, password } });
      expect(session.status(), await session.text()).toBe(200);
    }
    await page.goto("/settings");
    await page.getByRole("link", { name: "Show my sessions" }).click();
    const sessions = page.getByTestId("session");
    await expect(sessions).toHaveCount(3);
    await expect(sessions.first()).toContainText("This browser");
    await expect(sessions.first()).toContainText("Chrome on");
    await expect(sessions.first().getByRole("button")).toHaveCount(0);

    await sessions.nth(1).getByRole("button", { name: "End session" }).click();
    await expect(page.getByText("The session has ended.")).toBeVisible();
    await expect(sessions).toHaveCount(2);
    await expect.poll(status(second)).toBe(401);
    await page.getByRole("button", { name: "End all other sessions" }).click();
    await expect(page.getByText("All other sessions have ended.")).toBeVisible();
    await expect(sessions).toHaveCount(1);
    await expect.poll(status(first)).toBe(401);

    await page.getByRole("banner").getByRole("button", { name: "Sign out" }).click();
    await expect(page.getByRole("banner").getByRole("link", { name: "Sign in" })).toBeVisible();
    await page.goBack();
    await expect(page, "the browser kept no page of the account").toHaveURL(/\/login/);
  });

  test("people can download all of their data", async ({ page, api, person }) => {
    await api.post(`${person.name} wants to keep this`);
    await page.goto("/settings");
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download my data" }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe(`spillway-${person.handle}.json`);
    const data = JSON.parse(await readFile(await file.path(), "utf8"));
    expect(data.profile.handle).toBe(person.handle);
    expect(data.posts[0].text).toBe(`${person.name} wants to keep this`);
  });

  test("deleting an account deletes everything that belongs to it", async ({
    page,
    api,
    person,
    secondWindow,
  }) => {
    const friend = await secondWindow();
    const other = new Api(friend.request);
    const { handle } = await other.signUp();
    const liked = await other.post("Liked by somebody who leaves");
    await other.follow(person.handle);
    await api.follow(handle);
    await page.request.put(`/api/v1/posts/${liked.id}/like`);
    const own = await api.post(`${person.name} says goodbye`);

    await page.goto("/settings");
    await page.getByText("Delete my account…").click();
    await page.getByLabel("Type your handle to confirm").fill(handle);
    await page.getByRole("textbox", { name: "Password", exact: true }).fill(person.password);
    await page.getByRole("button", { name: "Delete my account permanently" }).click();
    await expectComplaint(page.getByLabel("Type your handle to confirm"), /Type your handle/);

    await page.getByLabel("Type your handle to confirm").fill(`@${person.handle}`);
    await page.getByRole("textbox", { name: "Password", exact: true }).fill(person.password);
    await page.getByRole("button", { name: "Delete my account permanently" }).click();
    await expect(page.getByText("Your account is deleted")).toBeVisible();
    await expect(page.getByRole("button", { name: "Sign out" })).toHaveCount(0);

    expect((await page.goto(`/@${person.handle}`))?.status()).toBe(404);
    expect((await page.goto(`/post/${own.id}`))?.status()).toBe(404);
    await expect.poll(async () => (await other.findPost(liked.id)).likes).toBe(0);
    await expect.poll(() => other.people(`users/${handle}/followers`, 1)).toEqual([]);
    await expect.poll(() => other.people(`users/${handle}/following`, 1)).toEqual([]);
  });

  test("people can delete their own posts after a confirmation", async ({ page, api, person }) => {
    const post = await api.post(`${person.name} regrets this`);
    await page.goto(`/@${person.handle}`);
    const row = page.getByTestId("post").filter({ hasText: "regrets this" });
    await expect(row.getByRole("button", { name: "Delete post" })).toBeHidden();
    await row.getByText("Delete", { exact: false }).first().click();
    await row.getByRole("button", { name: "Delete post" }).click();
    await expect(page.getByText("Your post is deleted.")).toBeVisible();
    await expect(row).toHaveCount(0);
    expect((await page.goto(`/post/${post.id}`))?.status()).toBe(404);
  });

  test("people can delete their own comments, and nobody else's", async ({
    page,
    api,
    person,
    secondWindow,
  }) => {
    const post = await api.post(`${person.name} asks for comments`);
    await api.comment(post.id, "Mine, for now");
    const other = new Api((await secondWindow()).request);
    await other.signUp();
    await other.comment(post.id, "Not yours");
    await page.goto(`/post/${post.id}`);
    const row = (text: string) => page.getByTestId("comment").filter({ hasText: text });
    await expect(row("Not yours").getByText("Delete")).toHaveCount(0);
    await row("Mine, for now").getByText("Delete").first().click();
    await row("Mine, for now").getByRole("button", { name: "Delete comment" }).click();
    await expect(page.getByText("Your comment is deleted.")).toBeVisible();
    await expect(row("Mine, for now")).toHaveCount(0);
    await expect(row("Not yours")).toHaveCount(1);
  });

  test("a tag leads to everybody's posts with it", async ({ page, api, person }) => {
    const tag = `Weir_${person.handle.slice(-8)}`;
    await api.post(`The first #${tag}`);
    const second = await api.post(`Another #${tag.toLowerCase()}, later`);
    await page.goto(`/post/${second.id}`);
    await page
      .getByTestId("post-text")
      .getByRole("link", { name: `#${tag.toLowerCase()}` })
      .click();
    await expect(page.getByRole("heading", { level: 1, name: `#${tag.toLowerCase()}` })).toBeVisible();
    await expect(page.getByTestId("post-text")).toHaveText([/Another/, /The first/]);
  });

  test("signing up reports every wrong field", async ({ page }) => {
    const { handle } = stranger();
    await page.goto("/signup");
    await page.getByLabel("Handle").fill(`${handle} with spaces`);
    await page.getByLabel("Password").fill("short");
    await page.getByRole("main").getByRole("button", { name: "Sign up" }).click();
    await expectComplaint(page.getByLabel("Handle"), /handle/);
    await expectComplaint(page.getByLabel("Name", { exact: true }), /empty/);
    await expectComplaint(page.getByLabel("Password"), /8 to 200/);
    await expect(page.getByLabel("Handle")).toHaveValue(`${handle} with spaces`);
    await expect(page.getByLabel("Password")).toHaveValue("");
  });

  test("settings require a session", async ({ page }) => {
    await page.goto("/settings");
    await expect(page).toHaveURL(/\/login\?next=\/settings/);
  });
}

/** Axe finds no violations on these pages; it runs in the page, so it needs JavaScript. */
export function accessibilityOfOnesOwn(): void {
  test("settings and delete controls have no accessibility violations that axe can find", async ({
    page,
    api,
    person,
  }) => {
    const post = await api.post(`${person.name} has a #tag`);
    await api.comment(post.id, "And a comment");
    for (const url of [
      "/settings",
      "/settings/sessions",
      "/settings/notifications",
      `/post/${post.id}`,
      `/@${person.handle}/activity`,
      "/tags/tag",
    ]) {
      await page.goto(url);
      for (const closed of await page
        .locator("main details.delete, main details.confirm, main details.edit")
        .all()) {
        await closed.locator("summary").click();
      }
      await test.step(url, () => expectAccessible(page));
    }
  });
}
