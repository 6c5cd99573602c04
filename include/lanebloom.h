/* lanebloom: screens batches of keys against the Bloom filters that storage engines write.
 * This header is the library's public interface and its manual. lanebloom_arrow.h adds functions
 * for Arrow arrays. Two more libraries have headers of their own: lanebloom_tables.h for database
 * files and lanebloom_parquet.h for Parquet files.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_H
#define LANEBLOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version of this header. lanebloom_version() returns the library's. */
#define LANEBLOOM_VERSION_MAJOR 0
#define LANEBLOOM_VERSION_MINOR 1
#define LANEBLOOM_VERSION_PATCH 0

#if defined(__GNUC__)
#define LANEBLOOM_API __attribute__((visibility("default")))
#else
#define LANEBLOOM_API
#endif

/* Marks a function whose status must be checked: compilers warn about a caller that ignores it. */
#if (defined(__cplusplus) && __cplusplus >= 201703L) ||                                            \
    (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define LANEBLOOM_NODISCARD [[nodiscard]] LANEBLOOM_API
#elif defined(__GNUC__)
#define LANEBLOOM_NODISCARD LANEBLOOM_API __attribute__((warn_unused_result))
#else
#define LANEBLOOM_NODISCARD LANEBLOOM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* -------------------------------------------------------------------------------------------------
 * Rules for every function
 *
 * Errors    A function that can fail returns a status. On an error nothing has changed, and an
 *           output that is a pointer becomes NULL. Screening cannot fail. The library never prints
 *           and never aborts; lanebloom_keys_offsets32() names the one exception of debug builds.
 * Problems  A function that reads a file takes `problem`, an array of problem_size bytes. On an
 *           error it gets one line for people, which says what was expected and what was found. The
 *           line is cut to fit and always ends with a 0 byte; on success it is "". It may quote
 *           names from the file; bytes that are not printable UTF-8 appear in it as \ooo. Pass NULL
 *           and 0 if no line is wanted.
 * Kernels   A kernel table holds the functions for one instruction set; all tables give the same
 *           results. The default is the table that $LANEBLOOM_KERNEL names or, if that is not set,
 *           the best one that this CPU can run. The variable is read once, with secure_getenv();
 *           empty counts as unset. While it names a table that cannot run here, every function that
 *           returns a status returns LANEBLOOM_ERR_KERNEL. lanebloom_kernel_use() overrides the
 *           variable.
 * Memory    Keys, filter bytes, string views, hashes, masks and bitmaps may have any alignment.
 *           Offsets, slices and indices have the alignment of their type. Outputs must not overlap
 *           inputs. Pointers must not be NULL unless a comment allows it. Borrowed memory must stay
 *           unchanged until its borrower is closed. Sizes may exceed 32 bits.
 * Stack     Screening, hashing and building use at most 80 KiB of stack per call (measured on
 *           x86-64, with optimisation).
 * Threads   Any number of threads may use one filter at a time: a filter never changes. A builder
 *           belongs to one thread at a time, unless a comment allows more. All other functions may
 *           be called from any thread at any time. If another thread calls lanebloom_kernel_use(),
 *           a running call keeps the kernels it began with.
 * Empty     A batch of no keys is allowed everywhere: the count is 0 and nothing is written. The
 *           empty key is a key like any other.
 * ---------------------------------------------------------------------------------------------- */

/* The values are fixed and never renumbered. */
typedef enum lanebloom_status {
  LANEBLOOM_OK = 0,
  LANEBLOOM_ERR_ARGUMENT = 1, /* an argument is outside its documented range */
  LANEBLOOM_ERR_MEMORY = 2,   /* out of memory */
  LANEBLOOM_ERR_FORMAT = 3,   /* another format, or one that this call does not take */
  LANEBLOOM_ERR_CORRUPT = 4,  /* a checksum, a size or the structure is wrong */
  LANEBLOOM_ERR_LIMIT = 5,    /* more than the format can hold */
  LANEBLOOM_ERR_MISMATCH = 6, /* cannot be merged: format, size, probes or key form differ */
  LANEBLOOM_ERR_KERNEL = 7,   /* no such kernel, or this CPU cannot run it */
  LANEBLOOM_ERR_IO = 8        /* a file could not be read or written; errno says why */
} lanebloom_status;

/* Returns the meaning of a status in one line of English. Never NULL. */
LANEBLOOM_API const char *lanebloom_status_text(lanebloom_status status);

/* The version of the library in use: "major.minor.patch". */
LANEBLOOM_API const char *lanebloom_version(void);

/* An unknown count. */
#define LANEBLOOM_UNKNOWN UINT64_MAX

/* -------------------------------------------------------------------------------------------------
 * Keys: a batch of byte strings, in the layout in which the caller has them. The bytes are borrowed
 * and only read. Make a batch with these functions and pass a pointer to it; it may be copied.
 * Making one costs nothing: no key is read.
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_slice {
  const void *data; /* may be NULL when size is 0 */
  size_t size;      /* bytes */
} lanebloom_slice;

