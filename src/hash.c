/* Hashing batches of keys in any layout.
 * SPDX-License-Identifier: MIT */
#include "format.h"

/* Fields of so many bytes are copied side by side, which lanes hash sooner than slices; of others
 * slices are made. */
static bool is_copied(const lanebloom_keys *keys)
{
  return keys->layout == KEYS_STRIDED &&
         (keys->width == 4 || keys->width == 8 || keys->width == 16);
}

/* Constant widths, each its own loop of loads and stores. */
static void copy_fields(const lanebloom_keys *keys, uint8_t *bytes)
{
  const uint8_t *field = keys->data;
  const size_t stride = keys->stride;
  if (keys->width == 4)
    for (size_t i = 0; i < keys->n; i++)
      memcpy(bytes + i * 4, field + i * stride, 4);
  else if (keys->width == 8)
    for (size_t i = 0; i < keys->n; i++)
      memcpy(bytes + i * 8, field + i * stride, 8);
  else
    for (size_t i = 0; i < keys->n; i++)
      memcpy(bytes + i * 16, field + i * stride, 16);
}

void lanebloom_hash_gathered(hash_function *hash, const lanebloom_keys *keys, size_t hash_nbytes,
                             void *hashes)
{
  union {
    uint8_t bytes[BLOCK_NKEYS * 16];
    lanebloom_slice slices[BLOCK_NKEYS];
  } gathered;
  for (size_t first = 0; first < keys->n; first += BLOCK_NKEYS) {
    const lanebloom_keys block = lanebloom_keys_part(keys, first, BLOCK_NKEYS);
    lanebloom_keys made;
    if (is_copied(&block)) {
      copy_fields(&block, gathered.bytes);
      made = lanebloom_keys_fixed(gathered.bytes, block.width, block.n);
    } else {
      for (size_t i = 0; i < block.n; i++)
        gathered.slices[i] = keys_at(&block, i);
      made = lanebloom_keys_slices(gathered.slices, block.n);
    }
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
