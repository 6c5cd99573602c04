// screen.mjs makes the pictures of docs/screen.html, with a filter and a CSV file: on a screen and
// on a phone, in light and dark colours. scripts/wasm.sh must have run before. The pictures need
// Debian's packages chromium and pngquant.
// SPDX-License-Identifier: MIT
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Filter } from '../../bindings/wasm/index.js';
import { launch } from '../../bindings/wasm/tests/chromium.mjs';

const folder = mkdtempSync(join(tmpdir(), 'lanebloom-pictures-'));
const seen = Array.from({ length: 50_000 }, (_, i) => `user${i * 21}@example.org`);
const cities = ['Oslo', 'Lima', 'Pune', 'Graz', 'Kobe', 'Cork'];
const rows = ['id,mail,city,note'];
for (let i = 0; i < 200_000; i++)
  rows.push(`${i},user${i * 7}@example.org,${cities[i % 6]},${i % 4 ? '' : '"first, then again"'}`);
writeFileSync(
  join(folder, 'seen.lbf'),
  Filter.build('rocksdb-local', seen, { rate: 0.001 }).save(),
);
writeFileSync(join(folder, 'visitors.csv'), rows.join('\n') + '\n');

const browser = await launch();
for (const width of [1300, 412])
  for (const scheme of ['light', 'dark']) {
    const page = await browser.open(new URL('../screen.html', import.meta.url).href, {
      width,
      height: 900,
      scheme,
    });
    await page.until('document.body.dataset.ready');
    await page.choose('#filter-file', join(folder, 'seen.lbf'));
    await page.choose('#csv-file', join(folder, 'visitors.csv'));
    await page.until(`!document.getElementById('start').disabled`);
    await page.evaluate(`document.getElementById('column').value = 1`);
    await page.evaluate(`document.getElementById('start').click()`);
    await page.until(`document.getElementById('progress').hidden`);
    const picture = fileURLToPath(new URL(`screen-${width}-${scheme}.png`, import.meta.url));
    writeFileSync(picture, await page.picture());
    execFileSync('pngquant', ['--force', '--strip', '--output', picture, '64', picture]);
  }
await browser.close();
rmSync(folder, { recursive: true });
