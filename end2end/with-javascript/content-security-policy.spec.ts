import { expect, gotoLive, test } from "../fixtures";

test("every page works within its content security policy", async ({ page, api, person }) => {
  test.slow();
  const { id } = await api.post("Nothing to see here");
  const viral = await api.viralPost();
  const live = ["/", "/explore", `/post/${id}`, `/post/${viral.id}`, `/@${person.handle}`];
  const still = [
    ...["likes", "shares", "comments"].map((list) => `/post/${viral.id}/${list}`),
    ...["followers", "following", "activity"].map((list) => `/@${viral.author.handle}/${list}`),
    "/login",
    "/signup",
    "/api",
  ];
  for (const url of [...live, ...still]) {
    await test.step(url, async () => {
      await (live.includes(url) ? gotoLive(page, url) : page.goto(url));
      await expect(page.getByRole("main")).toBeVisible();
      // The style sheet has loaded: without it nothing has this colour.
      await expect(page.locator("html")).not.toHaveCSS("background-color", "rgba(0, 0, 0, 0)");
    });
  }
});

test.describe("markup that got into a page", () => {
  test.use({ tolerated: [/Content Security Policy/i] });

  test("runs no script, not even from an attribute or an address", async ({ page, complaints }) => {
    await page.goto("/");
    await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "window.name = 'taken over'";
      const image = document.createElement("div");
      image.innerHTML = `<img src="data:," onerror="window.name = 'taken over'">`;
      document.body.append(script, image);
      location.href = "javascript:window.name = 'taken over'";
    });
    await expect
      .poll(() => complaints.filter((complaint) => /Content Security Policy/i.test(complaint)).length)
      .toBeGreaterThanOrEqual(3);
    expect(await page.evaluate(() => window.name)).toBe("");
  });
});
