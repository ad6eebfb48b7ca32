// Makes the folder that the server serves: styles, the module that browsers load, and everything in public/. Names carry
// a hash of the contents, hash.txt tells the server those names, and beside every file that shrinks lie a .br and a .gz.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cp, mkdir, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { transform } from "esbuild";

// The folder that wasm-bindgen wrote, the site, and the file with the hashes.
const [bindings, site, hashes] = process.argv.slice(2);
const compressible = /\.(js|wasm|css|svg|html|json|txt|xml|webmanifest|ico|map)$/;

/** Runs a program from an npm package. */
function run(name, ...options) {
  const windows = process.platform === "win32";
  const program = join("node_modules", ".bin", windows ? `${name}.cmd` : name);
  execFileSync(program, options, { stdio: "inherit", shell: windows });
}

async function compress(path) {
  const original = await readFile(path);
  const [br, gz] = await Promise.all([
    promisify(brotliCompress)(original, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
        [constants.BROTLI_PARAM_SIZE_HINT]: original.length,
      },
    }),
    promisify(gzip)(original, { level: constants.Z_BEST_COMPRESSION }),
  ]);
  if (br.length < original.length) await writeFile(`${path}.br`, br);
  if (gz.length < original.length) await writeFile(`${path}.gz`, gz);
}

const css = join(bindings, "spillway.css");
const wasm = join(bindings, "spillway.wasm");
run("tailwindcss", "--input", "style/main.css", "--output", css, "--minify");
// What cargo-leptos passes too: WebAssembly's features that Rust uses by default.
const features = ["--enable-bulk-memory", "--enable-nontrapping-float-to-int"];
run("wasm-opt", "-Oz", "--converge", ...features, join(bindings, "spillway_bg.wasm"), "-o", wasm);
const script = await readFile(join(bindings, "spillway.js"), "utf8");

// A server that is running keeps a complete site until the new one takes its place.
const made = `${site}.new`;
await rm(made, { recursive: true, force: true });
await cp("public", made, { recursive: true });
await mkdir(join(made, "pkg"), { recursive: true });
const contents = {
  js: Buffer.from((await transform(script, { minify: true, format: "esm" })).code),
  wasm: await readFile(wasm),
  css: await readFile(css),
};
let list = "";
for (const [kind, bytes] of Object.entries(contents)) {
  const hash = createHash("sha256").update(bytes).digest("base64url").slice(0, 22);
  await writeFile(join(made, "pkg", `spillway.${hash}.${kind}`), bytes);
  list += `${kind}: ${hash}\n`;
}
const entries = await readdir(made, { recursive: true, withFileTypes: true });
await Promise.all(
  entries
    .filter((entry) => entry.isFile() && compressible.test(entry.name))
    .map((entry) => compress(join(entry.parentPath ?? entry.path, entry.name))),
);
await rm(site, { recursive: true, force: true });
await rename(made, site);
await writeFile(hashes, list);
