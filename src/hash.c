/* Hashes batches of keys in any layout. Keys in layouts that kernels do not read are first
 * listed as slices.
 * SPDX-License-Identifier: MIT */
#include "format.h"

void lanebloom_hash_gathered(hash_function *hash, const lanebloom_keys *keys, size_t hash_nbytes,
                             void *hashes)
{
  lanebloom_slice slices[BLOCK_NKEYS]; /* they and the hashes stay in the first-level cache */
  for (size_t first = 0; first < keys->n; first += BLOCK_NKEYS) {
    const lanebloom_keys block = lanebloom_keys_part(keys, first, BLOCK_NKEYS);
    for (size_t i = 0; i < block.n; i++)
      slices[i] = keys_at(&block, i);
    const lanebloom_keys made = lanebloom_keys_slices(slices, block.n);
    hash(&made, (uint8_t *)hashes + first * hash_nbytes);
  }
}

lanebloom_status lanebloom_hash(lanebloom_format id, const lanebloom_keys *keys, void *hashes)
{
  const struct kernel_table *kernels = lanebloom_kernels_current();
  if (!kernels)
    return LANEBLOOM_ERR_KERNEL;
  const size_t hash_nbytes = lanebloom_format_hash_size(id);
  if (hash_nbytes == 0)
    return LANEBLOOM_ERR_FORMAT;
  assert(keys_ascend(keys));
  hash_keys(kernels->hash[lanebloom_format_table(id)->hash], keys, hash_nbytes, hashes);
  return LANEBLOOM_OK;
}
