import { request } from "@playwright/test";

import { Api } from "../api";
import { expect, test } from "../fixtures";

test("somebody is muted, then blocked, and forgiven in the settings", async ({ page, person, baseURL }) => {
  const elsewhere = await request.newContext({ baseURL });
  const other = new Api(elsewhere);
  const rude = await other.signUp();
  await other.post(`${rude.name} shouts`);
  await elsewhere.dispose();
  const shout = page.getByText(`${rude.name} shouts`);

  await page.goto(`/@${rude.handle}`);
  await page.getByText("More", { exact: true }).click();
  await page.getByRole("button", { name: `Mute @${rude.handle}` }).click();
  await expect(page.getByText("You no longer see their posts.")).toBeVisible();
  await expect(page.getByText(`You mute @${rude.handle}.`)).toBeVisible();
  await expect(shout).toBeVisible();

  await page.getByText("More", { exact: true }).click();
  await page.getByRole("button", { name: `Block @${rude.handle}` }).click();
  await expect(page.getByText(`You block @${rude.handle}.`)).toBeVisible();
  await expect(shout).toHaveCount(0);

  await page.goto("/settings");
  await page.getByRole("link", { name: "Blocked people" }).click();
  await page.getByRole("button", { name: `Unblock @${rude.handle}` }).click();
  await expect(page.getByText("You block nobody.")).toBeVisible();
  await page.goto(`/@${person.handle}/mutes`);
  await page.getByRole("button", { name: `Unmute @${rude.handle}` }).click();
  await expect(page.getByText("You mute nobody.")).toBeVisible();

  await page.goto(`/@${rude.handle}`);
  await expect(shout).toBeVisible();
  await expect(page.getByText("You mute")).toHaveCount(0);
});
