/* Defines the table of the scalar kernels, which are plain C. They are the specification: the
 * kernels of all other instruction sets must give the same results.
 * SPDX-License-Identifier: MIT */
#include "scalar.h"

static unsigned scalar_score(void)
{
  return lanebloom_cpu_is_emulated() ? 100 : 2;
}

hash_key_function *const lanebloom_hash_key_scalar[HASH_END] = {
    [HASH_BLOOMHASH] = lanebloom_bloomhash_hash_key_scalar,
    [HASH_BLOOMHASH_SIGNED] = lanebloom_bloomhash_signed_hash_key_scalar,
    [HASH_XXPH3] = lanebloom_xxph3_hash_key_scalar,
    [HASH_XXH64] = lanebloom_xxh64_hash_key_scalar,
    [HASH_SPARK_MURMUR3] = lanebloom_spark_murmur3_hash_key_scalar,
    [HASH_XXH3] = lanebloom_xxh3_hash_key_scalar,
    [HASH_FNV1] = lanebloom_fnv1_hash_key_scalar,
    [HASH_FNV1_SIGNED] = lanebloom_fnv1_signed_hash_key_scalar,
    [HASH_MURMUR3_128] = lanebloom_murmur3_128_hash_key_scalar,
    [HASH_MURMUR3_128_SIGNED] = lanebloom_murmur3_128_signed_hash_key_scalar,
};

const struct kernel_table lanebloom_kernels_scalar = {
    SCALAR_KERNELS,
    .name = "scalar",
    .score = scalar_score,
};
