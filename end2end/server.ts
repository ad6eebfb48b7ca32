import { mkdtempSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { PlaywrightTestConfig } from "@playwright/test";

const repository = resolve(import.meta.dirname, "..");
const suffix = process.platform === "win32" ? ".exe" : "";

/** The program under test: the release build, unless SPILLWAY_BINARY names another. */
export const binary =
  process.env.SPILLWAY_BINARY ?? join(repository, "target", "release", `spillway${suffix}`);

/** The settings of every server that the tests start. */
export const environment: Record<string, string> = {
  SPILLWAY_RATE_LIMIT: "off",
  RUST_LOG: "warn",
  LEPTOS_ENV: "PROD",
  LEPTOS_OUTPUT_NAME: "spillway",
  LEPTOS_SITE_ROOT: join(repository, "target", "site"),
  LEPTOS_SITE_PKG_DIR: "pkg",
  LEPTOS_HASH_FILES: "true",
  LEPTOS_HASH_FILE_NAME: "hash.txt",
};

/**
 * The server that the tests run against: the one at SPILLWAY_URL if that is set, otherwise the release
 * build on free ports, with the demo town in its own store, which is removed afterwards.
 */
export async function serverUnderTest(): Promise<{
  url: string;
  webServer?: PlaywrightTestConfig["webServer"];
}> {
  if (process.env.SPILLWAY_URL) {
    return { url: process.env.SPILLWAY_URL.replace(/\/$/, "") };
  }
  // Workers load this file again; they inherit the settings of the first load.
  const port = (process.env.SPILLWAY_TEST_PORT ??= String(await freePort()));
  const adminPort = (process.env.SPILLWAY_TEST_ADMIN_PORT ??= String(await freePort()));
  const store = (process.env.SPILLWAY_TEST_STORE ??= mkdtempSync(join(tmpdir(), "spillway-end2end-")));
  const url = `http://127.0.0.1:${port}`;
  return {
    url,
    webServer: {
      command: `"${binary}" serve`,
      cwd: store,
      url: `${url}/readyz`,
      // Long enough to load the demo town on a slow machine.
      timeout: 120_000,
      stdout: "ignore",
      stderr: "pipe",
      gracefulShutdown: { signal: "SIGTERM", timeout: 5_000 },
      env: {
        SPILLWAY_ADDR: `127.0.0.1:${port}`,
        SPILLWAY_ADMIN_ADDR: `127.0.0.1:${adminPort}`,
        SPILLWAY_STORE: `embedded:${join(store, "data")}`,
        ...environment,
      },
    },
  };
}

/** A port that nobody listens on at this moment. */
export function freePort(): Promise<number> {
  return new Promise((found, failed) => {
    const probe = createServer();
    probe.on("error", failed);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() =>
        address && typeof address === "object"
          ? found(address.port)
          : failed(new Error("the system gave no port")),
      );
    });
  });
}
