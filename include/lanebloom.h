/* lanebloom: screen batches of keys against the Bloom filters that storage engines write.
 * This header is the whole public interface, and its manual.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_H
#define LANEBLOOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The version of this header; CMakeLists.txt reads it from here. lanebloom_version() is that of the
 * library. */
#define LANEBLOOM_VERSION_MAJOR 0
#define LANEBLOOM_VERSION_MINOR 1
#define LANEBLOOM_VERSION_PATCH 0

#if defined(__GNUC__)
#define LANEBLOOM_API __attribute__((visibility("default")))
#else
#define LANEBLOOM_API
#endif

/* What is exported and returns a status: a caller who ignores it is warned of. */
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
 * What holds for every function
 *
 * Errors    Creating, opening, saving and forcing a kernel can fail and return a status; screening
 *           cannot. On any error nothing has changed, and an output that is a pointer is NULL. The
 *           library never prints or aborts (see lanebloom_keys_offsets32() for debug builds).
 * Kernels   The default kernel table is the one that $LANEBLOOM_KERNEL names (read once, by
 *           secure_getenv; empty counts as unset), else the best that this CPU can run. While the
 *           variable names one that cannot run here, every function that returns a status returns
 *           LANEBLOOM_ERR_KERNEL: there is no silent fallback. A successful
 *           lanebloom_kernel_use(name) overrides the variable.
 * Memory    Key bytes, filter bytes, hashes and bitmaps may have any alignment; offsets, slices and
 *           indices have their type's. Outputs must not overlap inputs. Pointers to keys, filters,
 *           builders and outputs are never NULL unless a comment says so. What is "borrowed" must
 *           stay as it is until its borrower is closed.
 * Threads   Filters never change once open: any number of threads may query one. A builder belongs
 *           to one thread at a time. Everything else may be called from any thread at any time,
 *           lanebloom_kernel_use() included: a call that is under way finishes with the kernels it
 *           began with, and all kernels give the same answers.
 * Problems  A call that reads a file takes `problem`, room for problem_size bytes: where the call
 *           fails, one line for people that says what was expected and what was found, cut to fit
 *           and always terminated; "" on success. NULL and 0: none is wanted.
 * Empty     A batch of no keys is legal everywhere: nothing is written and 0 is returned. {NULL, 0}
 *           is the empty key, which is a key like any other.
 * ---------------------------------------------------------------------------------------------- */

/* Values are fixed and never renumbered. */
typedef enum lanebloom_status {
  LANEBLOOM_OK = 0,
  LANEBLOOM_ERR_ARGUMENT = 1, /* outside the documented range */
  LANEBLOOM_ERR_MEMORY = 2,
  LANEBLOOM_ERR_FORMAT =
      3, /* not a filter of this format, or no such format, or not for this call */
  LANEBLOOM_ERR_CORRUPT = 4,  /* checksum or structure damaged */
  LANEBLOOM_ERR_LIMIT = 5,    /* beyond what the format can hold */
  LANEBLOOM_ERR_MISMATCH = 6, /* cannot be merged: format, size or probes differ */
  LANEBLOOM_ERR_KERNEL = 7,   /* unknown, or this CPU cannot run it */
  LANEBLOOM_ERR_IO = 8        /* errno says which */
} lanebloom_status;

/* One line of English, never NULL. */
LANEBLOOM_API const char *lanebloom_status_text(lanebloom_status status);

/* "major.minor.patch" of the library that is linked. */
LANEBLOOM_API const char *lanebloom_version(void);

/* A count that nobody knows. */
#define LANEBLOOM_UNKNOWN UINT64_MAX

/* -------------------------------------------------------------------------------------------------
 * Keys: a borrowed, read-only batch of byte strings, in the layout that the caller has them in.
 * Made by these functions only and passed by pointer; it may be copied. Cost: none, nothing is
 * read.
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_slice {
  const void *data; /* may be NULL when size is 0 */
  size_t size;      /* bytes */
} lanebloom_slice;

