import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { Api } from "../api";
import { count, expect, gotoLive, test, typeInto } from "../fixtures";
import { shown } from "../lists";
import { Running } from "../running";

/** How long the server is down, in milliseconds. This does not wait for something to be ready: it is the outage. */
const HALF_A_MINUTE = 30_000;

/** Browsers report every attempt that fails meanwhile. */
test.use({ tolerated: [/ERR_/] });

test("actions during an outage are sent once the server is back, and only once", async ({ secondWindow }) => {
  test.slow();
  const folder = mkdtempSync(join(tmpdir(), "spillway-away-"));
  const settings = { SPILLWAY_STORE: `embedded:${join(folder, "data")}` };
  let server = new Running(folder, settings);
  try {
    const url = await server.says(/http:\/\/\S+/);
    const reader = await secondWindow(url);
    const api = new Api(reader.request);
    const person = await api.signUp();
    const post = await api.post(`${person.name} will see the line go dead`);
    await gotoLive(reader, `/post/${post.id}`);
    const status = reader.locator("#connection");
    await expect(status).toBeEmpty();
    const form = reader.getByTestId("comment-form");
    await typeInto(form, "Still here?");

    await server.stop("SIGKILL");
    await reader.getByTestId("like-button").first().click();
    await form.getByRole("button").click();
    await expect(status).toContainText("Not connected");
    await expect(reader.getByTestId("like-button").first()).toHaveAttribute("aria-pressed", "true");
    await expect(reader.locator("[aria-busy=true]").getByText("Still here?")).toBeVisible();

    server = new Running(folder, { ...settings, SPILLWAY_ADDR: new URL(url).host });
    await server.says(/http:\/\/\S+/);
    await expect(reader.getByTestId("comment")).toHaveCount(1, { timeout: 40_000 });
    await expect(status).toBeEmpty({ timeout: 40_000 });
    // The like and the comment each retry by themselves until the server is back.
    const stored = async () => {
      const { likes, comments } = await api.findPost(post.id);
      return { likes, comments };
    };
    await expect.poll(stored, { timeout: 40_000 }).toEqual({ likes: 1, comments: 1 });
    await reader.reload();
    await expect(reader.getByTestId("comment")).toHaveCount(1);
    await expect(reader.getByTestId("like-button").first()).toHaveAttribute("aria-pressed", "true");
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});

test("half a minute without a server loses and doubles nothing while somebody scrolls and likes", async ({
  secondWindow,
}) => {
  test.setTimeout(180_000);
  const folder = mkdtempSync(join(tmpdir(), "spillway-away-"));
  const settings = { SPILLWAY_STORE: `embedded:${join(folder, "data")}` };
  let server = new Running(folder, settings, "demo town");
  try {
    const url = await server.says(/http:\/\/\S+/);
    const feed = await secondWindow(url);
    const api = new Api(feed.request);
    await api.signUp();
    const { id } = await api.viralPost();
    await gotoLive(feed, "/explore");
    const list = await feed.context().newPage();
    await gotoLive(list, `/post/${id}/likes`);
    await scrollToTheEnd(list);
    await expect.poll(async () => (await shown(list)).handles.length).toBeGreaterThan(50);

    const posts = feed.getByTestId("post");
    const ids = await posts.evaluateAll((all) => all.slice(1, 7).map((post) => post.id.replace("post-", "")));
    const before = await Promise.all(ids.map((post) => api.findPost(post)));
    const like = (place: number) => posts.nth(place + 1).getByTestId("like-button");

    // The first is in flight when the server dies: it is unknown whether it has arrived.
    await like(0).click();
    await server.stop("SIGKILL");
    const away = Date.now();
    for (const place of [1, 2, 3]) {
      await like(place).click();
    }
    // Liked, removed, liked again; and liked and removed.
    for (const place of [4, 4, 4, 5, 5]) {
      await like(place).click();
    }
    const expected = [true, true, true, true, true, false];
    await scrollToTheEnd(list);
    await expect(list.getByTestId("load-more")).toHaveText("Try again");
    await expect(list.getByText("The items above stay on the page.")).toBeVisible();
    await expect(feed.locator("#connection")).toContainText("Not connected");
    const read = (await shown(list)).handles.length;
    for (const [place, on] of expected.entries()) {
      await expect(like(place), "what was clicked stays").toHaveAttribute("aria-pressed", String(on));
    }
    await feed.waitForTimeout(HALF_A_MINUTE - (Date.now() - away));

    server = new Running(folder, { ...settings, SPILLWAY_ADDR: new URL(url).host });
    await server.says(/http:\/\/\S+/);
    // The list continues by itself, the connection is back, and each like arrives once.
    await expect
      .poll(async () => (await shown(list)).handles.length, { timeout: 40_000 })
      .toBeGreaterThan(read);
    await expect(feed.locator("#connection")).toBeEmpty({ timeout: 40_000 });
    const outcome = async () => {
      const after = await Promise.all(ids.map((post) => api.findPost(post)));
      return after.map((post, place) => [post.liked, post.likes - before[place]!.likes]);
    };
    const wanted = expected.map((on) => [on, on ? 1 : 0]);
    await expect.poll(outcome, { timeout: 60_000 }).toEqual(wanted);
    for (const [place, on] of expected.entries()) {
      await expect(like(place)).toHaveAttribute("aria-pressed", String(on));
      expect(await count(like(place))).toBe(before[place]!.likes + (on ? 1 : 0));
    }

    await scrollToTheEnd(list);
    const { handles } = await shown(list);
    expect(new Set(handles).size, "nobody is shown twice").toBe(handles.length);
    expect(handles, "nobody is left out").toEqual(await api.people(`posts/${id}/likes`, handles.length));
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});

async function scrollToTheEnd(page: Page): Promise<void> {
  await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
}
