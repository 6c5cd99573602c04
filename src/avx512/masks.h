/* Masks of lanes, eight for each key, as bits of keys.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX512_MASKS_H
#define LANEBLOOM_AVX512_MASKS_H

#include <stdint.h>

#include "isa.h"

/* The masks of two keys each, one after another: key i is byte i. */
static inline uint64_t join_masks(const __mmask16 masks[4])
{
  const __mmask32 first = _mm512_kunpackw(masks[1], masks[0]),
                  last = _mm512_kunpackw(masks[3], masks[2]);
  return _cvtmask64_u64(_mm512_kunpackd(last, first));
}

/* Bit i: byte i is 0. */
static inline uint8_t bytes_of_zero(uint64_t bytes)
{
  const uint64_t low_bits = 0x7f7f7f7f7f7f7f7f;
  const uint64_t high_bit_if_not_zero = ((bytes & low_bits) + low_bits) | bytes;
  return (uint8_t)_pext_u64(~high_bit_if_not_zero, ~low_bits);
}

#endif
