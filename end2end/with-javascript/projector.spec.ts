import { afterAMigration, afterARaceOfLayouts, storm } from "../every-page";
import { expect, test } from "../fixtures";

const VERDICTS = [
  "/lab/race?clicks=abab",
  "/lab/crash?operation=append-again&layout=check-then-act&after=2",
  "/lab/decide?sizes=differ&largest=tenfold&share=few",
  "/lab/readings?hour=storm",
  "/lab/ledger?case=old",
  "/lab/console",
];

const PROJECTORS = [
  { width: 1280, height: 720 },
  { width: 1024, height: 768 },
];

for (const viewport of PROJECTORS) {
  test(`on a projector of ${viewport.width} by ${viewport.height}, verdicts need no scrolling`, async ({
    page,
  }) => {
    await page.setViewportSize(viewport);
    await page.goto("/lab/race");
    await expect(page.getByText("Ask the class")).toBeVisible();
    await page.keyboard.press("p");
    await expect(page.getByText("Ask the class")).toBeHidden();
    for (const path of VERDICTS) {
      await page.goto(path);
      // The device remembers it.
      await expect(page.getByText("Ask the class")).toBeHidden();
      const verdicts = page.locator(".verdict, .holds, .faults");
      for (const verdict of await verdicts.all()) await expect(verdict).toBeInViewport({ ratio: 1 });
      expect(await verdicts.count(), path).toBeGreaterThan(0);
    }
  });
}

const MEASURED = { storm, migration: afterAMigration, "race of the layouts": afterARaceOfLayouts };

for (const [name, measured] of Object.entries(MEASURED)) {
  test(`on a projector, the verdict of a ${name} and its first chart need no scrolling`, async ({
    page,
    api,
  }) => {
    test.slow();
    await measured(page, api);
    await page.evaluate(() => localStorage.setItem("projector", "on"));
    for (const viewport of PROJECTORS) {
      await page.setViewportSize(viewport);
      await page.reload();
      await expect(page.locator(".verdict").first()).toBeInViewport({ ratio: 1 });
      await expect(page.locator(".chart").first()).toBeInViewport({ ratio: 0.5 });
    }
  });
}

test("on a projector, the arrow keys lead from station to station, and the time is shown", async ({
  page,
}) => {
  await page.goto("/lab/race");
  const timer = page.locator("#timer");
  await expect(timer).toHaveText("12 minutes");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("p");
  await expect(timer).toHaveText(/^0:\d\d of 12 minutes$/);
  await page.keyboard.press("ArrowRight");
  await expect(page).toHaveURL("/lab/crash");
  await expect(page.getByRole("heading", { name: "A crash in the wrong place" })).toBeVisible();
  await page.keyboard.press("ArrowLeft");
  await expect(page).toHaveURL("/lab/race");
  await page.getByRole("link", { name: "Previous" }).click();
  await expect(page).toHaveURL("/lab/inspect");
  await page.keyboard.press("p");
  await expect(timer).toHaveText("10 minutes");
});

test("the slider of the tuner leads to the page of its budget, also on a projector", async ({ page }) => {
  await page.goto("/lab/tune?relation=likes&kb=16");
  const slider = page.getByRole("slider", { name: "Budget in KB" });
  await slider.press("ArrowRight");
  await expect(page).toHaveURL("/lab/tune?relation=likes&kb=17");
  await expect(page.getByRole("columnheader", { name: "With 17 KB" })).toBeVisible();
  await expect(slider).toHaveValue("17");
  await page.goBack();
  await expect(slider).toHaveValue("16");
  await page.setViewportSize(PROJECTORS[0]!);
  await page.evaluate(() => localStorage.setItem("projector", "on"));
  await page.reload();
  await expect(slider).toBeInViewport({ ratio: 1 });
  await slider.fill("64");
  await expect(page.getByTestId("conclusion")).toContainText("With a budget of 64 KB");
});

test("the projector view is switched by a button, too, and not while somebody writes", async ({ page }) => {
  await page.goto("/lab/console");
  const button = page.getByRole("button", { name: "Projector view" });
  await page.getByTestId("console-input").focus();
  await page.keyboard.type("db.posts.stop");
  await expect(button).toHaveAttribute("aria-pressed", "false");
  await button.click();
  await expect(button).toHaveAttribute("aria-pressed", "true");
  const banner = page.getByRole("banner");
  await expect(banner).not.toBeInViewport();
  await banner.getByRole("link", { name: "Explore" }).focus();
  await expect(banner).toBeInViewport();
  // Ids are short, and dates are no wrappers.
  const id = page.locator(".code-literal[data-short]").first();
  await expect(id).toHaveAttribute("data-short", /^…[0-9a-f]{4}$/);
  await button.press("Enter");
  await expect(banner).toBeInViewport();
});
