import { expect, gotoLive, REFUSALS, test, typeInto } from "../fixtures";

test.use({ tolerated: REFUSALS });

test("a reader who was signed out meanwhile sees that at the button, with a link to sign in", async ({
  page,
  api,
  person,
}) => {
  const post = await api.post(`${person.name} was away too long`);
  await gotoLive(page, `/post/${post.id}`);
  await api.signOut();
  await page.getByTestId("like-button").click();
  const told = page.getByRole("alert").filter({ hasText: "Sign in first" });
  await expect(told.getByRole("link", { name: "Sign in" })).toHaveAttribute(
    "href",
    `/login?next=${encodeURIComponent(`/post/${post.id}`)}`,
  );

  const form = page.getByTestId("comment-form");
  await typeInto(form, "Not lost");
  await form.getByRole("button").click();
  await form.getByRole("alert").getByRole("link", { name: "Sign in" }).click();
  await page.getByLabel("Handle").fill(person.handle);
  await page.getByLabel("Password").fill(person.password);
  await page.getByRole("main").getByRole("button", { name: "Sign in", exact: true }).click();
  await expect(page).toHaveURL(`/post/${post.id}`);
  await expect(form.getByRole("textbox"), "what was typed is there again").toHaveValue("Not lost");
});
