import { Api } from "../api";
import { expect, expectAccessible, gotoLive, test } from "../fixtures";
import { journeysAtTheInspector } from "../inspect";

journeysAtTheInspector();

test("likes from elsewhere show live; folds and focus stay", async ({ page, api, secondWindow }) => {
  const writer = await api.signUp();
  const post = await api.post(`${writer.name} is inspected`);
  await gotoLive(page, `/lab/inspect/post:${post.id}`);
  const head = page.getByTestId("in-the-head");
  await expect(head).toHaveText(/^0 of /);
  const folded = page.locator("details.document").first();
  await folded.locator("summary").first().click();
  await expect(folded).not.toHaveAttribute("open");
  const shares = page.getByRole("link", { name: /^Shares/ });
  await shares.focus();

  const other = new Api((await secondWindow()).request);
  await other.signUp();
  await other.like(post.id);
  await expect(head).toHaveText(/^1 of /);
  await expect(page.getByTestId("conclusion")).toContainText("The list has 1 item,");
  await expect(page.getByTestId("bson-size")).not.toHaveAttribute("data-bytes", "");
  await expect(folded).not.toHaveAttribute("open");
  await expect(shares).toBeFocused();
  await expectAccessible(page);
});

test("the drawer of a post leads to the inspector", async ({ page, api }) => {
  const viral = await api.viralPost();
  await page.goto(`/post/${viral.id}`);
  const drawer = page.getByTestId("post").first().locator("details.drawer");
  await expect(async () => {
    await drawer.getByText("How this is stored").click();
    await expect(drawer.locator(".stored")).toBeVisible({ timeout: 1_000 });
  }).toPass();
  await drawer.getByRole("link", { name: "Inspect every byte and every page" }).click();
  await expect(page).toHaveURL(`/lab/inspect/post:${viral.id}`);
});