/* The fields are private. */
typedef struct lanebloom_keys {
  const void *data;  /* bytes of the keys */
  const void *index; /* offsets, slices or string views; NULL for a width */
  size_t width;      /* bytes per key; 0 unless all have one width */
  size_t stride;     /* bytes from one key to the next; 0 unless all have one width */
  size_t n;          /* keys */
  uint32_t layout;
  uint32_t reserved32;
  uint64_t reserved[2];
} lanebloom_keys;

/* n keys of `width` bytes side by side: key i is data[i * width .. (i + 1) * width). A width of 0
 * makes n empty keys. */
LANEBLOOM_API lanebloom_keys lanebloom_keys_fixed(const void *data, size_t width, size_t n);

/* One field of an array of records: key i is data[i * stride .. i * stride + width). stride: bytes
 * from one key to the next. With a stride of 0 all n keys are the first one. Keys may overlap. The
 * rest of the last record need not exist. Vector kernels may read up to 15 bytes past a key, within
 * its page, and ignore them. Cost: fields of 4, 8, 12, 16, 20 and 32 bytes are copied side by side
 * in the first-level cache before they are hashed, others are hashed as slices. */
LANEBLOOM_API lanebloom_keys lanebloom_keys_strided(const void *data, size_t width, size_t stride,
                                                    size_t n);

/* A column as Arrow lays it out: key i is data[offsets[i] .. offsets[i + 1]). offsets: n + 1
 * numbers that never fall; none is read when n is 0. They are not checked. A library built without
 * NDEBUG asserts that offsets do not fall, and aborts if they do. */
LANEBLOOM_API lanebloom_keys lanebloom_keys_offsets32(const void *data, const uint32_t *offsets,
                                                      size_t n);
LANEBLOOM_API lanebloom_keys lanebloom_keys_offsets64(const void *data, const uint64_t *offsets,
                                                      size_t n);

/* Keys anywhere in memory, one slice each. Vector kernels may read up to 15 bytes past a key,
 * within its page, and ignore them. Use the kernel "scalar" under Valgrind. */
LANEBLOOM_API lanebloom_keys lanebloom_keys_slices(const lanebloom_slice *slices, size_t n);

/* views: n string views of 16 bytes each, laid out as in DuckDB's string_t, Velox's StringView and
 * Umbra. An array of char * is something else: pass it as slices, to lanebloom_keys_slices(). A
 * view begins with the string's size, a uint32_t. If the string has at most 12 bytes, they follow
 * directly. If it is longer, its first 4 bytes follow, which are ignored, and then a pointer to the
 * whole string. Arrow's string views hold no pointers: they have another layout. Vector kernels may
 * read up to 15 bytes past a string, within its page, and ignore them. */
LANEBLOOM_API lanebloom_keys lanebloom_keys_strings(const void *views, size_t n);

/* Returns keys first .. first + n of a batch, for example one part for each thread. A part never
 * goes past the end of the batch. */
LANEBLOOM_API lanebloom_keys lanebloom_keys_part(const lanebloom_keys *keys, size_t first,
                                                 size_t n);

/* -------------------------------------------------------------------------------------------------
 * Formats and hashes
 * ---------------------------------------------------------------------------------------------- */

/* A format that this build does not have makes calls return LANEBLOOM_ERR_FORMAT.
 * docs/choosing-a-filter.md says which one to choose. */
typedef enum lanebloom_format {
  LANEBLOOM_LEVELDB = 1,        /* leveldb.BuiltinBloomFilter2; also goleveldb's */
  LANEBLOOM_ROCKSDB_LEGACY = 2, /* RocksDB with format_version below 5, Pebble */
  LANEBLOOM_ROCKSDB_LOCAL = 3,  /* RocksDB's FastLocalBloom, format_version 5 and above */
  LANEBLOOM_ROCKSDB =
      4, /* only for opening: the RocksDB format that the trailer names, or a constant answer */
  LANEBLOOM_LEVELDB_SIGNED =
      5, /* LEVELDB with signed tails: LevelDB < 1.18 on x86, RocksDB's block-based filter */
  LANEBLOOM_ROCKSDB_RIBBON = 6, /* only for opening: RocksDB's Ribbon filters, of 6.15 and above */
  LANEBLOOM_PARQUET =
      7, /* the bits of Parquet's split-block filters, without the header that files have */
  LANEBLOOM_SPARK_V1 = 8, /* what Apache Spark's BloomFilter.writeTo() writes, up to Spark 4.0 */
  LANEBLOOM_SPARK_V2 = 9  /* its output from Spark 4.1 on, with seed 0 */
} lanebloom_format;

