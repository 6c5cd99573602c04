// CSV files that are screened in pieces, against `lanebloom screen --csv', byte for byte.
// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { command, complaint, engines, folder, once, run } from './support.mjs';

const ascii = (text) => Uint8Array.from(Buffer.from(text, 'latin1'));

/** Screens a file in pieces of the given sizes, in turn. Returns the rows, or the problem. */
function screen({ CsvScreen }, filter, bytes, column, options, sizes = [bytes.length || 1]) {
  const csv = new CsvScreen(filter, column, options);
  const output = [];
  try {
    for (let at = 0, i = 0, ends = false; !ends; i++) {
      const piece = bytes.subarray(at, at + sizes[i % sizes.length]);
      at += piece.length;
      ends = at === bytes.length;
      output.push(csv.push(piece, ends));
    }
    return { rows: Buffer.concat(output), counts: csv.counts };
  } catch (error) {
    if (error.status !== 'FORMAT') throw error;
    return { problem: error.message, rows: Buffer.concat([...output, error.output]) };
  } finally {
    csv.free();
  }
}

/** A million rows of everything that RFC 4180 allows. */
function bigFile(end) {
  const rows = ['id,"the ""user""",note'];
  for (let i = 0; i < 1_000_000; i++) {
    const user = i % 7 ? `user${i}` : `"user ""${i}"",\n"`;
    const note = i % 5 ? '' : '"a, b\r\nc"';
    rows.push(`${i},${user},${note}`);
  }
  return Buffer.from(rows.join(end));
}

test('columns of a header', () => {
  for (const { csvColumns } of engines) {
    assert.deepEqual(csvColumns(ascii('a,"b ""c"", d",\r\n1,2,3\r\n'), true), [
      'a',
      'b "c", d',
      '',
    ]);
    assert.deepEqual(csvColumns(Buffer.from('\ufeffé;b\n'), true, { separator: ';' }), ['é', 'b']);
    assert.deepEqual(csvColumns(ascii('1,2'), true, { header: false }), ['1', '2']);
    assert.throws(
      () => csvColumns(ascii('a,b"c\n'), true),
      /line 1: field 2: expected quotes around/,
    );
    assert.throws(() => csvColumns(ascii('a,"b\n'), true), /expected a closing quote/);
    assert.throws(() => csvColumns(ascii(''), true), /expected a header, found an empty file/);
    assert.throws(() => csvColumns(ascii('a'.repeat(600)), false), /expected a first record/);
  }
});

