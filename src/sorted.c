/* Sorts hashes by the lines that they select, whatever the number of lines is.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "batch.h"
#include "sorted.h"
#include "system/system.h"

enum layout lanebloom_layout_to_sort(enum hash hash)
{
  switch (hash) {
  case HASH_XXPH3:
    return LAYOUT_ROCKSDB_LOCAL;
  case HASH_XXH64:
    return LAYOUT_PARQUET;
  default:
    return LAYOUT_END;
  }
}

/* The selector of a hash, and the caller's index of the hash. */
struct selected {
  uint32_t selector, at;
};

static uint32_t selector_of(enum layout layout, uint64_t hash)
{
  return (uint32_t)(layout == LAYOUT_PARQUET ? hash >> 32 : hash);
}

enum { DIGIT_NBITS = 11, NDIGITS = 3, DIGIT_END = 1 << DIGIT_NBITS };

static unsigned digit_of(uint32_t selector, unsigned digit)
{
  return selector >> digit * DIGIT_NBITS & (DIGIT_END - 1);
}

/* Sorts n elements of `from` by a radix sort. Both arrays are used as scratch memory. Returns the
 * one that has the result. */
static const struct selected *sort_selected(struct selected *from, struct selected *to, size_t n)
{
  uint32_t counts[NDIGITS][DIGIT_END] = {{0}};
  for (size_t i = 0; i < n; i++)
    for (unsigned digit = 0; digit < NDIGITS; digit++)
      counts[digit][digit_of(from[i].selector, digit)]++;
  for (unsigned digit = 0; digit < NDIGITS; digit++) {
    uint32_t start = 0;
    for (size_t i = 0; i < DIGIT_END; i++) {
      const uint32_t count = counts[digit][i];
      counts[digit][i] = start;
      start += count;
    }
    for (size_t i = 0; i < n; i++)
      to[counts[digit][digit_of(from[i].selector, digit)]++] = from[i];
    struct selected *const sorted = to;
    to = from;
    from = sorted;
  }
  return from;
}

/* Writes the number of selectors below each multiple of 2^shift. */
static void find_starts(const struct selected *selected, size_t n, unsigned shift, uint32_t *starts)
{
  const size_t nstarts = (size_t)1 << (32 - shift);
  size_t i = 0;
  for (size_t start = 0; start < nstarts; start++) {
    while (i < n && selected[i].selector < (uint64_t)start << shift)
      i++;
    starts[start] = (uint32_t)i;
  }
}

/* Hashes are requested this many hashes ahead, because each may be anywhere. */
enum { AHEAD = 16 };

bool lanebloom_hashes_sort(enum layout layout, const void *hashes, size_t n,
                           struct sorted_hashes *made)
{
  const size_t ngroups = (n + SORTED_GROUP_NKEYS - 1) / SORTED_GROUP_NKEYS;
  const bool is_parquet = layout == LAYOUT_PARQUET;
  const size_t nrows = is_parquet ? PARQUET_SORTED_NROWS : ROCKSDB_LOCAL_SORTED_NROWS;
  unsigned shift = 32; /* there are between n / 2 and n starts */
  while (shift > 0 && (uint64_t)n >> (33 - shift) > 0)
    shift--;
  const size_t nstarts = (size_t)1 << (32 - shift);
  const size_t positions_nbytes = ngroups * nrows * SORTED_GROUP_NKEYS;
  const size_t room_nbytes =
      positions_nbytes + (n + SORTED_GROUP_NKEYS + nstarts + n) * sizeof(uint32_t);
  struct selected *unsorted = malloc((2 * n + 1) * sizeof *unsorted);
  uint8_t *positions = lanebloom_system_allocate(
      CACHE_LINE_NBYTES, (room_nbytes / CACHE_LINE_NBYTES + 1) * CACHE_LINE_NBYTES);
  if (!unsorted || !positions) {
    free(unsorted);
    lanebloom_system_free(positions);
    return false;
  }
  int32_t *selectors = (int32_t *)(positions + positions_nbytes);
  uint32_t *starts = (uint32_t *)(selectors + n + SORTED_GROUP_NKEYS), *order = starts + nstarts;

  for (size_t i = 0; i < n; i++)
    unsorted[i] = (struct selected){selector_of(layout, hash64_at(hashes, i)), (uint32_t)i};
  const struct selected *sorted = sort_selected(unsorted, unsorted + n, n);
  find_starts(sorted, n, shift, starts);
  if (ngroups > 0) /* not all bytes of the last group belong to a hash */
    memset(positions + (ngroups - 1) * nrows * SORTED_GROUP_NKEYS, 0, nrows * SORTED_GROUP_NKEYS);
  for (size_t i = 0; i < n; i++) {
    const uint64_t hash = hash64_at(hashes, sorted[i].at);
    if (i + AHEAD < n)
      __builtin_prefetch((const uint8_t *)hashes + sorted[i + AHEAD].at * sizeof hash);
    uint8_t *rows =
        positions + i / SORTED_GROUP_NKEYS * SORTED_GROUP_NKEYS * nrows + i % SORTED_GROUP_NKEYS;
    selectors[i] = (int32_t)(sorted[i].selector ^ 0x80000000);
    order[i] = sorted[i].at;
    if (is_parquet)
      parquet_sorted_store(hash, rows);
    else
      rocksdb_local_sorted_store(hash, rows);
  }
  for (size_t i = n; i < n + SORTED_GROUP_NKEYS; i++)
    selectors[i] = INT32_MAX;
  free(unsorted);
  *made = (struct sorted_hashes){.n = n,
                                 .selectors = selectors,
                                 .starts = starts,
                                 .starts_shift = shift,
                                 .order = order,
                                 .positions = positions,
                                 .hashes = hashes};
  return true;
}

void lanebloom_sorted_free(struct sorted_hashes *sorted)
{
  lanebloom_system_free(sorted->positions);
}
