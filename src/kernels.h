/* The kernel table has the functions of one instruction set. The library reaches instruction sets
 * by these tables, and filter formats by the format tables of format.h. src/layouts/ has the
 * definitions that all kernels of a layout share.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_KERNELS_H
#define LANEBLOOM_KERNELS_H

#include <lanebloom.h>
#include <stdatomic.h>
#include <string.h>

#include "batch.h"
#include "layouts/sorted.h"

enum { CACHE_LINE_NBYTES = 64 };

/* ---- The functions of an instruction set ---- */

/* Hash functions. Several formats may use the same one. A format has HASH_NONE if its probes depend
 * on the key and on each other, so that there is no hash from which all of them follow. The kernels
 * of such a format take keys. */
enum hash {
  HASH_NONE,
  HASH_BLOOMHASH,
  HASH_BLOOMHASH_SIGNED,
  HASH_XXPH3,
  HASH_XXH64,
  HASH_SPARK_MURMUR3,
  HASH_XXH3,
  HASH_FNV1,
  HASH_FNV1_SIGNED,
  HASH_MURMUR3_128,
  HASH_MURMUR3_128_SIGNED,
  HASH_END
};

static const uint8_t HASH_NBYTES[HASH_END] = {
    [HASH_BLOOMHASH] = sizeof(uint32_t),
    [HASH_BLOOMHASH_SIGNED] = sizeof(uint32_t),
    [HASH_XXPH3] = sizeof(uint64_t),
    [HASH_XXH64] = sizeof(uint64_t),
    [HASH_SPARK_MURMUR3] = sizeof(uint64_t),
    [HASH_XXH3] = sizeof(uint64_t),
    [HASH_FNV1] = sizeof(uint64_t),
    [HASH_FNV1_SIGNED] = sizeof(uint64_t),
    [HASH_MURMUR3_128] = 2 * sizeof(uint64_t),
    [HASH_MURMUR3_128_SIGNED] = 2 * sizeof(uint64_t),
};

static const char *const HASH_NAME[HASH_END] = {
    [HASH_NONE] = "none",
    [HASH_BLOOMHASH] = "bloomhash",
    [HASH_BLOOMHASH_SIGNED] = "bloomhash-signed",
    [HASH_XXPH3] = "xxph3",
    [HASH_XXH64] = "xxh64",
    [HASH_SPARK_MURMUR3] = "spark-murmur3",
    [HASH_XXH3] = "xxh3",
    [HASH_FNV1] = "fnv1",
    [HASH_FNV1_SIGNED] = "fnv1-signed",
    [HASH_MURMUR3_128] = "murmur3-128",
    [HASH_MURMUR3_128_SIGNED] = "murmur3-128-signed",
};

/* A layout defines which bits of the payload a hash probes, or (Ribbon, binary fuse) sums up. */
enum layout {
  LAYOUT_LEVELDB,
  LAYOUT_ROCKSDB_LEGACY,
  LAYOUT_ROCKSDB_LOCAL,
  LAYOUT_ROCKSDB_RIBBON,
  LAYOUT_PARQUET,
  LAYOUT_PEBBLE_BINARYFUSE,
  LAYOUT_DCSO,
  LAYOUT_DOUBLE_HASHING,
  LAYOUT_HUDI,
  LAYOUT_END
};

/* Rules for all kernels: keys, payload, hashes and bitmap may have any alignment. A kernel writes
 * nothing past the end of payload, hashes and bitmap. It may load bytes outside of keys, payload
 * and hashes, but only from pages that hold at least one byte of them, because other pages may be
 * unmapped. Sizes, and n * width, may exceed 32 bits. */

/* Screens the source's hashes: sets the bit of each hash that may be in the filter. The bitmap has
 * ceil(n / 8) bytes, one bit for each hash, least significant bit first; bits past n become 0. The
 * shape must have ANSWER_BY_PROBES. If the format has no hash, the source has keys, in any layout,
 * and the function reads them. */
typedef void probe_function(const struct filter_shape *shape, const uint8_t *payload,
                            struct hash_source *source, uint8_t *bitmap);

/* Sets the bits of all hashes of the source in the payload. The shape must have ANSWER_BY_PROBES.
 * If the format has a count_offset, also adds to source->nnew the number of hashes that set a bit
 * which the hashes before them did not set. */
