/* Batches of keys: every layout in one plain struct, parts of them, and their hashes.
 * SPDX-License-Identifier: MIT */
#include "keys.h"
#include "format.h"

/* Pointer arithmetic on NULL is undefined even when nothing is read, so a batch of empty keys gets
 * an address. */
static const void *address(const void *data)
{
  return data ? data : "";
}

lanebloom_keys lanebloom_keys_fixed(const void *data, size_t width, size_t n)
{
  return (lanebloom_keys){.data = address(data), .width = width, .n = n, .layout = KEYS_FIXED};
}

lanebloom_keys lanebloom_keys_offsets32(const void *data, const uint32_t *offsets, size_t n)
{
  return (lanebloom_keys){
      .data = address(data), .index = offsets, .n = n, .layout = KEYS_OFFSETS32};
}

lanebloom_keys lanebloom_keys_offsets64(const void *data, const uint64_t *offsets, size_t n)
{
  return (lanebloom_keys){
      .data = address(data), .index = offsets, .n = n, .layout = KEYS_OFFSETS64};
}

lanebloom_keys lanebloom_keys_slices(const lanebloom_slice *slices, size_t n)
{
  return (lanebloom_keys){.data = address(NULL), .index = slices, .n = n, .layout = KEYS_SLICES};
}

lanebloom_keys lanebloom_keys_part(const lanebloom_keys *keys, size_t first, size_t n)
{
  lanebloom_keys part = *keys;
  if (first > keys->n)
    first = keys->n;
  part.n = n < keys->n - first ? n : keys->n - first;
  if (part.n == 0)
    return part; /* whose pointers may be NULL */
  switch ((enum keys_layout)keys->layout) {
  case KEYS_FIXED:
    part.data = (const uint8_t *)keys->data + first * keys->width;
    break;
  case KEYS_OFFSETS32:
    part.index = (const uint32_t *)keys->index + first;
    break;
  case KEYS_OFFSETS64:
    part.index = (const uint64_t *)keys->index + first;
    break;
  case KEYS_SLICES:
    part.index = (const lanebloom_slice *)keys->index + first;
    break;
  }
  return part;
}

lanebloom_status lanebloom_hash(lanebloom_format id, const lanebloom_keys *keys, void *hashes)
{
  const struct kernel_table *kernels = lanebloom_kernels_current();
  if (!kernels)
    return LANEBLOOM_ERR_KERNEL;
  if (lanebloom_format_hash_size(id) == 0)
    return LANEBLOOM_ERR_FORMAT;
  assert(keys_ascend(keys));
  kernels->hash[lanebloom_format_table(id)->hash](keys, hashes);
  return LANEBLOOM_OK;
}