/* The number of formats that this build has, and the i-th of them. If i is not below the number,
 * the result is 0, which is no format. */
LANEBLOOM_API size_t lanebloom_format_count(void);
LANEBLOOM_API lanebloom_format lanebloom_format_at(size_t i);

/* The name that the command uses: "leveldb", "rocksdb-local", ...; "unknown" for other values. */
LANEBLOOM_API const char *lanebloom_format_name(lanebloom_format format);

/* The format of this name; 0 if there is none. */
LANEBLOOM_API lanebloom_format lanebloom_format_by_name(const char *name);

/* Bytes per hash: 4 or 8; 0 for LANEBLOOM_ROCKSDB and unknown formats. */
LANEBLOOM_API size_t lanebloom_format_hash_size(lanebloom_format format);

/* Returns the first of all formats that hash keys as this one does: two formats share a hash if
 * this function returns the same value for both. A format that hashes no keys, or an unknown value,
 * is returned unchanged. */
LANEBLOOM_API lanebloom_format lanebloom_format_hash(lanebloom_format format);

typedef struct lanebloom_format_info {
  const char *name;  /* as lanebloom_format_name() returns it */
  const char *text;  /* one line for people: whose filters these are */
  size_t hash_size;  /* as lanebloom_format_hash_size() returns it */
  uint64_t max_size; /* the most bytes of a filter; UINT64_MAX: no limit */

  /* Can filters be built? If not, the format can only be read, and the rest is 0. */
  bool builds;

  /* Bits per key have a minimum, a maximum and a step: the next three members. If true, other
   * numbers are rounded to a whole step, and larger ones count as the maximum. If false, both are
   * LANEBLOOM_ERR_ARGUMENT. A number below the minimum always is. */
  bool rounds_bits;
  double min_bits_per_key;  /* the smallest that is accepted */
  double max_bits_per_key;  /* the largest that has an effect */
  double bits_per_key_step; /* between values that have an effect */

  /* Probes per key of filters that are not constant answers. */
  uint32_t min_nprobes;
  uint32_t max_nprobes;
} lanebloom_format_info;

/* Fills at most info_size bytes of info: pass sizeof(lanebloom_format_info). In a larger struct the
 * rest becomes 0. Strings are constant. Errors: FORMAT. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_format_describe(lanebloom_format format,
                                                               lanebloom_format_info *info,
                                                               size_t info_size);

/* Hashes every key as `format` does. hashes: n x lanebloom_format_hash_size() bytes; each hash is
 * an integer in the host's byte order. Errors: FORMAT, KERNEL. Cost: linear in the bytes of the
 * keys; allocates nothing. Sources: LEVELDB is LevelDB 1.23 util/hash.cc with seed 0xbc9f1d34.
 * LEVELDB_SIGNED and ROCKSDB_LEGACY are RocksDB 7.8.3 util/hash.cc, which differs for keys whose
 * last (size mod 4) bytes hold one of 0x80 or more. ROCKSDB_LOCAL and ROCKSDB_RIBBON are RocksDB
 * 7.8.3 util/xxph3.h, the preview of XXH3 in xxHash 0.7.2, with seed 0. PARQUET is XXH64 with seed
 * 0. SPARK_V1 and SPARK_V2 are two hashes of Spark 4.1 Murmur3_x86_32.java: in the low half with
 * seed 0, in the high half with the low half as the seed.
 *
 * Keys of Spark: a whole number of any type is the 8 bytes of LANEBLOOM_INT64, a string is its
 * UTF-8. The filters that Spark's queries make for joins hold xxhash64(x) of a value x: the key is
 * the 8 bytes of that number, which is XXH64 with seed 42 and is not computed here. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_hash(lanebloom_format format,
                                                    const lanebloom_keys *keys, void *hashes);

/* -------------------------------------------------------------------------------------------------
 * Key forms: how text or typed values became the bytes that were hashed
 *
 * The library hashes the bytes that it gets and converts nothing. A form is a note for programs
 * that make keys: it is set on a builder, saved with the filter, and read from it, so that whoever
 * screens makes keys in the same way. It does not say where in a record the key was.
 * ---------------------------------------------------------------------------------------------- */

/* The meaning of a key's bytes. The values are fixed and never renumbered. Numbers are
 * little-endian and, if signed, two's complement, on every host. */
