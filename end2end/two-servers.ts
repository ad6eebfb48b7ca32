import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { binary, environment } from "./server";

/** How long a server may take to start on a busy machine, in milliseconds. */
const PATIENCE = 20_000;

/** Two servers of the app over one store, which a third process keeps. */
export interface TwoServers {
  /** Where the servers are. */
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

/** A server on a free port, without the demo town. */
class Running {
  private readonly process: ChildProcess;
  private readonly lines: string[] = [];
  private heard: () => void = () => {};

  constructor(folder: string, store: Record<string, string>) {
    this.process = spawn(binary, ["serve", "--no-demo"], {
      cwd: folder,
      env: { ...process.env, ...environment, SPILLWAY_ADDR: "127.0.0.1:0", ...store },
      stdio: ["ignore", "pipe", "inherit"],
    });
    createInterface({ input: this.process.stdout! }).on("line", (line) => {
      this.lines.push(line);
      this.heard();
    });
  }

  /** What it prints that looks like this, as soon as it does. */
  says(pattern: RegExp): Promise<string> {
    return new Promise((found, failed) => {
      const late = setTimeout(() => failed(new Error(`${binary} never said ${pattern}`)), PATIENCE);
      this.heard = () => {
        const match = this.lines.join("\n").match(pattern);
        if (match) {
          clearTimeout(late);
          found(match[0]);
        }
      };
      this.process.once("error", failed);
      this.process.once("exit", () => failed(new Error(`${binary} ended and never said ${pattern}`)));
      this.heard();
    });
  }

  async stop(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const ended = once(this.process, "exit");
      this.process.kill("SIGTERM");
      await ended;
    }
  }
}
