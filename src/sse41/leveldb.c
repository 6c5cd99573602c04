/* leveldb in lanes of SSE4.1: lanes are loaded one by one, as by avx2-loads.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"
#include "isa.h"

/* ---- Vocabulary ---- */

typedef __m128i lanes;
typedef void *found; /* nothing: there are no gathers */
enum { LANES = 4 };

/* What takes a probe modulo nbits. */
struct modulus {
  __m128i multiplier, nbits, shift;
};

static inline struct modulus modulus_of(const struct filter_shape *shape)
{
  return (struct modulus){
      .multiplier = _mm_set1_epi32((int)shape->leveldb.reciprocal.multiplier),
      .nbits =
          _mm_set1_epi32((int)(uint32_t)shape->nbits), /* 2^32 bits as 0: their quotient is 0 */
      .shift = _mm_cvtsi32_si128((int)shape->leveldb.reciprocal.shift + 3 - 32),
  };
}

#include "../lanes/leveldb_probe.h"

static inline lanes load(const void *from)
{
  return _mm_loadu_si128(from);
}

static inline void store(uint32_t *to, lanes value)
{
  _mm_storeu_si128((void *)to, value);
}

static inline lanes sum_of(lanes a, lanes b)
{
  return _mm_add_epi32(a, b);
}

static inline lanes times(lanes a, uint32_t n)
{
  return _mm_mullo_epi32(a, _mm_set1_epi32((int)n));
}

static inline lanes strides_of(lanes hashes)
{
  return _mm_or_si128(_mm_srli_epi32(hashes, 17), _mm_slli_epi32(hashes, 15));
}

/* probe % nbits = probe - probe / 8 / (nbits / 8) * nbits. Numerators are left 8 times as large, so
 * that quotients lie in the high half of their products, but for a shift:
 *
 *   even    p0 -- p2 --              -- h0 -- h2            h0 h1 h2 h3
 *   odd     p1 -- p3 --   products   -- h1 -- h3   merged */
static inline lanes positions_of(lanes probes, const struct modulus *modulus)
{
  const __m128i numerators = _mm_and_si128(probes, _mm_set1_epi32(~7));
  const __m128i even = _mm_mul_epu32(numerators, modulus->multiplier);
  const __m128i odd = _mm_mul_epu32(_mm_srli_epi64(numerators, 32), modulus->multiplier);
  const __m128i high = _mm_blend_epi16(_mm_srli_epi64(even, 32), odd, 0xcc);
  const __m128i quotients = _mm_srl_epi32(high, modulus->shift);
  return _mm_sub_epi32(probes, _mm_mullo_epi32(quotients, modulus->nbits));
}

/* There is no shift by lanes: a byte shuffle looks up the masks, four of which become adjacent:
 *
 *   positions   p0 .. .. .. p1 .. .. .. p2 .. .. .. p3 .. .. ..   ->   m0 m1 m2 m3 */
static inline void put_bits(struct bits *bits, size_t i, lanes positions)
{
  const __m128i powers = _mm_set1_epi64x((long long)0x8040201008040201);
  const __m128i lowest = _mm_cvtsi32_si128(0x0c080400);
  const __m128i bit = _mm_and_si128(_mm_shuffle_epi8(positions, lowest), _mm_set1_epi8(7));
  const int masks = _mm_cvtsi128_si32(_mm_shuffle_epi8(powers, bit));
  store(bits->bytes + i, _mm_srli_epi32(positions, 3));
  memcpy(bits->masks + i, &masks, sizeof masks);
}

static const struct leveldb_arithmetic arithmetic = {load,       sum_of,       times,
                                                     strides_of, positions_of, put_bits};

/* ---- Probing ---- */

static inline __attribute__((always_inline)) unsigned test_bits(const uint8_t *payload,
                                                                const struct bits *bits, size_t i)
{
  const uint32_t *at = bits->bytes + i;
  __m128i bytes = _mm_cvtsi32_si128(payload[at[0]]), high = _mm_cvtsi32_si128(payload[at[8]]);
  bytes = _mm_insert_epi8(bytes, payload[at[1]], 1);
  bytes = _mm_insert_epi8(bytes, payload[at[2]], 2);
  bytes = _mm_insert_epi8(bytes, payload[at[3]], 3);
  bytes = _mm_insert_epi8(bytes, payload[at[4]], 4);
  bytes = _mm_insert_epi8(bytes, payload[at[5]], 5);
  bytes = _mm_insert_epi8(bytes, payload[at[6]], 6);
  bytes = _mm_insert_epi8(bytes, payload[at[7]], 7);
  high = _mm_insert_epi8(high, payload[at[9]], 1);
  high = _mm_insert_epi8(high, payload[at[10]], 2);
  high = _mm_insert_epi8(high, payload[at[11]], 3);
  high = _mm_insert_epi8(high, payload[at[12]], 4);
  high = _mm_insert_epi8(high, payload[at[13]], 5);
  high = _mm_insert_epi8(high, payload[at[14]], 6);
  high = _mm_insert_epi8(high, payload[at[15]], 7);
  bytes = _mm_unpacklo_epi64(bytes, high);
  const __m128i masks = _mm_loadu_si128((const void *)(bits->masks + i));
  return (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_and_si128(bytes, masks), masks));
}

/* The bytes of a lane, for byte shuffles. */
enum { A = 0x03020100, B = 0x07060504, C = 0x0b0a0908, D = 0x0f0e0d0c };

/*   mask 0b1010   lanes a b c d   ->   b d a a */
static inline lanes compacted(lanes value, unsigned mask)
{
  static const _Alignas(16) uint32_t orders[16][LANES] = {
      {A, A, A, A}, {A, A, A, A}, {B, A, A, A}, {A, B, A, A}, {C, A, A, A}, {A, C, A, A},
      {B, C, A, A}, {A, B, C, A}, {D, A, A, A}, {A, D, A, A}, {B, D, A, A}, {A, B, D, A},
      {C, D, A, A}, {A, C, D, A}, {B, C, D, A}, {A, B, C, D},
  };
  return _mm_shuffle_epi8(value, _mm_load_si128((const void *)orders[mask]));
}

static inline size_t append(struct survivors *survivors, size_t nsurvivors, lanes hashes,
                            lanes indices, unsigned mask)
{
  store(survivors->hashes + nsurvivors, compacted(hashes, mask));
  store(survivors->indices + nsurvivors, compacted(indices, mask));
  return nsurvivors + (unsigned)__builtin_popcount(mask);
}

static const struct leveldb_probe_vocabulary probing = {
    .arithmetic = &arithmetic,
    .test_bits = test_bits,
    .append = append,
};

void KERNEL(leveldb_probe)(const struct filter_shape *shape, const uint8_t *payload,
                           struct hash_source *source, uint8_t *bitmap)
{
  leveldb_probe(shape, payload, modulus_of(shape), &probing, source, bitmap);
}