for (const engine of engines) {
  const { name, Filter } = engine;

  test(`${name}: the rows of the command, of a million`, { skip: !command }, () => {
    const users = [];
    for (let i = 0; i < 1_000_000; i += 9) users.push(i % 7 ? `user${i}` : `user "${i}",\n`);
    const filter = Filter.build('rocksdb-local', users, { bitsPerKey: 12 });
    const file = join(folder, 'filter.lbf');
    writeFileSync(file, filter.save());
    for (const end of ['\n', '\r\n']) {
      const bytes = once(`file ${end}`, () => bigFile(end));
      const expected = once(`rows ${end}`, () => run(['screen', '--csv', '-f2', file, '-'], bytes));
      for (const sizes of [[4 << 20], [65536, 1, 99_991, 300]]) {
        const { rows, counts } = screen(engine, filter, bytes, 1, {}, sizes);
        assert.ok(rows.equals(expected), `${sizes}`);
        assert.equal(counts.records, 1_000_000);
        assert.ok(counts.selected >= users.length);
      }
    }
  });

  test(`${name}: small files, good and broken, as the command says`, { skip: !command }, () => {
    const filter = Filter.build('leveldb', ['b', 'b,"\n', '', 'b\rc']);
    const file = join(folder, 'small.lbf');
    writeFileSync(file, filter.save());
    const long = 'x'.repeat(3000);
    const texts = [
      'h,k\na,b\n',
      'h,k\na,b',
      'h,k\r\na,b',
      'h,k\r\na,b\r',
      'h,k\na,b\r\nc,b',
      'h,k\n',
      'h,k',
      '\xef\xbb\xbfh,k\na,b\n',
      'h,k\n\n',
      'h,k\na\n',
      'h,k\na,"b"\n',
      'h,k\na,"b,""\n"\nc,b\n',
      'h,k\na,"b\n',
      'h,k\na,b"\n',
      'h,k\na,"b"c\n',
      'h,k\na,"b"\r\nc,"b"\r',
      'h,k\na,""\n',
      'h,k\nb,b\n"a\n",b\nb,"b"x\n',
      'h,k\ra,b\r',
      'h,k\na,"b\rc"\n',
      'h,k\na,b\rc\n',
      '',
      `h,k\n${long},b\n${long},c\n${long},b`,
      '\x89LBF\r\n\x1a\n',
      `h,k\n${long},"b"\n${long},"b`,
      'h,k\na,b\nc,d\ne,b\n\n',
    ];
    for (const missing of ['fail', 'keep', 'drop'])
      for (const text of texts)
        for (const sizes of [[1 << 20], [1], [7, 600]]) {
          const args = ['screen', '--csv', '-f2', `--missing=${missing}`, file, '-'];
          const bytes = ascii(text);
          const found = screen(engine, filter, bytes, 1, { missing }, sizes);
          const question = `${missing} ${text}`;
          if (found.problem) {
            const line = found.problem.replace(/^expected CSV, found/, 'expected records, found');
            const said = once(question, () => complaint(args, bytes));
            const same = line.includes('empty file') ? 'found an empty input' : line;
            assert.ok(said.includes(same), `${JSON.stringify(text)}: ${said} for ${found.problem}`);
          } else {
            const expected = once(question, () => run(args, bytes));
            assert.ok(found.rows.equals(expected), `${JSON.stringify(text)}: ${found.rows}`);
          }
        }
  });

  test(`${name}: keys are made as the filter says`, { skip: !command }, () => {
    const keys = Array.from({ length: 1000 }, (_, i) => `${i * 37}`).join('\n');
    const file = join(folder, 'form.lbf');
    let text = 'k\n';
    for (let i = 0; i < 20000; i++) text += `${i % 3 ? i : ` ${i}.0 `}\n`;
    for (const form of [
      ['--decode=int64', '--trim'],
      ['--decode=float64', '--trim'],
      ['--lower'],
    ]) {
      writeFileSync(file, run(['build', ...form, '-o', '-'], keys));
      const filter = Filter.load(run(['merge', '-o', '-', file]));
      const expected = run(['screen', '--csv', '-f1', file, '-'], text);
      assert.ok(screen(engine, filter, ascii(text), 0).rows.equals(expected), `${form}`);
    }
    for (const form of [['--upper'], ['--upper', '--trim'], ['--decode=hex', '--upper']]) {
      const isHex = form[0] === '--decode=hex';
      const lines = isHex ? 'k\naa\nBB\nAb\n' : 'k\na\nB\n c \naa\nAB\n';
      const native = run(['build', ...form, '-o', '-'], isHex ? 'AA\nbb\n' : 'a\nb\nc\n');
      writeFileSync(file, native);
      const expected = run(['screen', '--csv', '-f1', file, '-'], lines);
      const found = screen(engine, Filter.load(native), ascii(lines), 0);
      assert.ok(found.rows.equals(expected), `${form}: ${found.rows}`);
    }
    for (const [form, says] of [
      [['--digest=sha1'], /whose keys are not digests, found 'sha1'/],
      [['--digest=md5:hex', '--upper'], /are not digests, found 'md5:hex, upper-cased'/],
      [['--csv', '--no-header', '-f1,2'], /keys are one field, found 'bytes, fields joined by/],
    ]) {
      const filter = Filter.load(run(['build', ...form, '-o', '-'], 'a,b\n'));
      assert.throws(() => new engine.CsvScreen(filter, 0), { name: 'TypeError', message: says });
    }
    const bad = screen(engine, Filter.build('leveldb', new Int32Array(1)), ascii('k\n1\nx\n'), 0);
    assert.match(bad.problem, /^line 3: column 1: expected a whole number from .*, found 'x'/);
  });

  test(`${name}: compressed files are refused`, () => {
    const filter = Filter.build('leveldb', ['b']);
    for (const [text, kind] of [
      ['\x1f\x8b\x08aaaaa', 'gzip'],
      ['(\xb5/\xfd', 'zstd'],
    ])
      assert.match(
        screen(engine, filter, ascii(text), 0).problem,
        new RegExp(`found ${kind} data$`),
      );
  });

  test(`${name}: a misplaced quote is found without the rest of the file`, () => {
    const filter = Filter.build('leveldb', ['b']);
    const csv = new engine.CsvScreen(filter, 1);
    const line = ascii('aaaaaaaaaaaaaaaaaaaaaaaaaaaaa,b\n'.repeat(1 << 15));
    csv.push(ascii('h,k\na,"b\n'));
    assert.throws(() => {
      csv.push(ascii('a,b"c\n'));
      for (let i = 0; i < 20; i++) csv.push(line);
    }, /line 2: field 2: expected a separator after the closing quote/);
    csv.free();
    assert.throws(() => csv.push(line), /the CSV screen was freed/);
    assert.throws(
      () => new engine.CsvScreen(filter, 0, { separator: ',,' }),
      /one ASCII character/,
    );
  });
}
