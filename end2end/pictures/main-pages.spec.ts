import type { Page } from "@playwright/test";
import { Api } from "../api";
import { expect } from "../fixtures";
import { test } from "./town";

const SIZES = { "390": { width: 390, height: 640 }, "1440": { width: 1440, height: 640 } };

/** The addresses, in a town that nobody else changes. */
const SIGHTS: Record<string, (page: Page, api: Api) => Promise<void>> = {
  home: async (page) => void (await page.goto("/")),
  explore: async (page) => void (await page.goto("/explore")),
  "viral-post": async (page, api) => void (await page.goto(`/post/${(await api.viralPost()).id}`)),
  "likes-at-a-seam": async (page, api) => {
    await page.goto(`/post/${(await api.viralPost()).id}/likes`);
    await page
      .getByTestId("seam")
      .first()
      .evaluate((seam) => seam.scrollIntoView({ block: "center" }));
  },
  profile: async (page, api) => void (await page.goto(`/@${await api.celebrity()}`)),
  settings: async (page) => {
    await page.goto("/login?next=/settings");
    await page
      .getByRole("button", { name: /^Sign in as / })
      .first()
      .click();
    await expect(page.getByRole("heading", { name: "Settings" })).toBeVisible();
  },
  "sign-in": async (page) => void (await page.goto("/login")),
};

for (const [name, open] of Object.entries(SIGHTS)) {
  for (const [width, viewport] of Object.entries(SIZES)) {
    test(`${name} at ${width} px looks as it did`, async ({ page, comparable }) => {
      await comparable();
      await page.setViewportSize(viewport);
      await open(page, new Api(page.request));
      await pinTimes(page);
      for (const colorScheme of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        await expect(page).toHaveScreenshot(`${name}-${width}-${colorScheme}.png`, {
          maxDiffPixelRatio: 0.001,
        });
      }
    });
  }
}

/** The town is the same every day, except for its dates and what happened within a day. */
async function pinTimes(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const time of document.querySelectorAll("time")) {
      time.textContent = time.matches(".moment, .byline time") ? "3d ago" : "1 Mar 2026";
    }
    for (const unread of document.querySelectorAll("[data-testid=notification-count]")) {
      unread.textContent = "3";
    }
  });
}
