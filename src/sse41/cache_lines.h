/* Tests bits in cache lines with SSE4.1. Four registers hold a line, and a byte shuffle looks up
 * bytes in one of the four. A register of bytes has the probes of two keys.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_SSE41_CACHE_LINES_H
#define LANEBLOOM_SSE41_CACHE_LINES_H

#include "../lanes/cache_lines.h"
#include "vector.h"

/* Returns eight probes of hash i. A probe is a word of 16 bits, whose top 9 bits are the number of
 * a bit in the line. The file of a layout defines this function and struct lookup. */
static inline __m128i probes_of(const struct lookup *lookup, uint32_t pass, const uint8_t *hashes,
                                size_t i);

/* The probes of two keys, with the probes of the first key in the lower half. For each probe,
 * `bytes` has the number of a byte in the line of its key, and `bits` has this byte's bit as a
 * mask. */
struct pair {
  __m128i bytes, bits;
};

static inline struct pair pair_of(__m128i first, __m128i second)
{
  const __m128i powers = _mm_set1_epi64x((long long)0x8040201008040201), seven = _mm_set1_epi16(7);
  const __m128i numbers = _mm_packus_epi16(_mm_and_si128(_mm_srli_epi16(first, 7), seven),
                                           _mm_and_si128(_mm_srli_epi16(second, 7), seven));
  return (struct pair){
      .bytes = _mm_packus_epi16(_mm_srli_epi16(first, 10), _mm_srli_epi16(second, 10)),
      .bits = _mm_shuffle_epi8(powers, numbers),
  };
}

/* The numbers of bytes in a line, 0 to 63, in the form that a look-up in each quarter of the line
 * needs. A byte shuffle gives 0 if the top bit of a number is set; otherwise it uses the lowest
 * four bits. So for each quarter, the numbers are changed such that the top bit is clear only for
 * bytes of that quarter:
 *
 *   number      00 .. 0f   10 .. 1f   20 .. 2f   30 .. 3f
 *   + 70        70 .. 7f   80 .. 8f   90 .. 9f   a0 .. af    finds only the first quarter
 *   ^ 10, + 70  80 .. 8f   70 .. 7f   a0 .. af   90 .. 9f    finds only the second */
struct quarters {
  __m128i numbers[4];
};

static inline struct quarters quarters_of(__m128i bytes)
{
  struct quarters quarters;
  for (int q = 0; q < 4; q++)
    quarters.numbers[q] =
        _mm_add_epi8(_mm_xor_si128(bytes, _mm_set1_epi8((char)(q << 4))), _mm_set1_epi8(0x70));
  return quarters;
}

static inline __m128i look_up(const uint8_t *line, const struct quarters *quarters)
{
  const __m128i *at = (const void *)line;
  return _mm_or_si128(
      _mm_or_si128(_mm_shuffle_epi8(_mm_loadu_si128(at), quarters->numbers[0]),
                   _mm_shuffle_epi8(_mm_loadu_si128(at + 1), quarters->numbers[1])),
      _mm_or_si128(_mm_shuffle_epi8(_mm_loadu_si128(at + 2), quarters->numbers[2]),
                   _mm_shuffle_epi8(_mm_loadu_si128(at + 3), quarters->numbers[3])));
}

/* Returns a byte for each probe, with all bits set if the probe finds a set bit, and 0
 * otherwise. */
static inline __m128i pair_found(struct pair probes, const uint8_t *first_line,
                                 const uint8_t *second_line)
{
  const struct quarters quarters = quarters_of(probes.bytes);
  const __m128i bytes =
      _mm_blend_epi16(look_up(first_line, &quarters), look_up(second_line, &quarters), 0xf0);
  return _mm_cmpeq_epi8(_mm_and_si128(bytes, probes.bits), probes.bits);
}

/* Returns a byte in which bit i is set if all eight bytes of key i have all bits set. The eight
 * bytes of a key are compared as one lane of 64 bits, which is then narrowed to 32 bits, to 16 and
 * to 8. */
static inline uint8_t hits_of(const __m128i pairs[4])
{
  const __m128i ones = _mm_set1_epi32(-1);
  const __m128i keys03 =
      _mm_packs_epi32(_mm_cmpeq_epi64(pairs[0], ones), _mm_cmpeq_epi64(pairs[1], ones));
  const __m128i keys47 =
      _mm_packs_epi32(_mm_cmpeq_epi64(pairs[2], ones), _mm_cmpeq_epi64(pairs[3], ones));
  const __m128i words = _mm_packs_epi32(keys03, keys47);
  return (uint8_t)_mm_movemask_epi8(_mm_packs_epi16(words, words));
}

static inline __attribute__((always_inline)) uint8_t
probe_pass(const struct lookup *lookup, uint32_t pass, const uint8_t *payload,
           const uint64_t *offsets, const uint8_t *hashes)
{
  __m128i pairs[4];
  for (size_t i = 0; i < 8; i += 2)
    pairs[i / 2] = pair_found(
        pair_of(probes_of(lookup, pass, hashes, i), probes_of(lookup, pass, hashes, i + 1)),
        payload + offsets[i], payload + offsets[i + 1]);
  return hits_of(pairs);
}

static inline __attribute__((always_inline)) uint8_t
probe_eight(const struct lookup *lookup, uint32_t npasses, const uint8_t *payload,
            const uint64_t *offsets, const uint8_t *hashes, bool far)
{
  (void)far;
  uint8_t hits = probe_pass(lookup, 0, payload, offsets, hashes);
  for (uint32_t pass = 1; pass < npasses && hits; pass++)
    hits &= probe_pass(lookup, pass, payload, offsets, hashes);
  return hits;
}

#endif
