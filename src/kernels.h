/* The kernel table: the functions of one instruction set, and what all instruction sets share. This
 * is one of the two seams; the other is format.h.
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

/* In a LevelDB filter with more probes every key may be present, so kernels never get more (LevelDB
 * 1.23 util/bloom.cc). */
enum { LEVELDB_MAX_NPROBES = 30 };

/* XXPH3's primes and secret: those of xxHash 0.7.2, and, except PRIME64_3, of the final XXH3
 * (RocksDB 7.8.3 util/xxph3.h). */
static const uint32_t XXPH3_PRIME32_1 = 0x9e3779b1, XXPH3_PRIME32_2 = 0x85ebca77,
                      XXPH3_PRIME32_3 = 0xc2b2ae3d;
static const uint64_t XXPH3_PRIME64_1 = 0x9e3779b185ebca87, XXPH3_PRIME64_2 = 0xc2b2ae3d27d4eb4f,
                      XXPH3_PRIME64_3 = 0x165667b19e3779f9, XXPH3_PRIME64_4 = 0x85ebca77c2b2ae63,
                      XXPH3_PRIME64_5 = 0x27d4eb2f165667c5;
extern const uint8_t lanebloom_xxph3_secret[192];

/* XXH64's primes (xxHash, doc/xxhash_spec.md 0.1.1). */
static const uint64_t XXH64_PRIME_1 = 0x9e3779b185ebca87, XXH64_PRIME_2 = 0xc2b2ae3d27d4eb4f,
                      XXH64_PRIME_3 = 0x165667b19e3779f9, XXH64_PRIME_4 = 0x85ebca77c2b2ae63,
                      XXH64_PRIME_5 = 0x27d4eb2f165667c5;

/* FastLocalBloom (RocksDB 7.8.3 util/bloom_impl.h): the low half of a hash, scaled to the number of
 * lines, gives the line. The high half is the first probe; each next one is the product of the one
 * before and the multiplier. The top 9 bits of a probe give a bit in the line. */
static const uint32_t ROCKSDB_LOCAL_MULTIPLIER = 0x9e3779b9;
enum { ROCKSDB_LOCAL_LINE_NBYTES = 64 };

/* The offset of the line, in bytes. */
static inline size_t rocksdb_local_line(uint64_t hash, uint32_t nlines)
{
  return (size_t)((hash & 0xffffffff) * nlines >> 32) * ROCKSDB_LOCAL_LINE_NBYTES;
}

/* The bit in the line. */
static inline uint32_t rocksdb_local_bit(uint32_t probe)
{
  return probe >> 23;
}

/* Ribbon (RocksDB 7.8.3 util/ribbon_impl.h, util/ribbon_alg.h): a key is an equation, and the
 * payload solves those of all keys that were added. The solution is a matrix of bits, one row per
 * slot. The rows of 128 slots are a block; a block has a segment of 16 bytes for each of its
 * columns. A key's equation begins at a slot, and 128 coefficients say which of the slots from
 * there on are added, modulo 2, in each column; the sums must be the bits that the key expects. */
static const uint64_t ROCKSDB_RIBBON_HASH_MULTIPLIER = 0x6193d459236a3a0d,
                      ROCKSDB_RIBBON_COEFFICIENT_MULTIPLIER = 0xc28f82822b650bed,
                      ROCKSDB_RIBBON_COEFFICIENT_LOW = 0xc367844a6e52731d;
enum {
  ROCKSDB_RIBBON_BLOCK_NSLOTS = 128,
  ROCKSDB_RIBBON_SEGMENT_NBYTES = ROCKSDB_RIBBON_BLOCK_NSLOTS / 8,
  ROCKSDB_RIBBON_MAX_NCOLUMNS = 32,
};

/* Parquet's split-block filter (Apache Parquet Format 2.10, BloomFilter.md): the high half of a
 * hash, scaled to the number of blocks, gives the block. Of each of its eight words, 32 bits in
 * little-endian order, one bit is probed: the top 5 bits of the product of the low half and the
 * word's salt. */
