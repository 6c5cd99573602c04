/* XXPH3 in lanes of AVX2: four keys at a time.
 * SPDX-License-Identifier: MIT */

/* Measured on Zen 4, gcc 12, keys in the first-level cache: 0.64 ns for 8 bytes, 0.86 for 16, 1.4
 * for 20, where scalar's straight loops take 1.75, 1.33 and 1.9; keys of 3 to 16 bytes 2.4 to 2.8,
 * scalar 5.5 to 6. Did not help: lists per class of sizes and a straight scalar loop for each (5 ns
 * for 3 to 16 bytes: the lists cost as much as the hashes). So both short classes are computed in
 * every lane. */
#include "../scalar/xxph3.h"
#include "../scalar/scalar.h"
#include "avx2.h"
#include "isa.h"

enum { NLANES = 4 };

/* ---- Vocabulary ---- */

static inline __m256i splat(uint64_t value)
{
  return _mm256_set1_epi64x((long long)value);
}

static inline __m256i multiply(__m256i a, uint64_t b)
{
  __m256i crossed = _mm256_mullo_epi32(a, splat(b >> 32 | b << 32));
  __m256i upper = _mm256_add_epi32(_mm256_slli_epi64(crossed, 32),
                                   _mm256_and_si256(crossed, splat(0xffffffff00000000)));
  return _mm256_add_epi64(_mm256_mul_epu32(a, splat(b)), upper);
}

static inline __m256i multiply32(__m256i a, uint32_t b)
{
  return _mm256_add_epi64(_mm256_mul_epu32(a, splat(b)),
                          _mm256_mullo_epi32(a, splat((uint64_t)b << 32)));
}

static inline __m256i multiply_fold(__m256i a, __m256i b)
{
  const __m256i low_half = splat(0xffffffff);
  __m256i a_high = _mm256_srli_epi64(a, 32), b_high = _mm256_srli_epi64(b, 32);
  __m256i bottom = _mm256_mul_epu32(a, b), top = _mm256_mul_epu32(a_high, b_high);
  __m256i middle = _mm256_add_epi64(_mm256_mul_epu32(a_high, b), _mm256_srli_epi64(bottom, 32));
  __m256i other = _mm256_add_epi64(_mm256_mul_epu32(a, b_high), _mm256_and_si256(middle, low_half));
  __m256i low = _mm256_blend_epi32(bottom, _mm256_slli_epi64(other, 32), 0xaa);
  __m256i high = _mm256_add_epi64(_mm256_add_epi64(top, _mm256_srli_epi64(middle, 32)),
                                  _mm256_srli_epi64(other, 32));
  return _mm256_xor_si256(low, high);
}

static inline __m256i avalanche(__m256i h)
{
  h = _mm256_xor_si256(h, _mm256_srli_epi64(h, 37));
  h = multiply(h, XXPH3_PRIME64_3);
  return _mm256_xor_si256(h, _mm256_srli_epi64(h, 32));
}

static inline __m256i hash_4_to_8(__m256i words, __m256i size)
{
  words = _mm256_xor_si256(words, splat(xxph3_secret64(0)));
  words = _mm256_xor_si256(words, _mm256_srli_epi64(words, 51));
  __m256i mixed = _mm256_add_epi64(size, multiply32(words, XXPH3_PRIME32_1));
  mixed = _mm256_xor_si256(mixed, _mm256_srli_epi64(mixed, 47));
  return avalanche(multiply(mixed, XXPH3_PRIME64_2));
}

static inline __m256i hash_9_to_16(__m256i low, __m256i high, __m256i size)
{
  low = _mm256_xor_si256(low, splat(xxph3_secret64(0)));
  high = _mm256_xor_si256(high, splat(xxph3_secret64(8)));
  __m256i sum = _mm256_add_epi64(_mm256_add_epi64(size, low), high);
  return avalanche(_mm256_add_epi64(sum, multiply_fold(low, high)));
}

static inline void store(void *hashes, size_t i, __m256i h)
{
  _mm256_storeu_si256((void *)((uint8_t *)hashes + i * sizeof(uint64_t)), h);
}

/* 16 bytes each from two addresses. */
static inline __m256i two_pieces(const uint8_t *at, size_t stride)
{
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)at)),
                                 _mm_loadu_si128((const void *)(at + stride)), 1);
}

/* Keys first .. first + n by scalar's loops. See src/avx512/xxph3.c for why they are not compiled
 * here. */
static void hash_in_scalar(const lanebloom_keys *keys, size_t first, size_t n, void *hashes)
{
  const lanebloom_keys part = lanebloom_keys_part(keys, first, n);
  lanebloom_xxph3_hash_scalar(&part, (uint8_t *)hashes + first * sizeof(uint64_t));
}

