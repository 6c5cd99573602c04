/* leveldb in lanes of AVX-512. Probing by gathers, or by loads for CPUs where gathers are slow.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"
#include "stream.h"

/* ---- Vocabulary ---- */

typedef __m512i lanes;
typedef __m512i found; /* dwords, rotated until the tested bits are the lowest */
enum { LANES = 16 };

/* What takes a probe modulo nbits. */
struct modulus {
  __m512i multiplier, shift, nbits;
};

static inline struct modulus modulus_of(const struct filter_shape *shape)
{
  return (struct modulus){
      .multiplier = _mm512_set1_epi32((int)shape->leveldb.reciprocal.multiplier),
      .shift = _mm512_set1_epi32((int)shape->leveldb.reciprocal.shift + 3 - 32),
      .nbits =
          _mm512_set1_epi32((int)(uint32_t)shape->nbits), /* 2^32 bits as 0: their quotient is 0 */
  };
}

#include "../lanes/leveldb_add.h"
#include "../lanes/leveldb_probe.h"

static inline lanes load(const void *from)
{
  return _mm512_loadu_si512(from);
}

static inline void store(uint32_t *to, lanes value)
{
  _mm512_storeu_si512(to, value);
}

static inline lanes sum_of(lanes a, lanes b)
{
  return _mm512_add_epi32(a, b);
}

static inline lanes times(lanes a, uint32_t n)
{
  return _mm512_mullo_epi32(a, _mm512_set1_epi32((int)n));
}

static inline lanes strides_of(lanes hashes)
{
  return _mm512_ror_epi32(hashes, 17);
}

/* probe % nbits = probe - probe / 8 / (nbits / 8) * nbits. Numerators are left 8 times as large, so
 * that quotients lie in the high half of their products, but for a shift:
 *
 *   even    p0 -- p2 --              -- h0 -- h2            h0 h1 h2 h3
 *   odd     p1 -- p3 --   products   -- h1 -- h3   merged */
static inline lanes positions_of(lanes probes, const struct modulus *modulus)
{
  const __m512i numerators = _mm512_and_si512(probes, _mm512_set1_epi32(~7));
  const __m512i even = _mm512_mul_epu32(numerators, modulus->multiplier);
  const __m512i odd = _mm512_mul_epu32(_mm512_srli_epi64(numerators, 32), modulus->multiplier);
  const __m512i high = _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB);
  const __m512i quotients = _mm512_srlv_epi32(high, modulus->shift);
  return _mm512_sub_epi32(probes, _mm512_mullo_epi32(quotients, modulus->nbits));
}

static inline void put_bits(struct bits *bits, size_t i, lanes positions)
{
  const __m512i masks =
      _mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_and_si512(positions, _mm512_set1_epi32(7)));
  _mm512_store_si512(bits->bytes + i, _mm512_srli_epi32(positions, 3));
  _mm_storeu_si128((void *)(bits->masks + i), _mm512_cvtepi32_epi8(masks));
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
  return _mm_test_epi8_mask(bytes, masks);
}

/* The tested bit becomes the lowest of its lane. gcc 12 drops a mask that it knows, and then waits
 * for an old value. */
static inline found gather(const struct probed *filter, lanes probes)
{
  __mmask16 all = 0xffff;
  __asm__("" : "+Yk"(all));
  const __m512i at = _mm512_add_epi32(positions_of(probes, &filter->modulus),
                                      _mm512_set1_epi32((int)filter->first_bit));
  const __m512i dwords = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), all,
                                                     _mm512_srli_epi32(at, 5), filter->dwords, 4);
  return _mm512_rorv_epi32(dwords, at);
}

static inline found both(found a, found b)
{
  return _mm512_and_si512(a, b);
}

static inline void store_mask(uint8_t *bitmap, found gathered)
{
  const __mmask16 mask = _mm512_test_epi32_mask(gathered, _mm512_set1_epi32(1));
  memcpy(bitmap, &mask, sizeof mask);
}

static inline size_t append(struct survivors *survivors, size_t nsurvivors, lanes hashes,
                            lanes indices, unsigned mask)
{
  _mm512_storeu_si512(survivors->hashes + nsurvivors,
                      _mm512_maskz_compress_epi32((__mmask16)mask, hashes));
  _mm512_storeu_si512(survivors->indices + nsurvivors,
                      _mm512_maskz_compress_epi32((__mmask16)mask, indices));
  return nsurvivors + (unsigned)__builtin_popcount(mask);
}

static const struct leveldb_probe_vocabulary by_gathers = {
    .arithmetic = &arithmetic,
    .test_bits = test_bits,
    .gather = gather,
    .both = both,
    .store_mask = store_mask,
    .append = append,
};

static const struct leveldb_probe_vocabulary by_loads = {
    .arithmetic = &arithmetic,
    .test_bits = test_bits,
    .append = append,
};

void KERNEL(leveldb_probe_by_gathers)(const struct filter_shape *shape, const uint8_t *payload,
                                      struct hash_source *source, uint8_t *bitmap)
{
  leveldb_probe(shape, payload, modulus_of(shape), &by_gathers, source, bitmap);
}

void KERNEL(leveldb_probe)(const struct filter_shape *shape, const uint8_t *payload,
                           struct hash_source *source, uint8_t *bitmap)
{
  leveldb_probe(shape, payload, modulus_of(shape), &by_loads, source, bitmap);
}

/* ---- Adding ---- */

static const struct leveldb_add_vocabulary adding = {&arithmetic, store, stream_line};

void KERNEL(leveldb_add)(const struct filter_shape *shape, uint8_t *payload,
                         struct hash_source *source)
{
  const struct modulus modulus = modulus_of(shape);
  leveldb_add(shape, payload, source, &modulus, &adding);
}
