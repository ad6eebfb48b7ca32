import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { test as base } from "../fixtures";
import { Running } from "../running";

/** The inputs of a picture besides the page. */
interface Makings {
  browser: string;
  /** The fonts that the page is actually rendered in, by place. */
  fonts: Record<string, string>;
}

interface Fixtures {
  /** Skips the test if the existing pictures were made with other inputs. */
  comparable: () => Promise<void>;
}

interface WorkerFixtures {
  /** The address of a demo town that nobody changes. */
  town: string;
}

const RECORD = join(import.meta.dirname, "made-with.json");

export const test = base.extend<Fixtures, WorkerFixtures>({
  town: [
    async ({}, use) => {
      const folder = mkdtempSync(join(tmpdir(), "spillway-pictures-"));
      const server = new Running(folder, { SPILLWAY_STORE: `embedded:${join(folder, "data")}` }, "demo town");
      try {
        await use(await server.says(/http:\/\/\S+/));
      } finally {
        await server.stop();
        rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
      }
    },
    { scope: "worker" },
  ],

  baseURL: async ({ town }, use) => use(town),

  comparable: async ({ page, browser }, use, info) => {
    await use(async () => {
      const here = { browser: browser.version(), fonts: await fonts(page) };
      if (["all", "changed"].includes(info.config.updateSnapshots)) {
        writeFileSync(RECORD, `${JSON.stringify(here, null, 2)}\n`);
        return;
      }
      const difference = tell(JSON.parse(readFileSync(RECORD, "utf8")) as Makings, here);
      if (difference) {
        console.log(`note: picture not compared: ${info.title}; ${difference}`);
      }
      test.skip(difference !== undefined, difference);
    });
  },
});

function tell(made: Makings, here: Makings): string | undefined {
  const words = ({ browser, fonts }: Makings) =>
    `Chromium ${browser} with ${Object.values(fonts).join(" and ")}`;
  return words(made) === words(here)
    ? undefined
    : `the pictures were made by ${words(made)}, and this is ${words(here)}`;
}

/** Asks the browser itself: the style only names the preferred fonts. */
async function fonts(page: Page): Promise<Record<string, string>> {
  await page.setContent("<p style='font: 16px sans-serif'>Spillway <b>12,345</b> <code>page</code></p>");
  const browser = await page.context().newCDPSession(page);
  await browser.send("DOM.enable");
  await browser.send("CSS.enable");
  const { root } = await browser.send("DOM.getDocument");
  const found: Record<string, string> = {};
  for (const selector of ["p", "b", "code"]) {
    const { nodeId } = await browser.send("DOM.querySelector", { nodeId: root.nodeId, selector });
    const { fonts } = await browser.send("CSS.getPlatformFontsForNode", { nodeId });
    const width = await page.locator(selector).evaluate((element) => {
      const range = document.createRange();
      range.selectNodeContents(element);
      return range.getBoundingClientRect().width;
    });
    found[selector] = `${fonts.map((font) => font.familyName).join(", ")} (${width.toFixed(2)} px)`;
  }
  await browser.detach();
  return found;
}
