/* Keys that take eight lanes each: NKEYS of them in a vector.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_EIGHTS_H
#define LANEBLOOM_LANES_EIGHTS_H

#include "cache_lines.h"
#include "lanes.h"
#include "stream.h"
#include "vector.h"

enum { NKEYS = LANES32 / PASS_NPROBES };

/* Copies dword i of `hashes` to the lanes of the first key, and dword i + step to those of the
 * second. `hashes` has eight hashes of `step` dwords each. No other bytes are read. */
static inline vector spread(const uint8_t *hashes, size_t i, size_t step)
{
  if (NKEYS == 1)
    return splat32(hash32_at(hashes, i));
  const vector second = shift_right32(iota32(), 3); /* 0 in eight lanes, 1 in the others */
  const vector dwords = add32(mul_low32(second, splat32((uint32_t)step)), splat32((uint32_t)i));
  return permute32(step == 1 ? load_in_eights(hashes) : load(hashes), dwords);
}

#endif
