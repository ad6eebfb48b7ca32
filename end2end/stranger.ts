import { Api, stranger } from "./api";
import { expect, REFUSALS, test } from "./fixtures";

/**
 * A visitor who knows only the address: every step is found on the page itself. All of it
 * works with JavaScript and without, so the journey is the same.
 */
export function theWayOfAStranger(): void {
  test.use({ tolerated: REFUSALS });

  test("a new visitor finds everything: from signing up over the oldest like to leaving", async ({
    page,
  }) => {
    test.slow();
    const { handle, name, password } = stranger();
    const main = page.getByRole("main");
    const masthead = page.getByRole("banner");
    await page.goto("/");
    await masthead.getByRole("link", { name: "Sign up" }).click();
    await page.getByLabel("Handle").fill(handle);
    await page.getByLabel("Name", { exact: true }).fill(name);
    await page.getByLabel("Password").fill(password);
    await main.getByRole("button", { name: "Sign up" }).click();

    const composer = page.getByTestId("composer");
    await composer.getByRole("textbox").fill(`${name} has arrived`);
    await composer.getByRole("button", { name: "Post" }).click();
    await expect(page.getByTestId("post-text").getByText(`${name} has arrived`)).toBeVisible();

    await masthead.getByRole("link", { name: "Explore" }).click();
    const viral = page.getByTestId("post").first();
    await viral.getByTestId("like-button").click();
    await expect(viral.getByTestId("like-button")).toHaveAttribute("aria-pressed", "true");
    await viral.getByTestId("share-button").click();
    await expect(viral.getByTestId("share-button")).toHaveAttribute("aria-pressed", "true");
    await viral.getByRole("link").first().click();
    await page.getByTestId("follow-button").click();
    await expect(page.getByTestId("follow-button")).toHaveAttribute("aria-pressed", "true");

    await masthead.getByRole("link", { name: "Explore" }).click();
    await viral.getByRole("link", { name: /^Comments on the post by / }).click();
    const form = page.getByTestId("comment-form");
    await form.getByRole("textbox").fill(`${name} was here`);
    await form.getByRole("button", { name: "Comment" }).click();
    await expect(page.getByTestId("comment").getByText(`${name} was here`)).toBeVisible();

    await main.getByRole("link", { name: /^[\d,]+ likes?$/ }).click();
    const likers = page.getByTestId("feed").getByRole("article");
    await expect(page.getByTestId("feed").getByRole("link", { name })).toBeVisible();
    const list = new URL(page.url()).pathname.replace("/post/", "posts/");
    await main.getByRole("link", { name: "Oldest first" }).click();
    await expect(page).toHaveURL(/\?order=oldest$/);
    await expect(likers.first()).toHaveAttribute("aria-posinset", "1");
    const all = await new Api(page.request).people(list, Infinity);
    await expect(likers.nth(0).getByRole("link")).toHaveAttribute("href", `/@${all.at(-1)}`);
    await expect(likers.nth(1).getByRole("link")).toHaveAttribute("href", `/@${all.at(-2)}`);
    await main.getByRole("link", { name: "Back to the newest" }).click();
    await expect(page.getByTestId("feed").getByRole("link", { name })).toBeVisible();

    await masthead.getByRole("link", { name: `Your page, ${name}` }).click();
    await main.getByRole("link", { name: "Settings" }).click();
    await page.getByText("Delete my account…").click();
    await page.getByLabel("Type your handle to confirm").fill(handle);
    await page.getByRole("textbox", { name: "Password", exact: true }).fill(password);
    await page.getByRole("button", { name: "Delete my account permanently" }).click();
    await expect(page.getByText("Your account is deleted")).toBeVisible();
    expect((await page.goto(`/@${handle}`))?.status()).toBe(404);
  });
}
