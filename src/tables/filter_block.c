/* Parses and queries filter blocks, whose layout is in filter_block.h.
 * SPDX-License-Identifier: MIT */
#include <lanebloom_tables.h>
#include <stdlib.h>
#include <string.h>

#include "../common/bytes.h"
#include "../common/problem.h"
#include "../layouts/leveldb.h"
#include "filter_block.h"

struct lanebloom_filter_block {
  lanebloom_format format;
  const uint8_t *bytes;   /* the filters */
  const uint8_t *offsets; /* after the filters */
  uint64_t nfilters;      /* 0 if malformed; every key may then be present */
  unsigned base_lg;
};

/* Filters that replace a missing filter. A filter without probes reports every key as present; a
 * filter without bytes reports every key as absent. */
static const uint8_t no_probes[2] = {0, 0};
static const lanebloom_slice every_key = {no_probes, sizeof no_probes}, no_key = {no_probes, 0};

lanebloom_status lanebloom_filter_block_parse(lanebloom_format format, const void *bytes,
                                              size_t size, lanebloom_filter_block **block,
                                              char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  *block = NULL;
  lanebloom_status status = filter_block_check_format(format);
  if (status)
    return problem_status(&problem, status);
  if (!bytes && size > 0)
    return problem_no_bytes(&problem, size);

  lanebloom_filter_block *made = malloc(sizeof *made);
  if (!made)
    return problem_memory(&problem, sizeof *made);
  *made = (lanebloom_filter_block){.format = format};
  if (size >= TRAILER_NBYTES) {
    const uint8_t *trailer = (const uint8_t *)bytes + size - TRAILER_NBYTES;
    const size_t filters_nbytes = load_le32(trailer), max_nbytes = size - TRAILER_NBYTES;
    const unsigned base_lg = trailer[OFFSET_NBYTES];
    if (filters_nbytes <= max_nbytes && base_lg <= MAX_BASE_LG) {
      made->bytes = bytes;
      made->offsets = made->bytes + filters_nbytes;
      made->nfilters =
          (max_nbytes - filters_nbytes) / OFFSET_NBYTES; /* as in LevelDB, a remainder is allowed */
      made->base_lg = base_lg;
    }
  }
  *block = made;
  return LANEBLOOM_OK;
}

void lanebloom_filter_block_free(lanebloom_filter_block *block)
{
  free(block);
}

/* Returns the bytes of filter number `index`, or a filter that replaces it. Makes the same checks
 * as LevelDB's FilterBlockReader::KeyMayMatch, in the same order. */
static lanebloom_slice filter_at(const lanebloom_filter_block *block, uint64_t index)
{
  if (index >= block->nfilters)
    return every_key;
  const uint8_t *offset = block->offsets + index * OFFSET_NBYTES;
  const uint32_t begin = load_le32(offset), end = load_le32(offset + OFFSET_NBYTES);
  if (begin == end)
    return no_key;
  if (begin < end && end <= (size_t)(block->offsets - block->bytes))
    return (lanebloom_slice){block->bytes + begin, end - begin};
  return every_key;
}

uint64_t lanebloom_filter_block_size(const lanebloom_filter_block *block)
{
  return block->nfilters;
}

uint64_t lanebloom_filter_block_index(const lanebloom_filter_block *block,
                                      uint64_t data_block_offset)
{
  return data_block_offset >> block->base_lg;
}

bool lanebloom_filter_block_filter(const lanebloom_filter_block *block, uint64_t index,
                                   lanebloom_slice *filter)
{
  *filter = filter_at(block, index);
  return filter->data != no_probes || filter->size == 0;
}

/* Queries the bytes of a filter for one hash. Opening them as a lanebloom_filter would allocate
 * memory, and pays off only for many keys. */
static bool may_match(lanebloom_slice filter, uint32_t hash)
{
  if (filter.size < 2)
    return false;
  const uint8_t *bytes = filter.data;
  const size_t payload_nbytes = filter.size - 1;
  const uint8_t nprobes = bytes[payload_nbytes];
  if (nprobes > LEVELDB_MAX_NPROBES)
    return true;
  const uint64_t nbits = (uint64_t)payload_nbytes * 8;
  const uint32_t stride = bloomhash_stride(hash);
  uint32_t probe = hash;
  for (uint32_t i = 0; i < nprobes; i++, probe += stride) {
    const uint32_t position =
        nbits > UINT32_MAX ? probe : probe % (uint32_t)nbits; /* a 32-bit division is faster */
    if (!(bytes[position / 8] >> position % 8 & 1))
      return false;
  }
  return true;
}

bool lanebloom_filter_block_may_contain(const lanebloom_filter_block *block,
                                        uint64_t data_block_offset, const void *key, size_t size)
{
  const lanebloom_keys keys = lanebloom_keys_fixed(key, size, 1);
  uint32_t hash;
  cannot_fail(
      lanebloom_hash(block->format, &keys, &hash)); /* parsing the block checked its format */
  return may_match(filter_at(block, lanebloom_filter_block_index(block, data_block_offset)), hash);
}

enum {
  /* The number of keys that are hashed at once, which is also the longest run. On a Zen 4 under
   * other load, keys in runs of 300 take 3.0 ns each if 256 are hashed at once, 2.6 ns if 512 are,
   * and 2.5 ns if 1024 are. */
  PART_NKEYS = 1024,
  /* The filter of a run with at least this number of keys is opened, so that a kernel can probe it.
   * This table shows times per key in ns, measured on Zen 4 with 6 probes.
   *
   *   keys in the run             12    16    24    32
   *   absent keys, one by one   13.3  13.1  13.2  12.8
   *   absent keys, by kernel    15.0  11.5   8.5   6.9
   *   present keys, one by one  11.5  11.5  11.4  11.4
   *   present keys, by kernel   18.1  13.8  13.5  10.3 */
  MIN_KERNEL_NKEYS = 16,
};

