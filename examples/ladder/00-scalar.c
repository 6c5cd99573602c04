/* Step 0: a LevelDB filter is probed as specified, one key after the other.
 *
 * Three things cost time. The division: 64 bits take 10 to 18 cycles, and the division of the next
 * probe waits for it. The branch: a bit of the filter is set with probability 0.45, so an absent
 * key leaves the loop at random, and the CPU mispredicts about once per key. And the memory, if the
 * filter is larger than the caches: the CPU requests a line only when it needs it.
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

/* Each bit of the bitmap is a result; eight are stored at once. */
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
