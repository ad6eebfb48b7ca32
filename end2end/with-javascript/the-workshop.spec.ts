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

test("a click while the answer to another is under way is followed", async ({ page }) => {
  await page.goto("/lab/race");
  await page.evaluate(() => Object.assign(window, { stayed: true }));
  let answer = (): void => undefined;
  const held = new Promise<void>((resolve) => (answer = resolve));
  await page.route(/clicks=a$/, async (route) => {
    await held;
    await route.fallback();
  });
  const asked = page.waitForRequest(/clicks=a$/);
  await page.getByRole("link", { name: "Let Ada do this" }).click();
  await asked;
  await page.getByRole("link", { name: "Let Bob do this" }).click();
  await expect(page).toHaveURL(/clicks=b$/);
  answer();
  await expect(page.getByRole("link", { name: "Step back" })).toBeVisible();
  await expect(page).toHaveURL(/clicks=b$/);
  expect(await page.evaluate(() => "stayed" in window)).toBe(true);
});

for (const reducedMotion of ["no-preference", "reduce"] as const) {
  test(`documents that change are seen to change, unless people asked for less motion: ${reducedMotion}`, async ({
    page,
  }) => {
    await page.emulateMedia({ reducedMotion });
    await page.addInitScript(() => {
      const moved: string[] = [];
      const animate = Element.prototype.animate;
      Element.prototype.animate = function (...how) {
        moved.push(this.tagName);
        return animate.apply(this, how);
      };
      Object.assign(window, { moved });
    });
    const moved = () => page.evaluate(() => (window as unknown as { moved: string[] }).moved);
    await page.goto("/lab/crash?operation=append-that-spills&layout=ours&after=1");
    const sheets = page.getByTestId("sheets");
    await expect(sheets.first().getByRole("listitem")).toHaveText(["head5 of 5", "page 04 items"]);
    expect(await moved()).toEqual([]);
    // From there the head has spilled: its level falls.
    await page.locator("#point-ours-2").click();
    await expect(sheets.first().getByRole("listitem")).toHaveText(["head2 of 5", "page 04 items"]);
    const moves = reducedMotion === "no-preference";
    expect(new Set(await moved())).toEqual(new Set(moves ? ["rect"] : []));
    await page.locator("#point-ours-0").click();
    await expect(sheets.first().getByRole("listitem")).toHaveText(["head5 of 5"]);
    await page.locator("#point-ours-1").click();
    await expect(sheets.first().getByRole("listitem")).toHaveText(["head5 of 5", "page 04 items"]);
    expect(new Set(await moved())).toEqual(new Set(moves ? ["rect", "LI"] : []));
  });
}
