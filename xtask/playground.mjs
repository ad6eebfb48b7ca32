// Makes the static site of the playground: runs its program once for each page, and prints the size of the program
// after compression, in bytes.
import { execFileSync } from "node:child_process";
import { cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { constants, brotliCompressSync } from "node:zlib";
import { run } from "../crates/playground/site/wasi.js";

// The program, and the folder of the site.
const [program, site] = process.argv.slice(2);

/** Every page as it is without a query: its file, and its address in the workshop. */
const PAGES = {
  "index.html": "/lab",
  "race/index.html": "/lab/race",
  "crash/index.html": "/lab/crash",
  "trace/index.html": "/lab/trace",
  "decide/index.html": "/lab/decide",
};

/** Runs a program from an npm package. */
function tool(name, ...options) {
  const windows = process.platform === "win32";
  const program = join("node_modules", ".bin", windows ? `${name}.cmd` : name);
  execFileSync(program, options, { stdio: "inherit", shell: windows });
}

// A complete site stays until the new one takes its place.
const made = `${site}.new`;
await rm(made, { recursive: true, force: true });
await mkdir(made, { recursive: true });
for (const script of ["playground.js", "waiting.js", "wasi.js"]) {
  await cp(join("crates/playground/site", script), join(made, script));
}
for (const script of ["projector.js", "sheets.js"]) {
  await cp(join("public", script), join(made, script));
}
const style = join(made, "playground.css");
tool("tailwindcss", "--input", "crates/playground/site/playground.css", "--output", style, "--minify");

// wasm-opt takes minutes here, and after compression nothing is gained.
const bytes = await readFile(program);
await writeFile(join(made, "playground.wasm"), bytes);
const module = await WebAssembly.compile(bytes);
for (const [file, address] of Object.entries(PAGES)) {
  const path = join(made, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, await run(module, ["playground", address]));
}
await rm(site, { recursive: true, force: true });
await rename(made, site);

const compressed = brotliCompressSync(bytes, {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  },
});
console.log(compressed.length);
