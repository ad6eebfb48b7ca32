import type { Page } from "@playwright/test";
import { expect } from "./fixtures";
import { signUp } from "./storm";

/** Signs up, and starts to migrate an array of a thousand likes while people continue to like the post. */
export async function startMigration(page: Page, url: string): Promise<void> {
  await signUp(page, url, "ada");
  await page.goto(`${url}/lab/migrate`);
  await page.getByLabel("The array has").selectOption("1000");
  await page.getByRole("button", { name: "Start the likes and the migration" }).click();
}

/** The documents hold the earlier and the acknowledged likes, on the page as in the API. */
export async function expectNothingLost(page: Page, url: string): Promise<void> {
  const verdict = page.getByTestId("verdict");
  await expect(verdict).toContainText("The list is correct");
  const number = async (id: string) =>
    Number((await verdict.getByTestId(id).innerText()).replaceAll(/\D/g, ""));
  const all = (await number("before")) + (await number("acknowledged"));
  expect(await number("before")).toBe(1_000);
  expect(all).toBeGreaterThan(1_000);
  expect(await number("counted")).toBe(all);
  expect(await number("distinct")).toBe(all);
  const migration = await (await page.request.get(`${url}/api/v1/lab/migrate`)).json();
  expect(migration.verdict.counted).toBe(all);
  const longest = (id: string) => page.getByTestId(id).locator("tbody tr").first();
  await expect(longest("lists-before")).toContainText("one array");
  await expect(longest("lists-after")).toContainText("head and pages");
}
