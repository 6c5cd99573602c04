/* leveldb in lanes of AVX2, or with lanes that are loaded one by one. Unlike AVX-512, which has no
 * gathers here and loads lanes some steps behind their positions by way of memory, there are
 * registers for a step of eight lanes at a time.
 * SPDX-License-Identifier: MIT */
#include "../lanes/leveldb_add.h"
#include "../lanes/leveldb_probe.h"
#include "../scalar/scalar.h"
#include "avx2.h"
#include "compaction.h"
#include "isa.h"

/* ---- Vocabulary ---- */

enum { LANES = 8 };

static inline __m256i load(const void *from)
{
  return _mm256_loadu_si256(from);
}

static inline void store(void *to, __m256i value)
{
  _mm256_storeu_si256(to, value);
}

static inline __m256i strides_of(__m256i hashes)
{
  return _mm256_or_si256(_mm256_srli_epi32(hashes, 17), _mm256_slli_epi32(hashes, 15));
}

/* ---- Probing ---- */

/* How the bytes that probes test are fetched: all at once, or by a load per lane for CPUs that are
 * slow at gathers. */
enum leveldb_fetch { BY_GATHERS, BY_LOADS };

/* What lanes need to know of a filter. */
struct probed {
  const uint8_t *payload;
  uint32_t nprobes;
  enum leveldb_fetch fetch;
  __m256i multiplier, nbytes;
  __m128i even_shift, odd_shift;
};

static inline struct probed probed_of(const struct filter_shape *shape, const uint8_t *payload,
                                      enum leveldb_fetch fetch)
{
  return (struct probed){
      .payload = payload,
      .nprobes = shape->nprobes,
      .fetch = fetch,
      .multiplier = _mm256_set1_epi32((int)shape->reciprocal.multiplier),
      .nbytes = _mm256_set1_epi32((int)(shape->nbits / 8)),
      .even_shift = _mm_cvtsi32_si128((int)shape->reciprocal.shift),
      .odd_shift =
          _mm_cvtsi32_si128((int)shape->reciprocal.shift - 32), /* 0 or more from 2 bytes on */
  };
}

/* Hashes i and following of n. Where less than LANES are left, the other lanes become 0. */
static inline __m256i load_hashes(const uint8_t *hashes, size_t i, size_t n)
{
  if (n - i >= LANES)
    return load(hashes + i * sizeof(uint32_t));
  const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i is_there = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(n - i)), lane);
  return _mm256_maskload_epi32((const void *)(hashes + i * sizeof(uint32_t)), is_there);
}

/* Which of the lanes at i are there. */
static inline unsigned lanes_there(size_t i, size_t n)
{
  return n - i >= LANES ? 0xff : (1u << (n - i)) - 1;
}

/* The byte of each probe, (probe >> 3) % nbytes. Products of 64 bits take every other lane:
 *
 *   n      n0 n1 n2 n3 ...
 *   even   [n0 * m] [n2 * m] ... >> shift        q0 .. q2 ..
 *   odd    [n1 * m] [n3 * m] ... >> shift - 32   .. q1 .. q3, because what is 32 lower is in the
 *          upper half */
static inline __m256i leveldb_bytes(const struct probed *filter, __m256i probe)
{
  const __m256i n = _mm256_srli_epi32(probe, 3);
  const __m256i even = _mm256_mul_epu32(n, filter->multiplier);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(probe, 32 + 3), filter->multiplier);
  const __m256i quotient = _mm256_blend_epi32(_mm256_srl_epi64(even, filter->even_shift),
                                              _mm256_srl_epi64(odd, filter->odd_shift), 0xaa);
  return _mm256_sub_epi32(n, _mm256_mullo_epi32(quotient, filter->nbytes));
}

/* The dwords at these bytes, or at the last offset where one fits, moved up until the byte is the
 * top one. */
