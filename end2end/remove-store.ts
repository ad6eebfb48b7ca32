import { rmSync } from "node:fs";

/** Removes the store that the test server wrote to. */
export default function removeStore(): void {
  if (process.env.SPILLWAY_TEST_STORE) {
    rmSync(process.env.SPILLWAY_TEST_STORE, { recursive: true, force: true, maxRetries: 5 });
  }
}