typedef enum lanebloom_encoding {
  LANEBLOOM_BYTES = 0,         /* plain bytes, of a text or of a record */
  LANEBLOOM_HEX = 1,           /* bytes, written as pairs of hexadecimal digits of either case */
  LANEBLOOM_BASE64 = 2,        /* bytes, written in base64 (RFC 4648, section 4) with its padding */
  LANEBLOOM_INT32 = 3,         /* 4 bytes */
  LANEBLOOM_INT64 = 4,         /* 8 bytes */
  LANEBLOOM_UINT32 = 5,        /* 4 bytes */
  LANEBLOOM_UINT64 = 6,        /* 8 bytes */
  LANEBLOOM_FLOAT32 = 7,       /* 4 bytes, IEEE 754 binary32 */
  LANEBLOOM_FLOAT64 = 8,       /* 8 bytes, IEEE 754 binary64 */
  LANEBLOOM_DATE32 = 9,        /* 4 bytes, signed: days since 1970-01-01 */
  LANEBLOOM_TIMESTAMP_S = 10,  /* 8 bytes, signed: seconds since 1970-01-01 00:00:00 UTC */
  LANEBLOOM_TIMESTAMP_MS = 11, /* the same in milliseconds */
  LANEBLOOM_TIMESTAMP_US = 12, /* the same in microseconds */
  LANEBLOOM_TIMESTAMP_NS = 13, /* the same in nanoseconds */
  LANEBLOOM_DECIMAL128 = 14,   /* 16 bytes, signed: the unscaled value */
  LANEBLOOM_UUID = 15          /* 16 bytes, in the order in which they are written in text */
} lanebloom_encoding;

/* The steps that are applied to each field before it is decoded, and then to several fields. The
 * values are bits of lanebloom_key_form.flags, in the order in which they apply. */
enum {
  LANEBLOOM_KEY_TRIMMED = 1, /* spaces, tabs, CR and LF are taken off both ends */
  LANEBLOOM_KEY_LOWERED = 2, /* the ASCII letters A to Z become a to z */
  LANEBLOOM_KEY_JOINED = 4   /* the key is several fields, joined by one tab */
};

/* All zeros is the plain form: keys are bytes as they came. */
typedef struct lanebloom_key_form {
  lanebloom_encoding encoding;
  uint32_t flags;
} lanebloom_key_form;

/* The name of an encoding, which the command uses: "bytes", "hex", "timestamp-ms", ...; "unknown"
 * for other values. */
LANEBLOOM_API const char *lanebloom_encoding_name(lanebloom_encoding encoding);

/* -------------------------------------------------------------------------------------------------
 * Planning: the size and the false-positive rate of a filter before it is built
 *
 * bits_per_key  NaN, negative or infinite: ARGUMENT. LevelDB formats take whole numbers from 0 to
 *               INT_MAX; a fraction is ARGUMENT. RocksDB's take 0.5 and more, in thousandths: below
 *               1 counts as 1, above 100 as 100, and below 0.5, where RocksDB writes no filter, is
 *               ARGUMENT. ROCKSDB_LEGACY rounds to whole numbers. Filters record the result, the
 *               bits per key in effect. lanebloom_format_describe() returns these bounds. Sizes at
 *               which the engine's arithmetic would wrap or stop growing are LIMIT. PARQUET takes
 *               0.5 to 1000, in thousandths; a filter gets the next power of two of bytes, from 32
 *               to 2^30: readers such as Arrow C++'s refuse other sizes, and those above 2^27.
 *               SPARK_V1 and SPARK_V2 take 0.5 to 100, in thousandths. A filter of n keys is that
 *               of BloomFilter.create(n, numBits), where numBits is n * bits_per_key without its
 *               fraction; n and numBits are at least 1. rate          The share of absent keys that
 *               the filter lets pass, by a model: for RocksDB's formats its own estimate, for
 *               PARQUET that of blocks whose numbers of keys are Poisson distributed, for LevelDB's
 *               and Spark's the textbook's. It is rough for LevelDB's:
 *               docs/leveldb-false-positives.md states the error, and `lanebloom info --measure`
 *               measures the rate of a given filter. For SPARK_V1 it is too low if 2^31 is no
 *               multiple of the number of bits: at 10 bits per key by up to 1 % below 2^28 bits,
 *               4 % below 2^29, 14 % below 2^30 and 43 % below 2^31.
 * Errors        ARGUMENT, FORMAT, LIMIT, KERNEL. Outputs are written only on success.
 * ---------------------------------------------------------------------------------------------- */

