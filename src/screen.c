/* Screens a batch of keys or hashes: probes the filter with them, part by part, and returns the
 * hits as a bitmap, a mask, indices or a count.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "filter.h"
#include "parts.h"
#include "scalar/scalar.h"

/* The filter of a call, and the keys or the hashes to screen. */
struct queries {
  const lanebloom_filter *filter;
  const struct kernel_table *kernels;
  const lanebloom_keys *keys; /* NULL if hashes are given */
  const uint8_t *hashes;
  size_t n;
};

static void screen_part(const void *of, size_t first, size_t n, uint8_t *hits)
{
  const struct queries *queries = of;
  const lanebloom_filter *filter = queries->filter;
  if (filter->shape.answer == ANSWER_NEVER) {
    memset(hits, 0, hits_nbytes(n));
    return;
  }
  if (filter->shape.answer == ANSWER_ALWAYS) {
    hits_set(hits, n);
    return;
  }
  const struct format_table *format = filter->format;
  if (format->hash == HASH_NONE && !queries->keys) { /* no hash can tell that a key is absent */
    hits_set(hits, n);
    return;
  }
  const struct kernel_table *kernels =
      n <= FEW_SCREENED ? &lanebloom_kernels_scalar : queries->kernels;
  const size_t hash_nbytes = HASH_NBYTES[format->hash];
  struct hash_source source;
  lanebloom_keys part;
  if (queries->keys) {
    const bool whole = n == queries->n; /* not copied: see hash_source_hash_next() */
    if (!whole)
      part = lanebloom_keys_part(queries->keys, first, n);
    hash_source_of_keys(&source, whole ? queries->keys : &part, kernels->hash[format->hash],
                        hash_nbytes);
  } else {
    hash_source_of_hashes(&source, queries->hashes + first * hash_nbytes, hash_nbytes, n);
  }
  kernels->layout[format->layout].probe(&filter->shape, filter->payload, &source, hits);
}

static inline struct queries queries_of_keys(const lanebloom_filter *filter,
                                             const lanebloom_keys *keys)
{
  return (struct queries){
      .filter = filter, .kernels = lanebloom_kernels_current(), .keys = keys, .n = keys->n};
}

/* Screens one key by probing the filter; its shape must have ANSWER_BY_PROBES. The function has as
 * few instructions as possible: an out-of-order CPU can then hold the instructions of several calls
 * at once, and overlaps their cache misses. */
static inline bool may_match(const lanebloom_filter *filter, lanebloom_slice key)
{
  const struct format_table *format = filter->format;
  const struct key_hash hash = lanebloom_hash_key_scalar[format->hash](key.data, key.size);
  return lanebloom_kernels_current()->may_match[format->layout](&filter->shape, filter->payload,
                                                                hash);
}

/* Screens at most FEW_SCREENED keys one by one. This function and screen_many() are not
 * inlined, because lanebloom_filter_screen() would then have to save more registers even for a
 * single key. */
__attribute__((noinline)) static size_t screen_few(const lanebloom_filter *filter,
                                                   const lanebloom_keys *keys, uint8_t *bitmap)
{
  const struct format_table *format = filter->format;
  may_match_function *const test = lanebloom_kernels_current()->may_match[format->layout];
  const size_t n = keys->n, hash_nbytes = HASH_NBYTES[format->hash];
  uint8_t hashes[FEW_SCREENED * MAX_HASH_NBYTES]; /* room for hashes of any size */
  hash_keys(lanebloom_kernels_scalar.hash[format->hash], keys, hash_nbytes, hashes);
  size_t count = 0;
  unsigned hits = 0;
  for (size_t i = 0; i < n; i++) {
    const unsigned hit = test(&filter->shape, filter->payload, hash_at(hashes, i, hash_nbytes));
    hits |= hit << i;
    count += hit;
  }
  if (bitmap)
    *bitmap = (uint8_t)hits;
  return count;
}

__attribute__((noinline)) static size_t screen_many(const lanebloom_filter *filter,
                                                    const lanebloom_keys *keys, uint8_t *bitmap)
{
  const struct queries queries = queries_of_keys(filter, keys);
  return screen_in_parts(screen_part, &queries, queries.n, AS_BITMAP, bitmap);
}

size_t lanebloom_filter_screen(const lanebloom_filter *filter, const lanebloom_keys *keys,
                               uint8_t *bitmap)
{
  if (keys->n == 0 || keys->n > FEW_SCREENED || filter->shape.answer != ANSWER_BY_PROBES ||
      filter->format->hash == HASH_NONE)
    return screen_many(filter, keys, bitmap);
  assert(keys_ascend(keys));
  if (keys->n > 1)
    return screen_few(filter, keys, bitmap);
  const bool hit = may_match(filter, keys_at(keys, 0));
  if (bitmap)
    *bitmap = hit;
  return hit;
}

size_t lanebloom_filter_screen_hashes(const lanebloom_filter *filter, const void *hashes, size_t n,
                                      uint8_t *bitmap)
{
  const struct queries queries = {
      .filter = filter, .kernels = lanebloom_kernels_current(), .hashes = hashes, .n = n};
  return screen_in_parts(screen_part, &queries, n, AS_BITMAP, bitmap);
}

bool lanebloom_filter_may_contain(const lanebloom_filter *filter, const void *key, size_t size)
{
  if (filter->shape.answer != ANSWER_BY_PROBES)
    return filter->shape.answer == ANSWER_ALWAYS;
  if (filter->format->hash == HASH_NONE) {
    const lanebloom_keys keys = lanebloom_keys_fixed(key, size, 1);
    return screen_many(filter, &keys, NULL);
  }
  return may_match(filter, (lanebloom_slice){key, size});
}

bool lanebloom_filter_may_contain_raw(lanebloom_format id, const void *bytes, size_t size,
                                      const void *key, size_t key_size)
{
  const struct format_table *format = lanebloom_format_table(id);
  lanebloom_filter filter;
  if (!format || lanebloom_filter_read(format, bytes, size, &filter, &no_problem))
    return true;
  return lanebloom_filter_may_contain(&filter, key, key_size);
}

size_t lanebloom_filter_select(const lanebloom_filter *filter, const lanebloom_keys *keys,
                               uint32_t *indices)
{
  if (keys->n > UINT32_MAX)
    return SIZE_MAX;
  const struct queries queries = queries_of_keys(filter, keys);
  return screen_in_parts(screen_part, &queries, queries.n, AS_INDICES, indices);
}

size_t lanebloom_filter_mask(const lanebloom_filter *filter, const lanebloom_keys *keys,
                             uint8_t *mask)
{
  const struct queries queries = queries_of_keys(filter, keys);
  return screen_in_parts(screen_part, &queries, queries.n, AS_MASK, mask);
}
