// The page and the package in a real Chromium. LANEBLOOM_PAGE is the page that is tested.
// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename, extname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { once } from 'node:events';
import { launch } from './chromium.mjs';
import { command, engines, folder, numbers, run } from './support.mjs';

const pagePath = process.env.LANEBLOOM_PAGE;
const hasChromium = spawnSync('chromium', ['--version']).status === 0;
const why = !hasChromium
  ? 'Chromium is missing'
  : !command || !pagePath
    ? 'see scripts/wasm.sh'
    : false;
const options = { skip: why };
const browser = why ? undefined : await launch();
after(() => browser?.close());

const [{ Filter }] = engines;
const users = [];
for (let i = 0; i < 1_000_000; i += 9) users.push(i % 7 ? `user${i}` : `user "${i}",\n`);

function* bigFile(nrows) {
  yield 'id,"the ""user""",note\r\n';
  for (let i = 0; i < nrows; i++) {
    const user = i % 7 ? `user${i}` : `"user ""${i}"",\n"`;
    yield `${i},${user},${i % 5 ? '' : '"a, b\r\nc"'}\r\n`;
  }
}

function file(name, content) {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function openPage(view) {
  const page = await browser.open(pathToFileURL(pagePath).href, view);
  await page.until('document.body.dataset.ready');
  return page;
}
const textOf = (page, id) => page.evaluate(`document.getElementById('${id}').textContent`);

async function fill(page, filter, csv, column) {
  await page.choose('#filter-file', filter);
  await page.choose('#csv-file', csv);
  for (const [id, path] of [
    ['filter', filter],
    ['csv', csv],
  ])
    await page.until(
      `document.getElementById('${id}-name').textContent.startsWith('${basename(path)},')`,
    );
  await page.until(`!document.getElementById('start').disabled`);
  await page.evaluate(`document.getElementById('column').value = ${column}`);
}

async function screen(page) {
  await page.evaluate(`document.getElementById('start').click()`);
  await page.until(`document.getElementById('progress').hidden`);
}

test(
  'the page has the rows of the command, of a million, and asks for nothing',
  options,
  async () => {
    const filter = file(
      'page.lbf',
      Filter.build('rocksdb-local', users, { bitsPerKey: 12 }).save(),
    );
    const csv = file('page.csv', [...bigFile(1_000_000)].join(''));
    const page = await openPage();
    assert.equal(await page.evaluate('document.body.dataset.ready'), 'simd128');
    await fill(page, filter, csv, 1);
    assert.match(
      await textOf(page, 'filter-text'),
      /^rocksdb-local · 111,112 keys · lets 0.\d+ % of/,
    );
    assert.equal(await textOf(page, 'csv-text'), '3 columns.');
    assert.equal(await textOf(page, 'column'), '1: id2: the "user"3: note');
    await screen(page);
    assert.match(
      await textOf(page, 'summary'),
      /^11\d,\d{3} of 1,000,000 rows may be in the filter/,
    );
    const saved = await page.download(folder, `document.getElementById('save').click()`);
    const expected = run(['screen', '--csv', '-f2', filter, csv]);
    assert.ok(readFileSync(saved).equals(expected));
    assert.equal(await page.evaluate(`document.querySelectorAll('#rows tr').length`), 101);
    const asked = page.requests.filter((url) => !/^(file|blob|data):/.test(url));
    assert.deepEqual([asked, page.problems], [[], []]);
  },
);

test('the page says what is wrong with a file', options, async () => {
  const bytes = Filter.build('leveldb', ['b']).save();
  const good = file('good.lbf', bytes);
  const csv = file('good.csv', 'h,k\na,b\n');
  const page = await openPage();
  const says = async (id, pattern) => {
    await page.until(`document.getElementById('${id}').classList.contains('problem')`);
    assert.match(await textOf(page, id), pattern);
    assert.equal(
      await page.evaluate(`document.getElementById('start').disabled`),
      id !== 'summary',
    );
  };
  await page.choose('#csv-file', csv);
  await page.choose('#filter-file', file('empty.lbf', ''));
  await says('filter-text', /^This file is empty\. Expected a filter\.$/);
  await page.choose('#filter-file', good);
  await page.until(`!document.getElementById('start').disabled`);
  await page.choose(
    '#filter-file',
    file(
      'damaged.lbf',
      bytes.map((byte, i) => byte ^ (i === 66)),
    ),
  );
  await says('filter-text', /^damaged.lbf: damaged: expected checksum \w+, found \w+$/);
  await page.choose('#filter-file', file('short.lbf', bytes.subarray(0, 40)));
  await page.until(`document.getElementById('filter-text').textContent.startsWith('short')`);
  await says('filter-text', /truncated: expected a header of 64 bytes, found 40$/);
  await page.choose('#filter-file', good);
  await page.choose('#csv-file', file('empty.csv', ''));
  await says('csv-text', /^This file is empty\. Expected a CSV file\.$/);
  await page.choose('#csv-file', file('header.csv', 'h,"k\na,b\n'));
  await page.until(`document.getElementById('csv-text').textContent.startsWith('header')`);
  await says('csv-text', /^header.csv: line 1: field 2: expected a closing quote, found the end/);
  await page.choose('#csv-file', file('packed.csv', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0])));
  await page.until(`document.getElementById('csv-text').textContent.startsWith('packed')`);
  await says('csv-text', /^packed.csv: expected CSV, found gzip data$/);
  for (const [name, rows, problem] of [
    [
      'inside.csv',
      'h,k\na,b\na,b"\n',
      /^inside.csv: line 3: field 2: expected quotes around .*; is the separator right\?$/,
    ],
    ['open.csv', 'h,k\na,b\na,"b', /^open.csv: line 3: field 2: expected a closing quote/],
    ['field.csv', 'h,k\na,b\na\n', /^field.csv: line 3: expected field 2, found 1 field$/],
  ]) {
    await fill(page, good, file(name, rows), 1);
    await screen(page);
    await says('summary', problem);
    assert.equal(await page.evaluate(`document.getElementById('save').hidden`), true);
  }
  const changed = file('changed.csv', 'h,k\na,b\n');
  await fill(page, good, changed, 1);
  writeFileSync(changed, 'h,k\na,b\na,b\n');
  await screen(page);
  await says('summary', /^changed.csv cannot be read. If it has changed, choose it again\.$/);
  assert.deepEqual(page.problems, []);
});

