// Writes a .br and a .gz beside every file that browsers download and that shrinks by it.
// The first argument is the folder. Node's own zlib does this in a second or two.
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";

const folder = process.argv[2];
const compressible = /\.(js|wasm|css|svg|html|json|txt|xml|webmanifest|ico|map)$/;

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

const entries = await readdir(folder, { recursive: true, withFileTypes: true });
await Promise.all(
  entries
    .filter((entry) => entry.isFile() && compressible.test(entry.name))
    .map((entry) => compress(join(entry.parentPath ?? entry.path, entry.name))),
);
