// What all tests share: the three ways to run the engine, the native command, and keys.
// SPDX-License-Identifier: MIT
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEngine } from '../engine.js';

const root = new URL('../../../', import.meta.url);
export const command = process.env.LANEBLOOM_COMMAND; // scripts/wasm.sh sets it
export const folder = mkdtempSync(join(tmpdir(), 'lanebloom-wasm-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

export const engines = [];
for (const [module, kernel] of [
  ['simd', 'simd128'],
  ['simd', 'scalar'],
  ['scalar', 'scalar'],
]) {
  const url = new URL(`../lanebloom-${module}.wasm`, import.meta.url);
  const engine = createEngine(readFileSync(url));
  engine.useKernel(kernel);
  engines.push({ name: `${module}/${kernel}`, ...engine });
}

/** Runs the command, and returns what it prints. Status 1 means that nothing was selected. */
export function run(args, input) {
  const result = spawnSync(command, args, { input, maxBuffer: 1 << 30, cwd: folder });
  if (result.status > 1) throw new Error(`${args.join(' ')}: ${result.stderr}`);
  return result.stdout;
}

/** What the command answered to the same question before: all kernels are compared with it. */
const answers = new Map();
export function once(question, ask) {
  if (!answers.has(question)) answers.set(question, ask());
  return answers.get(question);
}

/** Returns what the command says after it has failed. */
export function complaint(args, input) {
  const result = spawnSync(command, args, { input, cwd: folder });
  if (result.status !== 2) throw new Error(`${args.join(' ')}: status ${result.status}`);
  return result.stderr.toString();
}

/** The columns of each line of a file of tests/vectors/. */
export function* rows(name) {
  const text = readFileSync(new URL(`tests/vectors/${name}`, root), 'utf8');
  for (const line of text.split('\n')) if (line && line[0] !== '#') yield line.split(' ');
}

export const fromHex = (text) => Uint8Array.from(Buffer.from(text === '-' ? '' : text, 'hex'));
export const toHex = (bytes) => Buffer.from(bytes).toString('hex');

/** Numbers that are spread over all 64 bits. */
export function numbers(first, n) {
  const keys = new BigInt64Array(n);
  const unsigned = new BigUint64Array(keys.buffer);
  for (let i = 0; i < n; i++) unsigned[i] = BigInt(first + i) * 0x9e3779b97f4a7c15n;
  return keys;
}
