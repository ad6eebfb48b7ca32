import { expect, test } from "./fixtures";

/** A student answers the questions. They are plain forms, so the journey is the same with JavaScript. */
export function answersAreTriedOut(): void {
  test("an answer is tried out on the real code, and the result is shown", async ({ page }) => {
    await page.goto("/lab");
    await page.getByRole("link", { name: /six exercises/ }).click();
    const race = page
      .getByRole("listitem")
      .filter({ has: page.getByRole("heading", { name: "2. The race" }) });
    for (const [answer, verdict] of [
      ["aaaabbbb", "Not yet. The document holds 1,000 items"],
      ["ab", "Not yet. After these clicks, 0 of the two writers are done."],
      ["abab", "Right. The document holds 1,001 items"],
    ] as const) {
      await race.getByRole("textbox").fill(answer);
      await race.getByRole("button", { name: "Try it" }).click();
      await expect(race.getByTestId("exercise-verdict")).toContainText(verdict);
      await expect(race.getByRole("textbox")).toHaveValue(answer);
    }
    const wall = page
      .getByRole("listitem")
      .filter({ has: page.getByRole("heading", { name: "1. The wall" }) });
    await wall.getByRole("textbox").fill("300,000");
    await wall.getByRole("button", { name: "Try it" }).click();
    await expect(wall.getByTestId("exercise-verdict")).toContainText(
      "The engine refuses more than 16,777,216",
    );
    await expect(page.getByTestId("exercise-verdict")).toHaveCount(1);
  });
}
