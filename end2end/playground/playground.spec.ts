import type { Page } from "@playwright/test";
import { expect, expectAccessible } from "../fixtures";
import { test } from "./static-site";

/** What a pane shows, without the links, which lead to other places on the server, and without the marks of islands. */
async function contents(page: Page, html?: string): Promise<string> {
  return page.evaluate((html) => {
    const from = html === undefined ? document : new DOMParser().parseFromString(html, "text/html");
    const pane = from.querySelector(".pane")?.cloneNode(true) as Element;
    for (const link of pane.querySelectorAll("[href]")) link.removeAttribute("href");
    return pane.innerHTML.replaceAll("<!---->", "");
  }, html);
}

const ADDRESSES = [
  "race/",
  "race/?layout=check-then-act&clicks=abab",
  "race/?layout=guarded-append&clicks=abbbbbb",
  "race/?layout=ours&clicks=ababababab",
  "crash/",
  "crash/?operation=append-that-spills&layout=check-then-act&after=1",
  "crash/?operation=follow&layout=ours&after=2",
  "crash/?operation=delete-owner&layout=ours&after=1",
  "trace/?owner=sample&list=likes&steps=first.next.next",
  "trace/?owner=sample&list=likes&steps=first.10000.next.oldest.next",
  "decide/",
  "decide/?sizes=differ&largest=tenfold&share=few",
];

for (const address of ADDRESSES) {
  test(`${address} shows the same documents as on a server`, async ({ page, site, baseURL }) => {
    const served = await page.request.get(`${baseURL}/lab/${address.replace("/", "")}`);
    expect(served.status()).toBe(200);
    await page.goto(site + address);
    await expect(page.locator("html")).not.toHaveAttribute("data-waiting");
    await expect(page.locator(".pane")).toBeVisible();
    const expected = await contents(page, await served.text());
    expect(expected.length).toBeGreaterThan(500);
    expect(await contents(page)).toBe(expected);
  });
}

test("the race is played in the browser, and Back is undo", async ({ page, site }) => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(site);
  await page.getByRole("link", { name: "The race for the last place" }).click();
  await expect(page).toHaveURL(`${site}race/`);
  await page.locator("#go-ada").focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/clicks=a$/);
  await expect(page.locator("#go-ada")).toBeFocused();
  await expect(page.locator("#said")).not.toBeEmpty();
  await page.locator("#go-bob").click();
  await page.locator("#go-ada").click();
  await page.locator("#go-bob").click();
  const verdict = page.getByTestId("verdict");
  await expect(verdict).toHaveAttribute("data-holds", "false");
  await page.goBack();
  await expect(verdict).toHaveCount(0);
  await page.goForward();
  await expect(verdict).toHaveAttribute("data-holds", "false");
  expect(
    asked.filter((url) => !url.startsWith(site)),
    "nothing comes from elsewhere",
  ).toEqual([]);
});

test("the front page shows the pattern fail and hold, and leads to the commands", async ({ page, site }) => {
  await page.goto(site);
  const fails = page.getByTestId("outcome-check-then-act");
  await expect(fails.getByTestId("sheets")).toContainText("1,001 of 1,000");
  await expect(page.getByTestId("outcome-ours")).toContainText("Nothing is lost.");
  await fails.getByRole("link", { name: "See the commands" }).click();
  await expect(page.getByTestId("verdict")).toHaveAttribute("data-holds", "false");
  await page.getByRole("link", { name: "Spillway, front page" }).click();
  await page.getByTestId("outcome-ours").getByRole("link", { name: "See the commands" }).click();
  await expect(page.getByTestId("verdict")).toHaveAttribute("data-holds", "true");
});

test("every page of the playground is accessible, fits a phone, and leads nowhere in vain", async ({
  page,
  site,
}) => {
  for (const path of ["", "race/", "crash/", "trace/", "decide/"]) {
    await page.goto(site + path);
    await expect(page.getByRole("heading", { level: 1 })).toHaveCount(1);
    await expectAccessible(page);
    const links = await page
      .locator("a[href]")
      .evaluateAll((all) => all.map((a) => (a as HTMLAnchorElement).href));
    for (const link of new Set(links.map((href) => href.replace(/[?#].*/, "")))) {
      expect((await page.request.get(link)).status(), `${path}: ${link}`).toBe(200);
    }
    await page.setViewportSize({ width: 390, height: 844 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(wide, `${path} at 390 px`).toBeLessThanOrEqual(0);
    await page.setViewportSize({ width: 1440, height: 900 });
  }
});

test("a wrong address is refused by name", async ({ page, site }) => {
  await page.goto(`${site}race/?clicks=abx`);
  await expect(page.getByText("`clicks` is made of the letters a and b")).toBeVisible();
});

test.describe("where the program does not arrive", () => {
  test.use({ tolerated: [/ERR_FAILED|Failed to fetch/] });

  test("the page says so", async ({ page, site }) => {
    await page.route("**/playground.wasm", (route) => route.abort());
    await page.goto(`${site}race/?clicks=ab`);
    await expect(page.getByRole("alert")).toHaveText(/could not be made/);
    await page.unroute("**/playground.wasm");
    await page.reload();
    await expect(page.getByTestId("writer-ada")).toBeVisible();
  });
});

test.describe("without JavaScript", () => {
  test.use({ javaScriptEnabled: false });

  test("each page shows how it begins", async ({ page, site }) => {
    await page.goto(`${site}crash/`);
    await expect(page.locator("noscript p")).toBeVisible();
    await expect(page.locator(".pane")).toBeVisible();
  });
});
