import { existsSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "@playwright/test";
import { serverUnderTest } from "./server";

const installed = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const chromium = process.env.CHROMIUM || installed.find((path) => existsSync(path));
const { url, webServer } = await serverUnderTest();

export default defineConfig({
  testDir: ".",
  outputDir: "test-results",
  workers: 2,
  retries: 0,
  fullyParallel: true,
  forbidOnly: !!process.env.CI,
  // Long enough for a busy machine: no test measures time.
  timeout: 90_000,
  expect: { timeout: 15_000 },
  reporter: [["list"]],
  webServer,
  globalTeardown: join(import.meta.dirname, "remove-store.ts"),
  use: {
    baseURL: url,
    browserName: "chromium",
    // Without a path, Playwright looks for the Chrome that macOS and Windows users have.
    channel: chromium ? undefined : "chrome",
    locale: "en-GB",
    timezoneId: "UTC",
    viewport: { width: 1440, height: 900 },
    // Recording one takes a third of the time: `--trace retain-on-failure` does it where a test fails.
    trace: "off",
    screenshot: "only-on-failure",
    launchOptions: {
      executablePath: chromium,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
  projects: [
    { name: "with JavaScript", testDir: "with-javascript" },
    { name: "without JavaScript", testDir: "without-javascript", use: { javaScriptEnabled: false } },
    {
      name: "on a phone",
      testDir: "on-a-phone",
      use: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
    },
    { name: "playground", testDir: "playground" },
    {
      name: "pictures",
      testDir: "pictures",
      snapshotPathTemplate: "{testDir}/{arg}{ext}",
    },
  ],
});