/* The size of a filter. nbytes: bytes as the engine writes them, header and trailer included.
 * nprobes: probes per key. Sources: LevelDB 1.23 util/bloom.cc, RocksDB 7.8.3
 * table/block_based/filter_policy.cc with optimize_filters_for_memory off, and Spark 4.1
 * BloomFilter.java. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_plan_size(lanebloom_format format,
                                                         double bits_per_key, uint64_t nkeys,
                                                         uint64_t *nbytes, unsigned *nprobes);

/* The false-positive rate, by the model, of a filter of nkeys distinct keys. It is 0 for 0 keys. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_plan_rate(lanebloom_format format,
                                                         double bits_per_key, uint64_t nkeys,
                                                         double *rate);

/* The fewest bits per key with which the model's rate is at most `rate`. rate: between 0 and 1,
 * both excluded, else ARGUMENT. LIMIT: the format does not reach this rate, for example because
 * nkeys hashes of 32 bits collide more often. PARQUET: the size that the writers of Parquet files
 * give a filter of this rate. They assume that all blocks fill equally: by the model the rate is up
 * to 1.5 times as high at 1 %, 2.1 times at 0.1 %, and 3.2 times at 0.01 %; lanebloom_plan_rate()
 * computes it. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_plan_bits(lanebloom_format format, double rate,
                                                         uint64_t nkeys, double *bits_per_key);

/* -------------------------------------------------------------------------------------------------
 * Filters
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_filter lanebloom_filter;

/* Makes a filter of the bytes that an engine wrote, header and trailer included. The bytes are
 * borrowed; they may be NULL when size is 0. Kernels may load up to 3 bytes before and after them,
 * if these are in the same aligned 4 bytes, and ignore them. Damaged bytes are accepted, and the
 * filter answers as the engine's reader does:
 *
 * - LevelDB formats: with fewer than 2 bytes, no key is in the filter. If the last byte, the number
 *   of probes, is 0 or above 30, every key may be in it.
 * - RocksDB formats: with fewer than 6 bytes, no key is in the filter. If RocksDB 7.8.3 does not
 *   understand the trailer, which is the last 5 bytes, or the trailer describes lines outside the
 *   bytes, every key may be in it. Pass LANEBLOOM_ROCKSDB to get the format that the trailer
 *   names; a filter with a constant answer stays LANEBLOOM_ROCKSDB. If one of the three formats is
 *   passed and the bytes have another: FORMAT. From 2^32 bytes on: LIMIT.
 * - PARQUET: any multiple of 32 bytes, below 2^31; else FORMAT, and LIMIT.
 * - SPARK_V1, SPARK_V2: the header of this version, and at least one word of bits, as many as the
 *   header says; else FORMAT. A seed that is not 0: FORMAT. If the number of probes is 0 or
 *   negative, every key may be in the filter. From 256 probes on, and from 2^31 words on: LIMIT.
 *
 * Errors: ARGUMENT, FORMAT, LIMIT, MEMORY, KERNEL. Cost: constant. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_parse_raw(lanebloom_format format,
                                                                const void *bytes, size_t size,
                                                                lanebloom_filter **filter);

/* Builds the filter that the engine would build of these keys in this order, byte for byte.
 * Duplicates enlarge it as they do in the engine: in LevelDB formats always, in RocksDB's unless
 * equal hashes follow each other. Without keys, RocksDB's formats make a filter of 5 bytes, which
 * holds no key. Errors: ARGUMENT, FORMAT, LIMIT, MEMORY, KERNEL. Cost: linear in the bytes of the
 * keys. Memory: the filter; for RocksDB's formats also one hash per key, unless a large batch of
 * keys of up to 16 bytes each is hashed twice instead; while bits are set, also the memory that
 * lanebloom_builder_add() uses. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_build(lanebloom_format format,
                                                            double bits_per_key,
                                                            const lanebloom_keys *keys,
                                                            lanebloom_filter **filter);

/* Writes the same filter into memory of the caller, for example into a file's block. bytes: *size
 * bytes of room. *size becomes the size of the filter. The size that lanebloom_plan_size() returns
 * for keys->n keys is always enough. Errors: ARGUMENT, also if there is too little room; FORMAT,
 * LIMIT, KERNEL. On an error nothing is written. Cost: linear in the bytes of the keys; RocksDB's
 * formats hash them twice. Allocates nothing but what lanebloom_builder_add() uses for large
 * filters: for few keys it is much faster than lanebloom_filter_build(). */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_build_raw(lanebloom_format format,
                                                                double bits_per_key,
                                                                const lanebloom_keys *keys,
                                                                void *bytes, size_t *size);