test('the page takes bare bytes, other separators and keys that are numbers', options, async () => {
  const keys = numbers(0, 1000);
  const raw = file('bare', Filter.build('parquet', keys).engineBytes());
  const csv = file(
    'semicolons.csv',
    ['n;k', ...Array.from(keys, (key, i) => `${i};${key}`), 'x;1', ''].join('\n'),
  );
  const page = await openPage();
  await page.choose('#csv-file', csv);
  await page.choose('#filter-file', raw);
  await page.until(`!document.getElementById('raw').hidden`);
  for (const [id, value] of [
    ['form', 'int64'],
    ['format', 'parquet'],
  ])
    await page.evaluate(`document.getElementById('${id}').value = '${value}';
      document.getElementById('${id}').dispatchEvent(new Event('change'))`);
  await page.until(`!document.getElementById('start').disabled`);
  assert.equal(await page.evaluate(`document.getElementById('separator').value`), ';');
  await page.evaluate(`document.getElementById('column').value = 1`);
  await screen(page);
  assert.match(await textOf(page, 'summary'), /^1,000 of 1,001 rows may be in the filter/);
});

const large = { skip: why || (!process.env.LANEBLOOM_ALL && 'scripts/wasm.sh --all') };
test('a file of 200 MB takes little memory', large, async () => {
  const filter = file('large.lbf', Filter.build('rocksdb-local', users, { bitsPerKey: 12 }).save());
  const csv = join(folder, 'large.csv');
  const stream = createWriteStream(csv);
  let block = '';
  let nbytes = 0;
  for (const row of bigFile(8_200_000)) {
    block += row;
    if (block.length < 1 << 20) continue;
    nbytes += block.length;
    if (!stream.write(block)) await once(stream, 'drain');
    block = '';
  }
  stream.end(block);
  await once(stream, 'finish');
  assert.ok(nbytes > 200e6, `${nbytes}`);
  const page = await openPage();
  await fill(page, filter, csv, 1);
  await screen(page);
  const { counts, memory, seconds } = await page.evaluate('state.last');
  assert.equal(counts.records, 8_200_000);
  assert.ok(memory < 32 << 20, `${memory} bytes of the module`);
  console.log(`# ${nbytes} bytes in ${seconds} s, ${memory} bytes of memory`);
  assert.equal(counts.selected, Number(run(['screen', '-c', '--csv', '-f2', filter, csv])));
});

test('docs/screen.html is made of the files of this folder', options, () => {
  // The bytes of the modules depend on the compiler, so they are left out.
  const read = (path) => readFileSync(path, 'utf8').replace(/'[A-Za-z0-9+/=]{1000,}'/g, '');
  assert.equal(
    read(new URL('../../../docs/screen.html', import.meta.url)),
    read(pagePath),
    'run: node bindings/wasm/page/make.mjs bindings/wasm docs/screen.html',
  );
});

test('the package answers in Chromium as in Node.js', options, async () => {
  const types = { '.js': 'text/javascript', '.wasm': 'application/wasm' };
  const server = createServer(({ url }, response) => {
    const path = fileURLToPath(new URL(`..${url}`, import.meta.url));
    response.setHeader('content-type', types[extname(url)] ?? 'text/html');
    response.end(types[extname(url)] ? readFileSync(path) : '<!DOCTYPE html><title>test</title>');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const page = await browser.open(`http://127.0.0.1:${server.address().port}/`);
    const work = ({ Filter: Built, formats }, makeNumbers) => {
      const results = [];
      for (const { name, builds } of formats.filter((format) => format.builds)) {
        const filter = Built.build(name, makeNumbers(0, 100_000));
        const selected = filter.select(makeNumbers(50_000, 1_000_000));
        results.push(
          name,
          filter.save().reduce((sum, byte) => (sum * 31 + byte) % 1e9, 7),
        );
        results.push(
          selected.length,
          selected.reduce((sum, row) => (sum * 31 + row) % 1e9, 7),
        );
      }
      return results;
    };
    const found = await page.evaluate(`import('/index.js').then((engine) =>
      (${work})(engine, ${numbers}).concat(engine.kernel))`);
    assert.deepEqual(found, [...work(engines[0], numbers), 'simd128']);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});
