// @ts-check
// Runs a program that was compiled for WASI's first preview and needs little of it: arguments, output, clock and random
// numbers (https://github.com/WebAssembly/WASI/blob/main/legacy/preview1/docs.md). Whatever else it calls is refused.

const DONE = 0;
const NO_SUCH_FILE = 8;
const NOT_SUPPORTED = 58;

const encoder = new TextEncoder();

/** How a program ends that does not return. */
class Exit extends Error {
  /** @param {number} code */
  constructor(code) {
    super(`exit code ${code}`);
    this.code = code;
  }
}

/**
 * What the program wrote to its output. It fails with what the program wrote to its errors.
 *
 * @param {WebAssembly.Module} module
 * @param {string[]} args The first one is the program's name.
 * @returns {Promise<string>}
 */
export async function run(module, args) {
  const words = args.map((arg) => encoder.encode(`${arg}\0`));
  /** @type {Uint8Array[][]} By the number of the file: input, output, errors. */
  const written = [[], [], []];
  /** How long the program has slept, in nanoseconds. Its clocks go on by that, and nobody waits. */
  let slept = 0n;
  /** @type {WebAssembly.Memory} */
  let memory;
  const view = () => new DataView(memory.buffer);
  const bytes = (/** @type {number} */ at, /** @type {number} */ length) =>
    new Uint8Array(memory.buffer, at, length);
  const text = (/** @type {number} */ file) => decode(written[file] ?? []);

  /** @type {Record<string, (...parameters: number[]) => number>} */
  const calls = {
    args_sizes_get(count, size) {
      view().setUint32(count, words.length, true);
      view().setUint32(size, total(words), true);
      return DONE;
    },
    args_get(places, at) {
      for (const [nth, word] of words.entries()) {
        view().setUint32(places + 4 * nth, at, true);
        bytes(at, word.length).set(word);
        at += word.length;
      }
      return DONE;
    },
    environ_sizes_get(count, size) {
      view().setUint32(count, 0, true);
      view().setUint32(size, 0, true);
      return DONE;
    },
    environ_get: () => DONE,
    clock_time_get(clock, _precision, at) {
      const REALTIME = 0;
      const milliseconds = clock === REALTIME ? Date.now() : performance.now();
      view().setBigUint64(at, BigInt(Math.round(milliseconds * 1e6)) + slept, true);
      return DONE;
    },
    poll_oneoff(subscription, event, count, size) {
      const [tag, CLOCK, isAbsolute] = [
        view().getUint8(subscription + 8),
        0,
        view().getUint16(subscription + 40, true),
      ];
      if (count !== 1 || tag !== CLOCK || isAbsolute) return NOT_SUPPORTED;
      slept += view().getBigUint64(subscription + 24, true);
      bytes(event, 32).fill(0);
      view().setBigUint64(event, view().getBigUint64(subscription, true), true);
      view().setUint32(size, 1, true);
      return DONE;
    },
    random_get(at, length) {
      // A browser gives so many at a time.
      const MOST = 65_536;
      for (let from = 0; from < length; from += MOST) {
        crypto.getRandomValues(bytes(at + from, Math.min(MOST, length - from)));
      }
      return DONE;
    },
    fd_write(file, parts, count, size) {
      const chunks = written[file];
      if (!chunks) return NO_SUCH_FILE;
      let sum = 0;
      for (let nth = 0; nth < count; nth += 1) {
        const length = view().getUint32(parts + 8 * nth + 4, true);
        chunks.push(bytes(view().getUint32(parts + 8 * nth, true), length).slice());
        sum += length;
      }
      view().setUint32(size, sum, true);
      return DONE;
    },
    fd_prestat_get: () => NO_SUCH_FILE,
    sched_yield: () => DONE,
    proc_exit(code) {
      throw new Exit(code);
    },
  };
  const imports = WebAssembly.Module.imports(module).map(({ name }) => [
    name,
    calls[name] ?? (() => NOT_SUPPORTED),
  ]);
  const instance = await WebAssembly.instantiate(module, {
    wasi_snapshot_preview1: Object.fromEntries(imports),
  });
  memory = /** @type {WebAssembly.Memory} */ (instance.exports.memory);
  try {
    /** @type {() => void} */ (instance.exports._start)();
  } catch (error) {
    if (!(error instanceof Exit && error.code === 0)) throw new Error(text(2), { cause: error });
  }
  return text(1);
}

/** @param {Uint8Array[]} parts */
function total(parts) {
  return parts.reduce((sum, part) => sum + part.length, 0);
}

/** @param {Uint8Array[]} chunks */
function decode(chunks) {
  const whole = new Uint8Array(total(chunks));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return new TextDecoder().decode(whole);
}
