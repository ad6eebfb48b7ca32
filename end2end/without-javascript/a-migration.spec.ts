import { expect, test } from "../fixtures";
import { expectNothingLost, startMigration } from "../migrate";
import { withServer } from "../storm";

test("a migration is started by a form, and a link shows its progress", async ({ page }) => {
  test.slow();
  await withServer(page, async (url) => {
    await startMigration(page, url);
    await expect(async () => {
      const again = page.getByRole("link", { name: "Refresh" });
      if (await again.isVisible()) {
        await again.click();
      }
      await expect(page.getByTestId("verdict")).toBeVisible({ timeout: 500 });
    }).toPass();
    await expectNothingLost(page, url);
  });
});
