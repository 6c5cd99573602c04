/* Step 0: probes a LevelDB filter as its format is defined, one key after the other.
 *
 * Three things cost time. The first is the division of 64-bit numbers: it takes 10 to 18 cycles,
 * and the division of the next probe waits for it. The second is the branch: each bit of the filter
 * is set with a probability of 0.45, so an absent key leaves the loop after a random number of
 * probes, and the CPU mispredicts about once per key. The third is memory, if the filter is larger
 * than the caches: the CPU requests a cache line only when it needs the line.
 * SPDX-License-Identifier: MIT */
#include "ladder.h"

static inline bool may_match(const struct filter *filter, uint32_t hash)
{
  const uint64_t nbits = 8 * (uint64_t)filter->nbytes;
  const uint32_t stride = hash >> 17 | hash << 15;
  for (uint32_t p = 0; p < filter->nprobes; p++, hash += stride) {
    const uint64_t position = hash % nbits;
    if (!(filter->payload[position / 8] >> position % 8 & 1))
      return false;
  }
  return true;
}

/* Eight results are stored at once, because each is one bit of the bitmap. */
static void probe(const struct filter *filter, const struct batch *batch, uint8_t *bitmap)
{
  for (size_t i = 0; i < NKEYS; i += 8) {
    unsigned mask = 0;
    for (size_t j = 0; j < 8; j++)
      mask |= (unsigned)may_match(filter, batch->hashes32[i + j]) << j;
    bitmap[i / 8] = (uint8_t)mask;
  }
}

int main(int argc, char **argv)
{
  return climb(argc, argv, "step 0: scalar as specified", leveldb, probe);
}
