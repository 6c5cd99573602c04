// Tests the extension in Node.js, whose DuckDB is another build than Python's. Prints TAP.
// SPDX-License-Identifier: MIT
import { DuckDBInstance } from '@duckdb/node-api';
import assert from 'node:assert';

const instance = await DuckDBInstance.create(':memory:', { allow_unsigned_extensions: 'true' });
const db = await instance.connect();
const rows = async (sql) => (await db.runAndReadAll(sql)).getRowsJS();

await db.run(`LOAD '${process.env.LANEBLOOM_EXTENSION}'`);
const [[version]] = await rows('SELECT version()');
await rows("SELECT lanebloom_register('f', lanebloom_build(i)) FROM range(100000) t(i)");
const asked = await rows(
  "SELECT count(*) FROM range(200000) t(i) WHERE lanebloom_may_contain('f', i) AND i < 100000");
assert.deepStrictEqual(asked, [[100000n]]);
console.log(`ok - DuckDB ${version}, Node.js: keys are found`);

await rows("COPY (SELECT lanebloom_build(i) FROM range(9) t(i)) TO 'f.lbf' (FORMAT blob)");
assert.strictEqual((await rows("FROM lanebloom_load('g', 'f.lbf')"))[0][1], 'int64');
await db.run('SET enable_external_access = false');
await assert.rejects(rows("FROM lanebloom_load('g', 'f.lbf')"), /enable_external_access is false/);
console.log(`ok - DuckDB ${version}, Node.js: files are opened where they may be`);
