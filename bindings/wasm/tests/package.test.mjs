// The package as npm installs it, and the examples of its manual. LANEBLOOM_USER is a folder in
// which the package is installed.
// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { engines } from './support.mjs';

const user = process.env.LANEBLOOM_USER;
const options = { skip: !user && 'see scripts/wasm.sh' };
const manual = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

test('the package has the files that it needs', options, () => {
  const files = readdirSync(join(user, 'node_modules/lanebloom')).sort();
  assert.deepEqual(files, [
    'README.md',
    'engine.js',
    'index.d.ts',
    'index.js',
    'lanebloom-scalar.wasm',
    'lanebloom-simd.wasm',
    'package.json',
  ]);
  const { version } = JSON.parse(readFileSync(join(user, 'node_modules/lanebloom/package.json')));
  assert.equal(version, engines[0].version);
});

test('the examples of the manual print what it says', options, () => {
  const blocks = [...manual.matchAll(/```js\n(.*?)```/gs)].map(([, code]) => code);
  assert.ok(blocks.length > 0);
  writeFileSync(join(user, 'example.mjs'), blocks.join('\n'));
  const printed = execFileSync(process.execPath, ['example.mjs'], { cwd: user }).toString();
  const expected = [...blocks.join('').matchAll(/console\.log\(.*\/\/ (.*)\n/g)].map(
    ([, text]) => text,
  );
  assert.deepEqual(printed.trimEnd().split('\n'), expected);
});
