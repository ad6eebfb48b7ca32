import AxeBuilder from "@axe-core/playwright";
import { test as base, expect, type BrowserContext, type Locator, type Page } from "@playwright/test";
import { Api, type Person } from "./api";

interface Fixtures {
  /** Console errors that a test provokes on purpose. */
  tolerated: RegExp[];
  /** The errors that browsers reported; a test that leaves something here fails. */
  complaints: string[];
  /** The API with the cookies of `page`. */
  api: Api;
  /** A new person, signed in on `page`. */
  person: Person;
  /** Opens a second browser, with its own cookies and errors; at another server if one is named. */
  secondWindow: (server?: string) => Promise<Page>;
}

export const test = base.extend<Fixtures>({
  tolerated: [[], { option: true }],

  complaints: [
    async ({ tolerated }, use) => {
      const complaints: string[] = [];
      await use(complaints);
      const unexpected = complaints.filter((complaint) => !tolerated.some((known) => known.test(complaint)));
      expect(
        unexpected,
        "the browser's console stays free of errors, broken content policies and hydration warnings",
      ).toEqual([]);
    },
    { auto: true },
  ],

  context: async ({ context, complaints }, use) => {
    listen(context, complaints);
    await use(context);
  },

  api: async ({ page }, use) => {
    await use(new Api(page.request));
  },

  person: async ({ api }, use) => {
    await use(await api.signUp());
  },

  secondWindow: async ({ browser, complaints, baseURL }, use) => {
    const opened: BrowserContext[] = [];
    await use(async (server = baseURL) => {
      const context = await browser.newContext({ baseURL: server });
      listen(context, complaints);
      opened.push(context);
      return context.newPage();
    });
    for (const context of opened) {
      await context.close();
    }
  },
});

export { expect };

/** Chromium's own console message when the server refuses a request, for tests that provoke it. */
export const REFUSALS = [/the server responded with a status of 4\d\d/];

/** Fails if axe finds a violation of WCAG 2.2 AA, or of the given rules only. */
export async function expectAccessible(page: Page, rules?: string[]): Promise<void> {
  const standards = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];
  // Otherwise axe opens another page for each result, to read frames from other places. No page here has frames.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ["violations"] });
  const { violations } = await (rules ? axe.withRules(rules) : axe.withTags(standards)).analyze();
  const found = violations.map(
    ({ id, help, nodes }) => `${id}: ${help}\n  ${nodes.map((node) => node.html).join("\n  ")}`,
  );
  expect(found).toEqual([]);
}

/** Fails unless the form shows the error at this field. */
export async function expectComplaint(field: Locator, message: RegExp): Promise<void> {
  await expect(field).toHaveAttribute("aria-invalid", "true");
  await expect(field).toHaveAccessibleDescription(message);
}

/** Opens a page and waits until its islands receive live updates. */
export async function gotoLive(page: Page, url: string): Promise<void> {
  const events = page.waitForResponse((response) => new URL(response.url()).pathname === "/api/v1/events");
  await page.goto(url);
  expect((await events).status()).toBe(200);
}

/**
 * Types into a form whose island is awake: its counter follows the typed text, which the server's page cannot do.
 * Text that is typed before that is handled by the server, as without JavaScript.
 */
export async function typeInto(form: Locator, text: string): Promise<void> {
  await expect(async () => {
    await form.getByRole("textbox").fill("");
    await form.getByRole("textbox").fill(text);
    await expect(form).toContainText(new RegExp(`(^|\\D)${text.length} / `), { timeout: 200 });
  }).toPass({ intervals: [50] });
}

/** A number on the overflow meter, such as `head` or `pages`. */
export async function meter(scope: Page | Locator, what: "head" | "threshold" | "pages"): Promise<number> {
  return Number(await scope.getByTestId("overflow-meter").first().getAttribute(`data-${what}`));
}

/** A count as a person reads it, such as `25,000`, as a number. */
export async function count(locator: Locator): Promise<number> {
  const digits = (await locator.innerText()).replaceAll(/[^\d]/g, "");
  expect(digits, "a count is written in digits").not.toBe("");
  return Number(digits);
}

/** A violation of the content security policy is a console error, too. */
function listen(context: BrowserContext, complaints: string[]): void {
  context.on("console", (message) => {
    const text = `${message.type()}: ${message.text()} (${message.location().url})`;
    if (message.type() === "error" || /hydrat/i.test(text)) {
      complaints.push(text);
    }
  });
  context.on("weberror", (error) => complaints.push(`uncaught: ${error.error().message}`));
}
