/* The kernel table: the functions of one instruction set. This is one of the two seams; format.h is
 * the other. layouts/ has the definitions that all kernels of a layout share.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_KERNELS_H
#define LANEBLOOM_KERNELS_H

#include <lanebloom.h>
#include <string.h>

#include "batch.h"
#include "layouts/shape.h"

enum { CACHE_LINE_NBYTES = 64 };

/* ---- The functions of an instruction set ---- */

/* Hashes. Several formats may use the same one. */
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

/* Layouts: they define which bits of the payload a hash probes, or sums up. */
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

/* Rules for all kernels: keys, payload, hashes and bitmap may have any alignment. Nothing is
 * written past their ends. Loads touch only pages that have at least one of their bytes: other
 * pages may be unmapped. Sizes, and n * width, may exceed 32 bits. */

/* Screens the source's hashes. bitmap: ceil(n / 8) bytes, one bit for each hash, least significant
 * bit first; bits past n are 0. The shape must have ANSWER_BY_PROBES. */
typedef void probe_function(const struct filter_shape *shape, const uint8_t *payload,
                            struct hash_source *source, uint8_t *bitmap);

/* Sets the bits of all hashes of the source in the payload. The shape must have
 * ANSWER_BY_PROBES. */
typedef void add_function(const struct filter_shape *shape, uint8_t *payload,
                          struct hash_source *source);

/* Returns how many bytes of scratch memory make adding nkeys hashes faster; 0 if none do. */
typedef size_t scratch_function(const struct filter_shape *shape, size_t nkeys);

struct layout_kernels {
  probe_function *probe;
  add_function *add;                /* NULL if filters of this layout are not built */
  scratch_function *scratch_nbytes; /* NULL: no scratch memory is used */
};

/* A table is constant and complete: if an instruction set has nothing faster, it has scalar's
 * functions. */
struct kernel_table {
  const char *name;
  /* The table with the highest score on this CPU is the default. A score of 0 means that the CPU or
   * the operating system cannot run it. A score of 1, less than scalar's, means that it was
   * measured on no CPU, so a user must name it. */
  unsigned (*score)(void);
  hash_function *hash[HASH_END];
  struct layout_kernels layout[LAYOUT_END];
};

/* The tables of this build. Each is in src/<instruction set>/kernels.c. */
extern const struct kernel_table lanebloom_kernels_scalar;
extern const struct kernel_table lanebloom_kernels_avx512, lanebloom_kernels_avx512_loads;
extern const struct kernel_table lanebloom_kernels_avx2, lanebloom_kernels_avx2_loads;
extern const struct kernel_table lanebloom_kernels_sse41;
extern const struct kernel_table lanebloom_kernels_neon;
extern const struct kernel_table lanebloom_kernels_sve2, lanebloom_kernels_rvv;
extern const struct kernel_table lanebloom_kernels_vsx;

/* ---- The choice (dispatch.c) ---- */

/* Returns the table in use; NULL while $LANEBLOOM_KERNEL names one that cannot run here. Any thread
 * may call it at any time. A public call loads it once, so that one table serves the whole call. */
const struct kernel_table *lanebloom_kernels_current(void);

/* Checks whether CPUID reports that QEMU translates instructions. QEMU emulates vectors lane by
 * lane, so scalar code is faster: probing FastLocalBloom took avx2-loads 185 ns per key there,
 * scalar 20 ns. */
bool lanebloom_cpu_is_emulated(void);

/* Checks whether this is a CPU whose gathers are known to be faster than loads of one lane at a
 * time. On other CPUs gathers may be many times slower. */
bool lanebloom_cpu_gathers_fast(void);

#endif
