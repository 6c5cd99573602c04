/* Declares what the tables of AVX2 and AVX-512 share.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_X86_KERNELS_H
#define LANEBLOOM_X86_KERNELS_H

#include "../lanes/lanes.h"

/* These kernels of AVX2 are in the tables of AVX-512, too. The probes of a single key fill a vector
 * of 32 bytes. Sorted hashes need shuffles of bytes in vectors, and many lines have fewer hashes
 * than a vector of 64 bytes. Neither was measured with AVX-512. */
may_match_function KERNEL_OF(rocksdb_legacy_may_match, avx2);
may_match_function KERNEL_OF(rocksdb_local_may_match, avx2), KERNEL_OF(parquet_may_match, avx2);
sorted_probe_function KERNEL_OF(rocksdb_local_sorted_probe, avx2);
sorted_probe_function KERNEL_OF(parquet_sorted_probe, avx2);

/* Initialises the tables of AVX2 and AVX-512. The kernels of FNV-1 were not measured on other
 * sets. */
#define X86_KERNELS                                                                                \
  LANES_KERNELS,                                                                                   \
      .hash[HASH_FNV1] = KERNEL(fnv1_hash), .hash[HASH_FNV1_SIGNED] = KERNEL(fnv1_signed_hash),    \
      .may_match[LAYOUT_ROCKSDB_LEGACY] = KERNEL_OF(rocksdb_legacy_may_match, avx2),               \
      .may_match[LAYOUT_ROCKSDB_LOCAL] = KERNEL_OF(rocksdb_local_may_match, avx2),                 \
      .may_match[LAYOUT_PARQUET] = KERNEL_OF(parquet_may_match, avx2),                             \
      .layout[LAYOUT_ROCKSDB_LOCAL].sorted_probe = KERNEL_OF(rocksdb_local_sorted_probe, avx2),    \
      .layout[LAYOUT_PARQUET].sorted_probe = KERNEL_OF(parquet_sorted_probe, avx2)

#endif
