import { Api } from "../api";
import { expect, test } from "../fixtures";

test("the number in the masthead moves while the page is open", async ({
  page,
  api,
  person,
  secondWindow,
}) => {
  const post = await api.post(`${person.name} is here`);
  const other = new Api((await secondWindow()).request);
  await other.signUp();
  const bell = (name: string) => page.getByRole("link", { name, exact: true });

  await page.goto("/settings");
  await expect(bell("Notifications")).toBeVisible();
  await other.like(post.id);
  await expect(bell("Notifications 1 unread")).toBeVisible();
  await other.comment(post.id, "Welcome!");
  await expect(bell("Notifications 2 unread")).toBeVisible();
  await other.unlike(post.id);
  await expect(bell("Notifications 1 unread")).toBeVisible();
  await other.like(post.id);
  await expect(bell("Notifications 2 unread")).toBeVisible();
});

test("what is marked as read in one tab is read in the others", async ({
  page,
  api,
  person,
  secondWindow,
}) => {
  const post = await api.post(`${person.name} has two tabs`);
  const other = new Api((await secondWindow()).request);
  await other.signUp();
  await other.like(post.id);
  const list = `/@${person.handle}/notifications`;
  await expect(async () => {
    await page.goto(list);
    await expect(page.getByRole("button", { name: "Mark all as read" })).toBeVisible({ timeout: 500 });
  }).toPass();
  const tab = await page.context().newPage();
  const script = tab.waitForResponse("**/forms.js");
  await tab.goto("/settings");
  await (await script).finished();
  await expect(tab.getByTestId("notification-count")).toHaveText("1");
  await page.getByRole("button", { name: "Mark all as read" }).click();
  await expect(tab.getByTestId("notification-count")).toHaveText("0");
});
