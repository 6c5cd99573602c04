// Wraps the functions of the WebAssembly module in classes. Functions of the module have the names
// and arguments of lanebloom.h: a pointer is a number, a struct that is returned is written to the
// memory at the first argument, and an integer of 64 bits is a BigInt.
// SPDX-License-Identifier: MIT

/** An error of the library. `status` is the name of its status, for example "CORRUPT". */
export class LanebloomError extends Error {
  constructor(status, message) {
    super(message);
    this.name = 'LanebloomError';
    this.status = status;
  }
}

// The smallest module with an instruction of SIMD128.
const SIMD_MODULE = [
  0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15,
  253, 98, 11,
];

/** Can this JavaScript engine run the module lanebloom-simd.wasm? */
export function hasSimd() {
  return WebAssembly.validate(new Uint8Array(SIMD_MODULE));
}

const STATUSES = [
  'OK',
  'ARGUMENT',
  'MEMORY',
  'FORMAT',
  'CORRUPT',
  'LIMIT',
  'MISMATCH',
  'KERNEL',
  'IO',
  'ROOM',
];
const DEFAULT_FORMAT = 'rocksdb-local';
const UNKNOWN = 2n ** 64n - 1n;
const FLAGS = ['trimmed', 'lowered', 'joined', 'uppered']; // bit i of the flags of a key form
const DIGEST = 0xf0; // the bits of these flags that name a digest

// Keys are copied into the memory of the module in blocks of at most this many bytes and keys.
const BLOCK_NBYTES = 1 << 20;
const BLOCK_NKEYS = 1 << 16;

// The room of structs of lanebloom.h, in bytes, and the order of their members below.
const KEYS_NBYTES = 64;
const INFO_NBYTES = 64;
const FORMAT_INFO_NBYTES = 72;
const RAW_OPTIONS_NBYTES = 32;
const FORM_NBYTES = 64;
const PROBLEM_NBYTES = 512;
const CSV_STATE_NBYTES = 32;

const TYPES = [
  [BigInt64Array, 'int64'],
  [BigUint64Array, 'uint64'],
  [Int32Array, 'int32'],
  [Uint32Array, 'uint32'],
  [Float32Array, 'float32'],
  [Float64Array, 'float64'],
];
const KEYS_TEXT =
  'expected a BigInt64Array, BigUint64Array, Int32Array, Uint32Array, Float32Array or ' +
  'Float64Array, an array of strings or Uint8Arrays, or { data: Uint8Array, width }';

