/* Probes in cache lines: the eight probes of a key in a pass across lanes, NKEYS keys in a vector.
 * Layouts say which bits of a line a hash probes, and this file how they are tested and set, in two
 * shapes: a line in two vectors of 32 bytes, and two keys at a time, each line in a vector of 64
 * bytes. More than eight probes take one more pass for each eight.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_LINES_H
#define LANEBLOOM_LANES_LINES_H

#include "eights.h"

/* Where each probe looks in its line: the lowest 4 bits of dwords at which dword, the lowest 5 of
 * positions at which bit of that. The lowest 9 of positions are all this in one number, and the
 * sign says in which half of the line the dword is. */
struct probes {
  vector signs, dwords, positions;
};

/* Of NKEYS hashes from hash i on. Defined by each layout's file, as lookup is. */
static inline struct probes probes_of(const struct lookup *lookup, uint32_t pass,
                                      const uint8_t *hashes, size_t i);

#if VECTOR_NBYTES == 32

/* ---- A line in two vectors ---- */

/* Each probe's bit, as the sign of its lane. */
static inline vector bits_as_signs(struct probes probes, const uint8_t *line)
{
  const vector lower = permute32(load(line), probes.dwords),
               upper = permute32(load(line + VECTOR_NBYTES), probes.dwords);
  return pick_bits32(select_by_sign32(probes.signs, upper, lower), probes.positions);
}

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

/* The positions of a pass of NKEYS keys. */
static inline void store_positions(uint32_t *to, vector positions)
{
  store(to, positions);
}

/* Sets bits at these positions. Shifting by a count that is not below 32, or is negative, leaves 0:
 * so of all dwords only the bit's own gets it. */
static inline void set_bits(uint8_t *line, const uint32_t *positions, uint32_t nbits, bool far)
{
  (void)far;
  const vector one = splat32(1), before_lower = shift_left32(iota32(), 5),
               before_upper = add32(before_lower, splat32(8 * VECTOR_NBYTES));
  vector lower = load(line), upper = load(line + VECTOR_NBYTES);
  for (uint32_t i = 0; i < nbits; i++) {
    const vector bit = splat32(positions[i]);
    lower = bit_or(lower, shift_left_each32(one, sub32(bit, before_lower)));
    upper = bit_or(upper, shift_left_each32(one, sub32(bit, before_upper)));
  }
  store(line, lower);
  store(line + VECTOR_NBYTES, upper);
}

#else

/* ---- Two lines, each in a vector ---- */

/* A line; in halves if it is far: 5.2 ns instead of 7.4 for 64 lines on their way from memory, 0.2
 * more in L2 (Zen 4). */
static inline vector load_line(const uint8_t *line, const bool far)
{
  return far ? load_in_halves(line) : load(line);
}

/* Probes that meet a bit that is clear: of the first key in line a, of the second in line b. */
static inline mask32 failures_in_two(struct probes probes, vector a, vector b)
{
  const vector of_b =
      bit_and(shift_left32(iota32(), 1), splat32(LANES32)); /* in the second eight */
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

/* The positions of a pass of NKEYS keys. */
static inline void store_positions(uint32_t *to, vector positions)
{
  store_halves(to, to + MAX_NPASSES * PASS_NPROBES, positions);
}

/* The same, two bits at a time: past the last one comes the first again. */
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

static inline void add_eight(const struct lookup *lookup, uint32_t nprobes, uint8_t *payload,
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

#endif
