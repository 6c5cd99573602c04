/* Loads words of 8 bytes of several keys. Each lane holds the word of a key.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_WORDS_H
#define LANEBLOOM_LANES_WORDS_H

#include "../common/bytes.h"
#include "vector.h"

/* A vector type of gcc and clang. These compilers can multiply its lanes of 64 bits for every
 * instruction set, by one instruction or by several. */
typedef uint64_t words __attribute__((vector_size(VECTOR_NBYTES)));

static inline words splat(uint64_t value)
{
  return (words){0} + value;
}

/* Loads 8 bytes of each key, from `offset` on. */
static inline words load_8(const uint8_t *const keys[LANES64], size_t offset)
{
  words loaded;
  for (size_t i = 0; i < LANES64; i++)
    loaded[i] = load_le64(keys[i] + offset);
  return loaded;
}

/* Loads the words of a stripe of 32 bytes, which begins at `offset` in each key. columns[i] gets
 * word i of each key. pairs[i] has the stripe of key i and, in vectors of 64 bytes, also the stripe
 * of key i + 4. */
static inline void load_stripe(const uint8_t *const keys[LANES64], size_t offset, words columns[4])
{
  vector pairs[4];
  for (size_t i = 0; i < 4; i++)
#if VECTOR_NBYTES == 64
    pairs[i] = load_halves(keys[i] + offset, keys[i + 4] + offset);
#else
    pairs[i] = load(keys[i] + offset);
#endif
  const vector even_01 = interleave_low64(pairs[0], pairs[1]),
               odd_01 = interleave_high64(pairs[0], pairs[1]),
               even_23 = interleave_low64(pairs[2], pairs[3]),
               odd_23 = interleave_high64(pairs[2], pairs[3]);
  columns[0] = (words)first_blocks(even_01, even_23);
  columns[1] = (words)first_blocks(odd_01, odd_23);
  columns[2] = (words)last_blocks(even_01, even_23);
  columns[3] = (words)last_blocks(odd_01, odd_23);
}

#endif