static inline __m256i gather_bytes(const struct probed *filter, __m256i bytes)
{
  /* gcc 12 drops a mask that it knows, and then waits for an old value: 3.6 times slower */
  __m256i all = _mm256_set1_epi32(-1);
  __asm__("" : ISA_OPERAND(all));
  const __m256i at =
      _mm256_min_epu32(bytes, _mm256_sub_epi32(filter->nbytes, _mm256_set1_epi32(4)));
  const __m256i dwords =
      _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), (const int *)filter->payload, at, all, 1);
  const __m256i above = _mm256_sub_epi32(_mm256_set1_epi32(3), _mm256_sub_epi32(bytes, at));
  return _mm256_sllv_epi32(dwords, _mm256_slli_epi32(above, 3));
}

static inline size_t low_index(uint64_t pair)
{
  return (uint32_t)pair;
}

static inline size_t high_index(uint64_t pair)
{
  return pair >> 32;
}

/* The same, 0 below the top bytes (Zen 4, 16 KiB, all keys pass: 2.06 ns per key; dwords, which
 * need the clamp and cross lines, 2.25; gathers 2.7). */
static inline __m256i load_bytes(const struct probed *filter, __m256i bytes)
{
  const uint8_t *payload = filter->payload;
  const __m128i low = _mm256_castsi256_si128(bytes), high = _mm256_extracti128_si256(bytes, 1);
  const uint64_t at01 = (uint64_t)_mm_cvtsi128_si64(low),
                 at23 = (uint64_t)_mm_extract_epi64(low, 1);
  const uint64_t at45 = (uint64_t)_mm_cvtsi128_si64(high),
                 at67 = (uint64_t)_mm_extract_epi64(high, 1);
  __m128i top03 = _mm_setzero_si128(), top47 = top03;
  top03 = _mm_insert_epi8(top03, payload[low_index(at01)], 3);
  top03 = _mm_insert_epi8(top03, payload[high_index(at01)], 7);
  top03 = _mm_insert_epi8(top03, payload[low_index(at23)], 11);
  top03 = _mm_insert_epi8(top03, payload[high_index(at23)], 15);
  top47 = _mm_insert_epi8(top47, payload[low_index(at45)], 3);
  top47 = _mm_insert_epi8(top47, payload[high_index(at45)], 7);
  top47 = _mm_insert_epi8(top47, payload[low_index(at67)], 11);
  top47 = _mm_insert_epi8(top47, payload[high_index(at67)], 15);
  return _mm256_inserti128_si256(_mm256_castsi128_si256(top03), top47, 1);
}

/* The bit that each probe tests, as the lane's sign. */
static inline __m256i leveldb_test(const struct probed *filter, __m256i probe)
{
  const __m256i bytes = leveldb_bytes(filter, probe);
  const __m256i tops =
      filter->fetch == BY_GATHERS ? gather_bytes(filter, bytes) : load_bytes(filter, bytes);
  return _mm256_sllv_epi32(tops, _mm256_andnot_si256(probe, _mm256_set1_epi32(7)));
}

static inline unsigned signs(__m256i lanes)
{
  return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(lanes));
}

/* Into the second-level cache (Zen 4, 16 and 256 MiB, no key passes: first level 22 and 26 ns,
 * second 9.8 and 12.1). Always inline: gcc 12 drops calls of a function that only prefetches. */
static inline __attribute__((always_inline)) void prefetch_line(const uint8_t *byte)
{
  _mm_prefetch((const char *)byte, _MM_HINT_T1);
}

static inline __attribute__((always_inline)) void leveldb_prefetch(const struct probed *filter,
                                                                   __m256i bytes)
{
  const uint8_t *payload = filter->payload;
  const __m128i low = _mm256_castsi256_si128(bytes), high = _mm256_extracti128_si256(bytes, 1);
  const uint64_t at01 = (uint64_t)_mm_cvtsi128_si64(low),
                 at23 = (uint64_t)_mm_extract_epi64(low, 1);
  const uint64_t at45 = (uint64_t)_mm_cvtsi128_si64(high),
                 at67 = (uint64_t)_mm_extract_epi64(high, 1);
  prefetch_line(payload + low_index(at01));
  prefetch_line(payload + high_index(at01));
  prefetch_line(payload + low_index(at23));
  prefetch_line(payload + high_index(at23));
  prefetch_line(payload + low_index(at45));
  prefetch_line(payload + high_index(at45));
  prefetch_line(payload + low_index(at67));
  prefetch_line(payload + high_index(at67));
}

