import { stranger } from "../api";
import { expect, expectComplaint, REFUSALS, test } from "../fixtures";

test.use({ tolerated: REFUSALS });

test("somebody signs up, out and in again with their password", async ({ page }) => {
  const { handle, name, password } = stranger();
  const signOut = page.getByRole("button", { name: "Sign out" });

  await page.goto("/signup");
  await page.getByLabel("Handle").fill(handle);
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("main").getByRole("button", { name: "Sign up" }).click();
  await signOut.click();
  await expect(signOut).toHaveCount(0);

  await page.goto("/login");
  await page.getByLabel("Handle").fill(handle);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("main").getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(signOut).toBeVisible();
});

test("a demo person is signed in by one click", async ({ page }) => {
  await page.goto("/login");
  await page
    .getByRole("button", { name: /^Sign in as / })
    .first()
    .click();
  await expect(page.getByRole("button", { name: "Sign out" })).toBeVisible();
});

test("a wrong password is reported at the field", async ({ page, api, person }) => {
  await api.signOut();
  await page.goto("/login");
  await page.getByLabel("Handle").fill(person.handle);
  await page.getByLabel("Password").fill("not the password");
  await page.getByRole("main").getByRole("button", { name: "Sign in", exact: true }).click();

  await expectComplaint(page.getByLabel("Password"), /password/i);
  await expect(page.getByLabel("Handle"), "what was typed is not lost").toHaveValue(person.handle);
  await expect(page.getByRole("button", { name: "Sign out" })).toHaveCount(0);
});

test("a taken handle is reported at the field", async ({ page, api, person }) => {
  await api.signOut();
  await page.goto("/signup");
  await page.getByLabel("Handle").fill(person.handle);
  await page.getByLabel("Name", { exact: true }).fill("Somebody else");
  await page.getByLabel("Password").fill("long enough, surely");
  await page.getByRole("main").getByRole("button", { name: "Sign up" }).click();

  await expectComplaint(page.getByLabel("Handle"), /taken/i);
});

test("the link into the demo town shows its people before the password form", async ({ page }) => {
  await page.goto("/");
  await page.getByRole("link", { name: "Try the demo town" }).click();
  const main = page.getByRole("main");
  await expect(main.getByRole("heading", { level: 1 })).toHaveText("Try the demo town");
  await expect(main.getByRole("button").first()).toHaveText(/^Sign in as /);
  await expect(main.getByLabel("Password")).toHaveCount(1);
  await main.getByRole("button").first().click();
  await expect(page.getByRole("button", { name: "Sign out" })).toBeVisible();
});

test("a reader who was signed out meanwhile sees that, with a link to sign in", async ({
  page,
  api,
  person,
}) => {
  const post = await api.post(`${person.name} was away too long`);
  await page.goto(`/post/${post.id}`);
  await api.signOut();
  await page.getByTestId("like-button").click();
  const told = page.getByRole("alert").filter({ hasText: "Sign in first" });
  await told.getByRole("link", { name: "Sign in" }).click();
  await page.getByLabel("Handle").fill(person.handle);
  await page.getByLabel("Password").fill(person.password);
  await page.getByRole("main").getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page).toHaveURL(`/post/${post.id}`);
});
