/* Probes filters with sorted hashes (layouts/sorted.h). The hashes that select a line are next to
 * each other, so a vector of their probes looks up bytes of the same line: the line is in registers
 * as a table of bytes, and a shuffle looks up a byte for each hash. For each probe, this takes a
 * few instructions for 32 hashes, so all probes are tested, without a branch.
 * SPDX-License-Identifier: MIT */
#include "../layouts/sorted.h"
#include "../batch.h"
#include "../common/bytes.h"
#include "../x86/kernels.h"
#include "vector.h"

/* ---- Hits ---- */

enum { MAX_NFOUND = 256 };

/* The hits of a group, one bit for each hash. */
struct found {
  uint32_t first, hits;
};

struct results {
  const struct filter_shape *shape;
  const uint8_t *payload;
  const struct sorted_hashes *sorted;
  may_match_function *test; /* tests the other probes of a hit; NULL if there are none */
  uint8_t *bitmap;          /* in the caller's order; NULL if hits are only counted */
  size_t count, nfound;
  struct found found[MAX_NFOUND];
};

/* Begins without results. The list of found groups stays uninitialised, because clearing it would
 * take time. */
static inline void begin(struct results *results, const struct filter_shape *shape,
                         const uint8_t *payload, const struct sorted_hashes *sorted,
                         may_match_function *test, uint8_t *bitmap)
{
  results->shape = shape;
  results->payload = payload;
  results->sorted = sorted;
  results->test = test;
  results->bitmap = bitmap;
  results->count = results->nfound = 0;
}

/* Reports the hits that were found so far. They are collected first for two reasons: a branch at
 * each group that has hits would often be mispredicted, and few hits have an index in the cache, so
 * the indices of many hits are requested together. */
static __attribute__((noinline)) void report(struct results *results)
{
  const struct sorted_hashes *sorted = results->sorted;
  for (size_t i = 0; i < results->nfound; i++)
    __builtin_prefetch(sorted->order + results->found[i].first +
                       (unsigned)__builtin_ctz(results->found[i].hits));
  for (size_t i = 0; i < results->nfound; i++)
    for (uint32_t left = results->found[i].hits; left; left &= left - 1) {
      const uint32_t at = sorted->order[results->found[i].first + (unsigned)__builtin_ctz(left)];
      if (results->test && !results->test(results->shape, results->payload,
                                          hash_at(sorted->hashes, at, sizeof(uint64_t))))
        continue;
      results->count++;
      if (results->bitmap)
        results->bitmap[at / 8] |= (uint8_t)(1 << at % 8);
    }
  results->nfound = 0;
}

/* ---- Lines ---- */

/* A line ends before the first selector that is at least the limit. The limits of n lines are the
 * multiples of 2^32 / n, rounded up. */
struct limits {
  uint32_t nlines;
  uint64_t quotient, remainder; /* of the multiple of 2^32, divided by nlines */
};

static inline uint64_t limits_next(struct limits *limits)
{
  const uint64_t all = (uint64_t)1 << 32;
  limits->quotient += all / limits->nlines;
  limits->remainder += all % limits->nlines;
  if (limits->remainder >= limits->nlines) {
    limits->remainder -= limits->nlines;
    limits->quotient++;
  }
  return limits->quotient + (limits->remainder > 0);
}

/* Returns the number of selectors below the limit. Counts in whole vectors, because a loop over
 * single selectors would end with a mispredicted branch in every line. */
static inline size_t count_below(const struct sorted_hashes *sorted, uint64_t limit)
{
  if (limit > UINT32_MAX)
    return sorted->n;
  const vector limits = splat32((uint32_t)limit ^ 0x80000000);
  size_t n = sorted->starts[limit >> sorted->starts_shift];
  for (unsigned below = LANES32; below == LANES32; n += below)
    below = (unsigned)__builtin_popcount(
        mask_bits32(greater_signed32(limits, load(sorted->selectors + n))));
  return n;
}

/* Returns a byte that is not 0 for each hash of a group that does not pass the line. */
typedef vector missing_function(const uint8_t *line, const uint8_t *rows, uint32_t nprobes);

static inline __attribute__((always_inline)) void
probe_lines(struct results *results, const size_t line_nbytes, const size_t nrows,
            const uint32_t nprobes, missing_function *missing)
{
  const struct sorted_hashes *sorted = results->sorted;
  struct limits limits = {.nlines = results->shape->lines.n};
  const uint8_t *line = results->payload;
  for (size_t first = 0, end; first < sorted->n; first = end, line += line_nbytes) {
    end = count_below(sorted, limits_next(&limits));
    uint32_t others = UINT32_MAX << first % SORTED_GROUP_NKEYS;
    for (size_t i = first - first % SORTED_GROUP_NKEYS; i < end; i += SORTED_GROUP_NKEYS) {
      uint32_t hits = zero_bits8(missing(line, sorted->positions + i * nrows, nprobes)) & others;
      if (end - i < SORTED_GROUP_NKEYS)
        hits &= ((uint32_t)1 << (end - i)) - 1;
      others = UINT32_MAX;
      results->found[results->nfound] = (struct found){(uint32_t)i, hits};
      results->nfound += hits != 0;
      if (results->nfound == MAX_NFOUND)
        report(results);
    }
  }
  report(results);
}