/* ---- Keys of one width ---- */

/* Returns how many keys are done. */
static size_t fixed_4_to_8(const uint8_t *keys, size_t width, size_t n, void *hashes)
{
  const __m128i at = _mm_set_epi8(-1, -2, -3, -4, 3, 2, 1, 0, -1, -2, -3, -4, 3, 2, 1, 0);
  const __m128i widths = _mm_mullo_epi16(_mm_set_epi32(0x02020202, 0x01010101, 0x01010101, 0),
                                         _mm_set1_epi16((short)width));
  const __m256i ends = _mm256_broadcastsi128_si256(_mm_add_epi8(at, widths));
  const __m256i size = splat(width);
  size_t i = 0;
  for (; i + NLANES + 2 <= n; i += NLANES) {
    __m256i pairs = two_pieces(keys + i * width, 2 * width);
    store(hashes, i, hash_4_to_8(_mm256_shuffle_epi8(pairs, ends), size));
  }
  return i;
}

static size_t fixed_8(const uint8_t *keys, size_t n, void *hashes)
{
  const __m256i size = splat(8);
  size_t i = 0;
  for (; i + NLANES <= n; i += NLANES)
    store(hashes, i, hash_4_to_8(_mm256_loadu_si256((const void *)(keys + i * 8)), size));
  return i;
}

static size_t fixed_9_to_16(const uint8_t *keys, size_t width, size_t n, void *hashes)
{
  const __m256i size = splat(width);
  size_t i = 0;
  for (; i + NLANES + 1 <= n; i += NLANES) {
    const uint8_t *first = keys + i * width, *last = first + width - 8;
    __m256i low =
        _mm256_unpacklo_epi64(two_pieces(first, 2 * width), two_pieces(first + width, 2 * width));
    __m256i high =
        _mm256_unpacklo_epi64(two_pieces(last, 2 * width), two_pieces(last + width, 2 * width));
    store(hashes, i, hash_9_to_16(low, high, size));
  }
  return i;
}

static size_t fixed_16(const uint8_t *keys, size_t n, void *hashes)
{
  const __m256i size = splat(16);
  size_t i = 0;
  for (; i + NLANES <= n; i += NLANES) {
    __m256i even = two_pieces(keys + i * 16, 32), odd = two_pieces(keys + i * 16 + 16, 32);
    store(hashes, i,
          hash_9_to_16(_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd), size));
  }
  return i;
}

static inline __m256i mix16(const uint8_t *at, size_t width, size_t secret)
{
  __m256i even = two_pieces(at, 2 * width), odd = two_pieces(at + width, 2 * width);
  __m256i low = _mm256_unpacklo_epi64(even, odd), high = _mm256_unpackhi_epi64(even, odd);
  return multiply_fold(_mm256_xor_si256(low, splat(xxph3_secret64(secret))),
                       _mm256_xor_si256(high, splat(xxph3_secret64(secret + 8))));
}

static size_t fixed_17_to_128(const uint8_t *keys, size_t width, size_t n, void *hashes)
{
  size_t i = 0;
  for (; i + NLANES <= n; i += NLANES) {
    const uint8_t *first = keys + i * width, *last = first + width - 16;
    __m256i h = splat(width * XXPH3_PRIME64_1);
    for (size_t j = 0; j <= (width - 1) / 32; j++) {
      h = _mm256_add_epi64(h, mix16(first + 16 * j, width, 32 * j));
      h = _mm256_add_epi64(h, mix16(last - 16 * j, width, 32 * j + 16));
    }
    store(hashes, i, avalanche(h));
  }
  return i;
}

/* Returns how many keys are done. */
static size_t hash_fixed(const uint8_t *keys, size_t width, size_t n, void *hashes)
{
  if (width == 8)
    return fixed_8(keys, n, hashes);
  if (width == 16)
    return fixed_16(keys, n, hashes);
  if (width >= 4 && width <= 8)
    return fixed_4_to_8(keys, width, n, hashes);
  if (width >= 9 && width <= 16)
    return fixed_9_to_16(keys, width, n, hashes);
  if (width >= 17 && width <= 128)
    return fixed_17_to_128(keys, width, n, hashes);
  return 0;
}

/* ---- Keys of many sizes ---- */

enum { MIN_SHORT = 4, MAX_SHORT = 16 };

/* The first eight bytes of a key of 4 to 16, and its last eight; of a shorter one than 8 the outer
 * four of each, which are all that its class needs. Masked loads touch nothing outside the key.
 * size: at most MAX_SHORT. */
