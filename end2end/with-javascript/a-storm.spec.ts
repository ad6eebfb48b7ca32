import { test, expect, REFUSALS } from "../fixtures";
import { expectExactly, signUp, start, withServer } from "../storm";

test.use({ tolerated: REFUSALS });

test("a running storm is visible in every browser, and its counts are exact", async ({
  page,
  secondWindow,
}) => {
  test.slow();
  await withServer(page, async (url) => {
    const onlooker = await secondWindow(url);
    await onlooker.goto("/lab/storm");
    await expect(onlooker.getByText("No storm has run yet.")).toBeVisible();
    await signUp(page, url, "ada");
    await start(page, 50, 4);

    // Neither page is reloaded: both refresh themselves.
    for (const window of [page, onlooker]) {
      await expect(window.getByTestId("storm-phase")).toHaveAttribute("data-phase", "running");
      await expect(window.getByRole("img", { name: /How long a like took/ })).toBeVisible();
    }
    await page.getByLabel("People").fill("77");
    for (const window of [page, onlooker]) {
      await expect(window.getByTestId("storm-phase")).toHaveAttribute("data-phase", "over", {
        timeout: 60_000,
      });
      await expectExactly(window, url, "355");
      await expect(window.locator("#said")).toHaveText("The storm is over. The list is correct.");
    }
    await expect(page.getByLabel("People")).toHaveValue("77");
  });
});

test("a second storm is refused while one is running, and the first can be stopped", async ({
  page,
  secondWindow,
}) => {
  test.slow();
  await withServer(page, async (url) => {
    await signUp(page, url, "ada");
    await start(page, 20, 60);
    await expect(page.getByRole("button", { name: "Stop" })).toBeVisible();
    const teacher = await secondWindow(url);
    await signUp(teacher, url, "bob");
    await start(teacher, 20, 60);
    await expect(teacher.getByRole("alert")).toContainText("A storm of @ada is running");
    await teacher.getByRole("button", { name: "Stop" }).click();
    for (const window of [page, teacher]) {
      await expect(window.getByRole("heading", { name: "The storm was stopped" })).toBeVisible();
      await expect(window.getByTestId("verdict")).toContainText("The list is correct");
    }
  });
});
