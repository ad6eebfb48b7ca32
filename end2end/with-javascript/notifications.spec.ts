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
});
