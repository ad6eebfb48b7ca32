import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Running } from "./running";

/** Two servers of the app over one store, which belongs to a third process. */
export interface TwoServers {
  /** The addresses of the servers. */
  urls: [string, string];
  stop: () => Promise<void>;
}

export async function startTwoServers(): Promise<TwoServers> {
  const folder = mkdtempSync(join(tmpdir(), "spillway-two-servers-"));
  const running: Running[] = [];
  const stop = async () => {
    for (const server of running.toReversed()) {
      await server.stop();
    }
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  const start = (store: Record<string, string>) => {
    const server = new Running(folder, store);
    running.push(server);
    return server;
  };
  try {
    const keeper = start({
      SPILLWAY_STORE: `embedded:${join(folder, "data")}`,
      SPILLWAY_MONGO_LISTEN: "127.0.0.1:0",
    });
    const store = await keeper.says(/mongodb:\/\/\S+/);
    const servers = [start({ SPILLWAY_STORE: store }), start({ SPILLWAY_STORE: store })] as const;
    const urls = await Promise.all([servers[0].says(/http:\/\/\S+/), servers[1].says(/http:\/\/\S+/)]);
    return { urls, stop };
  } catch (failure) {
    await stop();
    throw failure;
  }
}