typedef void add_function(const struct filter_shape *shape, uint8_t *payload,
                          struct hash_source *source);

/* Returns the size, in bytes, of the scratch memory that makes adding nkeys hashes faster, or 0 if
 * scratch memory does not make it faster. */
typedef size_t scratch_function(const struct filter_shape *shape, size_t nkeys);

/* Screens sorted hashes: sets the bit of each hash that may be in the filter, in the caller's
 * order, and returns the number of these hashes. The bits of the bitmap must be 0 before. bitmap
 * may be NULL. */
typedef size_t sorted_probe_function(const struct filter_shape *shape, const uint8_t *payload,
                                     const struct sorted_hashes *sorted, uint8_t *bitmap);

/* Tests a single key by its hash: returns true if all probes find set bits. The shape must have
 * ANSWER_BY_PROBES. */
typedef bool may_match_function(const struct filter_shape *shape, const uint8_t *payload,
                                struct key_hash hash);

struct layout_kernels {
  probe_function *probe;
  add_function *add;                   /* NULL if filters of this layout are not built */
  scratch_function *scratch_nbytes;    /* NULL if no scratch memory is used */
  sorted_probe_function *sorted_probe; /* NULL if it would not be faster than probe */
};

/* A table is constant and complete: if an instruction set has no faster function, its table has the
 * scalar function. */
struct kernel_table {
  const char *name;
  /* The table with the highest score on this CPU is the default. A score of 0 means that the CPU or
   * the operating system cannot run the table's functions. A table that was never measured on a CPU
   * may have the score 1. That is less than the scalar table's score, so the table is used only if
   * the user names it. */
  unsigned (*score)(void);
  hash_function *hash[HASH_END]; /* NULL for HASH_NONE */
  struct layout_kernels layout[LAYOUT_END];
  may_match_function *may_match[LAYOUT_END]; /* NULL for LAYOUT_HUDI, whose format has no hash */
};

/* The tables of all instruction sets. A build has the scalar table and the tables of its
 * architecture. Each table is defined in src/<instruction set>/kernels.c. */
extern const struct kernel_table lanebloom_kernels_scalar;
extern const struct kernel_table lanebloom_kernels_avx512, lanebloom_kernels_avx512_loads;
extern const struct kernel_table lanebloom_kernels_avx2, lanebloom_kernels_avx2_loads;
extern const struct kernel_table lanebloom_kernels_sse41;
extern const struct kernel_table lanebloom_kernels_neon;
extern const struct kernel_table lanebloom_kernels_sve2, lanebloom_kernels_rvv;
extern const struct kernel_table lanebloom_kernels_vsx;
extern const struct kernel_table lanebloom_kernels_simd128;

/* ---- The choice (dispatch.c) ---- */

/* The table in use, or NULL until it is chosen. Relaxed memory order is enough: tables are constant
 * data, so a thread that sees the pointer also sees the table. */
typedef _Atomic(const struct kernel_table *) kernel_choice;
extern kernel_choice lanebloom_kernels_chosen;

/* Chooses the default if no table is chosen. Returns what lanebloom_kernels_current() returns. */
const struct kernel_table *lanebloom_kernels_choose(void);

/* Returns the table in use, or NULL while $LANEBLOOM_KERNEL names a table that cannot run here. Any
 * thread may call this function at any time. A public function calls it once, so that one table
 * serves the whole call. */
static inline const struct kernel_table *lanebloom_kernels_current(void)
{
  const struct kernel_table *table =
      atomic_load_explicit(&lanebloom_kernels_chosen, memory_order_relaxed);
  return __builtin_expect(table != NULL, 1) ? table : lanebloom_kernels_choose();
}

/* Checks whether CPUID reports that QEMU translates instructions. QEMU emulates vectors lane by
 * lane, so scalar code is faster there: when probing FastLocalBloom, avx2-loads took 185 ns per
 * key, and scalar code took 20 ns. */
bool lanebloom_cpu_is_emulated(void);

/* Checks whether this CPU is known to gather faster than it loads one lane at a time. A gather is
 * one instruction that loads all lanes, each from its own address. On other CPUs gathers may be
 * many times slower. */
bool lanebloom_cpu_gathers_fast(void);

#endif