/* The union of n filters: a new filter with the bits of all. Its number of keys is the sum if all
 * are known, and its bits per key stay if all agree. The key form stays; filters of different forms
 * are MISMATCH. A RocksDB filter without keys has a size of its own: MISMATCH with any other.
 * Ribbon filters cannot be merged: MISMATCH. Errors: ARGUMENT when n is 0, MISMATCH, MEMORY,
 * KERNEL. Cost: linear in the filters' bytes. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_merge(const lanebloom_filter *const *filters,
                                                            size_t n, lanebloom_filter **merged);

/* Container files, which docs/file-format.md describes.
 *
 * - load reads the whole file into memory and verifies its checksum. Large filters use huge pages
 *   where possible. The path may name a pipe. A path such as /dev/stdin or /dev/fd/N, which names a
 *   descriptor of this process, is read from the descriptor's position.
 * - map maps a regular file and verifies its header. It does not verify the payload's checksum, so
 *   its cost is constant, and processes share the pages. If the file becomes shorter while it is
 *   mapped, SIGBUS ends the process.
 * - parse takes a container's bytes in memory, verifies their checksum and borrows them.
 *
 * Errors: IO with errno. FORMAT: no container, or one with a newer version, format or key form.
 * CORRUPT: a wrong size or checksum. LIMIT: 2^32 bytes or more in a RocksDB format, more than 255
 * probes in one of Spark's. MEMORY, KERNEL; parse: ARGUMENT. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_load(const char *path,
                                                           lanebloom_filter **filter, char *problem,
                                                           size_t problem_size);
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_map(const char *path,
                                                          lanebloom_filter **filter, char *problem,
                                                          size_t problem_size);
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_parse(const void *bytes, size_t size,
                                                            lanebloom_filter **filter);

/* Writes a container, all or nothing.
 *
 * A new or regular file is written beside its target, flushed, and renamed over the target; then
 * the folder is flushed. If only that last step fails, the new file is in place but may not survive
 * a power cut. Until it is complete, the file has no name or, if the file system does not allow
 * that, a name .lanebloom-*. A kill may leave such a name; a nameless file gets one just before the
 * rename, or none if there is nothing to replace. Symbolic links are followed where the system
 * follows them.
 *
 * A new file has the mode that the umask leaves, or the folder's default ACL. A file that replaces
 * another gets its mode and its POSIX ACL, and its owner and group if the process may set them. If
 * its group cannot be kept, the new file's group gets no permissions, and others lose what the old
 * group did not have. If its ACL cannot be kept, or it has one and its group cannot be kept, only
 * the owner gets permissions. In a user namespace, an owner or group that the namespace does not
 * map cannot be kept.
 *
 * A target that is not a regular file, such as a pipe, is written to directly; so is a path such as
 * /dev/stdout or /dev/fd/N. A closed pipe raises SIGPIPE, as any write does. Errors: IO with errno,
 * KERNEL. Threads: if two save to one path, one of the two files remains, complete. Cost:
 * linear. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_save(const lanebloom_filter *filter,
                                                           const char *path);

/* Writes the same container into memory of the caller, for lanebloom_filter_parse(). Returns its
 * size; if that exceeds `size`, nothing is written. bytes may be NULL when size is 0. */
LANEBLOOM_API size_t lanebloom_filter_write(const lanebloom_filter *filter, void *bytes,
                                            size_t size);

/* Could a filter be saved to this path now? Call it before a long build. Nothing is opened or
 * written. A later save may still fail, for example on a full disk. Errors: IO with errno,
 * KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_save_check(const char *path);

/* Like load and save, for bare engine bytes, which hold neither a checksum nor a number of keys.
 * Errors: FORMAT, also for a container. CORRUPT: the file became shorter while it was read. LIMIT,
 * IO with errno, MEMORY, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_load_raw(lanebloom_format format,
                                                               const char *path,
                                                               lanebloom_filter **filter,
                                                               char *problem, size_t problem_size);
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_save_raw(const lanebloom_filter *filter,
                                                               const char *path);

/* The filter's bytes as the engine writes them, header and trailer included. Borrowed from the
 * filter. */
LANEBLOOM_API const void *lanebloom_filter_bytes(const lanebloom_filter *filter, size_t *size);

/* Returns how the keys of the filter were made. Bare engine bytes do not record it: their form is
 * the plain one. Cost: constant. */
LANEBLOOM_API lanebloom_key_form lanebloom_filter_key_form(const lanebloom_filter *filter);

