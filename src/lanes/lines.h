/* Tests and sets bits in cache lines. A pass handles eight probes of a key, one in each lane, and
 * NKEYS keys in a vector; a key with more probes takes one more pass for each further eight. The
 * file of a layout defines which bits of a line a hash probes. This file has two variants. With
 * vectors of 32 bytes, a line is in two vectors. With vectors of 64 bytes, a line is in one vector,
 * and two keys are handled at a time.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_LINES_H
#define LANEBLOOM_LANES_LINES_H

#include "eights.h"

/* Returns the probes of NKEYS hashes from hash i on. Each layout's file defines this function and
 * struct lookup. */
static inline struct probes probes_of(const struct lookup *lookup, uint32_t pass,
                                      const uint8_t *hashes, size_t i);

#if VECTOR_NBYTES == 32

/* ---- A line in two vectors ---- */

static inline uint8_t probe_eight(const struct lookup *lookup, uint32_t npasses,
                                  const uint8_t *payload, const uint64_t *offsets,
                                  const uint8_t *hashes, bool far)
{
  (void)far;
  unsigned hits = 0;
  for (size_t i = 8; i-- > 0;) {
    const uint8_t *line = payload + offsets[i];
    vector passed = bits_as_signs(probes_of(lookup, 0, hashes, i), line);
    for (uint32_t pass = 1; pass < npasses; pass++)
      passed = bit_and(passed, bits_as_signs(probes_of(lookup, pass, hashes, i), line));
    hits = 2 * hits + (mask_bits32(passed) == 0xff);
  }
  return (uint8_t)hits;
}

/* Stores the positions that NKEYS keys probe in a pass. */
static inline void store_positions(uint32_t *to, vector positions)
{
  store(to, positions);
}

/* Sets the bits at these positions of a line. For each position, all dwords of the line shift a bit
 * at once, each by the position less the dword's own first position. This count is 0 to 31 only in
 * the dword that has the position. In all other dwords, the count is negative, or 32 or more, and
 * then the shift gives 0. Two positions are handled at a time. If nbits is odd, the position after
 * the last one is used, too; the lane of this position repeats the first probe. */
static inline void set_bits(uint8_t *line, const uint32_t *positions, uint32_t nbits, bool far)
{
  (void)far;
  const vector one = splat32(1), before_lower = shift_left32(iota32(), 5),
               before_upper = add32(before_lower, splat32(8 * VECTOR_NBYTES));
  vector lower = load(line), upper = load(line + VECTOR_NBYTES);
  for (uint32_t i = 0; i < nbits; i += 2) {
    const vector a = splat32(positions[i]), b = splat32(positions[i + 1]);
    lower = bit_or(lower, bit_or(shift_left_each32(one, sub32(a, before_lower)),
                                 shift_left_each32(one, sub32(b, before_lower))));
    upper = bit_or(upper, bit_or(shift_left_each32(one, sub32(a, before_upper)),
                                 shift_left_each32(one, sub32(b, before_upper))));
  }
  store(line, lower);
  store(line + VECTOR_NBYTES, upper);
}

#else

/* ---- Two lines, each in a vector ---- */

/* Loads a line. A far line is loaded in halves, which is faster while lines are on their way from
 * memory. (On a Zen 4, with 64 lines, loads in halves take 5.2 ns, and loads of whole lines
 * 7.4 ns.) If lines are in the second-level cache, halves take 0.2 ns more. */
static inline vector load_line(const uint8_t *line, const bool far)
{
  return far ? load_in_halves(line) : load(line);
}

/* Returns the probes that find a clear bit. The probes of the first key are tested in line a, and
 * the probes of the second key in line b. */
static inline mask32 failures_in_two(struct probes probes, vector a, vector b)
{
  const vector of_b =
      bit_and(shift_left32(iota32(), 1), splat32(LANES32)); /* b for the last eight lanes */
  const vector dwords = permute_both32(a, b, and_or(probes.dwords, splat32(LANES32 - 1), of_b));
  return disjoint32(pick_bits32(dwords, probes.positions), splat32(1));
}

static inline uint8_t probe_eight(const struct lookup *lookup, uint32_t npasses,
                                  const uint8_t *payload, const uint64_t *offsets,
                                  const uint8_t *hashes, bool far)
{
  mask32 failures[4];
  for (size_t i = 0; i < 4; i++) {
    const vector a = load_line(payload + offsets[2 * i], far),
                 b = load_line(payload + offsets[2 * i + 1], far);
    failures[i] = failures_in_two(probes_of(lookup, 0, hashes, 2 * i), a, b);
    for (uint32_t pass = 1; pass < npasses; pass++)
      failures[i] |= failures_in_two(probes_of(lookup, pass, hashes, 2 * i), a, b);
  }
  return zero_masks(failures);
}

/* Stores the positions that NKEYS keys probe in a pass. */
static inline void store_positions(uint32_t *to, vector positions)
{
  store_halves(to, to + MAX_NPASSES * PASS_NPROBES, positions);
}

/* Sets the bits at these positions of a line, as the other variant does. */
static inline void set_bits(uint8_t *line, const uint32_t *positions, uint32_t nbits, bool far)
{
  const vector one = splat32(1), before = shift_left32(iota32(), 5);
  vector bits = zero();
  for (uint32_t i = 0; i < nbits; i += 2) {
    const vector a = sub32(splat32(positions[i]), before),
                 b = sub32(splat32(positions[i + 1]), before);
    bits = or3(bits, shift_left_each32(one, a), shift_left_each32(one, b));
  }
  store(line, bit_or(load_line(line, far), bits));
}

#endif

/* ---- Adding ---- */

static inline __attribute__((always_inline)) void
add_probes(const struct lookup *lookup, const uint32_t nprobes, uint8_t *payload,
           const uint64_t *offsets, const uint8_t *hashes, size_t n, bool far)
{
  uint32_t positions[8][MAX_NPASSES * PASS_NPROBES];
  for (size_t i = 0; i < 8; i += NKEYS)
    for (uint32_t pass = 0; pass < npasses_for(nprobes); pass++)
      store_positions(&positions[i][pass * PASS_NPROBES],
                      bit_and(probes_of(lookup, pass, hashes, i).positions,
                              splat32(8 * CACHE_LINE_NBYTES - 1)));
  for (size_t i = 0; i < n; i++)
    set_bits(payload + offsets[i], positions[i], nprobes, far);
}

/* Adds eight hashes. For the usual number of probes, which 10 bits per key make, nprobes is a
 * constant, so that compilers unroll the loops. */
static inline void add_eight(const struct lookup *lookup, uint32_t nprobes, uint8_t *payload,
                             const uint64_t *offsets, const uint8_t *hashes, size_t n, bool far)
{
  enum { USUAL_NPROBES = 6 };
  if (nprobes == USUAL_NPROBES)
    add_probes(lookup, USUAL_NPROBES, payload, offsets, hashes, n, far);
  else
    add_probes(lookup, nprobes, payload, offsets, hashes, n, far);
}

#endif
