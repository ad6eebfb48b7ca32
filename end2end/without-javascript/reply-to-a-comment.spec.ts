import { Api } from "../api";
import { expect, test } from "../fixtures";

test("a comment is answered, its author is told, and finds the answer among many comments", async ({
  page,
  api,
  person,
  secondWindow,
}) => {
  const post = await api.post(`${person.name} asks something`);
  const window = await secondWindow();
  const other = new Api(window.request);
  const guest = await other.signUp();
  const asked = await other.comment(post.id, "Since when?");

  await page.goto(`/post/${post.id}`);
  const row = page.locator(`#comment-${asked.id}`);
  await row.getByText(`Reply to ${guest.name}`).click();
  await row.getByTestId("reply-form").getByRole("button", { name: "Reply" }).click();
  await expect(row.getByLabel("Your reply")).toHaveAttribute("aria-invalid", "true");
  await row.getByLabel("Your reply").fill("Since noon.");
  await row.getByTestId("reply-form").getByRole("button", { name: "Reply" }).click();
  const reply = page.getByTestId("comment").filter({ hasText: "Since noon." });
  await expect(reply).toContainText(`Replying to ${guest.name}`);
  for (let number = 0; number < 25; number += 1) {
    await api.comment(post.id, `And number ${number}`);
  }

  await expect(async () => {
    await window.goto("/notifications");
    await expect(window.getByText(`${person.name} replied to your comment`)).toBeVisible({ timeout: 200 });
  }).toPass();
  await window.getByTestId("notification").getByRole("link").last().click();
  const found = window.getByTestId("comment").first();
  await expect(found).toContainText("Since noon.");
  await found.getByRole("link", { name: guest.name }).click();
  await expect(window.getByTestId("comment").first()).toContainText("Since when?");
});

test("a comment is edited in its place, and says so", async ({ page, api, person }) => {
  const post = await api.post(`${person.name} has comments`);
  await api.comment(post.id, "A tpyo");
  await api.comment(post.id, "Another one");
  await page.goto(`/post/${post.id}`);
  await page.getByTestId("comment").last().getByRole("link", { name: "Edit this comment" }).click();
  const row = page.getByTestId("comment").filter({ hasText: "A tpyo" });
  const text = row.getByLabel("What the comment says");
  await expect(text).toHaveValue("A tpyo");
  await text.fill("No typo");
  await row.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("status").first()).toHaveText("Your comment is changed.");
  const edited = page.getByTestId("comment").first();
  await expect(edited.getByText("No typo")).toBeVisible();
  await expect(edited.locator(".edited")).toContainText("Edited");
});

test("a person chooses what they are told", async ({ page, person }) => {
  await page.goto("/settings");
  await page.getByRole("link", { name: "Choose your notifications" }).click();
  await page.getByLabel("likes my post", { exact: true }).uncheck();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByRole("status").first()).toContainText("Saved.");
  await expect(page.getByLabel("likes my post", { exact: true })).not.toBeChecked();
  await expect(page.getByLabel("follows me")).toBeChecked();
  await page.getByRole("link", { name: "notifications", exact: true }).click();
  await expect(page).toHaveURL(`/@${person.handle}/notifications`);
});
