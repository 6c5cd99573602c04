// Loads the module that this JavaScript engine can run, from the folder of this file.
// SPDX-License-Identifier: MIT
import { createEngine, hasSimd } from './engine.js';

async function load(name) {
  const url = new URL(name, import.meta.url);
  if (url.protocol !== 'file:') {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url}: ${response.status} ${response.statusText}`);
    return response.arrayBuffer();
  }
  const { readFile } = await import('node:fs/promises');
  return readFile(url);
}

const engine = createEngine(
  await load(hasSimd() ? './lanebloom-simd.wasm' : './lanebloom-scalar.wasm'),
);
export const { Filter, Builder, CsvScreen, csvColumns, formats, kernel, version } = engine;
export { createEngine, hasSimd, LanebloomError } from './engine.js';
