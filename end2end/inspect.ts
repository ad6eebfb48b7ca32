import { count, expect, REFUSALS, test } from "./fixtures";

/** A student uses the inspector. It has only links and one form, so the journeys are the same with JavaScript. */
export function journeysAtTheInspector(): void {
  test("the viral post is a small document and many pages, to the byte", async ({ page, api }) => {
    const viral = await api.viralPost();
    const { likes } = await api.overflow(`posts/${viral.id}`);
    await page.goto("/lab");
    await page.getByRole("link", { name: "Where every byte is" }).click();
    await page.getByRole("link", { name: "The most liked post" }).click();
    await expect(page).toHaveURL(/\/lab\/inspect\/post:/);
    await expect(page.getByText(`{"$uuid": "${viral.id}"}`).first()).toBeVisible();

    const parts = await page.getByTestId("byte-map").locator("tbody tr").all();
    let together = 0;
    for (const part of parts) {
      together += Number(await part.getAttribute("data-bytes"));
    }
    const size = page.getByTestId("bson-size");
    await expect(size).toHaveAttribute("data-bytes", String(together));
    expect(await count(size.locator("td").first())).toBe(together);
    expect(together).toBeLessThan(64 * 1024);

    const chain = page.getByTestId("chain");
    await expect(chain).toContainText(`The head and ${likes!.pages} pages.`);
    await chain.getByRole("link", { name: /^page 0 / }).click();
    await expect(page).toHaveURL(/list=likes&page=0$/);
    await expect(page.getByText("db.pages, page 0 of likes")).toBeVisible();
    await expect(page.getByText('"page": 0,')).toBeVisible();
    await expect(chain.locator("[aria-current]")).toContainText("page 0");
    await page.goBack();
    await expect(page.getByText(`db.pages, page ${likes!.pages - 1} of likes`)).toBeVisible();
  });

  test("a copied document is JSON, without the notes about it", async ({ page, api }) => {
    const viral = await api.viralPost();
    const { likes } = await api.overflow(`posts/${viral.id}`);
    await page.goto(`/lab/inspect/post:${viral.id}`);
    const body = page.locator(".document-body").first();
    await expect(body).toContainText(/"head": \[\d+ items/);
    const copied = await body.evaluate((element) => {
      const selection = getSelection()!;
      selection.selectAllChildren(element);
      return selection.toString();
    });
    const document = JSON.parse(copied);
    expect(document._id).toEqual({ $uuid: viral.id });
    expect(document.likes.pages).toBe(likes!.pages);
    // The page says how many elements it omits: of a long array it shows the first two and the last.
    expect(document.likes.head).toHaveLength(3);
  });

  test.describe("an unknown handle", () => {
    test.use({ tolerated: REFUSALS });

    test("a handle leads to its owner, and an unknown one is reported at its field", async ({
      page,
      api,
    }) => {
      const celebrity = await api.celebrity();
      await page.goto("/lab/inspect");
      const field = page.getByLabel("A handle, or the address of a post");
      await field.fill("nobody-of-that-name");
      await page.getByRole("button", { name: "Inspect" }).click();
      await expect(field).toHaveAccessibleDescription(/nobody called @nobody-of-that-name/);
      await field.fill(`@${celebrity}`);
      await page.getByRole("button", { name: "Inspect" }).click();
      await expect(page).toHaveURL(`/lab/inspect/user:${celebrity}`);
      await page.getByRole("link", { name: /^Activities/ }).click();
      await expect(page.getByText("db.users")).toBeVisible();
      await expect(page.getByText(/page \d+ of activities|One document\./).first()).toBeVisible();
    });
  });

  test("the decision guide leads to the outlier pattern by three answers", async ({ page }) => {
    await page.goto("/lab/decide");
    for (const answer of ["Yes, they can", "Yes, ten times and more", "Yes: they are the exception"]) {
      await page.getByTestId("question").getByRole("link", { name: answer }).click();
    }
    const advice = page.getByTestId("advice");
    await expect(advice).toContainText("Outlier: a head, and pages for the few that need them");
    await expect(advice).toContainText("How to Create MongoDB Outlier Patterns");
    await page.getByRole("link", { name: /^Answer again.*Are such long lists/ }).click();
    await page.getByTestId("question").getByRole("link", { name: "No: long lists are the rule" }).click();
    await page
      .getByTestId("question")
      .getByRole("link", { name: /both directions/ })
      .click();
    await expect(advice).toContainText("Edge: a document for each item");
    await page.goBack();
    await expect(page.getByTestId("question")).toContainText("what do readers ask for?");
  });
}
