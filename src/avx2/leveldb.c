/* leveldb in lanes of AVX2. Probing by gathers, or by loads for CPUs where gathers are slow.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"
#include "compaction.h"
#include "gather.h"
#include "stream.h"

/* ---- Vocabulary ---- */

typedef __m256i lanes;
typedef __m256i found; /* dwords, moved up until the tested bits are the signs */
enum { LANES = 8 };

/* What takes a probe modulo nbits. */
struct modulus {
  __m256i multiplier, shift, nbits;
};

static inline struct modulus modulus_of(const struct filter_shape *shape)
{
  return (struct modulus){
      .multiplier = _mm256_set1_epi32((int)shape->leveldb.reciprocal.multiplier),
      .shift = _mm256_set1_epi32((int)shape->leveldb.reciprocal.shift + 3 - 32),
      .nbits =
          _mm256_set1_epi32((int)(uint32_t)shape->nbits), /* 2^32 bits as 0: their quotient is 0 */
  };
}

#include "../lanes/leveldb_add.h"
#include "../lanes/leveldb_probe.h"

static inline lanes load(const void *from)
{
  return _mm256_loadu_si256(from);
}

static inline void store(uint32_t *to, lanes value)
{
  _mm256_storeu_si256((void *)to, value);
}

static inline lanes sum_of(lanes a, lanes b)
{
  return _mm256_add_epi32(a, b);
}

static inline lanes times(lanes a, uint32_t n)
{
  return _mm256_mullo_epi32(a, _mm256_set1_epi32((int)n));
}

static inline lanes strides_of(lanes hashes)
{
  return _mm256_or_si256(_mm256_srli_epi32(hashes, 17), _mm256_slli_epi32(hashes, 15));
}

/* probe % nbits = probe - probe / 8 / (nbits / 8) * nbits. Numerators are left 8 times as large, so
 * that quotients lie in the high half of their products, but for a shift:
 *
 *   even    p0 -- p2 --              -- h0 -- h2            h0 h1 h2 h3
 *   odd     p1 -- p3 --   products   -- h1 -- h3   merged */
static inline lanes positions_of(lanes probes, const struct modulus *modulus)
{
  const __m256i numerators = _mm256_and_si256(probes, _mm256_set1_epi32(~7));
  const __m256i even = _mm256_mul_epu32(numerators, modulus->multiplier);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(numerators, 32), modulus->multiplier);
  const __m256i high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xaa);
  const __m256i quotients = _mm256_srlv_epi32(high, modulus->shift);
  return _mm256_sub_epi32(probes, _mm256_mullo_epi32(quotients, modulus->nbits));
}

/* Masks are bytes in dwords, and each half of the register packs its own four:
 *
 *   m0 m1 m2 m3 | m4 m5 m6 m7   ->   0123 0123 0123 0123 | 4567 4567 4567 4567   ->   0123 4567 */
static inline void put_bits(struct bits *bits, size_t i, lanes positions)
{
  const __m256i masks =
      _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_and_si256(positions, _mm256_set1_epi32(7)));
  const __m256i words = _mm256_packs_epi32(masks, masks);
  const __m256i fours = _mm256_packus_epi16(words, words);
  const __m128i eight =
      _mm_unpacklo_epi32(_mm256_castsi256_si128(fours), _mm256_extracti128_si256(fours, 1));
  store(bits->bytes + i, _mm256_srli_epi32(positions, 3));
  _mm_storel_epi64((void *)(bits->masks + i), eight);
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

/* The tested bit becomes its lane's sign. */
static inline found gather(const struct probed *filter, lanes probes)
{
  const __m256i at = _mm256_add_epi32(positions_of(probes, &filter->modulus),
                                      _mm256_set1_epi32((int)filter->first_bit));
  const __m256i dwords = gather_dwords(filter->dwords, _mm256_srli_epi32(at, 5));
  return _mm256_sllv_epi32(dwords, _mm256_andnot_si256(at, _mm256_set1_epi32(31)));
}

static inline found both(found a, found b)
{
  return _mm256_and_si256(a, b);
}

static inline void store_mask(uint8_t *bitmap, found gathered)
{
  *bitmap = (uint8_t)_mm256_movemask_ps(_mm256_castsi256_ps(gathered));
}

static inline size_t append(struct survivors *survivors, size_t nsurvivors, lanes hashes,
                            lanes indices, unsigned mask)
{
  const __m256i order = compaction_order(mask);
  store(survivors->hashes + nsurvivors, _mm256_permutevar8x32_epi32(hashes, order));
  store(survivors->indices + nsurvivors, _mm256_permutevar8x32_epi32(indices, order));
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
