/* Batch queries: a batch is cut into blocks, each is hashed and probed; hit bits become a bitmap, indices or a count.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "batch.h"
#include "filter.h"

/* A source of blocks: keys to be hashed, or hashes that are there. */
struct queries {
  const lanebloom_keys *keys; /* NULL: hashes */
  const uint8_t *hashes;
  size_t n;
};

static size_t count_hits(const uint8_t *hits, size_t nbytes)
{
  size_t n = 0;
  for (size_t i = 0; i < nbytes; i++)
    n += (unsigned)__builtin_popcount(hits[i]);
  return n;
}

static void set_first(uint8_t *hits, size_t n)
{
  memset(hits, 0xff, n / 8);
  if (n % 8)
    hits[n / 8] = (uint8_t)((1 << n % 8) - 1);
}

/* Hit bits of queries first .. first + n, at most a block: ceil(n / 8) bytes. */
static void screen_block(const lanebloom_filter *filter, const struct kernel_ops *ops, const struct queries *queries,
                         size_t first, size_t n, uint8_t *hits)
{
  if (filter->shape.answer == ANSWER_NEVER) {
    memset(hits, 0, (n + 7) / 8);
  } else if (filter->shape.answer == ANSWER_ALWAYS) {
    set_first(hits, n);
  } else if (queries->keys) {
    block_hashes hashes;
    lanebloom_keys block = lanebloom_keys_part(queries->keys, first, n);
    ops->hash(&block, hashes);
    ops->probe(&filter->shape, filter->bytes, hashes, n, hits);
  } else {
    const uint8_t *hashes = queries->hashes + first * filter->format->hash_nbytes;
    ops->probe(&filter->shape, filter->bytes, hashes, n, hits);
  }
}

static const struct kernel_ops *current_ops(const lanebloom_filter *filter)
{
  return lanebloom_kernels_current()->ops[filter->format->id];
}

static size_t block_at(const struct queries *queries, size_t first)
{
  size_t left = queries->n - first;
  return left < BLOCK_NKEYS ? left : BLOCK_NKEYS;
}

static size_t screen(const lanebloom_filter *filter, const struct queries *queries, uint8_t *bitmap)
{
  const struct kernel_ops *ops = current_ops(filter);
  size_t count = 0;
  for (size_t first = 0; first < queries->n; first += BLOCK_NKEYS) {
    uint8_t uncollected[BLOCK_HIT_NBYTES];
    uint8_t *hits = bitmap ? bitmap + first / 8 : uncollected;
    size_t n = block_at(queries, first);
    screen_block(filter, ops, queries, first, n, hits);
    count += count_hits(hits, (n + 7) / 8);
  }
  return count;
}

size_t lanebloom_filter_screen(const lanebloom_filter *filter, const lanebloom_keys *keys, uint8_t *bitmap)
{
  return screen(filter, &(struct queries){.keys = keys, .n = keys->n}, bitmap);
}

size_t lanebloom_filter_screen_hashes(const lanebloom_filter *filter, const void *hashes, size_t n, uint8_t *bitmap)
{
  return screen(filter, &(struct queries){.hashes = hashes, .n = n}, bitmap);
}

bool lanebloom_filter_may_contain(const lanebloom_filter *filter, const void *key, size_t size)
{
  lanebloom_keys keys = lanebloom_keys_fixed(key, size, 1);
  return lanebloom_filter_screen(filter, &keys, NULL) == 1;
}

size_t lanebloom_filter_select(const lanebloom_filter *filter, const lanebloom_keys *keys, uint32_t *indices)
{
  const struct queries queries = {.keys = keys, .n = keys->n};
  if (queries.n > UINT32_MAX)
    return SIZE_MAX;
  const struct kernel_ops *ops = current_ops(filter);
  size_t count = 0;
  for (size_t first = 0; first < queries.n; first += BLOCK_NKEYS) {
    uint8_t hits[BLOCK_HIT_NBYTES];
    size_t n = block_at(&queries, first);
    screen_block(filter, ops, &queries, first, n, hits);
    for (size_t byte = 0; byte < (n + 7) / 8; byte++)
      for (unsigned left = hits[byte]; left; left &= left - 1)
        indices[count++] = (uint32_t)(first + byte * 8 + (unsigned)__builtin_ctz(left));
  }
  return count;
}