enum {
  PARQUET_BLOCK_NWORDS = 8,
  PARQUET_BLOCK_NBYTES = PARQUET_BLOCK_NWORDS * sizeof(uint32_t),
};
static const uint32_t PARQUET_SALTS[PARQUET_BLOCK_NWORDS] = {
    0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

/* The offset of the block, in bytes. */
static inline size_t parquet_block(uint64_t hash, uint32_t nblocks)
{
  return (size_t)((hash >> 32) * nblocks >> 32) * PARQUET_BLOCK_NBYTES;
}

/* The bit in a word. low: the low half of a hash. */
static inline uint32_t parquet_bit(uint32_t low, uint32_t word)
{
  return low * PARQUET_SALTS[word] >> 27;
}

/* Spark's Murmur3 for 32 bits (Spark 4.1 Murmur3_x86_32.java). */
static const uint32_t SPARK_MURMUR3_MULTIPLIER_1 = 0xcc9e2d51,
                      SPARK_MURMUR3_MULTIPLIER_2 = 0x1b873593, SPARK_MURMUR3_ADDEND = 0xe6546b64,
                      SPARK_MURMUR3_LAST_MULTIPLIER_1 = 0x85ebca6b,
                      SPARK_MURMUR3_LAST_MULTIPLIER_2 = 0xc2b2ae35;

/* Spark's filters: probes 1, 2, ... k of a hash are at first + i * second, modulo the number of
 * bits. Of version 1, first and second are the low and the high half of the hash, and sums have 32
 * bits (Spark 3.5 BloomFilterImpl.java). Of version 2, sums have 64 bits, both halves are signed,
 * and the low one is multiplied by 2^31 - 1 (Spark 4.1 BloomFilterImplV2.java). Java's integers are
 * signed: of a negative sum the complement is taken. */
static inline uint32_t spark_v1_probe(uint64_t hash, uint32_t i)
{
  const uint32_t sum = (uint32_t)hash + i * (uint32_t)(hash >> 32);
  return sum >> 31 ? ~sum : sum;
}

static inline uint64_t spark_v2_probe(uint64_t hash, uint32_t i)
{
  const int64_t first = (int32_t)(uint32_t)hash, second = (int32_t)(hash >> 32);
  const int64_t sum = first * INT32_MAX + i * second; /* below 2^63: see SPARK_MAX_NPROBES */
  return (uint64_t)(sum < 0 ? ~sum : sum);
}

/* Readers have no limit; this one keeps a damaged number from taking minutes. No rate needs more:
 * 255 probes make one of 2^-255. */
enum { SPARK_MAX_NPROBES = 255, SPARK_WORD_NBITS = 64 };

/* Where a bit of Spark's lies in the payload, as bit p mod 8 of byte p / 8: its words of 64 bits
 * are big-endian. */
static inline uint64_t spark_bit(uint64_t bit)
{
  return bit ^ (SPARK_WORD_NBITS - 8);
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

static inline void hash64_store(void *hashes, size_t i, uint64_t hash)
{
  memcpy((uint8_t *)hashes + i * sizeof hash, &hash, sizeof hash);
}

/* ---- A filter, as kernels get it ---- */

/* How a filter answers: by probing, or the same for every key. */
enum shape_answer { ANSWER_BY_PROBES, ANSWER_NEVER, ANSWER_ALWAYS };

/* Everything about a filter except its bits. Made by format_table.plan, or by .parse from an
 * engine's bytes. */
struct filter_shape {
  enum shape_answer answer;
  uint32_t nprobes; /* never 0 with ANSWER_BY_PROBES */
  uint64_t nbytes;  /* of the payload: the engine's bytes without their frame */
  uint64_t nbits;   /* that probes can address; never 0 with ANSWER_BY_PROBES */

  /* RocksDB's formats and Parquet's, whose lines are blocks: all probes of a key are in one
   * line. */
  uint32_t nlines;
  uint32_t line_nbytes; /* a power of two */
  uint32_t word_nbits;  /* Parquet: of the part of a line that each probe has to itself; else 0 */

  /* Ribbon: nprobes is the number of columns. The first nnarrow of nblocks blocks have one less. */
  uint32_t nblocks, nnarrow;
  uint32_t seed; /* of hashes, as it is combined with them */

  /* Of the divisor that kernels need: LevelDB's formats divide hash / 8 by nbits / 8,
   * rocksdb-legacy divides the hash by nlines. */
  struct reciprocal reciprocal;
};

/* ---- What a key's hash is in a Ribbon filter: in every kernel the same ---- */

struct rocksdb_ribbon_equation {
  uint32_t block, slot; /* where it begins: a block, and a slot in it */
  uint32_t expected;    /* bit i: of column i */
  uint64_t coefficients[2];
};

static inline struct rocksdb_ribbon_equation
rocksdb_ribbon_equation(const struct filter_shape *shape, uint64_t hash)
{
  /* Below 2^31, so that the high 64 bits of 96 are found by two products of 64 bits. The last block
   * has one slot to begin at: coefficients end with it. */
  const uint64_t nstarts = (uint64_t)(shape->nblocks - 1) * ROCKSDB_RIBBON_BLOCK_NSLOTS + 1;
  const uint64_t mixed = (hash ^ shape->seed) * ROCKSDB_RIBBON_HASH_MULTIPLIER;
  const uint64_t start = ((mixed >> 32) * nstarts + ((mixed & 0xffffffff) * nstarts >> 32)) >> 32;
  const uint64_t high = mixed * ROCKSDB_RIBBON_COEFFICIENT_MULTIPLIER;
  return (struct rocksdb_ribbon_equation){
      .block = (uint32_t)(start / ROCKSDB_RIBBON_BLOCK_NSLOTS),
      .slot = (uint32_t)(start % ROCKSDB_RIBBON_BLOCK_NSLOTS),
      .expected = __builtin_bswap32((uint32_t)(high >> 32)),
      .coefficients = {(high ^ ROCKSDB_RIBBON_COEFFICIENT_LOW) | 1, high},
  };
}

static inline uint32_t rocksdb_ribbon_ncolumns(const struct filter_shape *shape, uint32_t block)
{
  return shape->nprobes - (block < shape->nnarrow);
}

/* The offset of a block, in bytes. */
static inline uint64_t rocksdb_ribbon_block(const struct filter_shape *shape, uint32_t block)
{
  const uint32_t nnarrow = block < shape->nnarrow ? block : shape->nnarrow;
  return ((uint64_t)block * shape->nprobes - nnarrow) * ROCKSDB_RIBBON_SEGMENT_NBYTES;
}

/* ---- The functions of an instruction set ---- */

/* Hashes. Several formats may share one. */
enum hash {
  HASH_BLOOMHASH,
  HASH_BLOOMHASH_SIGNED,
  HASH_XXPH3,
  HASH_XXH64,
  HASH_SPARK_MURMUR3,
  HASH_END
};

static const uint8_t HASH_NBYTES[HASH_END] = {
    [HASH_BLOOMHASH] = sizeof(uint32_t),     [HASH_BLOOMHASH_SIGNED] = sizeof(uint32_t),
    [HASH_XXPH3] = sizeof(uint64_t),         [HASH_XXH64] = sizeof(uint64_t),
    [HASH_SPARK_MURMUR3] = sizeof(uint64_t),
};

static const char *const HASH_NAME[HASH_END] = {
    [HASH_BLOOMHASH] = "bloomhash",
    [HASH_BLOOMHASH_SIGNED] = "bloomhash-signed",
    [HASH_XXPH3] = "xxph3",
    [HASH_XXH64] = "xxh64",
    [HASH_SPARK_MURMUR3] = "spark-murmur3",
};

/* Layouts: which bits of the payload a hash probes, or sums up. */
enum layout {
  LAYOUT_LEVELDB,
  LAYOUT_ROCKSDB_LEGACY,
  LAYOUT_ROCKSDB_LOCAL,
  LAYOUT_ROCKSDB_RIBBON,
  LAYOUT_PARQUET,
  LAYOUT_SPARK_V1,
  LAYOUT_SPARK_V2,
  LAYOUT_END
};

/* For all kernels: keys, payload, hashes and bitmap may have any alignment. Nothing is written past
 * their ends. Loads touch only pages that have at least one of their bytes: other pages may be
 * unmapped. Sizes, and n * width, may exceed 32 bits. */

/* Screens the source's hashes. bitmap: ceil(n / 8) bytes, one bit for each hash, least significant
 * bit first; bits past n are 0. The shape has ANSWER_BY_PROBES. */
typedef void probe_function(const struct filter_shape *shape, const uint8_t *payload,
                            struct hash_source *source, uint8_t *bitmap);

/* Sets the bits of all hashes of the source in the payload. The shape has ANSWER_BY_PROBES. */
typedef void add_function(const struct filter_shape *shape, uint8_t *payload,
                          struct hash_source *source);

/* How many bytes of scratch memory adding nkeys hashes can use to be faster; 0: none. */
typedef size_t scratch_function(const struct filter_shape *shape, size_t nkeys);

struct layout_kernels {
  probe_function *probe;
  add_function *add;                /* NULL: filters are not built */
  scratch_function *scratch_nbytes; /* NULL: always 0 */
};

/* A table is constant and complete: where an instruction set has nothing faster, it has scalar's
 * functions. */
struct kernel_table {
  const char *name;
  /* The table with the highest score on this CPU is the default. 0: the CPU or the operating system
   * cannot run it. */
  unsigned (*score)(void);
  hash_function *hash[HASH_END];
  struct layout_kernels layout[LAYOUT_END];
};

/* The tables of this build: src/<instruction set>/kernels.c. */
extern const struct kernel_table lanebloom_kernels_scalar;
extern const struct kernel_table lanebloom_kernels_avx512, lanebloom_kernels_avx512_loads;
extern const struct kernel_table lanebloom_kernels_avx2, lanebloom_kernels_avx2_loads;
extern const struct kernel_table lanebloom_kernels_sse41;
extern const struct kernel_table lanebloom_kernels_neon;

/* ---- The choice (dispatch.c) ---- */

/* The table in use; NULL while $LANEBLOOM_KERNEL names one that cannot run here. Any thread may
 * call it at any time. A public call loads it once, so that one table serves the whole call. */
const struct kernel_table *lanebloom_kernels_current(void);

/* Does CPUID report that QEMU translates instructions? It emulates vectors lane by lane, so scalar
 * code is faster: probing FastLocalBloom took avx2-loads 185 ns per key there, scalar 20 ns. */
bool lanebloom_cpu_is_emulated(void);

/* Is this a CPU whose gathers are known to be faster than loads of one lane at a time? Others may
 * be many times slower. */
bool lanebloom_cpu_gathers_fast(void);

#endif