/* Overrides the key form; bare engine bytes record none. Saving records it. Call it before other
 * threads use the filter. Errors: ARGUMENT: an encoding or a flag that is not defined above. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_set_key_form(lanebloom_filter *filter,
                                                                   lanebloom_key_form form);

/* Records the number of keys (LANEBLOOM_UNKNOWN if it is unknown) and the bits per key (NaN if
 * unknown) of a filter of bare engine bytes. Saving stores both, the bits in thousandths and at
 * most as many as have an effect, as a builder does. Call it before other threads use the filter.
 * Errors: ARGUMENT: bits per key that are neither NaN nor between 0 and 2^31 - 1. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_set_nkeys(lanebloom_filter *filter,
                                                                uint64_t nkeys,
                                                                double bits_per_key);

typedef struct lanebloom_filter_info {
  /* The requested format. If that was LANEBLOOM_ROCKSDB: the one that the trailer names, or
   * LANEBLOOM_ROCKSDB for a constant answer. */
  lanebloom_format format;

  /* Probes per key; Ribbon: the most bits in which a key is compared. 0 for a constant answer. */
  uint32_t nprobes;
  uint64_t nbits;      /* bits that probes can reach; 0 for a constant answer */
  uint64_t nbits_set;  /* how many of them are set */
  uint64_t nkeys;      /* keys added, duplicates too; LANEBLOOM_UNKNOWN for bare engine bytes */
  double bits_per_key; /* in effect: as the format rounds and limits them; NaN if unknown */

  /* The false-positive rate by the model, computed from the bits that are set and, if it is known,
   * the number of keys, which are taken as distinct. */
  double model_rate;

  /* The number of distinct keys, estimated from the bits that are set. LANEBLOOM_UNKNOWN for a
   * constant answer, for Ribbon, if all bits are set, and if the estimate exceeds the number of
   * hashes of the format (2^32 if a hash has 4 bytes).
   *
   * Error measured with random keys and 1 to 30 bits per key: in RocksDB's formats and Spark's at
   * most 4 % for 10,000 keys, and 1 % for 100,000 and 1,000,000; in PARQUET, whose filters of 1 bit
   * per key are nearly full, 7 %, 3 % and 2 %. In LevelDB's the estimate is at most 2 % too high,
   * and too low by up to 7 % for 10,000 keys, 16 % for 100,000 and 30 % for 1,000,000: the probes
   * of different keys overlap more often than the model assumes (docs/leveldb-false-positives.md).
   * For keys that resemble each other the error is larger, except in ROCKSDB_LOCAL: up to 17 % for
   * the decimal or hexadecimal digits of 10,000 numbers. */
  uint64_t nkeys_estimate;

  lanebloom_key_form key_form; /* as lanebloom_filter_key_form() returns it */
} lanebloom_filter_info;

/* Describes a filter. info_size: sizeof(lanebloom_filter_info). If a program was compiled with
 * another version of this header, it gets the fields that both versions have; the rest of a larger
 * struct becomes 0. Cost: counts the bits that are set, linear in the filter. Source of
 * nkeys_estimate: Swamidass and Baldi, J. Chem. Inf. Model. 47(3), 2007; for RocksDB's formats, the
 * same for cache lines that fill independently. */
LANEBLOOM_API void lanebloom_filter_describe(const lanebloom_filter *filter,
                                             lanebloom_filter_info *info, size_t info_size);

/* Frees a filter and what it owns. filter may be NULL. No other thread may still use the filter. */
LANEBLOOM_API void lanebloom_filter_close(lanebloom_filter *filter);

/* -------------------------------------------------------------------------------------------------
 * Screening: which keys may be in the filter. A key that was added is always found. Screening
 * cannot fail and allocates nothing.
 * ---------------------------------------------------------------------------------------------- */

/* May this key be in the filter? key may be NULL when size is 0. For many keys,
 * lanebloom_filter_screen() is much faster. */
LANEBLOOM_API bool lanebloom_filter_may_contain(const lanebloom_filter *filter, const void *key,
                                                size_t size);

/* May this key be in the filter of the bytes that an engine wrote? Answers as the filter that
 * lanebloom_filter_parse_raw() would make of them; true if that returns an error. bytes and key may
 * be NULL when their size is 0. Use it for one key per filter: it allocates nothing, but reads the
 * trailer each time. */
LANEBLOOM_API bool lanebloom_filter_may_contain_raw(lanebloom_format format, const void *bytes,
                                                    size_t size, const void *key, size_t key_size);

/* Returns how many keys may be in the filter. bitmap: ceil(n / 8) bytes; bit i mod 8 of byte i / 8
 * becomes 1 if key i may be in the filter, else 0, and bits past n become 0. NULL: only count. */
LANEBLOOM_API size_t lanebloom_filter_screen(const lanebloom_filter *filter,
                                             const lanebloom_keys *keys, uint8_t *bitmap);

/* Returns the same count. mask: n bytes; mask[i] becomes 1 if key i may be in the filter, else
 * 0. */
LANEBLOOM_API size_t lanebloom_filter_mask(const lanebloom_filter *filter,
                                           const lanebloom_keys *keys, uint8_t *mask);

/* Returns the same count. indices: room for n; the first ones become the indices of the keys that
 * may be in the filter, ascending. If n is above UINT32_MAX, it writes nothing and returns
 * SIZE_MAX. */
LANEBLOOM_API size_t lanebloom_filter_select(const lanebloom_filter *filter,
                                             const lanebloom_keys *keys, uint32_t *indices);

/* Like lanebloom_filter_screen(), for hashes that lanebloom_hash() made for this filter's format.
 * Hash once to screen many filters. hashes: n x lanebloom_format_hash_size() bytes. */
LANEBLOOM_API size_t lanebloom_filter_screen_hashes(const lanebloom_filter *filter,
                                                    const void *hashes, size_t n, uint8_t *bitmap);

