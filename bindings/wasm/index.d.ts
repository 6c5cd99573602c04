// SPDX-License-Identifier: MIT

/** A batch of keys. Numbers are hashed as their little-endian bytes, and strings as UTF-8. */
export type Keys =
  | BigInt64Array
  | BigUint64Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array
  | readonly string[]
  | readonly Uint8Array[]
  | { readonly data: Uint8Array; readonly width: number };

export type Format =
  | 'leveldb'
  | 'leveldb-signed'
  | 'rocksdb'
  | 'rocksdb-legacy'
  | 'rocksdb-local'
  | 'rocksdb-ribbon'
  | 'parquet'
  | 'spark-v1'
  | 'spark-v2'
  | 'pebble-binaryfuse'
  | 'hudi'
  | 'dcso'
  | 'dcso-signed'
  | 'guava'
  | 'guava-32'
  | 'guava-64'
  | 'cassandra'
  | 'cassandra-2'
  | 'cassandra-3';

/** How the bytes of a key were made. */
export type Encoding =
  | 'bytes'
  | 'hex'
  | 'base64'
  | 'int32'
  | 'int64'
  | 'uint32'
  | 'uint64'
  | 'float32'
  | 'float64'
  | 'date32'
  | 'timestamp-s'
  | 'timestamp-ms'
  | 'timestamp-us'
  | 'timestamp-ns'
  | 'decimal128'
  | 'uuid';

/** What lanebloom_filter_info of lanebloom.h says about a filter. `null` means unknown. */
export interface FilterInfo {
  readonly format: Format;
  readonly probes: number;
  readonly bits: number;
  readonly bitsSet: number;
  readonly keys: number | null;
  readonly keysEstimate: number | null;
  readonly bitsPerKey: number | null;
  /** By the model: the share of absent keys that pass, from 0 to 1. */
  readonly falsePositiveRate: number;
  readonly encoding: Encoding;
  readonly trimmed: boolean;
  readonly lowered: boolean;
  readonly joined: boolean;
  readonly uppered: boolean;
  /** The digest that replaces the text, such as "sha1" or "md5:HEX". */
  readonly digest: string | null;
  /** The digest or encoding, and the steps before it, in words, such as "bytes, lower-cased". */
  readonly form: string;
  /** The size of the engine's bytes. */
  readonly nbytes: number;
}

export interface BuildOptions {
  /** 10, if neither it nor the rate is given. */
  bitsPerKey?: number;
  /**
   * The false-positive rate, a number between 0 and 1. If the engine's writer takes a rate, the
   * filter has the size that the writer gives it.
   */
  rate?: number;
  /** Sizes the filter in advance, so that no hashes are stored until the end. */
  expectedKeys?: number;
  /** How keys that are bytes were made. Typed arrays and strings have a form of their own. */
  form?: Encoding;
}

/**
 * A filter in the memory of the module. The memory is freed some time after the last reference to
 * the filter is gone, or at once by free().
 */
export class Filter {
  private constructor();
  /** Loads a container or, if a format is given, the bare bytes of an engine. */
  static load(bytes: ArrayBuffer | ArrayBufferView, options?: LoadOptions): Filter;
  /** Builds the filter that the engine would build of these keys, byte for byte. */
  static build(format: Format | undefined, keys: Keys, options?: BuildOptions): Filter;
  readonly info: FilterInfo;
  /** Returns 1 for each key that may be in the filter, and 0 for each key that is not. */
  screen(keys: Keys): Uint8Array;
  /** Returns the same as bits, the lowest bit of each byte first. */
  bitmap(keys: Keys): Uint8Array;
  /** Returns the indices of the keys that may be in the filter. */
  select(keys: Keys): Uint32Array;
  /** Returns how many keys may be in the filter. */
  count(keys: Keys): number;
  /** May this key be in the filter? */
  has(key: string | Uint8Array): boolean;
  /** Returns a container, which the command, the other libraries and load() read. */
  save(): Uint8Array;
  /** Returns the bytes as the engine writes them. */
  engineBytes(): Uint8Array;
  free(): void;
}

/** What the bare bytes of an engine do not say. A container says it, so it has no options. */
export interface LoadOptions {
  format?: Format;
  form?: Encoding;
  keys?: number;
  bitsPerKey?: number;
}

/** Builds a filter of keys that come in many batches. */
export class Builder {
  constructor(format?: Format, options?: BuildOptions);
  add(keys: Keys): void;
  /** Makes the filter, and empties the builder. */
  finish(): Filter;
  free(): void;
}

export interface CsvOptions {
  /** Is the first record a header? If it is not given, it is. */
  header?: boolean;
  /** One ASCII character; a comma, if it is not given. */
  separator?: string;
  /** What happens to records without the column; "fail", if it is not given. */
  missing?: 'fail' | 'keep' | 'drop';
}

/** Screens one column of a CSV file, piece by piece, as `lanebloom screen --csv` does. */
export class CsvScreen {
  /** column: counted from 0 */
  constructor(filter: Filter, column: number, options?: CsvOptions);
  /**
   * Takes the next bytes of the file. Returns the header, if it is in them, and the records that
   * have ended in them and may be in the filter. `ends` says that the file ends with these bytes.
   */
  push(bytes: Uint8Array, ends?: boolean): Uint8Array;
  readonly counts: { records: number; selected: number; missing: number };
  free(): void;
}

/** Returns the fields of the first record of a CSV file. */
export function csvColumns(bytes: Uint8Array, ends: boolean, options?: CsvOptions): string[];

export const formats: readonly {
  readonly name: Format;
  readonly text: string;
  /** Can filters of this format be built, and not only loaded? */
  readonly builds: boolean;
}[];
/** The kernels in use: "simd128" or "scalar". */
export const kernel: 'simd128' | 'scalar';
/** The version of the library. */
export const version: string;

/** An error of the library. The message says what was expected and what was found. */
export class LanebloomError extends Error {
  constructor(status: string, message: string);
  /** The name of the status in lanebloom.h, such as "CORRUPT". */
  readonly status: string;
}

/** Can this JavaScript engine run lanebloom-simd.wasm? */
export function hasSimd(): boolean;
/** Makes the classes above of the bytes of a module, for programs that load modules themselves. */
export function createEngine(bytes: BufferSource): {
  Filter: typeof Filter;
  Builder: typeof Builder;
  CsvScreen: typeof CsvScreen;
  csvColumns: typeof csvColumns;
  formats: typeof formats;
  kernel: typeof kernel;
  version: typeof version;
  useKernel(name: 'simd128' | 'scalar'): void;
};
