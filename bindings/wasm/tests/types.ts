// Calls that must have types, and calls that must not.
// SPDX-License-Identifier: MIT
import { Builder, CsvScreen, csvColumns, Filter, formats, kernel, LanebloomError } from 'lanebloom';

const filter: Filter = Filter.build('rocksdb-local', new BigInt64Array(3), { rate: 0.01 });
const rows: Uint32Array = filter.select(['a', 'b']);
const mask: Uint8Array = filter.screen([new Uint8Array(1)]);
const n: number = filter.count({ data: new Uint8Array(8), width: 8 });
const keys: number | null = filter.info.keys;
const again: Filter = Filter.load(filter.save().buffer as ArrayBuffer);
const bare: Filter = Filter.load(new Uint8Array(9), { format: 'leveldb', form: 'int64' });
const builder = new Builder('parquet', { expectedKeys: 10, bitsPerKey: 12 });
new Builder('guava-64', { rate: 0.01 }).free();
builder.add(new Float64Array(1));
const csv = new CsvScreen(builder.finish(), 0, { separator: ';', missing: 'drop' });
const output: Uint8Array = csv.push(new Uint8Array(0), true);
const names: string[] = csvColumns(output, true);
const status: string = new LanebloomError('IO', 'text').status;
// @ts-expect-error: numbers are not keys
filter.screen([1, 2]);
// @ts-expect-error: the form of bytes is unknown
filter.screen(new Uint8Array(8));
// @ts-expect-error: there is no such option
Filter.build('leveldb', ['a'], { bits: 10 });
console.log(rows, mask, n, keys, again, bare, names, status, formats[0].builds, kernel);