static inline __m128i ends_of(const void *key, uint64_t size)
{
  static const int32_t masks[12] = {0, 0, 0, 0, -1, -1, -1, -1, 0, 0, 0, 0};
  const size_t nwords = size / 4;
  __m128i first = _mm_maskload_epi32(key, _mm_loadu_si128((const void *)(masks + 8 - nwords)));
  __m128i last = _mm_maskload_epi32((const void *)((uintptr_t)key + size - MAX_SHORT),
                                    _mm_loadu_si128((const void *)(masks + nwords)));
  return _mm_blend_epi32(first, last, 0xc);
}

/* Of keys i and i + 2. */
static inline __m256i two_ends(const lanebloom_keys *keys, size_t i, const uint64_t *sizes)
{
  return _mm256_inserti128_si256(_mm256_castsi128_si256(ends_of(keys_at(keys, i).data, sizes[0])),
                                 ends_of(keys_at(keys, i + 2).data, sizes[2]), 1);
}

static inline __m256i sizes_at(const lanebloom_keys *keys, size_t i)
{
  if (keys->layout == KEYS_OFFSETS32) {
    const uint32_t *offsets = (const uint32_t *)keys->index + i;
    __m128i begins = _mm_loadu_si128((const void *)offsets),
            ends = _mm_loadu_si128((const void *)(offsets + 1));
    return _mm256_cvtepu32_epi64(_mm_sub_epi32(ends, begins));
  }
  if (keys->layout == KEYS_OFFSETS64) {
    const uint64_t *offsets = (const uint64_t *)keys->index + i;
    __m256i begins = _mm256_loadu_si256((const void *)offsets),
            ends = _mm256_loadu_si256((const void *)(offsets + 1));
    return _mm256_sub_epi64(ends, begins);
  }
  const lanebloom_slice *slices = (const lanebloom_slice *)keys->index + i;
  __m256i a = _mm256_loadu_si256((const void *)slices),
          b = _mm256_loadu_si256((const void *)(slices + 2));
  return _mm256_permute4x64_epi64(_mm256_unpackhi_epi64(a, b), 0xd8);
}

/* Both classes at once, and each lane takes its own. */
static inline __m256i hash_short(__m256i low, __m256i high, __m256i size)
{
  const __m256i is_middle = _mm256_cmpgt_epi64(size, splat(8));
  __m256i words = _mm256_blend_epi32(low, high, 0xaa);
  words = _mm256_xor_si256(words, splat(xxph3_secret64(0)));
  words = _mm256_xor_si256(words, _mm256_srli_epi64(words, 51));
  __m256i mixed = _mm256_add_epi64(size, multiply32(words, XXPH3_PRIME32_1));
  mixed = _mm256_xor_si256(mixed, _mm256_srli_epi64(mixed, 47));
  __m256i h = multiply(mixed, XXPH3_PRIME64_2);

  low = _mm256_xor_si256(low, splat(xxph3_secret64(0)));
  high = _mm256_xor_si256(high, splat(xxph3_secret64(8)));
  __m256i sum = _mm256_add_epi64(_mm256_add_epi64(size, low), high);
  sum = _mm256_add_epi64(sum, multiply_fold(low, high));
  return avalanche(_mm256_blendv_epi8(h, sum, is_middle));
}

/* 16 bytes of each of four keys, at the same distance, under 16 bytes of the secret. */
static inline __m256i mix16_of(const uint8_t *const at[NLANES], ptrdiff_t distance, size_t secret)
{
  __m256i pieces[2];
  for (size_t odd = 0; odd < 2; odd++) {
    __m128i lower = _mm_loadu_si128((const void *)(at[odd] + distance));
    __m128i upper = _mm_loadu_si128((const void *)(at[odd + 2] + distance));
    pieces[odd] = _mm256_inserti128_si256(_mm256_castsi128_si256(lower), upper, 1);
  }
  __m256i low = _mm256_unpacklo_epi64(pieces[0], pieces[1]),
          high = _mm256_unpackhi_epi64(pieces[0], pieces[1]);
  return multiply_fold(_mm256_xor_si256(low, splat(xxph3_secret64(secret))),
                       _mm256_xor_si256(high, splat(xxph3_secret64(secret + 8))));
}

enum {
  MIXED_NKEYS = 256, /* whose lists stay in the first-level cache beside keys and hashes */
  NCLASSES = 5,      /* one to four steps of 32 bytes, and all others */
};