/* Fields are private; words in reserve are 0. */
typedef struct lanebloom_keys {
  const void *data;  /* bytes of the keys */
  const void *index; /* offsets, slices or string views; NULL for a width */
  size_t width;      /* bytes per key; 0 unless all have one width */
  size_t stride;     /* bytes from one key to the next; 0 likewise */
  size_t n;          /* keys */
  uint32_t layout;
  uint32_t reserved32;
  uint64_t reserved[2];
} lanebloom_keys;

/* n keys of `width` bytes, one after another: key i is data[i * width .. (i + 1) * width). A width
 * of 0 is n empty keys. */
LANEBLOOM_API lanebloom_keys lanebloom_keys_fixed(const void *data, size_t width, size_t n);

/* A field of an array of records: key i is data[i * stride .. i * stride + width). Keys may overlap;
 * a stride of 0 is the first key n times. Nothing behind the last key is read. */
LANEBLOOM_API lanebloom_keys lanebloom_keys_strided(const void *data, size_t width, size_t stride,
                                                    size_t n);

/* Columns as Arrow lays them out: key i is data[offsets[i] .. offsets[i + 1]). offsets: n + 1 of
 * them, never falling; the caller vouches for both (none is read when n is 0). A library built
 * without NDEBUG asserts that they do not fall, which is the one case where it aborts. */
LANEBLOOM_API lanebloom_keys lanebloom_keys_offsets32(const void *data, const uint32_t *offsets,
                                                      size_t n);
LANEBLOOM_API lanebloom_keys lanebloom_keys_offsets64(const void *data, const uint64_t *offsets,
                                                      size_t n);

/* Keys anywhere in memory, one slice each. Up to 15 bytes behind a key may be read, and not used,
 * where they are on the same page; valgrind reports that, and the kernel `scalar` never does it. */
LANEBLOOM_API lanebloom_keys lanebloom_keys_slices(const lanebloom_slice *slices, size_t n);

/* String views as DuckDB's string_t and Velox's StringView have them: 16 bytes each, at any
 * alignment. A view begins with the size, a uint32_t. Up to 12 bytes follow it in place; of longer
 * strings 4 bytes, which are not looked at, and then a pointer to all of them. */
LANEBLOOM_API lanebloom_keys lanebloom_keys_strings(const void *views, size_t n);

/* Keys first .. first + n of a batch, for threads that share one. What lies beyond the batch is cut
 * off. */
LANEBLOOM_API lanebloom_keys lanebloom_keys_part(const lanebloom_keys *keys, size_t first,
                                                 size_t n);

/* -------------------------------------------------------------------------------------------------
 * Formats and hashes
 * ---------------------------------------------------------------------------------------------- */

/* A format that this build does not have makes calls return LANEBLOOM_ERR_FORMAT.
 * docs/choosing-a-filter.md says which to take. */
typedef enum lanebloom_format {
  LANEBLOOM_LEVELDB = 1,        /* leveldb.BuiltinBloomFilter2; also goleveldb's */
  LANEBLOOM_ROCKSDB_LEGACY = 2, /* RocksDB with format_version below 5, Pebble */
  LANEBLOOM_ROCKSDB_LOCAL = 3,  /* RocksDB's FastLocalBloom, format_version 5 and above */
  LANEBLOOM_ROCKSDB =
      4, /* to open only: whichever of RocksDB's the trailer says, constant answers included */
  LANEBLOOM_LEVELDB_SIGNED =
      5 /* LEVELDB with signed tails: LevelDB < 1.18 on x86, RocksDB's block-based filter */
} lanebloom_format;

/* How many formats this build has, and the i-th of them; 0, which is no format, if i is not below
 * the count. */
LANEBLOOM_API size_t lanebloom_format_count(void);
LANEBLOOM_API lanebloom_format lanebloom_format_at(size_t i);

/* The name that the command uses: "leveldb", "rocksdb-local", ...; "unknown" where there is no such
 * format. */
LANEBLOOM_API const char *lanebloom_format_name(lanebloom_format format);

/* The format of this name; 0 if there is none. */
LANEBLOOM_API lanebloom_format lanebloom_format_by_name(const char *name);

