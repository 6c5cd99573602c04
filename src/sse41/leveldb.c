/* leveldb in lanes of SSE4.1: lanes are loaded one by one, as by avx2-loads.
 * SPDX-License-Identifier: MIT */
#include "../lanes/leveldb_probe.h"
#include "../scalar/scalar.h"
#include "isa.h"
#include "sse41.h"

enum { LANES = 4 };

/* ---- Vocabulary ---- */

static inline __m128i load(const void *from)
{
  return _mm_loadu_si128(from);
}

static inline void store(void *to, __m128i value)
{
  _mm_storeu_si128(to, value);
}

static inline __m128i strides_of(__m128i hashes)
{
  return _mm_or_si128(_mm_srli_epi32(hashes, 17), _mm_slli_epi32(hashes, 15));
}

/* What lanes need to know of a filter. */
struct probed {
  const uint8_t *payload;
  uint32_t nprobes;
  __m128i multiplier, nbytes;
  __m128i even_shift, odd_shift; /* 0 or more from 2 bytes on */
};

static inline struct probed probed_of(const struct filter_shape *shape, const uint8_t *payload)
{
  return (struct probed){
      .payload = payload,
      .nprobes = shape->nprobes,
      .multiplier = _mm_set1_epi32((int)shape->reciprocal.multiplier),
      .nbytes = _mm_set1_epi32((int)(shape->nbits / 8)),
      .even_shift = _mm_cvtsi32_si128((int)shape->reciprocal.shift),
      .odd_shift = _mm_cvtsi32_si128((int)shape->reciprocal.shift - 32),
  };
}

/* Hashes i and following of n. Where less than LANES are left, the other lanes become 0. */
static inline __m128i load_hashes(const uint8_t *hashes, size_t i, size_t n)
{
  if (n - i >= LANES)
    return load(hashes + i * sizeof(uint32_t));
  uint32_t left[LANES] = {0};
  memcpy(left, hashes + i * sizeof(uint32_t), (n - i) * sizeof(uint32_t));
  return load(left);
}

/* Which of the lanes at i are there. */
static inline unsigned lanes_there(size_t i, size_t n)
{
  return n - i >= LANES ? 0xf : (1u << (n - i)) - 1;
}

/* The byte of each probe, (probe >> 3) % nbytes. Products of 64 bits take every other lane:
 *
 *   n      n0 n1 n2 n3
 *   even   [n0 * m] [n2 * m] >> shift        q0 .. q2 ..
 *   odd    [n1 * m] [n3 * m] >> shift - 32   .. q1 .. q3, because what is 32 lower is in the
 *          upper half */
static inline __m128i bytes_of(const struct probed *filter, __m128i probes)
{
  const __m128i n = _mm_srli_epi32(probes, 3);
  const __m128i even = _mm_mul_epu32(n, filter->multiplier);
  const __m128i odd = _mm_mul_epu32(_mm_srli_epi64(probes, 32 + 3), filter->multiplier);
  const __m128i quotients = _mm_blend_epi16(_mm_srl_epi64(even, filter->even_shift),
                                            _mm_srl_epi64(odd, filter->odd_shift), 0xcc);
  return _mm_sub_epi32(n, _mm_mullo_epi32(quotients, filter->nbytes));
}

/* 1 << probe % 8 in each lane. There is no shift by lanes: a byte shuffle looks the lowest byte up
 * and makes the others 0. */
static inline __m128i bits_of(__m128i probes)
{
  const __m128i powers = _mm_set1_epi64x((long long)0x8040201008040201);
  const __m128i number = _mm_and_si128(probes, _mm_set1_epi32(7));
  return _mm_shuffle_epi8(powers, _mm_or_si128(number, _mm_set1_epi32((int)0x80808000)));
}

/* Lanes leave their register in pairs: half a pair is taken by an instruction or two. */
static inline uint64_t lower_pair(__m128i lanes)
{
  return (uint64_t)_mm_cvtsi128_si64(lanes);
}

static inline uint64_t upper_pair(__m128i lanes)
{
  return (uint64_t)_mm_extract_epi64(lanes, 1);
}

/* The payload's bytes at these places, each in the lowest byte of its lane. */
static inline __m128i load_bytes(const uint8_t *payload, __m128i bytes)
{
  const uint64_t at01 = lower_pair(bytes), at23 = upper_pair(bytes);
  __m128i loaded = _mm_cvtsi32_si128(payload[(uint32_t)at01]);
  loaded = _mm_insert_epi8(loaded, payload[at01 >> 32], 4);
  loaded = _mm_insert_epi8(loaded, payload[(uint32_t)at23], 8);
  return _mm_insert_epi8(loaded, payload[at23 >> 32], 12);
}

/* All ones where a probe finds its bit. */
static inline __m128i test(const struct probed *filter, __m128i probes)
{
  const __m128i bits = bits_of(probes);
  return _mm_cmpeq_epi32(_mm_and_si128(load_bytes(filter->payload, bytes_of(filter, probes)), bits),
                         bits);
}

/* All ones where probes first .. end of a key find their bits. `next`: the probe after these. */
static inline __m128i test_probes(const struct probed *filter, __m128i hashes, uint32_t first,
                                  uint32_t end, __m128i *next)
{
  const __m128i strides = strides_of(hashes);
  __m128i probes = _mm_add_epi32(hashes, _mm_mullo_epi32(strides, _mm_set1_epi32((int)first)));
  __m128i passed = test(filter, probes);
  probes = _mm_add_epi32(probes, strides);
  for (uint32_t p = first + 1; p < end; p++) {
    passed = _mm_and_si128(passed, test(filter, probes));
    probes = _mm_add_epi32(probes, strides);
  }
  *next = probes;
  return passed;
}

