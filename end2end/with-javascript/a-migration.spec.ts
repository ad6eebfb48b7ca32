import { expect, test } from "../fixtures";
import { expectNothingLost, startMigration } from "../migrate";
import { withServer } from "../storm";

test("an array is migrated while people like the post, and every browser sees that nothing is lost", async ({
  page,
  secondWindow,
}) => {
  test.slow();
  await withServer(page, async (url) => {
    const onlooker = await secondWindow(url);
    await onlooker.goto("/lab/migrate");
    await expect(onlooker.getByRole("heading", { name: "No migration yet" })).toBeVisible();
    await startMigration(page, url);
    // Neither page is reloaded: both refresh themselves.
    for (const window of [page, onlooker]) {
      await expect(window.getByTestId("migration")).toHaveAttribute("data-phase", "finished", {
        timeout: 30_000,
      });
      await expectNothingLost(window, url);
    }
  });
});