/* Bytes per hash: 4 or 8; 0 for constant answers and unknown formats. */
LANEBLOOM_API size_t lanebloom_format_hash_size(lanebloom_format format);

typedef struct lanebloom_format_info {
  const char *name;  /* as lanebloom_format_name() has it */
  const char *text;  /* one line for people: whose filters these are */
  size_t hash_size;  /* as lanebloom_format_hash_size() has it */
  uint64_t max_size; /* of a filter's bytes; UINT64_MAX: no limit */

  /* Can filters be built? If not, this format is to read only, and the rest is 0. */
  bool builds;

  /* Is a number of bits per key that is no whole number of steps rounded to one, and one above the
   * most taken for it? If not, it is ARGUMENT, as anything below the least always is. */
  bool rounds_bits;
  double min_bits_per_key;  /* that may be asked for */
  double max_bits_per_key;  /* that have an effect */
  double bits_per_key_step; /* between numbers that have an effect */

  /* Probes per key of filters that are not constant answers. */
  uint32_t min_nprobes;
  uint32_t max_nprobes;
} lanebloom_format_info;

/* Fills at most info_size bytes of info: pass sizeof(lanebloom_format_info). In a larger struct the
 * rest becomes 0. Strings are constant. Errors: FORMAT. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_format_describe(lanebloom_format format,
                                                               lanebloom_format_info *info,
                                                               size_t info_size);

/* Hashes every key as `format` does. hashes: n x lanebloom_format_hash_size() bytes, each hash an
 * integer in the host's byte order. Errors: FORMAT, KERNEL. Cost: linear in the bytes of the keys;
 * allocates nothing. Source: LEVELDB: LevelDB 1.23 util/hash.cc with seed 0xbc9f1d34.
 * LEVELDB_SIGNED and ROCKSDB_LEGACY: the same but for keys whose last (size mod 4) bytes hold one
 * of 0x80 or more, RocksDB 7.8.3 util/hash.cc. ROCKSDB_LOCAL: RocksDB 7.8.3 util/xxph3.h, the
 * preview of XXH3 in xxHash 0.7.2, with seed 0. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_hash(lanebloom_format format,
                                                    const lanebloom_keys *keys, void *hashes);

/* -------------------------------------------------------------------------------------------------
 * Planning: what a filter will be, before it is built
 *
 * bits_per_key  NaN, negative or infinite: ARGUMENT. LevelDB formats take whole numbers from 0 to
 *               INT_MAX, a fraction is ARGUMENT. RocksDB's take 0.5 and more, in thousandths: below
 *               1 counts as 1, above 100 as 100, and below 0.5, where RocksDB writes no filter, is
 *               ARGUMENT. ROCKSDB_LEGACY rounds to whole numbers. Sizes at which the engine's
 *               arithmetic would wrap or stop growing are LIMIT.
 * rate          The share of absent keys that the filter lets pass, by a model: for RocksDB's
 *               formats its own estimate, for LevelDB's the textbook's, which is rough there:
 *               docs/leveldb-false-positives.md states the error, and `lanebloom info --measure`
 *               the rate that one very filter has.
 * Errors        ARGUMENT, FORMAT, LIMIT, KERNEL. Outputs are written only on success.
 * ---------------------------------------------------------------------------------------------- */