enum {
  FEW_NKEYS = 8, /* fewer go to scalar (Zen 4: a single key takes 51 ns there and 120 here) */
};

/* Moves survivors together behind nsurvivors others. Returns how many there are then. */
static inline size_t append(struct survivors *survivors, size_t nsurvivors, __m256i hashes,
                            __m256i indices, unsigned mask)
{
  const __m256i order = compaction_order(mask);
  store(survivors->hashes + nsurvivors, _mm256_permutevar8x32_epi32(hashes, order));
  store(survivors->indices + nsurvivors, _mm256_permutevar8x32_epi32(indices, order));
  return nsurvivors + (unsigned)__builtin_popcount(mask);
}

/* is_far: the next probe's cache line is prefetched for survivors. */
static inline __attribute__((always_inline)) size_t
compact(const struct probed *filter, const uint8_t *hashes, const uint32_t *indices, size_t n,
        uint32_t first, uint32_t end, bool is_far, struct survivors *survivors)
{
  const __m256i times = _mm256_set1_epi32((int)first);
  const bool prefetches = is_far && end < filter->nprobes;
  __m256i index = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  size_t nsurvivors = 0;
  for (size_t i = 0; i < n; i += LANES) {
    const __m256i hash = load_hashes(hashes, i, n), stride = strides_of(hash);
    if (indices)
      index = load(indices + i);
    __m256i probe = _mm256_add_epi32(hash, _mm256_mullo_epi32(stride, times));
    __m256i passed = leveldb_test(filter, probe);
    probe = _mm256_add_epi32(probe, stride);
    for (uint32_t p = first + 1; p < end; p++) {
      passed = _mm256_and_si256(passed, leveldb_test(filter, probe));
      probe = _mm256_add_epi32(probe, stride);
    }
    if (prefetches) /* other lanes prefetch the first line, which is there */
      leveldb_prefetch(
          filter, _mm256_and_si256(leveldb_bytes(filter, probe), _mm256_srai_epi32(passed, 31)));
    const unsigned mask = signs(passed) & lanes_there(i, n);
    nsurvivors = append(survivors, nsurvivors, hash, index, mask);
    if (!indices)
      index = _mm256_add_epi32(index, _mm256_set1_epi32(LANES));
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

static inline __attribute__((always_inline)) size_t
probe_all(const struct probed *filter, const uint8_t *hashes, size_t n, uint8_t *bitmap)
{
  size_t nhits = 0;
  for (size_t i = 0; i < n; i += LANES) {
    __m256i probe = load_hashes(hashes, i, n);
    const __m256i stride = strides_of(probe);
    __m256i passed = leveldb_test(filter, probe);
    for (uint32_t p = 1; p < filter->nprobes; p++) {
      probe = _mm256_add_epi32(probe, stride);
      passed = _mm256_and_si256(passed, leveldb_test(filter, probe));
    }
    const unsigned mask = signs(passed) & lanes_there(i, n);
    bitmap[i / LANES] = (uint8_t)mask;
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
    leveldb_prefetch(filter, leveldb_bytes(filter, load_hashes(hashes, i, n)));
}

static inline __attribute__((always_inline)) void
leveldb_probe(const struct filter_shape *shape, const uint8_t *payload, struct hash_source *source,
              uint8_t *bitmap, enum leveldb_fetch fetch)
{
  if (shape->nbytes < 4 || source->n < FEW_NKEYS) { /* a dword does not fit */
    lanebloom_leveldb_probe_scalar(shape, payload, source, bitmap);
    return;
  }
  const struct probed filter = probed_of(shape, payload, fetch);
  if (shape->nbytes <= NEAR_NBYTES)
    leveldb_probe_near(shape, &filter, &near, source, bitmap);
  else
    leveldb_probe_prefetched(&filter, filter.nprobes, &far, prefetch_first, source, bitmap);
}

void lanebloom_leveldb_probe_avx2(const struct filter_shape *shape, const uint8_t *payload,
                                  struct hash_source *source, uint8_t *bitmap)
{
  leveldb_probe(shape, payload, source, bitmap, BY_GATHERS);
}

void lanebloom_leveldb_probe_avx2_loads(const struct filter_shape *shape, const uint8_t *payload,
                                        struct hash_source *source, uint8_t *bitmap)
{
  leveldb_probe(shape, payload, source, bitmap, BY_LOADS);
}

/* ---- Adding ---- */

struct modulus {
  __m256i multiplier, nbits;
  __m128i shift;
};

static inline struct modulus modulus_of(const struct filter_shape *shape)
{
  return (struct modulus){
      .multiplier = _mm256_set1_epi32((int)shape->reciprocal.multiplier),
      .nbits =
          _mm256_set1_epi32((int)(uint32_t)shape->nbits), /* 2^32 bits as 0: their quotient is 0 */
      .shift = _mm_cvtsi32_si128((int)shape->reciprocal.shift),
  };
}

/* quotient * nbits in the even lanes, of numerators there. */
static inline __m256i multiple_below(__m256i numerators, const struct modulus *modulus)
{
  const __m256i quotients =
      _mm256_srl_epi64(_mm256_mul_epu32(numerators, modulus->multiplier), modulus->shift);
  return _mm256_mul_epu32(quotients, modulus->nbits);
}

/* probe % nbits = probe - probe / 8 / (nbits / 8) * nbits. Products are of even lanes:
 *
 *   even    e0 -- e2 --            e0 o1 e2 o3
 *   odd     o1 -- o3 --   blended                */
static inline __m256i positions_of(__m256i probes, const struct modulus *modulus)
{
  const __m256i even = multiple_below(_mm256_srli_epi32(probes, 3), modulus);
  const __m256i odd = multiple_below(_mm256_srli_epi64(probes, 32 + 3), modulus);
  return _mm256_sub_epi32(probes, _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa));
}

/* Bytes, and masks in them. Masks are bytes in dwords, and each half of the register packs its own
 * four:
 *
 *   m0 m1 m2 m3 | m4 m5 m6 m7   ->   0123 0123 0123 0123 | 4567 4567 4567 4567   ->   0123 4567 */
static inline void put_bits(struct bits *bits, size_t i, __m256i positions)
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

static inline __attribute__((always_inline)) size_t find(const struct modulus *modulus,
                                                         uint32_t nprobes, const uint8_t *hashes,
                                                         size_t nkeys, uint32_t *positions,
                                                         struct bits *bits)
{
  size_t n = 0;
  for (size_t i = 0; i < nkeys; i += LANES) {
    __m256i probes = load(hashes + i * sizeof(uint32_t));
    const __m256i strides = strides_of(probes);
    for (uint32_t p = 0; p < nprobes; p++, n += LANES) {
      const __m256i at = positions_of(probes, modulus);
      if (positions)
        store(positions + n, at);
      else
        put_bits(bits, n, at);
      probes = _mm256_add_epi32(probes, strides);
    }
  }
  return n;
}

static inline __attribute__((always_inline)) void find_bits(const uint32_t *positions, size_t n,
                                                            struct bits *bits)
{
  for (size_t i = 0; i < n; i += LANES)
    put_bits(bits, i, load(positions + i));
}

/* Past the cache, both halves one after the other. */
static inline __attribute__((always_inline)) void stream_line(uint32_t *to,
                                                              const struct positions_line *line)
{
  _mm256_stream_si256((void *)to, load(line->positions));
  _mm256_stream_si256((void *)(to + LANES), load(line->positions + LANES));
}

static const struct leveldb_add_vocabulary adding = {find, find_bits, stream_line};

void lanebloom_leveldb_add_avx2(const struct filter_shape *shape, uint8_t *payload,
                                struct hash_source *source)
{
  const struct modulus modulus = modulus_of(shape);
  leveldb_add(shape, payload, source, &modulus, &adding);
}
