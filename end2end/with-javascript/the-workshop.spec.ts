import { expect, test } from "../fixtures";
import { journeysInTheWorkshop } from "../lab";

journeysInTheWorkshop();

test("a click changes the station in place, keeps the focus and says what happened", async ({ page }) => {
  await page.goto("/lab/race");
  await page.evaluate(() => Object.assign(window, { stayed: true }));
  const go = page.getByRole("link", { name: "Let Ada do this" });
  await expect(async () => {
    await go.focus();
    await page.keyboard.press("Enter");
    await expect(page.locator("#said")).toContainText("Ada: Read the number of items. 999 items.", {
      timeout: 1_000,
    });
  }).toPass();
  await expect(go).toBeFocused();
  expect(await page.evaluate(() => "stayed" in window)).toBe(true);
});
