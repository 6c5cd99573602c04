// make.mjs FOLDER OUTPUT makes the page as one file. FOLDER has the modules, which become a part of
// the file, as gzip data in base64.
// SPDX-License-Identifier: MIT
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const [folder, output] = process.argv.slice(2);
const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
const module = (name) =>
  gzipSync(readFileSync(join(folder, `lanebloom-${name}.wasm`)), { level: 9 }).toString('base64');

const modules = `const modules = {
  simd:
    '${module('simd')}',
  scalar:
    '${module('scalar')}',
};\n`;
const engine = read('../engine.js').replace(/^export /gm, '');
const worker = modules + engine + read('worker.js');
const page = read('screen.html')
  .replace('/* WORKER */', () => worker)
  .replace('/* PAGE */', () => read('page.js'));
writeFileSync(output, page);
