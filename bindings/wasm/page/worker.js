// The worker of the page. It reads files in slices, so it never holds a whole CSV file.
// `modules` and the functions of engine.js are in the same script (see make.mjs).
// SPDX-License-Identifier: MIT
const SLICE_NBYTES = 4 << 20;
const FIRST_NBYTES = 1 << 20; // of a CSV file, in which its header must end
const PREVIEW_NROWS = 100;
const PREVIEW_NBYTES = 1 << 20;
const SEPARATORS = [',', ';', '\t', '|'];

let engine;
let filter;
let job = 0; // a new job stops the one before it

async function slice(file, first, end) {
  try {
    return new Uint8Array(await file.slice(first, end).arrayBuffer());
  } catch {
    throw new Error(`${file.name} cannot be read. If it has changed, choose it again.`);
  }
}

async function unpack(base64) {
  const packed = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).arrayBuffer();
}

async function start() {
  engine = createEngine(await unpack(hasSimd() ? modules.simd : modules.scalar));
  const formats = engine.formats.map(({ name, text }) => ({ name, text }));
  return { type: 'ready', formats, kernel: engine.kernel, version: engine.version };
}

async function loadFilter({ file, format, form }) {
  filter?.free();
  filter = undefined;
  const bytes = await slice(file, 0, file.size);
  filter = engine.Filter.load(bytes, format ? { format, form } : {});
  return { type: 'filter', info: filter.info };
}

async function readColumns({ file, separator, header }) {
  const first = await slice(file, 0, FIRST_NBYTES);
  const ends = first.length === file.size;
  const read = (each) => engine.csvRecord(first, ends, { separator: each }).fields;
  let chosen = separator || ',';
  let fields = read(chosen);
  if (!separator)
    // the one that makes the most columns
    for (const each of SEPARATORS) {
      let found = [];
      try {
        found = read(each);
      } catch {
        continue; // quotes do not fit this separator
      }
      if (found.length > fields.length) [chosen, fields] = [each, found];
    }
  return { type: 'columns', fields, separator: chosen, header };
}

// Returns the fields of the first rows of the output.
function preview(bytes, separator) {
  const rows = [];
  for (let at = 0; at < bytes.length && rows.length <= PREVIEW_NROWS;) {
    const { fields, nbytes } = engine.csvRecord(bytes.subarray(at), true, { separator });
    rows.push(fields);
    at += nbytes;
  }
  return rows;
}

async function screen({ file, column, header, separator, missing }) {
  const own = job;
  const begin = performance.now();
  const csv = new engine.CsvScreen(filter, column, { header, separator, missing });
  let rows = new Blob(); // the browser may move it to the disk
  let first = new Uint8Array();
  let problem = null;
  let at = 0;
  try {
    for (let ends = false; !ends && !problem;) {
      const bytes = await slice(file, at, at + SLICE_NBYTES);
      if (own !== job) return undefined;
      at += bytes.length;
      ends = at >= file.size || bytes.length === 0;
      let output;
      try {
        output = csv.push(bytes, ends);
      } catch (error) {
        problem = error.message;
        output = error.output ?? new Uint8Array();
      }
      if (output.length > 0) rows = new Blob([rows, output]);
      if (first.length < PREVIEW_NBYTES)
        first = new Uint8Array(await new Blob([first, output]).arrayBuffer());
      postMessage({ type: 'progress', nbytes: at, size: file.size, counts: csv.counts });
    }
    return {
      type: 'done',
      problem,
      rows,
      counts: csv.counts,
      preview: preview(first, separator),
      seconds: (performance.now() - begin) / 1000,
      nbytes: at,
      memory: engine.exports.memory.buffer.byteLength,
    };
  } finally {
    csv.free();
  }
}

const actions = { filter: loadFilter, columns: readColumns, screen };

onmessage = async ({ data }) => {
  if (data.type === 'screen' || data.type === 'stop') job++;
  if (data.type === 'stop') return;
  try {
    await started;
    const answer = await actions[data.type](data);
    if (answer) postMessage({ ...answer, id: data.id });
  } catch (error) {
    postMessage({ type: 'problem', of: data.type, text: error.message, id: data.id });
  }
};

const started = start().then(postMessage, (error) =>
  postMessage({ type: 'problem', of: 'start', text: error.message }),
);
