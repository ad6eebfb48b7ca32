import { Api } from "../api";
import { expect, test } from "../fixtures";

test("a like and a mention are told, counted in the masthead, and marked as read", async ({
  page,
  api,
  person,
  secondWindow,
}) => {
  const post = await api.post(`${person.name} is here`);
  const other = new Api((await secondWindow()).request);
  const fan = await other.signUp();
  await other.like(post.id);
  await other.post(`Welcome, @${person.handle}!`);

  await expect(async () => {
    await page.goto("/");
    await expect(page.getByRole("link", { name: "Notifications 2 unread" })).toBeVisible({ timeout: 200 });
  }).toPass();
  await page.getByRole("link", { name: "Notifications 2 unread" }).click();
  await expect(page.getByRole("heading", { name: "Notifications" })).toBeVisible();
  const told = page.getByTestId("notification");
  await expect(told.first()).toContainText(`New: ${fan.name} mentioned you`);
  await expect(told.last()).toContainText(`New: ${fan.name} liked your post`);

  await page.getByRole("button", { name: "Mark all as read" }).click();
  await expect(page.getByRole("status").first()).toHaveText("Your notifications are marked as read.");
  await expect(page.getByRole("link", { name: "Notifications", exact: true })).toBeVisible();
  await expect(told.first()).not.toContainText("New:");
});
