import { expect, expectComplaint, REFUSALS, test } from "../fixtures";

test.use({ tolerated: REFUSALS });

test("a post is written with a plain form", async ({ page, person }) => {
  const text = `No script was needed, says ${person.name}`;
  await page.goto("/");
  await page.getByTestId("composer").getByRole("textbox").fill(text);
  await page.getByTestId("composer").getByRole("button", { name: /post/i }).click();

  await page.goto(`/@${person.handle}`);
  await expect(page.getByTestId("post-text").filter({ hasText: text })).toBeVisible();
});

test("typed markup is shown as text and never run", async ({ page, api, person }) => {
  const text = `</textarea></title><script>document.title = "taken over"</script> & <b>${person.handle}</b>`;
  const post = await api.post(text);
  await page.goto(`/post/${post.id}`);
  await expect(page.getByTestId("post-text").first()).toHaveText(text);
});

for (const { what, text, message } of [
  { what: "an empty post", text: "   ", message: /empty/i },
  { what: "a post of 5,000 characters", text: "a".repeat(5_000), message: /500/ },
]) {
  test(`${what} is refused by the field and nothing is stored`, async ({ page, api, person }) => {
    await page.goto("/");
    const field = page.getByTestId("composer").getByRole("textbox");
    await field.fill(text);
    await page.getByTestId("composer").getByRole("button", { name: /post/i }).click();

    await expectComplaint(page.getByTestId("composer").getByRole("textbox"), message);
    expect(await api.postsOf(person.handle)).toBe(0);
  });
}
