import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures";
import { Running } from "./running";

/** A server for a class, for the tests of a file: where students find it, and what makes a browser the teacher's. */
export function classroom(): { url: string; desk: string } {
  const room = { url: "", desk: "" };
  let folder: string;
  let server: Running;
  test.beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "spillway-class-"));
    const settings = { SPILLWAY_CLASSROOM: "on", SPILLWAY_STORE: `embedded:${join(folder, "data")}` };
    server = new Running(folder, settings, "demo town");
    room.url = await server.says(/http:\/\/\S+/);
    room.desk = await server.says(/http:\S+\?token=\S+/);
  });
  test.afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  return room;
}

/** A student joins. */
export async function joinBy(page: Page, name: string): Promise<void> {
  await page.goto("/lab/class");
  await page.getByLabel("Your name").fill(name);
  await page.getByRole("button", { name: "Join" }).click();
  await expect(page.getByRole("heading", { name: `You are in, ${name}` })).toBeVisible();
}
