/* Helps kernels in which each key takes eight lanes, so that NKEYS keys are in a vector.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_EIGHTS_H
#define LANEBLOOM_LANES_EIGHTS_H

#include "cache_lines.h"
#include "lanes.h"
#include "stream.h"
#include "vector.h"

enum { NKEYS = LANES32 / PASS_NPROBES };

/* Copies dword i of `hashes` to the eight lanes of the first key. If a vector holds two keys, also
 * copies dword i + step to the eight lanes of the second key. `hashes` has eight hashes of `step`
 * dwords each. Bytes outside of these hashes are not read. */
static inline vector spread(const uint8_t *hashes, size_t i, size_t step)
{
  if (NKEYS == 1)
    return splat32(hash32_at(hashes, i));
  /* 0 in the first eight lanes, 1 in the second */
  const vector second = shift_right32(iota32(), 3);
  const vector dwords = add32(mul_low32(second, splat32((uint32_t)step)), splat32((uint32_t)i));
  return permute32(step == 1 ? load_in_eights(hashes) : load(hashes), dwords);
}

/* Selects the lanes of the first nprobes probes of each key. */
static inline mask32 first_probes(uint32_t nprobes)
{
  return greater_signed32(splat32(nprobes), bit_and(iota32(), splat32(PASS_NPROBES - 1)));
}

/* The position of each probe in its line, in three forms. In each lane, the lowest 9 bits of
 * `positions` are the number of the bit in the line, and the lowest 5 of these 9 are the number of
 * the bit in its dword. The lowest 4 bits of `dwords` are the number of the dword. The sign bit of
 * `signs` is set if the dword is in the upper half of the line. All other bits may have any
 * value. */
struct probes {
  vector signs, dwords, positions;
};

#if VECTOR_NBYTES == 32

/* Returns the bit that each probe finds in the line, as the sign of its lane. */
static inline vector bits_as_signs(struct probes probes, const uint8_t *line)
{
  const vector lower = permute32(load(line), probes.dwords),
               upper = permute32(load(line + VECTOR_NBYTES), probes.dwords);
  return pick_bits32(select_by_sign32(probes.signs, upper, lower), probes.positions);
}

#endif

#endif
