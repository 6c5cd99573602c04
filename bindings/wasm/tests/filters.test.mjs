// Filters that are built, loaded and screened, against the stored answers of the real engines and
// against the native command.
// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { command, engines, folder, fromHex, numbers, once, rows, run, toHex } from './support.mjs';

const FILTER_FILES = [
  ['leveldb_filters.txt', 'leveldb', 350],
  ['rocksdb_legacy_filters.txt', 'rocksdb-legacy', 225],
  ['rocksdb_fastlocal_filters.txt', 'rocksdb-local', 225],
  ['spark/v1_filters.txt', 'spark-v1', 126],
  ['spark/v2_filters.txt', 'spark-v2', 126],
];
const SHA1_OF_A = Buffer.from('86F7E437FAA5A7FCE15D1DDCB9EAEAEA377667B8');
const BUILT = [
  'leveldb',
  'leveldb-signed',
  'rocksdb-legacy',
  'rocksdb-local',
  'parquet',
  'spark-v1',
  'spark-v2',
  'dcso',
  'dcso-signed',
  'guava-32',
  'guava-64',
  'cassandra',
  'cassandra-2',
  'cassandra-3',
];

for (const { name, Filter, Builder, formats } of engines) {
  test(`${name}: stored filters of the real engines`, () => {
    for (const [file, format, expected] of FILTER_FILES) {
      let n = 0;
      for (const [bits, nkeys, hex, list] of rows(file)) {
        const keys = list === '.' ? [] : list.split(',').map(fromHex);
        assert.equal(keys.length, Number(nkeys));
        const filter = Filter.build(format, keys, { bitsPerKey: Number(bits) });
        assert.equal(toHex(filter.engineBytes()), hex, `${file}, row ${n}`);
        assert.equal(filter.count(keys), keys.length);
        filter.free();
        n++;
      }
      assert.equal(n, expected, file);
    }
  });

  test(`${name}: stored filters of writers that take a rate`, () => {
    const formats = {
      0: 'guava-32',
      1: 'guava-64',
      na: 'cassandra',
      ma: 'cassandra-3',
      ka: 'cassandra-2',
      F: 'dcso',
    };
    for (const [file, expected] of [
      ['guava/filters.txt', 8],
      ['cassandra/filters.txt', 12],
      ['dcso.txt', 6],
    ]) {
      let n = 0;
      for (const [kind, nkeys, rate, ...columns] of rows(file)) {
        const format = formats[kind];
        if (format === undefined) continue; // another kind of row
        const [hex, list] = columns.slice(2);
        const keys = list === '.' ? [] : list.split(',').map(fromHex);
        const options = { rate: Number(rate), expectedKeys: Number(nkeys) };
        const filter = Filter.build(format, keys, options);
        // Some files of DCSO have data attached to the filter.
        const own = format === 'dcso' ? hex.slice(0, 2 * filter.info.nbytes) : hex;
        assert.equal(toHex(filter.engineBytes()), own, `${file}: ${kind} ${nkeys} ${rate}`);
        assert.equal(filter.count(keys), keys.length);
        if (keys.length === Number(nkeys)) {
          const unplanned = Filter.build(format, keys, { rate: Number(rate) });
          assert.deepEqual(unplanned.save(), filter.save());
        }
        n++;
      }
      assert.equal(n, expected, file);
    }
  });

  test(`${name}: filters of a rate are those of the command`, { skip: !command }, () => {
    const keys = numbers(0, 3000);
    const keyFile = join(folder, 'keys of a rate');
    writeFileSync(keyFile, new Uint8Array(keys.buffer));
    const data = { data: new Uint8Array(keys.buffer), width: 8 };
    for (const format of BUILT)
      for (const rate of [0.03, 0.002])
        for (const expectedKeys of [undefined, 5000]) {
          const more = expectedKeys ? [`--expected=${expectedKeys}`] : [];
          const options = [`--format=${format}`, `--rate=${rate}`, ...more, '-o', '-'];
          const args = ['build', '--width=8', ...options, keyFile];
          const native = once(args.join(' '), () => run(args));
          const filter = Filter.build(format, data, { rate, expectedKeys });
          const builder = new Builder(format, { rate, expectedKeys });
          builder.add({ data: data.data.subarray(0, 800), width: 8 });
          builder.add({ data: data.data.subarray(800), width: 8 });
          assert.ok(native.equals(filter.save()), options.join(' '));
          assert.deepEqual(builder.finish().save(), filter.save());
        }
  });

  test(`${name}: keys that were made of text are refused as text`, { skip: !command }, () => {
    for (const [form, options, text, key] of [
      ['bytes, upper-cased', ['--upper'], 'a', '41'],
      ['bytes, lower-cased', ['--lower'], 'A', '61'],
      ['bytes, trimmed, upper-cased', ['--upper', '--trim'], ' a', '41'],
      ['hex, upper-cased', ['--decode=hex', '--upper'], 'aa', 'aa'],
      ['int64, trimmed', ['--decode=int64', '--trim'], ' 1', '0100000000000000'],
      ['bytes, fields joined by a tab', ['--csv', '--no-header', '-f1,2'], 'a,b', '610962'],
      ['md5', ['--digest=md5'], 'a', '0cc175b9c0f1b6a831c399e269772661'],
      ['sha1:HEX', ['--digest=sha1:HEX'], 'a', toHex(SHA1_OF_A)],
      ['ntlm, trimmed', ['--digest=ntlm', '--trim'], 'a ', '186cb09181e2c2ecaac768c47c729904'],
    ]) {
      const native = run(['build', '--format=leveldb', ...options, '-o', '-'], `${text}\n`);
      const filter = Filter.load(native);
      const { info } = filter;
      assert.equal(info.form, form);
      assert.equal(info.digest, /^(md5|sha1|ntlm)/.test(form) ? form.split(',')[0] : null);
      assert.equal(info.uppered, form.includes('upper'));
      assert.ok(native.equals(filter.save()));
      for (const keys of [[text], ['a'], [], new BigInt64Array([1n]), new Int32Array(1)])
        for (const call of ['screen', 'bitmap', 'select', 'count'])
          assert.throws(() => filter[call](keys), {
            name: 'TypeError',
            message: new RegExp(`^keys of the filter: ${form}; .* as .*Uint8Arrays$`),
          });
      assert.throws(() => filter.has(text), TypeError);
      assert.ok(filter.has(fromHex(key)), form); // the bytes that were hashed
    }
  });

  test(`${name}: stored answers of LevelDB and of Ribbon filters`, () => {
    for (const [hex, key, result] of rows('leveldb_queries.txt')) {
      const filter = Filter.load(fromHex(hex), { format: 'leveldb' });
      assert.equal(filter.has(fromHex(key)), result === '1', `${hex} ${key}`);
      filter.free();
    }
    let filter;
    for (const [kind, ...columns] of rows('rocksdb_ribbon.txt')) {
      if (kind === 'F') filter = Filter.load(fromHex(columns[2]), { format: 'rocksdb' });
      else assert.equal(filter.has(fromHex(columns[0])), columns[1] === '1', columns[0]);
    }
  });

  test(`${name}: filters and answers of the command, byte for byte`, { skip: !command }, () => {
    const keys = numbers(0, 50000);
    const texts = Array.from(keys.subarray(0, 20000), (key) => `key ${key} é`);
    const queries = numbers(25000, 1_000_000);
    const keyFile = join(folder, 'keys');
    const textFile = join(folder, 'texts');
    const queryFile = join(folder, 'queries');
    const filterFile = join(folder, 'filter.lbf');
    writeFileSync(keyFile, new Uint8Array(keys.buffer));
    writeFileSync(textFile, texts.map((text) => text + '\n').join(''));
    writeFileSync(queryFile, new Uint8Array(queries.buffer));
    for (const format of BUILT)
      for (const bits of [10, 16]) {
        const options = ['--force', `--format=${format}`, `--bits=${bits}`, '-o', filterFile];
        const question = `${format} ${bits}`;
        const [built, selected, ofText] = once(question, () => {
          run(['build', '--width=8', ...options, keyFile]);
          const first = readFileSync(filterFile);
          const rowsOfFirst = run(['screen', '--width=8', filterFile, queryFile]);
          run(['build', ...options, textFile]);
          return [first, rowsOfFirst, readFileSync(filterFile)];
        });
        const native = Filter.load(built);
        const data = new Uint8Array(keys.buffer);
        const filter = Filter.build(format, { data, width: 8 }, { bitsPerKey: bits });
        assert.ok(built.equals(filter.save()), format);
        assert.ok(built.equals(native.save()), format);
        const width8 = { data: new Uint8Array(queries.buffer), width: 8 };
        const chosen = new BigInt64Array(filter.select(width8).length);
        filter.select(width8).forEach((row, i) => (chosen[i] = queries[row]));
        assert.ok(Buffer.from(chosen.buffer).equals(selected), `${format}: selected rows`);
        const mask = native.screen(width8);
        assert.equal(
          mask.reduce((sum, bit) => sum + bit, 0),
          chosen.length,
        );
        assert.equal(native.count(width8), chosen.length);

        const ofTexts = Filter.build(format, texts, { bitsPerKey: bits });
        assert.ok(ofText.equals(ofTexts.save()));
        assert.equal(ofTexts.count(texts), texts.length);
        for (const each of [native, filter, ofTexts]) each.free();
      }
  });

  test(`${name}: key forms of typed arrays are those of the command`, { skip: !command }, () => {
    for (const [type, form, values] of [
      [BigInt64Array, 'int64', [-(2n ** 63n), -1n, 0n, 2n ** 63n - 1n]],
      [BigUint64Array, 'uint64', [0n, 2n ** 64n - 1n]],
      [Int32Array, 'int32', [-(2 ** 31), -1, 2 ** 31 - 1]],
      [Uint32Array, 'uint32', [0, 2 ** 32 - 1]],
      [Float32Array, 'float32', [1.5, -2]],
      [Float64Array, 'float64', [1e300, 0.1]],
    ]) {
      const keys = new type(values);
      const text = Array.from(values, String).join('\n');
      const native = run(['build', `--decode=${form}`, '-o', '-'], text);
      const filter = Filter.build('rocksdb-local', keys);
      assert.ok(Buffer.from(filter.save()).equals(native), form);
      assert.equal(filter.info.form, form);
      assert.deepEqual(Filter.load(native).screen(keys), new Uint8Array(keys.length).fill(1));
    }
  });

  test(`${name}: batches of every size, and keys of every size`, () => {
    const keys = Array.from({ length: 70000 }, (_, i) => new Uint8Array(i % 40).fill(i >> 8));
    keys.push(new Uint8Array(3 << 20).fill(7), new Uint8Array(0));
    for (const format of ['leveldb', 'rocksdb-local']) {
      const whole = Filter.build(format, keys);
      const builder = new Builder(format);
      for (let i = 0, n = 0; i < keys.length; i += n++) builder.add(keys.slice(i, i + n));
      const parts = builder.finish();
      assert.deepEqual(parts.save(), whole.save());
      assert.equal(whole.count(keys), keys.length);
      assert.deepEqual(whole.bitmap(keys.slice(0, 13)), Uint8Array.of(255, 31));
      assert.equal(whole.count([]), 0);
      assert.deepEqual(whole.select([]), new Uint32Array());
    }
    const texts = Array.from({ length: 100000 }, (_, i) => 'é'.repeat(i % 97) + i);
    const filter = Filter.build('parquet', texts, { rate: 0.001 });
    const others = texts.map((text) => `${text}?`);
    assert.equal(filter.count(texts), texts.length);
    assert.ok(filter.count(others) < 1000);
    const both = texts.flatMap((text, i) => [others[i], text]);
    const mask = filter.screen(both);
    assert.deepEqual(
      filter.select(both),
      Uint32Array.from(mask.keys()).filter((i) => mask[i]),
    );
    filter.free();
  });

  test(`${name}: a filter that was saved is loaded again`, () => {
    for (const { name: format, builds } of formats) {
      if (!builds) {
        assert.throws(() => Filter.build(format, ['a']), /no such format|cannot be built/);
        continue;
      }
      const filter = Filter.build(format, numbers(0, 1000), { bitsPerKey: 12 });
      const again = Filter.load(filter.save());
      assert.deepEqual(again.info, filter.info);
      assert.deepEqual(again.save(), filter.save());
      const raw = Filter.load(filter.engineBytes(), { format, form: 'int64', keys: 1000 });
      assert.equal(raw.count(numbers(0, 1000)), 1000);
      assert.equal(raw.info.keys, 1000);
    }
  });

  test(`${name}: problems are sentences`, () => {
    const good = Filter.build('leveldb', numbers(0, 1000)).save();
    const change = (at) => good.map((byte, i) => (i === at ? byte ^ 1 : byte));
    const thrown = (bytes, options) => {
      try {
        Filter.load(bytes, options);
      } catch (error) {
        return `${error.status}: ${error.message}`;
      }
      return 'loaded';
    };
    assert.match(thrown(new Uint8Array()), /^FORMAT: not a lanebloom container: .* found nothing$/);
    assert.match(
      thrown(good.subarray(0, 50)),
      /^CORRUPT: truncated: expected a header of 64 bytes/,
    );
    assert.match(thrown(good.subarray(0, 500)), /^CORRUPT: truncated: expected a payload of/);
    assert.match(thrown(change(20)), /^CORRUPT: damaged header: expected checksum/);
    assert.match(thrown(change(100)), /^CORRUPT: damaged: expected checksum/);
    assert.match(thrown(good, { format: 'parquet' }), /^FORMAT: /);
    assert.match(thrown(good, { format: 'level' }), /^FORMAT: format: expected one of leveldb, /);
    assert.match(thrown(good, { format: 'leveldb', form: 'int65' }), /expected an encoding/);
    const filter = Filter.load(good);
    assert.throws(() => filter.screen(['1']), /keys of the filter: int64; the array has bytes/);
    assert.throws(() => filter.screen(new Int32Array(1)), /the array has int32/);
    assert.throws(() => filter.screen('1'), /keys: expected a BigInt64Array.*; found String/);
    assert.throws(() => filter.screen([1]), /keys\[0\]: expected a Uint8Array, found Number/);
    assert.throws(() => filter.screen(new Uint8Array(8)), /{ data: Uint8Array, width }/);
    assert.throws(
      () => filter.screen({ data: new Uint8Array(9), width: 8 }),
      /found 1 bytes after/,
    );
    assert.throws(
      () => Filter.build('leveldb', ['a', new Uint8Array(1)]),
      /keys\[1\]: expected a st/,
    );
    assert.throws(() => Filter.build('leveldb', ['a'], { bitsPerKey: 1.5 }), {
      status: 'ARGUMENT',
    });
    assert.throws(() => Filter.build('leveldb', ['a'], { bitsPerKey: 1, rate: 0.1 }), /found both/);
    filter.free();
    filter.free();
    assert.throws(() => filter.screen(numbers(0, 1)), /the filter was freed/);
  });

  test(`${name}: memory is freed`, () => {
    const { exports } = engines.find((engine) => engine.name === name);
    const keys = numbers(0, 300_000);
    const once = () => {
      const filter = Filter.build('rocksdb-local', keys);
      Filter.load(filter.save()).free();
      filter.free();
      try {
        Filter.load(new Uint8Array(1 << 20));
      } catch {
        // its bytes must be freed, too
      }
    };
    once();
    const before = exports.memory.buffer.byteLength;
    for (let i = 0; i < 20; i++) once();
    assert.equal(exports.memory.buffer.byteLength, before);
  });
  test(`${name}: filters that nobody holds are freed`, async () => {
    const { exports } = engines.find((engine) => engine.name === name);
    const keys = numbers(0, 1_000_000);
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc');
    for (let i = 0; i < 60; i++) {
      Filter.build('rocksdb-local', keys); // 1.25 MB, and 8 MB of hashes meanwhile
      collect();
      await setImmediate(); // the registry then calls back
    }
    const nbytes = exports.memory.buffer.byteLength;
    assert.ok(nbytes < 64 << 20, `${nbytes} bytes`);
  });
}
