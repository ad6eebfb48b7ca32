import { count, expect, test } from "./fixtures";

/** A student uses the read trace. It has only links, so the journey is the same with JavaScript. */
export function journeysAtTheTrace(): void {
  test("every step through the viral likes reads little, however far down it goes", async ({ page, api }) => {
    const viral = await api.viralPost();
    await page.goto("/lab");
    await page.getByRole("link", { name: "What reading costs" }).click();
    const rows = page.getByTestId("trace").locator("tbody tr");
    await expect(rows).toHaveCount(1);
    await expect(page.getByText(viral.author.name).first()).toBeVisible();

    for (const [nth, way] of [/^Scroll on/, /^Scroll on/, "To the oldest", "To number 10,000"].entries()) {
      await page.getByRole("link", { name: way }).click();
      await expect(rows).toHaveCount(nth + 2);
    }
    const all = await rows.all();
    for (const row of all) {
      expect(await count(row.locator("td").nth(0)), "items").toBe(50);
    }
    // A jump to a position counts what it passes over; the others go straight to their place.
    for (const row of all.slice(0, -1)) {
      const documents = Number(await row.getAttribute("data-documents"));
      expect(documents).toBeGreaterThan(0);
      expect(documents, "documents").toBeLessThan(8);
      expect(Number(await row.getAttribute("data-bytes")), "bytes").toBeLessThan(128 * 1024);
    }
    await expect(rows.last()).toContainText(/\d+ ×/);
    // What the last step read is drawn: each document, and the bytes beside those of one array.
    const read = page.getByTestId("read");
    const documents = Number(await rows.last().getAttribute("data-documents"));
    await expect(read.locator(".sheet-head")).toHaveCount(Math.min(documents, 8));
    await expect(read.locator("dd").first()).toContainText(`${documents} documents`);
    await expect(page.getByTestId("conclusion")).toContainText(`read ${documents} documents`);
    await expect(page.getByText("db.pages").first()).toBeVisible();
    await page.goBack();
    await expect(rows).toHaveCount(4);
    await page.getByRole("link", { name: /^Comments/ }).click();
    await expect(rows).toHaveCount(1);
    await expect(page).toHaveURL(/list=comments&steps=first$/);
  });
}
