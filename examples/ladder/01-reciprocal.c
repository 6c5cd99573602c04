/* Step 1: multiplies by a reciprocal instead of dividing.
 *
 * All probes are divided by the same number. So its reciprocal is computed once, when the filter is
 * opened, and each division becomes a multiplication by the reciprocal. A multiplication takes 3
 * cycles, and a division 10 to 18. This step also prepares for lanes, which can multiply but cannot
 * divide.
 *
 * The divisor, the number of bits, is 8 * nbytes. So the last 3 bits of a probe are already the
 * number of the bit in its byte, and only the other 29 bits have to be divided, by nbytes. For 29
 * bits, a reciprocal of 32 bits gives the exact quotient: docs/how-the-kernels-work.md has the
 * proof.
 *
 * Present keys become faster, because they spent their time in six divisions. Absent keys do not
 * become faster, because they still wait for the branch.
 * SPDX-License-Identifier: MIT */
#include "ladder.h"

/* Returns probe % (8 * nbytes). The multiplier is 2^shift / nbytes, rounded up. */
static inline uint32_t position_of(const struct filter *filter, uint32_t probe)
{
  const uint64_t product = (uint64_t)(probe / 8) * filter->multiplier;
  const uint32_t quotient = (uint32_t)(product >> filter->shift);
  return probe - quotient * 8 * filter->nbytes;
}

static inline bool may_match(const struct filter *filter, uint32_t hash)
{
  const uint32_t stride = hash >> 17 | hash << 15;
  for (uint32_t p = 0; p < filter->nprobes; p++, hash += stride) {
    const uint32_t position = position_of(filter, hash);
    if (!(filter->payload[position / 8] >> position % 8 & 1))
      return false;
  }
  return true;
}

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
  return climb(argc, argv, "step 1: a reciprocal instead of the division", leveldb, probe);
}
