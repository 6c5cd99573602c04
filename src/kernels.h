/* The kernel table: what one instruction set offers, and what every instruction set must agree on.
 * One of the two seams; the other is format.h.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_KERNELS_H
#define LANEBLOOM_KERNELS_H

#include <lanebloom.h>
#include <string.h>

#include "batch.h"
#include "divide.h"

/* ---- What must be the same in every kernel ---- */

/* BloomHash is MurmurHash1's mixing with LevelDB's seed (LevelDB 1.23 util/hash.cc,
 * util/bloom.cc). */
static const uint32_t BLOOMHASH_SEED = 0xbc9f1d34;
static const uint32_t BLOOMHASH_MULTIPLIER = 0xc6a4a793;

/* Double hashing: probe p of hash h is at h + p * bloomhash_stride(h), modulo 2^32 (LevelDB 1.23
 * util/bloom.cc). */
static inline uint32_t bloomhash_stride(uint32_t hash)
{
  return hash >> 17 | hash << 15;
}

/* Readers of LevelDB filters let every key pass past so many, so kernels see no more (LevelDB 1.23
 * util/bloom.cc). */
enum { LEVELDB_MAX_NPROBES = 30 };

/* XXPH3's primes and secret: as in xxHash 0.7.2 and, but for PRIME64_3, in final XXH3 (RocksDB
 * 7.8.3 util/xxph3.h). */
static const uint32_t XXPH3_PRIME32_1 = 0x9e3779b1, XXPH3_PRIME32_2 = 0x85ebca77,
                      XXPH3_PRIME32_3 = 0xc2b2ae3d;
static const uint64_t XXPH3_PRIME64_1 = 0x9e3779b185ebca87, XXPH3_PRIME64_2 = 0xc2b2ae3d27d4eb4f,
                      XXPH3_PRIME64_3 = 0x165667b19e3779f9, XXPH3_PRIME64_4 = 0x85ebca77c2b2ae63,
                      XXPH3_PRIME64_5 = 0x27d4eb2f165667c5;
extern const uint8_t lanebloom_xxph3_secret[192];

/* FastLocalBloom (RocksDB 7.8.3 util/bloom_impl.h): the hash's low half scales to a line, and the
 * high half, multiplied once more for each next probe, gives a bit of the line's 512 by its top 9
 * bits. */
static const uint32_t ROCKSDB_LOCAL_MULTIPLIER = 0x9e3779b9;
enum { ROCKSDB_LOCAL_LINE_NBYTES = 64 };

static inline size_t rocksdb_local_line(uint64_t hash,
                                        uint32_t nlines) /* where it starts, in bytes */
{
  return (size_t)((hash & 0xffffffff) * nlines >> 32) * ROCKSDB_LOCAL_LINE_NBYTES;
}

static inline uint32_t rocksdb_local_bit(uint32_t probe)
{
  return probe >> 23;
}

enum { CACHE_LINE_NBYTES = 64 };

/* Hash i of an array at any alignment. */
static inline uint32_t hash32_at(const void *hashes, size_t i)
{
  uint32_t hash;
  memcpy(&hash, (const uint8_t *)hashes + i * sizeof hash, sizeof hash);
  return hash;
}

static inline uint64_t hash64_at(const void *hashes, size_t i)
{
  uint64_t hash;
  memcpy(&hash, (const uint8_t *)hashes + i * sizeof hash, sizeof hash);
  return hash;
}

/* ---- What a kernel sees of a filter ---- */

/* What a filter answers without looking at a key. */
enum shape_answer { ANSWER_BY_PROBES, ANSWER_NEVER, ANSWER_ALWAYS };

/* Everything about a filter but its bits. Made by planning (format_table.plan) or from an engine's
 * bytes (.parse). */
struct filter_shape {
  enum shape_answer answer;
  uint32_t nprobes; /* as nbits, meaningful for ANSWER_BY_PROBES: then never 0 */
  uint64_t nbytes;  /* of the payload: the engine's bytes without their frame */
  uint64_t nbits;   /* that probes can address, never 0 */

  /* RocksDB's formats, whose probes of one key stay in one line. */
  uint32_t nlines;
  uint32_t line_nbytes; /* a power of two */

  /* What a hash is taken modulo, for kernels that cannot divide: a LevelDB filter's nbits / 8, for
   * hash / 8, and a rocksdb-legacy one's nlines, for the hash. */
  struct reciprocal reciprocal;
};

/* ---- What an instruction set offers ---- */

/* Hashes. Several formats may have the same one. */
enum hash { HASH_BLOOMHASH, HASH_BLOOMHASH_SIGNED, HASH_XXPH3, HASH_END };

static const uint8_t HASH_NBYTES[HASH_END] = {
    [HASH_BLOOMHASH] = sizeof(uint32_t),
    [HASH_BLOOMHASH_SIGNED] = sizeof(uint32_t),
    [HASH_XXPH3] = sizeof(uint64_t),
};

static const char *const HASH_NAME[HASH_END] = {
    [HASH_BLOOMHASH] = "bloomhash",
    [HASH_BLOOMHASH_SIGNED] = "bloomhash-signed",
    [HASH_XXPH3] = "xxph3",
};

/* Layouts: which bits of the payload a hash probes. */
enum layout { LAYOUT_LEVELDB, LAYOUT_ROCKSDB_LEGACY, LAYOUT_ROCKSDB_LOCAL, LAYOUT_END };

/* Keys' bytes, payload, hashes and bitmap may have any alignment. Beyond their ends nothing is
 * written, and no page is touched that holds none of their bytes: it may be unmapped. Sizes and
 * n * width may exceed 32 bits. */

/* bitmap: a bit for each of the source's n hashes in ceil(n / 8) bytes, least significant bit
 * first, bits past n are 0. The shape answers by probes. */
typedef void probe_function(const struct filter_shape *shape, const uint8_t *payload,
                            struct hash_source *source, uint8_t *bitmap);

/* Sets the bits of all hashes of the source in the payload. */
typedef void add_function(const struct filter_shape *shape, uint8_t *payload,
                          struct hash_source *source);

struct layout_kernels {
  probe_function *probe;
  add_function *add;
};

/* A table is constant and complete: where an instruction set has nothing better, it points at
 * scalar's functions. */
struct kernel_table {
  const char *name;
  /* How well it suits this CPU: the table with the highest score is the default, and 0 says that
   * the CPU, or its operating system, cannot run it. */
  unsigned (*score)(void);
  hash_function *hash[HASH_END];
  struct layout_kernels layout[LAYOUT_END];
};

/* The tables of this build: src/<instruction set>/kernels.c. */
extern const struct kernel_table lanebloom_kernels_scalar;
extern const struct kernel_table lanebloom_kernels_avx512, lanebloom_kernels_avx2,
    lanebloom_kernels_avx2_loads;
extern const struct kernel_table lanebloom_kernels_sse41;
extern const struct kernel_table lanebloom_kernels_neon;

/* ---- The choice (dispatch.c) ---- */

/* The table in use; NULL while $LANEBLOOM_KERNEL names one that cannot run here. A call loads it
 * once and keeps it. */
const struct kernel_table *lanebloom_kernels_current(void);

/* Does the CPU say that QEMU translates its instructions? Lane by lane, vectors then lose: probing
 * FastLocalBloom took avx2-loads 185 ns a key there, and scalar 20. */
bool lanebloom_cpu_is_emulated(void);

#endif
