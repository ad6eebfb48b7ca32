import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { expect } from "./fixtures";
import { Running } from "./running";

/** A separate server: each runs only one storm at a time. */
export async function withServer(page: Page, work: (url: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "spillway-storm-"));
  const server = new Running(folder, { SPILLWAY_STORE: `embedded:${join(folder, "data")}` });
  try {
    await work(await server.says(/http:\/\/\S+/));
  } finally {
    // Pages that refresh themselves would meet a server that is gone.
    const windows = page.context().browser()?.contexts() ?? [page.context()];
    for (const shown of windows.flatMap((window) => window.pages())) await shown.goto("about:blank");
    await server.stop();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

/** Signs somebody up on the page of storms. */
export async function signUp(page: Page, url: string, handle: string): Promise<void> {
  const person = { handle, name: handle, password: `password of ${handle}` };
  const answer = await page.request.post(`${url}/api/v1/accounts`, { data: person });
  expect(answer.status(), await answer.text()).toBe(201);
  await page.goto(`${url}/lab/storm`);
}

/** Starts a storm over a post just below its threshold. */
export async function start(page: Page, rate: number, seconds: number): Promise<void> {
  await page.getByLabel("Target", { exact: true }).selectOption("a post just below its threshold");
  await page.getByLabel("Likes a second").fill(String(rate));
  await page.getByLabel("Seconds").fill(String(seconds));
  await page.getByRole("button", { name: "Start the storm" }).click();
}

/** The page says exactly this many of all three, and its table is what the API says. */
export async function expectExactly(page: Page, url: string, people: string): Promise<void> {
  for (const number of ["acknowledged", "counted", "distinct"]) {
    await expect(page.getByTestId(number)).toHaveText(people);
  }
  await expect(page.getByTestId("verdict")).toContainText("The list is correct");
  const { storm } = await (await page.request.get(`${url}/api/v1/lab/storm`)).json();
  const heads: { at: number; items: number }[] = storm.heads;
  // The head is sampled more often than the seconds, so that its chart shows each spill.
  expect(heads.length).toBeGreaterThan(storm.seconds.length);
  expect(heads.at(-1)?.items).toBe(storm.seconds.at(-1).head);
  await expect(page.getByTestId("chart-head").getByRole("img")).toBeVisible();
  const answered: string[] = storm.seconds.map((second: { answered: number }) => String(second.answered));
  await expect(page.getByTestId("storm-numbers").locator("tbody tr td:nth-child(2)")).toHaveText(answered);
}
