/* Hashes batches of keys in any layout. Keys in layouts that kernels do not read are gathered
 * first: copied side by side, or listed as slices.
 * SPDX-License-Identifier: MIT */
#include "format.h"

/* The size of a block of gathered keys. The block and its hashes stay in the first-level cache. */
enum { GATHERED_NBYTES = BLOCK_NKEYS * 16 };

/* Copies fields, which are keys at equal distances, side by side. The function is always inlined,
 * so that the width is constant in each call, and copying a key takes only a few loads and
 * stores. */
__attribute__((always_inline)) static inline void copy_fields(const lanebloom_keys *keys,
                                                              size_t width, uint8_t *bytes)
{
  const uint8_t *field = keys->data;
  for (size_t i = 0; i < keys->n; i++)
    memcpy(bytes + i * width, field + i * keys->stride, width);
}

/* Copies fields of common widths side by side, because vector kernels hash keys of one width faster
 * than slices. (BloomHash by AVX-512 on a Xeon, fields of 8 bytes in records of 24: a key takes 1.1
 * ns if it is copied and 3.2 ns as a slice.) If the width is not common, or the keys are not
 * fields, the function copies nothing and returns false. */
static bool copy_usual_fields(const lanebloom_keys *keys, uint8_t *bytes)
{
  switch (keys->layout == KEYS_STRIDED ? keys->width : 0) {
  case 4:
    copy_fields(keys, 4, bytes);
    return true;
  case 8:
    copy_fields(keys, 8, bytes);
    return true;
  case 12:
    copy_fields(keys, 12, bytes);
    return true;
  case 16:
    copy_fields(keys, 16, bytes);
    return true;
  case 20:
    copy_fields(keys, 20, bytes);
    return true;
  case 32:
    copy_fields(keys, 32, bytes);
    return true;
  }
  return false;
}

void lanebloom_hash_gathered(hash_function *hash, const lanebloom_keys *keys, size_t hash_nbytes,
                             void *hashes)
{
  union {
    uint8_t bytes[GATHERED_NBYTES];
    lanebloom_slice slices[BLOCK_NKEYS];
  } gathered;
  const size_t max_nkeys = keys->width <= 16 ? BLOCK_NKEYS : BLOCK_NKEYS / 2;
  for (size_t first = 0; first < keys->n; first += max_nkeys) {
    const lanebloom_keys block = lanebloom_keys_part(keys, first, max_nkeys);
    lanebloom_keys made;
    if (copy_usual_fields(&block, gathered.bytes)) {
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
