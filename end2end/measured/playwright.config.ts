import { defineConfig } from "@playwright/test";
import journeys from "../playwright.config";

/** What is measured has the machine to itself: one page at a time, and no journeys beside it. */
export default defineConfig(journeys, {
  testDir: import.meta.dirname,
  outputDir: "../test-results",
  workers: 1,
  projects: [{ name: "measured" }],
});
