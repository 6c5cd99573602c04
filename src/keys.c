/* Makes batches of keys. One struct, lanebloom_keys, describes keys in every layout. A part of a
 * batch is itself a batch, which borrows the keys of the whole batch.
 * SPDX-License-Identifier: MIT */
#include "keys.h"

/* Returns data, or the address of an empty string if data is NULL. Keys without bytes may have no
 * data, but pointer arithmetic on NULL is undefined even if nothing is read. */
static const void *address(const void *data)
{
  return data ? data : "";
}

lanebloom_keys lanebloom_keys_fixed(const void *data, size_t width, size_t n)
{
  return (lanebloom_keys){
      .data = address(data), .width = width, .stride = width, .n = n, .layout = KEYS_FIXED};
}

/* Gaps between keys of a kernel's layout are smaller than any page. So every page from the first
 * key to the last holds a byte of a key, and kernels may load from it. */
enum { MIN_PAGE_NBYTES = 4096 };

lanebloom_keys lanebloom_keys_strided(const void *data, size_t width, size_t stride, size_t n)
{
  lanebloom_keys keys = lanebloom_keys_fixed(data, width, n);
  if (width > 0) {
    keys.stride = stride;
    keys.layout = stride < width || stride - width >= MIN_PAGE_NBYTES ? KEYS_STRIDED : KEYS_FIXED;
  }
  return keys;
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

lanebloom_keys lanebloom_keys_strings(const void *views, size_t n)
{
  return (lanebloom_keys){.data = address(NULL), .index = views, .n = n, .layout = KEYS_STRINGS};
}

lanebloom_keys lanebloom_keys_part(const lanebloom_keys *keys, size_t first, size_t n)
{
  lanebloom_keys part = *keys;
  if (first > keys->n)
    first = keys->n;
  part.n = n < keys->n - first ? n : keys->n - first;
  if (part.n == 0)
    return part; /* the pointers of an empty batch may be NULL */
  switch (keys->layout) {
  case KEYS_FIXED:
  case KEYS_STRIDED:
    part.data = (const uint8_t *)keys->data + first * keys->stride;
    break;
  case KEYS_STRINGS:
    part.index = (const uint8_t *)keys->index + first * VIEW_NBYTES;
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

/* The offsets are compared in groups of this many. Within a group there is no exit, so that
 * compilers can vectorise the loop. */
enum { EVEN_NKEYS = 64 };

static bool are_even32(const uint32_t *offsets, size_t n, uint32_t width)
{
  uint32_t different = 0;
  for (size_t first = 0; first < n && different == 0; first += EVEN_NKEYS)
    for (size_t i = first, end = n - first < EVEN_NKEYS ? n : first + EVEN_NKEYS; i < end; i++)
      different |= (offsets[i + 1] - offsets[i]) ^ width;
  return different == 0;
}

static bool are_even64(const uint64_t *offsets, size_t n, uint64_t width)
{
  uint64_t different = 0;
  for (size_t first = 0; first < n && different == 0; first += EVEN_NKEYS)
    for (size_t i = first, end = n - first < EVEN_NKEYS ? n : first + EVEN_NKEYS; i < end; i++)
      different |= (offsets[i + 1] - offsets[i]) ^ width;
  return different == 0;
}

lanebloom_keys lanebloom_keys_evened(const lanebloom_keys *keys)
{
  const uint32_t *offsets32 = keys->index;
  const uint64_t *offsets64 = keys->index;
  const uint8_t *data = keys->data;
  if (keys->n == 0)
    return *keys;
  if (keys->layout == KEYS_OFFSETS32 && are_even32(offsets32, keys->n, offsets32[1] - offsets32[0]))
    return lanebloom_keys_fixed(data + offsets32[0], offsets32[1] - offsets32[0], keys->n);
  if (keys->layout == KEYS_OFFSETS64 && are_even64(offsets64, keys->n, offsets64[1] - offsets64[0]))
    return lanebloom_keys_fixed(data + offsets64[0], (size_t)(offsets64[1] - offsets64[0]),
                                keys->n);
  return *keys;
}