/* ---- Layouts ---- */

static const uint8_t BITS[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};

/* Adds to `missing` the bit that probe i of each hash tests, if it is not set in `found`. bits: the
 * row with the number of the bit, as a shuffle needs it: the top bit of each byte is 0, also after
 * a shift by 4 bits. */
static inline vector add_missing(vector missing, vector found, vector bits, uint32_t i)
{
  const vector numbers = i % 2 == 0 ? bits : shift_right32(bits, 4);
  return bit_or(missing, bit_and_not(shuffle_bytes(splat_block(BITS), numbers), found));
}

static inline __attribute__((always_inline)) vector
parquet_missing(const uint8_t *line, const uint8_t *rows, uint32_t nprobes)
{
  vector missing = zero();
#pragma GCC unroll 8
  for (uint32_t word = 0; word < nprobes; word++) {
    const uint8_t *four = rows + word / 4 * 3 * SORTED_GROUP_NKEYS;
    const vector numbers = shift_right32(load(four), (int)(word % 4 * 2)),
                 bytes = splat32(load_le32(line + 4 * word));
    missing = add_missing(missing, shuffle_bytes(bytes, bit_and(numbers, splat8(3))),
                          load(four + (1 + word % 4 / 2) * SORTED_GROUP_NKEYS), word);
  }
  return missing;
}

size_t KERNEL(parquet_sorted_probe)(const struct filter_shape *shape, const uint8_t *payload,
                                    const struct sorted_hashes *sorted, uint8_t *bitmap)
{
  struct results results;
  begin(&results, shape, payload, sorted, NULL, bitmap);
  probe_lines(&results, PARQUET_BLOCK_NBYTES, PARQUET_SORTED_NROWS, PARQUET_BLOCK_NWORDS,
              parquet_missing);
  return results.count;
}

/* Looks up bytes of a line. Each of four shuffles looks up a byte in a quarter of the line, by bits
 * 0 to 3 of a number; bits 4 and 5 of the number select the quarter. */
static inline vector bytes_at(const uint8_t *line, vector numbers)
{
  const vector first = shuffle_bytes(splat_block(line), numbers),
               second = shuffle_bytes(splat_block(line + 16), numbers),
               third = shuffle_bytes(splat_block(line + 32), numbers),
               fourth = shuffle_bytes(splat_block(line + 48), numbers);
  const vector bit_4_as_sign = shift_left32(numbers, 3), bit_5_as_sign = shift_left32(numbers, 2);
  return select_by_sign8(bit_5_as_sign, select_by_sign8(bit_4_as_sign, fourth, third),
                         select_by_sign8(bit_4_as_sign, second, first));
}

static inline __attribute__((always_inline)) vector
rocksdb_local_missing(const uint8_t *line, const uint8_t *rows, uint32_t nprobes)
{
  vector missing = zero();
#pragma GCC unroll 6
  for (uint32_t i = 0; i < nprobes; i++) {
    const uint8_t *pair = rows + i / 2 * 3 * SORTED_GROUP_NKEYS;
    missing = add_missing(missing, bytes_at(line, load(pair + i % 2 * SORTED_GROUP_NKEYS)),
                          load(pair + 2 * SORTED_GROUP_NKEYS), i);
  }
  return missing;
}

size_t KERNEL(rocksdb_local_sorted_probe)(const struct filter_shape *shape, const uint8_t *payload,
                                          const struct sorted_hashes *sorted, uint8_t *bitmap)
{
  struct results results;
  begin(&results, shape, payload, sorted,
        shape->nprobes > ROCKSDB_LOCAL_SORTED_NPROBES ? lanebloom_rocksdb_local_may_match_scalar
                                                      : NULL,
        bitmap);
  if (shape->nprobes < ROCKSDB_LOCAL_SORTED_NPROBES)
    probe_lines(&results, ROCKSDB_LOCAL_LINE_NBYTES, ROCKSDB_LOCAL_SORTED_NROWS, shape->nprobes,
                rocksdb_local_missing);
  else
    probe_lines(&results, ROCKSDB_LOCAL_LINE_NBYTES, ROCKSDB_LOCAL_SORTED_NROWS,
                ROCKSDB_LOCAL_SORTED_NPROBES, rocksdb_local_missing);
  return results.count;
}
