import { expect, test } from "../fixtures";
import { expectExactly, signUp, start, withServer } from "../storm";

test("a storm is started by a form, and a link shows its progress", async ({ page }) => {
  test.slow();
  await withServer(page, async (url) => {
    await signUp(page, url, "ada");
    await start(page, 100, 2);
    await expect(async () => {
      const again = page.getByRole("link", { name: "Refresh" });
      if (await again.isVisible()) {
        await again.click();
      }
      await expect(page.getByTestId("verdict")).toBeVisible({ timeout: 500 });
    }).toPass();
    await expectExactly(page, url, "355");
  });
});