static inline unsigned mask_of(__m128i lanes)
{
  return (unsigned)_mm_movemask_ps(_mm_castsi128_ps(lanes));
}

/* Always inline, because gcc 12 takes a function that only prefetches for one without effect and
 * drops its calls. */
static inline __attribute__((always_inline)) void prefetch_lines(const uint8_t *payload,
                                                                 __m128i bytes)
{
  const uint64_t at01 = lower_pair(bytes), at23 = upper_pair(bytes);
  __builtin_prefetch(payload + (uint32_t)at01, 0, 2);
  __builtin_prefetch(payload + (at01 >> 32), 0, 2);
  __builtin_prefetch(payload + (uint32_t)at23, 0, 2);
  __builtin_prefetch(payload + (at23 >> 32), 0, 2);
}

/* The bytes of a lane, for byte shuffles. */
enum { A = 0x03020100, B = 0x07060504, C = 0x0b0a0908, D = 0x0f0e0d0c };

/*   mask 0b1010   lanes a b c d   ->   b d a a */
static inline __m128i compacted(__m128i lanes, unsigned mask)
{
  static const _Alignas(16) uint32_t orders[16][LANES] = {
      {A, A, A, A}, {A, A, A, A}, {B, A, A, A}, {A, B, A, A}, {C, A, A, A}, {A, C, A, A},
      {B, C, A, A}, {A, B, C, A}, {D, A, A, A}, {A, D, A, A}, {B, D, A, A}, {A, B, D, A},
      {C, D, A, A}, {A, C, D, A}, {B, C, D, A}, {A, B, C, D},
  };
  return _mm_shuffle_epi8(lanes, _mm_load_si128((const void *)orders[mask]));
}

/* ---- Probing ---- */

enum { FEW_NKEYS = 8 }; /* fewer go to scalar: taken over from avx2 */

/* is_far: the next probe's cache line is prefetched for survivors. */
static inline __attribute__((always_inline)) size_t
compact(const struct probed *filter, const uint8_t *hashes, const uint32_t *indices, size_t n,
        uint32_t first, uint32_t end, bool is_far, struct survivors *survivors)
{
  const bool prefetches = is_far && end < filter->nprobes;
  __m128i index = _mm_setr_epi32(0, 1, 2, 3), next;
  size_t nsurvivors = 0;
  for (size_t i = 0; i < n; i += LANES) {
    const __m128i hash = load_hashes(hashes, i, n);
    if (indices)
      index = load(indices + i);
    const __m128i passed = test_probes(filter, hash, first, end, &next);
    if (prefetches) /* other lanes prefetch the first line, which is there */
      prefetch_lines(filter->payload, _mm_and_si128(bytes_of(filter, next), passed));
    const unsigned mask = mask_of(passed) & lanes_there(i, n);
    store(survivors->hashes + nsurvivors, compacted(hash, mask));
    store(survivors->indices + nsurvivors, compacted(index, mask));
    nsurvivors += (unsigned)__builtin_popcount(mask);
    if (!indices)
      index = _mm_add_epi32(index, _mm_set1_epi32(LANES));
  }
  return nsurvivors;
}

static inline __attribute__((always_inline)) size_t
compact_near(const struct probed *filter, const uint8_t *hashes, const uint32_t *indices, size_t n,
             uint32_t first, uint32_t end, struct survivors *survivors)
{
  return compact(filter, hashes, indices, n, first, end, false, survivors);
}

static inline __attribute__((always_inline)) size_t
compact_far(const struct probed *filter, const uint8_t *hashes, const uint32_t *indices, size_t n,
            uint32_t first, uint32_t end, struct survivors *survivors)
{
  return compact(filter, hashes, indices, n, first, end, true, survivors);
}

/* Two groups of lanes make a byte of the bitmap. */
static inline __attribute__((always_inline)) size_t
probe_all(const struct probed *filter, const uint8_t *hashes, size_t n, uint8_t *bitmap)
{
  __m128i next;
  size_t nhits = 0;
  memset(bitmap, 0, (n + 7) / 8);
  for (size_t i = 0; i < n; i += LANES) {
    const __m128i hash = load_hashes(hashes, i, n);
    const __m128i passed = test_probes(filter, hash, 0, filter->nprobes, &next);
    const unsigned mask = mask_of(passed) & lanes_there(i, n);
    bitmap[i / 8] |= (uint8_t)(mask << i % 8);
    nhits += (unsigned)__builtin_popcount(mask);
  }
  return nhits;
}

static const struct leveldb_probe_vocabulary near = {compact_near, probe_all, mark_bits};
static const struct leveldb_probe_vocabulary far = {compact_far, probe_all, mark_bits};

/* Probe 0 of each hash. */
static inline __attribute__((always_inline)) void prefetch_first(const struct probed *filter,
                                                                 const uint8_t *hashes, size_t n)
{
  for (size_t i = 0; i < n; i += LANES)
    prefetch_lines(filter->payload, bytes_of(filter, load_hashes(hashes, i, n)));
}

void lanebloom_leveldb_probe_sse41(const struct filter_shape *shape, const uint8_t *payload,
                                   struct hash_source *source, uint8_t *bitmap)
{
  if (shape->nbytes < 2 || source->n < FEW_NKEYS) { /* see odd_shift */
    lanebloom_leveldb_probe_scalar(shape, payload, source, bitmap);
    return;
  }
  const struct probed filter = probed_of(shape, payload);
  if (shape->nbytes <= NEAR_NBYTES)
    leveldb_probe_near(shape, &filter, &near, source, bitmap);
  else
    leveldb_probe_prefetched(&filter, filter.nprobes, &far, prefetch_first, source, bitmap);
}