/* A run: consecutive keys of a part that have the same filter. */
struct run {
  lanebloom_slice filter;
  uint32_t first, n;
};

/* Finds the runs of a part of n keys, and returns the number of runs. Prefetches the filters of all
 * runs, so that their loads overlap. On a Zen 4 under other load, with a block of 29 MiB, runs of 1
 * key take 38 ns per key with prefetching and 58 ns without. Runs of 3 keys take 19 ns per key with
 * prefetching and 38 ns without. */
static size_t find_runs(const lanebloom_filter_block *block, const uint64_t *data_block_offsets,
                        size_t n, struct run *runs)
{
  size_t nruns = 0;
  for (size_t first = 0, end; first < n; first = end) {
    const uint64_t index = lanebloom_filter_block_index(block, data_block_offsets[first]);
    for (end = first + 1;
         end < n && lanebloom_filter_block_index(block, data_block_offsets[end]) == index;)
      end++;
    const lanebloom_slice filter = filter_at(block, index);
    __builtin_prefetch(filter.data);
    __builtin_prefetch((const uint8_t *)filter.data + filter.size);
    runs[nruns++] = (struct run){filter, (uint32_t)first, (uint32_t)(end - first)};
  }
  return nruns;
}

/* screen_one_by_one() and screen_by_kernel() query the filter of a run. In the part's bitmap, they
 * set the bits of the run's keys that may be present, and return the number of these keys. Before
 * the call, the bits of the run must be 0. */
static size_t screen_one_by_one(const struct run *run, const uint32_t *hashes, uint8_t *bitmap)
{
  size_t count = 0;
  for (size_t i = run->first; i < run->first + run->n; i++) {
    const bool may = may_match(run->filter, hashes[i]);
    bitmap[i / 8] |= (uint8_t)(may << i % 8);
    count += may;
  }
  return count;
}

/* Copies n bits to bit `first` of a bitmap and the bits after it. Before the call, the bits there
 * must be 0. In the last byte of `bits`, the bits after the n bits must be 0. */
static void or_bits(uint8_t *bitmap, size_t first, const uint8_t *bits, size_t n)
{
  for (size_t i = 0; i < (n + 7) / 8; i++) {
    const unsigned shifted = (unsigned)bits[i] << first % 8;
    bitmap[first / 8 + i] |= (uint8_t)shifted;
    if (shifted >> 8) /* if it is 0, there may be no next byte */
      bitmap[first / 8 + i + 1] |= (uint8_t)(shifted >> 8);
  }
}

static size_t screen_by_kernel(const lanebloom_filter *filter, const struct run *run,
                               const uint32_t *hashes, uint8_t *bitmap)
{
  uint8_t hits[PART_NKEYS / 8];
  const size_t count = lanebloom_filter_screen_hashes(filter, hashes + run->first, run->n, hits);
  or_bits(bitmap, run->first, hits, run->n);
  return count;
}

/* Sets the bits of a run's keys that may be present, and returns the number of these keys. Long
 * runs are probed by a kernel; if memory runs out, they are also queried one by one. */
static size_t screen_run(lanebloom_format format, const struct run *run, const uint32_t *hashes,
                         uint8_t *bitmap)
{
  lanebloom_filter *filter;
  if (run->n < MIN_KERNEL_NKEYS ||
      lanebloom_filter_parse_raw(format, run->filter.data, run->filter.size, NULL, &filter, NULL,
                                 0))
    return screen_one_by_one(run, hashes, bitmap);
  const size_t count = screen_by_kernel(filter, run, hashes, bitmap);
  lanebloom_filter_free(filter);
  return count;
}

size_t lanebloom_filter_block_screen(const lanebloom_filter_block *block,
                                     const uint64_t *data_block_offsets, const lanebloom_keys *keys,
                                     uint8_t *bitmap)
{
  uint32_t hashes[PART_NKEYS];
  struct run runs[PART_NKEYS];
  uint8_t uncollected[PART_NKEYS / 8];
  size_t count = 0;
  for (size_t first = 0; first < keys->n; first += PART_NKEYS) {
    const lanebloom_keys part = lanebloom_keys_part(keys, first, PART_NKEYS);
    const size_t nruns = find_runs(block, data_block_offsets + first, part.n, runs);
    cannot_fail(lanebloom_hash(block->format, &part, hashes));
    uint8_t *hits = bitmap ? bitmap + first / 8 : uncollected;
    memset(hits, 0, (part.n + 7) / 8);
    for (size_t i = 0; i < nruns; i++)
      count += screen_run(block->format, &runs[i], hashes, hits);
  }
  return count;
}

size_t lanebloom_filter_block_screen_hashes(const lanebloom_filter_block *block, uint64_t index,
                                            const uint32_t *hashes, size_t n, uint8_t *bitmap)
{
  const lanebloom_slice filter = filter_at(block, index);
  size_t count = 0;
  memset(bitmap, 0, (n + 7) / 8);
  for (size_t first = 0; first < n; first += PART_NKEYS) {
    const size_t left = n - first;
    const struct run run = {filter, 0, (uint32_t)(left < PART_NKEYS ? left : PART_NKEYS)};
    count += screen_run(block->format, &run, hashes + first, bitmap + first / 8);
  }
  return count;
}
