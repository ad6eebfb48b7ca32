import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures";
import { Running } from "./running";

/** A server for a class. */
interface Classroom {
  /** Where students find it. */
  url: string;
  /** The address that makes a browser the teacher's. */
  desk: string;
  /** Where its metrics are. */
  metrics: string;
  /** Its store, as commands name it. */
  store: string;
  /** The number of its process. */
  id: number;
  stop: () => Promise<void>;
}

/** A server for the tests of a file. */
export function classroom(): Classroom {
  let folder: string;
  let server: Running;
  const room: Classroom = { url: "", desk: "", metrics: "", store: "", id: 0, stop: () => server.stop() };
  test.beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "spillway-class-"));
    room.store = `embedded:${join(folder, "data")}`;
    const settings = {
      SPILLWAY_CLASSROOM: "on",
      SPILLWAY_STORE: room.store,
      SPILLWAY_ADMIN_ADDR: "127.0.0.1:0",
    };
    server = new Running(folder, settings, "demo town");
    room.id = server.id;
    room.metrics = await server.says(/http:\S+\/metrics/);
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
