/* The table of the kernels for WebAssembly's SIMD128. All functions that are not listed here are
 * inherited from the scalar kernels.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"

/* If an engine lacks SIMD128, it refuses the whole module, so these kernels can always run. */
static unsigned simd128_score(void)
{
  return 10;
}

/* WebAssembly has no prefetching. If a filter of rocksdb-local exceeds the caches, scalar code is
 * faster. (Node.js 20 on a Zen 4, keys of 8 bytes of which none passes: with a filter of 16 MiB, a
 * key takes 40 ns by scalar code and 76 ns by lanes; with one of 2 MiB, 37 ns and 17 ns.) */
static void rocksdb_local_probe_simd128(const struct filter_shape *shape, const uint8_t *payload,
                                        struct hash_source *source, uint8_t *bitmap)
{
  enum { MAX_NBYTES = 4 << 20 };
  probe_function *probe = shape->nbytes > MAX_NBYTES ? lanebloom_rocksdb_local_probe_scalar
                                                     : KERNEL(rocksdb_local_probe);
  probe(shape, payload, source, bitmap);
}

const struct kernel_table lanebloom_kernels_simd128 = {
    SCALAR_KERNELS,
    .name = "simd128",
    .score = simd128_score,
    .hash[HASH_BLOOMHASH] = KERNEL(bloomhash_hash),
    .hash[HASH_BLOOMHASH_SIGNED] = KERNEL(bloomhash_signed_hash),
    .layout[LAYOUT_LEVELDB].probe = KERNEL(leveldb_probe),
    .layout[LAYOUT_ROCKSDB_LEGACY].probe = KERNEL(rocksdb_legacy_probe),
    .layout[LAYOUT_ROCKSDB_LOCAL].probe = rocksdb_local_probe_simd128,
    .layout[LAYOUT_HUDI].probe = KERNEL(hudi_probe),
};
