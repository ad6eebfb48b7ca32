import { createReadStream, existsSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";
import { test as base } from "../fixtures";

const SITE = join(import.meta.dirname, "../../target/playground");
const TYPES: Record<string, string> = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".wasm": "application/octet-stream",
};

/** The playground below a path of a plain file server, which knows nothing about WebAssembly. */
export const test = base.extend<object, { site: string }>({
  site: [
    async ({}, use) => {
      if (!existsSync(SITE)) throw new Error("There is no playground. Build it: cargo xtask playground");
      const server = createServer((request, response) => {
        const asked = new URL(request.url ?? "/", "http://localhost").pathname;
        const path = normalize(asked.replace(/^\/below\//, "/").replace(/\/$/, "/index.html"));
        const file = join(SITE, path);
        if (!asked.startsWith("/below/") || !existsSync(file) || !statSync(file).isFile()) {
          response.writeHead(404).end();
          return;
        }
        response.writeHead(200, { "Content-Type": TYPES[extname(file)] ?? "application/octet-stream" });
        createReadStream(file).pipe(response);
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/below/`);
      server.closeAllConnections();
      server.close();
    },
    { scope: "worker" },
  ],
});