/* Writes the positions of the bits that one hash probes, in the order of the format's definition,
 * and returns their number. Bit p is bit p mod 8 of byte p / 8 of the engine's bytes. hash:
 * lanebloom_format_hash_size() bytes. positions: room for nprobes of lanebloom_filter_info. Ribbon:
 * 0, because a key is compared with sums of many bits. */
LANEBLOOM_API size_t lanebloom_filter_positions(const lanebloom_filter *filter, const void *hash,
                                                uint64_t *positions);

/* -------------------------------------------------------------------------------------------------
 * Streaming build: keys that come in many batches, or from several threads with a builder each
 *
 * If expected_keys is 0, the builder stores a hash of 4 or 8 bytes per key and chooses the size at
 * finish. The filter equals that of lanebloom_filter_build() for the same keys in the same order.
 * Merging appends. lanebloom_builder_part() lets several threads set the bits.
 *
 * If expected_keys is E, the filter has its size at once, for E keys, and memory is bounded.
 * Merging is a bitwise or. The filter equals the engine's if E keys are added and the engine counts
 * every one of them; RocksDB counts equal hashes in a row once. More keys may be added: they raise
 * the false-positive rate.
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_builder lanebloom_builder;

/* Makes an empty builder. bits_per_key: as for planning. Errors: ARGUMENT, FORMAT, LIMIT, MEMORY,
 * KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_create(lanebloom_format format,
                                                              double bits_per_key,
                                                              uint64_t expected_keys,
                                                              lanebloom_builder **builder);

/* Adds a batch of keys. Errors: MEMORY, KERNEL. Cost: linear in the bytes of the keys. Memory,
 * if it is available, while a large batch is added to a sized filter: up to half the filter's size
 * for LevelDB's formats from 12 MiB on, up to its size for rocksdb-local from 128 MiB on. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_add(lanebloom_builder *builder,
                                                           const lanebloom_keys *keys);

/* Sets the key form; a new builder has the plain form. It applies to filters that are finished
 * later and to parts that are made later. Errors: ARGUMENT: an encoding or a flag that is not
 * defined above. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_set_key_form(lanebloom_builder *builder,
                                                                    lanebloom_key_form form);

/* Returns the form that was set last. */
LANEBLOOM_API lanebloom_key_form lanebloom_builder_key_form(const lanebloom_builder *builder);

/* Adds to `into` what was added to `from`, which stays as it is. Errors: ARGUMENT: both are one
 * builder. MISMATCH: the formats or the key forms differ; or only one has expected_keys 0; or both
 * have it and the bits per key differ; or neither has it and size or probes differ. MEMORY,
 * KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_merge(lanebloom_builder *into,
                                                             const lanebloom_builder *from);

/* Makes part i of n of a builder that was created with expected_keys 0. The part is a builder of
 * the whole filter's size, to which an n-th of the keys was added. All n parts, merged in any
 * order, give the same filter as `whole`. `whole` does not change. Errors: ARGUMENT: `whole` was
 * created with expected_keys or is a part, or i is not below n. LIMIT, MEMORY, KERNEL. Threads: any
 * number may make parts of one builder at a time, for example one part each. Cost: linear in the
 * part's keys and the filter's bytes. Memory: the whole filter's size and, during the call, what
 * lanebloom_builder_add() takes. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_part(const lanebloom_builder *whole,
                                                            size_t i, size_t n,
                                                            lanebloom_builder **part);

/* Makes the filter and empties the builder. Keys may then be added again. Errors: LIMIT,
 * MEMORY, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_finish(lanebloom_builder *builder,
                                                              lanebloom_filter **filter);

/* Frees a builder. builder may be NULL. */
LANEBLOOM_API void lanebloom_builder_destroy(lanebloom_builder *builder);

/* -------------------------------------------------------------------------------------------------
 * Kernels: the instruction sets that this build has and this CPU and its operating system can run
 * ---------------------------------------------------------------------------------------------- */

/* The number of kernels; at least 1, because "scalar" runs everywhere. */
LANEBLOOM_API size_t lanebloom_kernel_count(void);

/* The name of the i-th best kernel for this CPU; NULL when i is not below the count. On a CPU that
 * QEMU emulates
 * (TCG) "scalar" is the best: vector instructions are slow there. */
LANEBLOOM_API const char *lanebloom_kernel_name(size_t i);

/* The kernel in use; NULL while $LANEBLOOM_KERNEL names one that cannot run here. */
LANEBLOOM_API const char *lanebloom_kernel_active(void);

/* Returns in a few words why that kernel is in use; NULL while none is. */
LANEBLOOM_API const char *lanebloom_kernel_reason(void);

/* Uses the named kernel from now on, in every thread; NULL: back to the default. Errors: KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_kernel_use(const char *name);

#ifdef __cplusplus
}
#endif

#endif