/* Keys that take the same number of steps of 32 bytes. */
static inline void hash_listed(const lanebloom_keys *keys, const uint32_t *list, size_t n,
                               size_t nsteps, void *hashes)
{
  size_t i = 0;
  for (; i + NLANES <= n; i += NLANES) {
    const uint8_t *first[NLANES], *last[NLANES];
    uint64_t sizes[NLANES], done[NLANES];
    for (size_t lane = 0; lane < NLANES; lane++) {
      const lanebloom_slice key = keys_at(keys, list[i + lane]);
      first[lane] = key.data;
      last[lane] = first[lane] + key.size - 16;
      sizes[lane] = key.size;
    }
    __m256i h = _mm256_setzero_si256();
    for (size_t j = 0; j < nsteps; j++) {
      h = _mm256_add_epi64(h, mix16_of(first, 16 * (ptrdiff_t)j, 32 * j));
      h = _mm256_add_epi64(h, mix16_of(last, -16 * (ptrdiff_t)j, 32 * j + 16));
    }
    h = _mm256_add_epi64(h, multiply(_mm256_loadu_si256((const void *)sizes), XXPH3_PRIME64_1));
    store(done, 0, avalanche(h));
    for (size_t lane = 0; lane < NLANES; lane++)
      xxph3_store(hashes, list[i + lane], done[lane]);
  }
  for (; i < n; i++) {
    const lanebloom_slice key = keys_at(keys, list[i]);
    xxph3_store(hashes, list[i], xxph3_17_to_128(key.data, key.size));
  }
}

/* Up to MIXED_NKEYS, a multiple of NLANES. Short keys are hashed at once, the others listed by
 * their steps. */
static inline __attribute__((always_inline)) void hash_mixed(const lanebloom_keys *keys, size_t n,
                                                             void *hashes)
{
  uint32_t others[MIXED_NKEYS + 1], lists[NCLASSES][MIXED_NKEYS];
  size_t nothers = 0, counts[NCLASSES] = {0};
  for (size_t i = 0; i < n; i += NLANES) {
    __m256i size = sizes_at(keys, i);
    __m256i is_longer = _mm256_cmpgt_epi64(size, splat(MAX_SHORT));
    __m256i is_other = _mm256_or_si256(is_longer, _mm256_cmpgt_epi64(splat(MIN_SHORT), size));
    const unsigned mask = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(is_other));
    if (mask != 0xf) {
      uint64_t sizes[NLANES]; /* clipped in lanes: gcc 12 would make branches of it */
      store(sizes, 0, _mm256_blendv_epi8(size, splat(MAX_SHORT), is_longer));
      __m256i even = two_ends(keys, i, sizes), odd = two_ends(keys, i + 1, sizes + 1);
      store(hashes, i,
            hash_short(_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd), size));
    }
    for (unsigned lane = 0; lane < NLANES; lane++) {
      others[nothers] = (uint32_t)i + lane;
      nothers += mask >> lane & 1;
    }
  }
  for (size_t j = 0; j < nothers; j++) {
    const size_t size = keys_at(keys, others[j]).size;
    const size_t c = size < MIN_SHORT || size > 128 ? NCLASSES - 1 : (size - 1) / 32;
    lists[c][counts[c]++] = others[j];
  }
  for (size_t c = 0; c < NCLASSES - 1; c++)
    hash_listed(keys, lists[c], counts[c], c + 1, hashes);
  for (size_t j = 0; j < counts[NCLASSES - 1]; j++) {
    const size_t i = lists[NCLASSES - 1][j];
    const lanebloom_slice key = keys_at(keys, i);
    if (key.size > 0 && key.size < MIN_SHORT)
      xxph3_store(hashes, i, xxph3_1_to_3(key.data, key.size));
    else
      hash_in_scalar(keys, i, 1, hashes);
  }
}

static inline __attribute__((always_inline)) size_t
hash_blocks(const lanebloom_keys *batch, enum keys_layout layout, void *hashes)
{
  size_t i = 0, n;
  for (; (n = (batch->n - i) / NLANES * NLANES) > 0; i += n) {
    n = n < MIXED_NKEYS ? n : MIXED_NKEYS;
    lanebloom_keys keys = lanebloom_keys_part(batch, i, n);
    keys.layout = layout; /* a constant, so that each layout has its own loops */
    hash_mixed(&keys, n, (uint8_t *)hashes + i * sizeof(uint64_t));
  }
  return i;
}

void lanebloom_xxph3_hash_avx2(const lanebloom_keys *keys, void *hashes)
{
  size_t done = 0;
  switch ((enum keys_layout)keys->layout) {
  case KEYS_FIXED:
    done = hash_fixed(keys->data, keys->width, keys->n, hashes);
    break;
  case KEYS_OFFSETS32:
    done = hash_blocks(keys, KEYS_OFFSETS32, hashes);
    break;
  case KEYS_OFFSETS64:
    done = hash_blocks(keys, KEYS_OFFSETS64, hashes);
    break;
  case KEYS_SLICES:
    done = hash_blocks(keys, KEYS_SLICES, hashes);
    break;
  }
  hash_in_scalar(keys, done, keys->n - done, hashes);
}
