import { defineConfig } from "@playwright/test";
import journeys from "../playwright.config";

/** The whole lesson takes minutes, so it is run by hand: `npx playwright test --config end2end/lesson`. */
export default defineConfig(journeys, {
  testDir: import.meta.dirname,
  outputDir: "../test-results",
  workers: 1,
  use: { ...journeys.use, actionTimeout: 60_000 },
  projects: [{ name: "lesson" }],
});
