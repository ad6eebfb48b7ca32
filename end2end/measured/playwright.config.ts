import { defineConfig } from "@playwright/test";
import journeys from "../playwright.config";

/** Measurements, and a class of thirty, have the machine to themselves: one test at a time, and no others. */
export default defineConfig(journeys, {
  testDir: import.meta.dirname,
  outputDir: "../test-results",
  workers: 1,
  projects: [{ name: "measured" }],
});