/* nbytes: the size of the engine's bytes, trailer included; nprobes: probes per key. Source:
 * LevelDB 1.23 util/bloom.cc, RocksDB 7.8.3 table/block_based/filter_policy.cc with
 * optimize_filters_for_memory off. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_plan_size(lanebloom_format format,
                                                         double bits_per_key, uint64_t nkeys,
                                                         uint64_t *nbytes, unsigned *nprobes);

/* rate: the model's false-positive rate of a filter of nkeys distinct keys. 0 keys: 0. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_plan_rate(lanebloom_format format,
                                                         double bits_per_key, uint64_t nkeys,
                                                         double *rate);

/* bits_per_key: the least that the format takes and whose model rate is at most `rate`, which lies
 * between 0 and 1, both excluded (else ARGUMENT). LIMIT where the format does not reach it, for
 * instance because nkeys hashes of 32 bits collide more often. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_plan_bits(lanebloom_format format, double rate,
                                                         uint64_t nkeys, double *bits_per_key);

/* -------------------------------------------------------------------------------------------------
 * Filters
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_filter lanebloom_filter;

/* Opens the bytes that an engine wrote, trailer included; they are borrowed. bytes may be NULL when
 * size is 0. Damaged bytes open too, are never read outside, and answer as the engine does:
 *
 * - LevelDB formats answer "no" to every key when there are fewer than 2 bytes, and "may be" to
 *   every key when the last one, the number of probes, is 0 or above 30.
 * - RocksDB's answer "no" when there are fewer than 6 bytes, and "may be" when the trailer, 5
 *   bytes, says anything that RocksDB 7.8.3 does not understand, or describes lines that lie
 *   outside the bytes. As LANEBLOOM_ROCKSDB the filter gets the format that its trailer says, and
 *   keeps LANEBLOOM_ROCKSDB when its answer is constant; opened as one of the two, bytes of the
 *   other are FORMAT. A Ribbon filter is FORMAT; 2^32 bytes or more are LIMIT.
 *
 * Errors: ARGUMENT, FORMAT, LIMIT, MEMORY, KERNEL. Cost: constant. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_parse_raw(lanebloom_format format,
                                                                const void *bytes, size_t size,
                                                                lanebloom_filter **filter);

/* Builds the filter that the engine would build of these keys in this order, byte for byte.
 * Duplicates count in its size as they do there: always in LevelDB formats, in RocksDB's unless
 * their hashes follow each other. Of no keys RocksDB's formats make 5 bytes that answer "no".
 * Errors: ARGUMENT, FORMAT, LIMIT, MEMORY, KERNEL. Cost: linear; the filter and, in RocksDB's
 * formats, one hash per key; in LevelDB's, from 12 MiB on, half the filter for a while. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_build(lanebloom_format format,
                                                            double bits_per_key,
                                                            const lanebloom_keys *keys,
                                                            lanebloom_filter **filter);

/* A new filter that matches what any of the n filters matches: the bitwise or. Keys add up when all
 * counts are known, bits per key stay when all agree. A RocksDB filter of no keys has another size
 * than any other: MISMATCH. Errors: ARGUMENT when n is 0, MISMATCH, MEMORY, KERNEL. Cost: linear in
 * bytes. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_merge(const lanebloom_filter *const *filters,
                                                            size_t n, lanebloom_filter **merged);

/* Container files (docs/file-format.md).
 *
 * - load reads the whole file, verifies its checksum and owns a copy, on huge pages where they
 *   help. Any readable path will do, a pipe too; a name of one of the process's own descriptors is
 *   read from where that stands.
 * - map maps a regular file and verifies its header, not the payload's checksum: constant cost, and
 *   processes share the pages. Cutting the file while it is mapped is the caller's risk (SIGBUS).
 * - parse takes container bytes in memory, verifies their checksum and borrows them.
 *
 * Errors: IO with errno; FORMAT for what is no container, or one of a newer version, format or
 * flag; CORRUPT for a wrong size or checksum; LIMIT for RocksDB's formats from 2^32 bytes on;
 * MEMORY, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_load(const char *path,
                                                           lanebloom_filter **filter, char *problem,
                                                           size_t problem_size);
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_map(const char *path,
                                                          lanebloom_filter **filter, char *problem,
                                                          size_t problem_size);
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_parse(const void *bytes, size_t size,
                                                            lanebloom_filter **filter);

/* Writes a container, all or nothing. Symbolic links are followed where the system follows them. A
 * regular or new target is written beside itself, without a name where the file system can do that,
 * else as .lanebloom-*, with the old file's mode (and owner, where permitted) or what the umask
 * leaves; flushed, renamed over the target, and the folder flushed. If that last step fails the new
 * file is in place, but may not outlive a power cut. What is no regular file, and a name of one of
 * the process's own descriptors (/dev/stdout, /dev/fd/N), is written to directly; a closed pipe
 * raises SIGPIPE as any write does. Errors: IO with errno, KERNEL. Thread rule: any; of two savers
 * of one path, one's file stays. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_save(const lanebloom_filter *filter,
                                                           const char *path);

/* Could a filter be saved at this path now? Ask before a long build. Opens and writes nothing, so a
 * full disk or a change of permissions may still make a later save fail. Errors: IO with errno,
 * KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_save_check(const char *path);

/* As load and save, for the engine's bytes alone, which have neither checksum nor key count.
 * Errors: FORMAT, also for a container; CORRUPT for a file that becomes shorter meanwhile; LIMIT,
 * IO, MEMORY, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_load_raw(lanebloom_format format,
                                                               const char *path,
                                                               lanebloom_filter **filter,
                                                               char *problem, size_t problem_size);
LANEBLOOM_NODISCARD lanebloom_status lanebloom_filter_save_raw(const lanebloom_filter *filter,
                                                               const char *path);

/* The engine's bytes, trailer included, valid until the filter is closed. */
LANEBLOOM_API const void *lanebloom_filter_bytes(const lanebloom_filter *filter, size_t *size);

