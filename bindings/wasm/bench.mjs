// bench.mjs [ROUNDS] prints the ns that screening an absent key of 8 bytes takes, hashing included,
// for each kernel of both modules. A time is the least of all rounds, which take the kernels in
// turn.
// SPDX-License-Identifier: MIT
import { readFile } from 'node:fs/promises';
import { createEngine } from './engine.js';

const NKEYS = 1 << 18;
const rounds = Number(process.argv[2] ?? 20);
const engines = [];
for (const [module, kernels] of [
  ['scalar', ['scalar']],
  ['simd', ['scalar', 'simd128']],
]) {
  const bytes = await readFile(new URL(`./lanebloom-${module}.wasm`, import.meta.url));
  for (const kernel of kernels) {
    const { exports: c, useKernel } = createEngine(bytes);
    useKernel(kernel);
    engines.push({ name: `${module}/${kernel}`, c });
  }
}

// Numbers that are no multiples of each other: i times an odd constant, modulo 2^64.
function write(c, at, first, n) {
  const keys = new BigUint64Array(c.memory.buffer, at, n);
  for (let i = 0; i < n; i++) keys[i] = BigInt(first + i) * 0x9e3779b97f4a7c15n;
}

const formats = { 'rocksdb-local': 3, leveldb: 1, 'rocksdb-legacy': 2 };
console.log('filter', engines.map(({ name }) => name).join(' '));
for (const [format, number] of Object.entries(formats))
  for (const kib of [16, 256, 16384]) {
    for (const engine of engines) {
      const { c } = engine;
      const n = Math.floor((kib * 1024 * 8) / 10);
      const data = c.malloc(8 * Math.max(n, NKEYS));
      const keys = c.malloc(64);
      const out = c.malloc(8);
      write(c, data, 0, n);
      c.lanebloom_keys_fixed(keys, data, 8, n);
      c.lanebloom_builder_create(number, 10, 0n, out);
      const builder = new DataView(c.memory.buffer).getUint32(out, true);
      if (c.lanebloom_builder_add(builder, keys)) throw new Error('add');
      if (c.lanebloom_builder_finish(builder, out)) throw new Error('finish');
      c.lanebloom_builder_free(builder);
      engine.filter = new DataView(c.memory.buffer).getUint32(out, true);
      write(c, data, 1e9, NKEYS);
      c.lanebloom_keys_fixed(keys, data, 8, NKEYS);
      Object.assign(engine, { data, keys, out, bitmap: c.malloc(NKEYS / 8), best: Infinity });
    }
    for (let round = 0; round < rounds; round++)
      for (const engine of engines) {
        const begin = process.hrtime.bigint();
        engine.c.lanebloom_filter_screen(engine.filter, engine.keys, engine.bitmap);
        const time = Number(process.hrtime.bigint() - begin);
        engine.best = Math.min(engine.best, time);
      }
    console.log(`${format}/${kib}`, engines.map(({ best }) => (best / NKEYS).toFixed(2)).join(' '));
    for (const { c, data, keys, out, bitmap, filter } of engines) {
      c.lanebloom_filter_free(filter);
      for (const at of [data, keys, out, bitmap]) c.free(at);
    }
  }
