import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { binary, environment } from "./server";

/** How long a server may take to start on a busy machine, in milliseconds. */
const PATIENCE = 120_000;

/** A separate server, on a free port unless an address is given. It has no demo town unless requested. */
export class Running {
  private readonly process: ChildProcess;
  private readonly lines: string[] = [];
  private heard: () => void = () => {};

  constructor(folder: string, settings: Record<string, string>, town: "demo town" | "no town" = "no town") {
    this.process = spawn(binary, town === "no town" ? ["serve", "--no-demo"] : ["serve"], {
      cwd: folder,
      env: { ...process.env, ...environment, SPILLWAY_ADDR: "127.0.0.1:0", ...settings },
      stdio: ["ignore", "pipe", "inherit"],
    });
    createInterface({ input: this.process.stdout! }).on("line", (line) => {
      this.lines.push(line);
      this.heard();
    });
  }

  /** The number of its process. */
  get id(): number {
    return this.process.pid!;
  }

  /** Waits for output that matches a pattern, and returns it. */
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

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) {
      const ended = once(this.process, "exit");
      this.process.kill(signal);
      await ended;
    }
  }
}