typedef struct lanebloom_filter_info {
  lanebloom_format format; /* LANEBLOOM_ROCKSDB: a constant answer */
  uint32_t nprobes;        /* 0 for constant answers */
  /* that probes can address: in LevelDB formats never above 2^32; 0 for constant answers */
  uint64_t nbits;
  uint64_t nbits_set;  /* of these */
  uint64_t nkeys;      /* added, duplicates included; LANEBLOOM_UNKNOWN for bare engine bytes */
  double bits_per_key; /* in effect: as the format rounds and limits them; NaN when unknown */
  /* false positives to expect, from the bits that are set and, when known, the keys, as if none
   * were added twice */
  double model_rate;
  /* How many distinct keys the set bits speak for. RocksDB's formats: within 2 % from 10,000 keys
   * on, within 1 % from 100,000. LevelDB's: within 2 % at 10,000 keys and then too low, by 2 to 14 %
   * at 100,000 and by 4 to 27 % at 1,000,000 keys with 5 to 30 bits each, because their probes meet
   * the same bits too often (docs/leveldb-false-positives.md). LANEBLOOM_UNKNOWN for constant
   * answers and where all bits are set. */
  uint64_t nkeys_estimate;
} lanebloom_filter_info;

/* Describes a filter. info_size: sizeof(lanebloom_filter_info). A program that was compiled with
 * another version of this header gets the fields that both know, and zeros behind them. Cost: counts
 * the set bits, linear in the filter. Source of nkeys_estimate: Swamidass and Baldi 2007 for LevelDB
 * formats, and the same for lines that fill independently for RocksDB's. */
LANEBLOOM_API void lanebloom_filter_describe(const lanebloom_filter *filter,
                                             lanebloom_filter_info *info, size_t info_size);

/* Frees the filter and what it owns. NULL is fine. No thread may still be using it. */
LANEBLOOM_API void lanebloom_filter_close(lanebloom_filter *filter);

/* -------------------------------------------------------------------------------------------------
 * Screening: which keys may be in the filter. It cannot fail, allocates nothing, and has no false
 * negatives.
 * ---------------------------------------------------------------------------------------------- */

/* One key of `size` bytes (key may be NULL when size is 0). For many keys, screen() is much
 * faster. */
LANEBLOOM_API bool lanebloom_filter_may_contain(const lanebloom_filter *filter, const void *key,
                                                size_t size);

/* Returns how many keys may be in the filter. bitmap: ceil(n / 8) bytes, least significant bit
 * first, 1 = may be in it; bits past n are 0. NULL: count only. */
LANEBLOOM_API size_t lanebloom_filter_screen(const lanebloom_filter *filter,
                                             const lanebloom_keys *keys, uint8_t *bitmap);

/* The same as bytes: mask[i] becomes 1 where key i may be in the filter, else 0. mask: n bytes. Slower
 * than the bitmap by the n bytes that are written. */
LANEBLOOM_API size_t lanebloom_filter_mask(const lanebloom_filter *filter,
                                           const lanebloom_keys *keys, uint8_t *mask);

