import { expect, test } from "../fixtures";

const WIDTHS = [320, 390, 560, 639, 768, 1440];

for (const who of ["a stranger", "a member"]) {
  test(`${who} finds every way in the masthead, at every width`, async ({ page, api }) => {
    if (who === "a member") {
      await api.signUp();
    }
    await page.goto("/explore");
    const masthead = page.getByRole("banner");
    const account =
      who === "a member"
        ? masthead.getByRole("button", { name: "Sign out" })
        : masthead.getByRole("link", { name: "Sign up" });
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 844 });
      for (const name of ["Home", "Explore", "Search", "Workshop"]) {
        const way = masthead.getByRole("navigation", { name: "Main" }).getByRole("link", { name });
        await expect(way, `${name} at ${width} px`).toBeInViewport({ ratio: 1 });
      }
      await expect(account, `at ${width} px`).toBeInViewport({ ratio: 1 });
    }
    await masthead.getByRole("link", { name: "Workshop" }).click();
    await expect(page).toHaveURL(/\/lab$/);
  });
}
