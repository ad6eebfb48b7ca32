import { expect, expectAccessible, test } from "../fixtures";
import { journeysInTheWorkshop } from "../lab";

journeysInTheWorkshop();

test("a click changes the station in place, keeps the focus and says what happened", async ({ page }) => {
  await page.goto("/lab/race");
  await page.evaluate(() => Object.assign(window, { stayed: true }));
  const go = page.getByRole("link", { name: "Let Ada do this" });
  await expect(async () => {
    await go.focus();
    await page.keyboard.press("Enter");
    await expect(page.locator("#said")).toContainText("Ada: Look how many items there are. 999 items.", {
      timeout: 1_000,
    });
  }).toPass({ timeout: 10_000 });
  await expect(go).toBeFocused();
  expect(await page.evaluate(() => "stayed" in window)).toBe(true);
});

test("the workshop fits a projector and has no accessibility faults that axe can find", async ({ page }) => {
  test.slow();
  await page.setViewportSize({ width: 1024, height: 768 });
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const url of [
      "/lab",
      "/lab/race?clicks=abab",
      "/lab/crash?operation=append-that-spills&layout=ours&after=1",
    ]) {
      await page.goto(url);
      await test.step(`${url} ${colorScheme}`, () => expectAccessible(page));
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect(wide, `${url} is as wide as the screen`).toBeLessThanOrEqual(0);
    }
  }
});