/* Returns how many keys may be in the filter, and which. indices: room for n, filled in ascending
 * order. n above UINT32_MAX: writes nothing and returns SIZE_MAX. */
LANEBLOOM_API size_t lanebloom_filter_select(const lanebloom_filter *filter,
                                             const lanebloom_keys *keys, uint32_t *indices);

/* As screen(), for hashes that lanebloom_hash() made for this filter's format: hash once, screen
 * many filters. hashes: n x hash_size bytes. */
LANEBLOOM_API size_t lanebloom_filter_screen_hashes(const lanebloom_filter *filter,
                                                    const void *hashes, size_t n, uint8_t *bitmap);

/* The bit positions that one hash probes, in the order of the definition, for porters and learners:
 * bit p is bit p mod 8 of byte p / 8 of the engine's bytes. hash: hash_size bytes. positions: room
 * for info.nprobes. Returns that number. */
LANEBLOOM_API size_t lanebloom_filter_positions(const lanebloom_filter *filter, const void *hash,
                                                uint64_t *positions);

/* -------------------------------------------------------------------------------------------------
 * Streaming build: keys that come in pieces, or from several threads with a builder each
 *
 * expected_keys 0   Hashes are kept (4 or 8 bytes per key) and the size is chosen at finish, as the
 * engine would: the
 *                   result is what lanebloom_filter_build() makes of the same keys in the same
 *                   order. Merging appends.
 * expected_keys E   The filter is sized now, for E keys, and memory is bounded. Merging is a
 * bitwise or. Equal to the
 *                   engine's bytes when E keys are added and the engine would count every one (in
 *                   RocksDB's formats: no equal hashes in a row); more are legal, and raise the
 *                   false-positive rate.
 * ---------------------------------------------------------------------------------------------- */

typedef struct lanebloom_builder lanebloom_builder;

/* Errors: ARGUMENT, FORMAT, LIMIT, MEMORY, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_create(lanebloom_format format,
                                                              double bits_per_key,
                                                              uint64_t expected_keys,
                                                              lanebloom_builder **builder);

/* Errors: MEMORY, KERNEL. Cost: linear in the bytes of the keys. A large batch for a sized LevelDB
 * filter of 12 MiB or more takes up to half as much memory besides until it returns, if there is as
 * much. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_add(lanebloom_builder *builder,
                                                           const lanebloom_keys *keys);

/* Adds to `into` what `from` was given; `from` stays as it is. Errors: ARGUMENT when both are one
 * builder; MISMATCH when format, bits per key (kept hashes) or size and probes (sized filters)
 * differ, or only one has expected_keys 0; MEMORY, KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_merge(lanebloom_builder *into,
                                                             const lanebloom_builder *from);

/* Makes the filter and empties the builder, which may then be fed again. Errors: LIMIT, MEMORY,
 * KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_builder_finish(lanebloom_builder *builder,
                                                              lanebloom_filter **filter);

/* NULL is fine. */
LANEBLOOM_API void lanebloom_builder_destroy(lanebloom_builder *builder);

/* -------------------------------------------------------------------------------------------------
 * Kernels: the instruction sets that this build has and this CPU and its operating system can run
 * ---------------------------------------------------------------------------------------------- */

/* How many. At least 1: "scalar" runs everywhere. */
LANEBLOOM_API size_t lanebloom_kernel_count(void);

/* The i-th best for this CPU; NULL when i is not below the count. On a CPU that QEMU emulates
 * (TCG) "scalar" is the best: vector instructions are slow there. */
LANEBLOOM_API const char *lanebloom_kernel_name(size_t i);

/* The one in use; NULL while $LANEBLOOM_KERNEL names one that cannot run here. */
LANEBLOOM_API const char *lanebloom_kernel_active(void);

/* Why that one is in use, in a few words for people; NULL while none is. */
LANEBLOOM_API const char *lanebloom_kernel_reason(void);

/* Uses the named kernel from now on, in every thread; NULL: back to the default. Errors: KERNEL. */
LANEBLOOM_NODISCARD lanebloom_status lanebloom_kernel_use(const char *name);

#ifdef __cplusplus
}
#endif

#endif