/** Makes the classes below of the bytes of a module. */
export function createEngine(bytes) {
  const module = new WebAssembly.Module(bytes);
  // The C library imports functions that write to files. The module never calls them.
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module))
    (imports[from] ??= {})[name] = () => {
      throw new LanebloomError('IO', `the module called ${name}`);
    };
  const c = new WebAssembly.Instance(module, imports).exports;
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();

  // ---- Memory ----

  const view = () => new DataView(c.memory.buffer);
  const bytesAt = (at, n) => new Uint8Array(c.memory.buffer, at, n);

  function allocate(n) {
    const at = c.malloc(Math.max(n, 1)) >>> 0;
    if (at === 0) throw new LanebloomError('MEMORY', `out of memory: expected ${n} bytes more`);
    return at;
  }

  function copyIn(source) {
    const at = allocate(source.length);
    bytesAt(at, source.length).set(source);
    return at;
  }

  function textAt(at) {
    const all = new Uint8Array(c.memory.buffer, at);
    return decoder.decode(all.slice(0, all.indexOf(0)));
  }

  // A small block that every call may use for its structs and outputs.
  const scratch = allocate(1024);
  const problem = scratch + 512;
  const name = scratch + 256;

  // A block for keys: their bytes, offsets or slices, and a bitmap.
  let block = allocate(BLOCK_NBYTES);
  let blockNbytes = BLOCK_NBYTES;
  const offsets = allocate(4 * (BLOCK_NKEYS + 1));
  const bitmap = allocate(BLOCK_NKEYS / 8);

  function growBlock(nbytes) {
    if (nbytes <= blockNbytes) return;
    const larger = allocate(nbytes);
    c.free(block);
    block = larger;
    blockNbytes = nbytes;
  }

  function shrinkBlock() {
    if (blockNbytes === BLOCK_NBYTES) return;
    c.free(block);
    block = allocate(BLOCK_NBYTES);
    blockNbytes = BLOCK_NBYTES;
  }

  function check(status, text) {
    if (status !== 0)
      throw new LanebloomError(STATUSES[status], text || textAt(c.lanebloom_status_text(status)));
  }

  const problemText = () => textAt(problem);

  function writeName(text) {
    const { written } = encoder.encodeInto(text, bytesAt(name, 255));
    bytesAt(name + written, 1)[0] = 0;
    return name;
  }

  // ---- Formats and key forms ----

  const formats = [];
  for (let i = 0; i < c.lanebloom_format_count(); i++) {
    const number = c.lanebloom_format_at(i);
    check(c.lanebloom_format_describe(number, scratch, FORMAT_INFO_NBYTES));
    const memory = view();
    formats.push(
      Object.freeze({
        name: textAt(memory.getUint32(scratch, true)),
        text: textAt(memory.getUint32(scratch + 4, true)),
        builds: memory.getUint8(scratch + 24) === 1,
      }),
    );
  }
  const numbers = new Map();
  for (let i = 0; i < formats.length; i++) numbers.set(formats[i].name, c.lanebloom_format_at(i));
  Object.freeze(formats);

  function formatNumber(format) {
    const number = numbers.get(format);
    if (number === undefined)
      throw new LanebloomError(
        'FORMAT',
        `format: expected one of ${[...numbers.keys()].join(', ')}, found ${format}`,
      );
    return number;
  }

  function encodingNumber(encoding) {
    if (!c.lanebloom_encoding_by_name(writeName(encoding), scratch))
      throw new LanebloomError(
        'ARGUMENT',
        `form: expected an encoding such as int64, found ${encoding}`,
      );
    return view().getInt32(scratch, true);
  }

  // ---- Keys ----

  // Returns { form, n, blocks }. `form` is the encoding that the keys must have been built with, or
  // undefined if the keys are bytes, whose meaning only the caller knows. blocks() puts the keys
  // into the memory of the module, block by block, and yields [address of lanebloom_keys, number].
  function keysOf(keys) {
    for (const [type, form] of TYPES)
      if (keys instanceof type)
        return fixedKeys(
          new Uint8Array(keys.buffer, keys.byteOffset, keys.byteLength),
          keys.BYTES_PER_ELEMENT,
          keys.length,
          form,
        );
    if (Array.isArray(keys)) return variableKeys(keys);
    if (keys?.data instanceof Uint8Array && Number.isInteger(keys.width) && keys.width > 0) {
      if (keys.data.length % keys.width)
        throw new LanebloomError(
          'ARGUMENT',
          `keys: expected records of ${keys.width} bytes, found ` +
            `${keys.data.length % keys.width} bytes after the last one`,
        );
      return fixedKeys(keys.data, keys.width, keys.data.length / keys.width, undefined);
    }
    throw new TypeError(`keys: ${KEYS_TEXT}; found ${describe(keys)}`);
  }

  function describe(value) {
    return value?.constructor?.name ?? String(value);
  }

  function fixedKeys(data, width, n, form) {
    function* blocks() {
      const most = Math.max(8, Math.min(BLOCK_NKEYS, Math.floor(BLOCK_NBYTES / width) & ~7));
      for (let i = 0; i < n; i += most) {
        const m = Math.min(most, n - i);
        growBlock(m * width);
        bytesAt(block, m * width).set(data.subarray(i * width, (i + m) * width));
        c.lanebloom_keys_fixed(scratch, block, width, m);
        yield [scratch, m];
      }
    }
    return { form, n, blocks };
  }

  function variableKeys(keys) {
    const isText = keys.length === 0 || typeof keys[0] === 'string';
    function write(key, used) {
      if (typeof key === 'string') {
        return encoder.encodeInto(key, bytesAt(block + used, 3 * key.length)).written;
      }
      bytesAt(block + used, key.length).set(key);
      return key.length;
    }
    function* blocks() {
      for (let i = 0; i < keys.length;) {
        let used = 0;
        let m = 0;
        const ends = [0];
        for (; i + m < keys.length && m < BLOCK_NKEYS; m++) {
          const key = keys[i + m];
          const isRight = typeof key === 'string' ? isText : !isText && key instanceof Uint8Array;
          if (!isRight)
            throw new TypeError(
              `keys[${i + m}]: expected ${isText ? 'a string' : 'a Uint8Array'}, ` +
                `found ${describe(key)}`,
            );
          const most = typeof key === 'string' ? 3 * key.length : key.length;
          if (used + most > blockNbytes) {
            if (m > 0 && m % 8 === 0) break; // bitmaps of blocks stay whole bytes
            growLarger(used, most);
          }
          used += write(key, used);
          ends.push(used);
        }
        new Uint32Array(c.memory.buffer, offsets, m + 1).set(ends);
        c.lanebloom_keys_offsets32(scratch, block, offsets, m);
        yield [scratch, m];
        i += m;
      }
    }
    return { form: isText ? 'bytes' : undefined, n: keys.length, blocks };
  }

  // Makes the block larger without losing its first bytes.
  function growLarger(used, more) {
    const kept = bytesAt(block, used).slice();
    growBlock(2 * used + more);
    bytesAt(block, used).set(kept);
  }

  // ---- Objects of the module ----

  const registry = new FinalizationRegistry((release) => release());

  class Owner {
    #pointer;
    #what;
    constructor(pointer, what, release) {
      this.#pointer = pointer;
      this.#what = what;
      this.release = release;
      registry.register(this, release, this);
    }
    get pointer() {
      if (this.#pointer === 0) throw new Error(`the ${this.#what} was freed`);
      return this.#pointer;
    }
    free() {
      if (this.#pointer === 0) return;
      registry.unregister(this);
      this.#pointer = 0;
      this.release();
    }
  }

  class Filter {
    #owner;
    #info;

    constructor(token, pointer, bytes) {
      if (token !== PRIVATE) throw new TypeError('use Filter.load() or Filter.build()');
      this.#owner = new Owner(pointer, 'filter', () => {
        c.lanebloom_filter_free(pointer);
        c.free(bytes); // 0 if the filter owns its bytes
      });
      this.#info = describeFilter(pointer);
    }

    static load(bytes, { format, form = 'bytes', bitsPerKey, keys } = {}) {
      const source = ArrayBuffer.isView(bytes)
        ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
        : new Uint8Array(bytes);
      const number = format === undefined ? undefined : formatNumber(format);
      const encoding = encodingNumber(form);
      const at = copyIn(source);
      let status;
      if (number === undefined) {
        status = c.lanebloom_filter_parse(at, source.length, scratch, problem, PROBLEM_NBYTES);
      } else {
        const memory = view();
        const options = scratch + 16;
        memory.setInt32(options, encoding, true);
        memory.setUint32(options + 4, 0, true);
        memory.setUint8(options + 8, keys === undefined ? 0 : 1);
        memory.setUint8(options + 9, bitsPerKey === undefined ? 0 : 1);
        memory.setBigUint64(options + 16, BigInt(keys ?? 0), true);
        memory.setFloat64(options + 24, bitsPerKey ?? 0, true);
        status = c.lanebloom_filter_parse_raw(
          number,
          at,
          source.length,
          options,
          scratch,
          problem,
          PROBLEM_NBYTES,
        );
      }
      if (status !== 0) c.free(at);
      check(status, problemText());
      return new Filter(PRIVATE, view().getUint32(scratch, true), at);
    }

    static build(format, keys, options) {
      const builder = new Builder(format, options);
      try {
        builder.add(keys);
        return builder.finish();
      } finally {
        builder.free();
      }
    }

    get info() {
      return this.#info;
    }

    #screenBlocks(keys, visit) {
      const source = keysOf(keys);
      const pointer = this.#owner.pointer;
      checkForm(source.form, this.#info);
      let first = 0;
      for (const [at, n] of source.blocks()) {
        visit(first, n, c.lanebloom_filter_screen(pointer, at, bitmap));
        first += n;
      }
      shrinkBlock();
      return source.n;
    }

    bitmap(keys) {
      const all = new Uint8Array(Math.ceil(keyCount(keys) / 8));
      this.#screenBlocks(keys, (first, n) => {
        all.set(bytesAt(bitmap, Math.ceil(n / 8)), first / 8);
      });
      return all;
    }

    screen(keys) {
      const mask = new Uint8Array(keyCount(keys));
      this.#screenBlocks(keys, (first, n, nhits) => {
        if (nhits === 0) return;
        const bits = bytesAt(bitmap, Math.ceil(n / 8));
        for (let i = 0; i < n; i++) mask[first + i] = (bits[i >> 3] >> (i & 7)) & 1;
      });
      return mask;
    }

    select(keys) {
      const chosen = [];
      this.#screenBlocks(keys, (first, n, nhits) => {
        if (nhits === 0) return;
        const bits = bytesAt(bitmap, Math.ceil(n / 8));
        for (let i = 0; i < n; i++) if ((bits[i >> 3] >> (i & 7)) & 1) chosen.push(first + i);
      });
      return Uint32Array.from(chosen);
    }

    count(keys) {
      let count = 0;
      this.#screenBlocks(keys, (first, n, nhits) => {
        count += nhits;
      });
      return count;
    }

    has(key) {
      return this.count([key]) === 1;
    }

    save() {
      const pointer = this.#owner.pointer;
      c.lanebloom_filter_write(pointer, 0, 0, scratch);
      const n = view().getUint32(scratch, true);
      const at = allocate(n);
      try {
        check(c.lanebloom_filter_write(pointer, at, n, scratch));
        return bytesAt(at, n).slice();
      } finally {
        c.free(at);
      }
    }

    engineBytes() {
      const at = c.lanebloom_filter_bytes(this.#owner.pointer, scratch) >>> 0;
      return bytesAt(at, view().getUint32(scratch, true)).slice();
    }

    free() {
      this.#owner.free();
    }

    static pointerOf(filter) {
      return filter.#owner.pointer;
    }
  }
  const PRIVATE = Symbol('private');
  const pointerOf = Filter.pointerOf;
  delete Filter.pointerOf;

  function keyCount(keys) {
    return keysOf(keys).n;
  }

  function checkForm(form, info) {
    if (form === undefined) return;
    if (form !== info.encoding)
      throw new TypeError(
        `keys of the filter: ${info.form}; the array has ${form}` +
          '; bytes of any form are passed as { data, width } or Uint8Arrays',
      );
    if (info.form !== info.encoding)
      throw new TypeError(
        `keys of the filter: ${info.form}; make keys of this form, and pass them as Uint8Arrays`,
      );
  }

  function describeFilter(pointer) {
    c.lanebloom_filter_describe(pointer, scratch, INFO_NBYTES);
    const memory = view();
    const u32 = (at) => memory.getUint32(scratch + at, true);
    const u64 = (at) => memory.getBigUint64(scratch + at, true);
    const f64 = (at) => memory.getFloat64(scratch + at, true);
    const known = (value) => (value === UNKNOWN ? null : Number(value));
    const info = {
      format: textAt(c.lanebloom_format_name(u32(0))),
      probes: u32(4),
      bits: Number(u64(8)),
      bitsSet: Number(u64(16)),
      keys: known(u64(24)),
      bitsPerKey: Number.isNaN(f64(32)) ? null : f64(32),
      falsePositiveRate: f64(40),
      keysEstimate: known(u64(48)),
      encoding: textAt(c.lanebloom_encoding_name(u32(56))),
    };
    const flags = u32(60);
    for (let i = 0; i < FLAGS.length; i++) info[FLAGS[i]] = ((flags >> i) & 1) === 1;
    info.form = textAt(c.lanebloom_key_form_text(scratch + 56, name, FORM_NBYTES));
    info.digest = flags & DIGEST ? info.form.split(', ')[0] : null;
    c.lanebloom_filter_bytes(pointer, scratch);
    info.nbytes = view().getUint32(scratch, true);
    return Object.freeze(info);
  }

  class Builder {
    #owner;
    #form;

    constructor(format = DEFAULT_FORMAT, { bitsPerKey, rate, expectedKeys = 0, form } = {}) {
      if (bitsPerKey !== undefined && rate !== undefined)
        throw new TypeError('expected bitsPerKey or rate, found both');
      const create =
        rate === undefined ? c.lanebloom_builder_create : c.lanebloom_builder_create_for_rate;
      const size = rate ?? bitsPerKey ?? 10;
      check(create(formatNumber(format), size, BigInt(expectedKeys), scratch));
      const pointer = view().getUint32(scratch, true);
      this.#owner = new Owner(pointer, 'builder', () => c.lanebloom_builder_free(pointer));
      if (form !== undefined) this.#setForm(form);
    }

    #setForm(form) {
      const number = encodingNumber(form);
      const memory = view(); // WebAssembly passes a struct by its address
      memory.setInt32(scratch, number, true);
      memory.setUint32(scratch + 4, 0, true);
      check(c.lanebloom_builder_set_key_form(this.#owner.pointer, scratch));
      this.#form = form;
    }

    add(keys) {
      const source = keysOf(keys);
      const pointer = this.#owner.pointer;
      if (this.#form === undefined) this.#setForm(source.form ?? 'bytes');
      else if (source.form !== undefined && source.form !== this.#form)
        throw new TypeError(`keys of the filter: ${this.#form}; the array has ${source.form}`);
      for (const [at] of source.blocks()) check(c.lanebloom_builder_add(pointer, at));
      shrinkBlock();
    }

    finish() {
      check(c.lanebloom_builder_finish(this.#owner.pointer, scratch));
      return new Filter(PRIVATE, view().getUint32(scratch, true), 0);
    }

    free() {
      this.#owner.free();
    }
  }

  // ---- CSV ----

  const MISSING = ['fail', 'keep', 'drop']; // enum missing

  function createCsv(filter, column, { header = true, separator = ',', missing = 'fail' } = {}) {
    const code = encoder.encode(separator);
    if (code.length !== 1 || separator === '"' || separator === '\n' || separator === '\r')
      throw new TypeError(
        `separator: expected one ASCII character, found ${JSON.stringify(separator)}`,
      );
    const action = MISSING.indexOf(missing);
    if (action < 0) throw new TypeError(`missing: expected fail, keep or drop, found ${missing}`);
    const at = c.csv_create(filter, column, header, code[0], action) >>> 0;
    if (at === 0) throw new LanebloomError('MEMORY', 'out of memory');
    return at;
  }

  function pushCsv(csv, bytes, ends) {
    const at = c.csv_room(csv, bytes.length) >>> 0;
    if (at === 0) throw new LanebloomError('MEMORY', 'out of memory for a record');
    bytesAt(at, bytes.length).set(bytes);
    return c.csv_push(csv, bytes.length, ends) !== 0;
  }

  function csvOutput(csv) {
    c.csv_describe(csv, scratch);
    const memory = view();
    return bytesAt(memory.getUint32(scratch, true), memory.getUint32(scratch + 4, true)).slice();
  }

  class CsvScreen {
    #owner;
    #filter;

    constructor(filter, column, options) {
      const { form } = filter.info;
      if (filter.info.joined)
        throw new TypeError(`expected a filter whose keys are one field, found '${form}'`);
      if (filter.info.digest)
        throw new TypeError(`expected a filter whose keys are not digests, found '${form}'`);
      const csv = createCsv(pointerOf(filter), column, options);
      this.#filter = filter; // keeps it alive
      this.#owner = new Owner(csv, 'CSV screen', () => c.csv_free(csv));
    }

    push(bytes, ends = false) {
      pointerOf(this.#filter); // throws if the filter was freed
      const csv = this.#owner.pointer;
      const isGood = pushCsv(csv, bytes, ends);
      const output = csvOutput(csv);
      if (!isGood) {
        const error = new LanebloomError('FORMAT', textAt(c.csv_problem(csv)));
        error.output = output;
        throw error;
      }
      return output;
    }

    get counts() {
      c.csv_describe(this.#owner.pointer, scratch);
      const memory = view();
      const count = (i) => memory.getFloat64(scratch + 8 + 8 * i, true);
      return { records: count(0), selected: count(1), missing: count(2) };
    }

    free() {
      this.#owner.free();
    }
  }

  // Returns the fields of the first record, and the size of the record.
  function csvRecord(bytes, ends, options) {
    const csv = createCsv(0, 0, { ...options, header: true });
    try {
      const fields = [];
      let nbytes = 0;
      if (pushCsv(csv, bytes, ends)) {
        nbytes = csvOutput(csv).length;
        while (c.csv_column(csv, fields.length, scratch)) {
          const memory = view();
          const at = memory.getUint32(scratch, true);
          fields.push(decoder.decode(bytesAt(at, memory.getUint32(scratch + 4, true)).slice()));
        }
      }
      const text = textAt(c.csv_problem(csv));
      if (text) throw new LanebloomError('FORMAT', text);
      if (nbytes === 0)
        throw new LanebloomError('FORMAT', 'expected a first record, found none that ends');
      return { fields, nbytes };
    } finally {
      c.csv_free(csv);
    }
  }

  const csvColumns = (bytes, ends, options) => csvRecord(bytes, ends, options).fields;

  return {
    Filter,
    Builder,
    CsvScreen,
    csvRecord,
    csvColumns,
    formats,
    version: textAt(c.lanebloom_version()),
    get kernel() {
      return textAt(c.lanebloom_kernel_active());
    },
    useKernel(kernel) {
      check(c.lanebloom_kernel_use(writeName(kernel)));
    },
    exports: c,
  };
}
