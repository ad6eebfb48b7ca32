import { defineConfig } from "@playwright/test";
import journeys from "../playwright.config";

/** Measurements have the machine to themselves: one page at a time, and no other tests. */
export default defineConfig(journeys, {
  testDir: import.meta.dirname,
  outputDir: "../test-results",
  workers: 1,
  projects: [{ name: "measured" }],
});
