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

static inline uint64_t offset_at(const void *offsets, bool is_wide, size_t i)
{
  return is_wide ? ((const uint64_t *)offsets)[i] : ((const uint32_t *)offsets)[i];
}

/* Checks whether n keys between offsets of 4 or, if is_wide, 8 bytes have one width. The offsets
 * are compared in groups. Within a group there is no exit, so that compilers can vectorise the
 * loop; is_wide is a constant, so that each width gets its own loop. */
static inline __attribute__((always_inline)) bool have_width(const void *offsets, bool is_wide,
                                                             size_t n, uint64_t width)
{
  enum { GROUP_NKEYS = 64 };
  uint64_t different = 0;
  for (size_t first = 0; first < n && different == 0; first += GROUP_NKEYS)
    for (size_t i = first, end = n - first < GROUP_NKEYS ? n : first + GROUP_NKEYS; i < end; i++)
      different |= (offset_at(offsets, is_wide, i + 1) - offset_at(offsets, is_wide, i)) ^ width;
  return different == 0;
}

lanebloom_keys lanebloom_keys_evened(const lanebloom_keys *keys)
{
  const bool is_wide = keys->layout == KEYS_OFFSETS64;
  if (keys->n == 0 || (!is_wide && keys->layout != KEYS_OFFSETS32))
    return *keys;
  const uint64_t first = offset_at(keys->index, is_wide, 0),
                 width = offset_at(keys->index, is_wide, 1) - first;
  if (!(is_wide ? have_width(keys->index, true, keys->n, width)
                : have_width(keys->index, false, keys->n, width)))
    return *keys;
  return lanebloom_keys_fixed((const uint8_t *)keys->data + first, (size_t)width, keys->n);
}
