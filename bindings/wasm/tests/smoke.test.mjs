// The smoke program of all systems, which checks one digest of filters and answers. LANEBLOOM_SMOKE
// is the folder of the two builds.
// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

const folder = process.env.LANEBLOOM_SMOKE;
const program = fileURLToPath(new URL('smoke.mjs', import.meta.url));

for (const module of ['simd', 'scalar'])
  test(`${module}: the smoke program`, { skip: !folder && 'see scripts/wasm.sh' }, () => {
    const file = `${folder}/${module}/smoke.wasm`;
    const output = execFileSync(process.execPath, ['--no-warnings', program, file]).toString();
    assert.match(output, /^ok - /m);
    assert.doesNotMatch(output, /^not ok/m);
  });
