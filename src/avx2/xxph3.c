/* XXPH3 in lanes of AVX2: four keys at a time.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"
#include "../lanes/xxph3_lists.h"
#include "isa.h"

enum { NLANES = 4, NREGISTERS = 4 };

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

/* n registers, which take each step side by side: 8 bytes in 0.79 ns instead of 0.88 (Granite
 * Rapids). */
static inline __attribute__((always_inline)) void hash_4_to_8(__m256i *words, size_t n,
                                                              __m256i size)
{
  for (size_t r = 0; r < n; r++)
    words[r] = _mm256_xor_si256(words[r], splat(xxph3_secret64(0)));
  for (size_t r = 0; r < n; r++)
    words[r] = _mm256_xor_si256(words[r], _mm256_srli_epi64(words[r], 51));
  for (size_t r = 0; r < n; r++)
    words[r] = _mm256_add_epi64(size, multiply32(words[r], XXPH3_PRIME32_1));
  for (size_t r = 0; r < n; r++)
    words[r] = _mm256_xor_si256(words[r], _mm256_srli_epi64(words[r], 47));
  for (size_t r = 0; r < n; r++)
    words[r] = multiply(words[r], XXPH3_PRIME64_2);
  for (size_t r = 0; r < n; r++)
    words[r] = _mm256_xor_si256(words[r], _mm256_srli_epi64(words[r], 37));
  for (size_t r = 0; r < n; r++)
    words[r] = multiply(words[r], XXPH3_PRIME64_3);
  for (size_t r = 0; r < n; r++)
    words[r] = _mm256_xor_si256(words[r], _mm256_srli_epi64(words[r], 32));
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
static inline __m256i load_two(const uint8_t *at, size_t stride)
{
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)at)),
                                 _mm_loadu_si128((const void *)(at + stride)), 1);
}

/* 16 bytes of each key under 16 bytes of the secret: even and odd keys, in lanes of 16 bytes. */
static inline __m256i mix16(__m256i even, __m256i odd, size_t secret)
{
  const __m256i low = _mm256_unpacklo_epi64(even, odd), high = _mm256_unpackhi_epi64(even, odd);
  return multiply_fold(_mm256_xor_si256(low, splat(xxph3_secret64(secret))),
                       _mm256_xor_si256(high, splat(xxph3_secret64(secret + 8))));
}

/* ---- A key above 240 bytes ---- */

enum { NHALVES = XXPH3_NLANES / NLANES };

static inline void add_stripes(uint64_t lanes[XXPH3_NLANES], const uint8_t *stripes, size_t n,
                               size_t secret)
{
  __m256i sums[NHALVES];
  for (size_t half = 0; half < NHALVES; half++)
    sums[half] = _mm256_load_si256((const void *)(lanes + NLANES * half));
  for (size_t i = 0; i < n; i++)
    for (size_t half = 0; half < NHALVES; half++) {
      const uint8_t *keys = lanebloom_xxph3_secret + secret + 8 * i;
      const __m256i words = _mm256_loadu_si256((const void *)(stripes + 64 * i + 32 * half));
      const __m256i keyed =
          _mm256_xor_si256(words, _mm256_loadu_si256((const void *)(keys + 32 * half)));
      const __m256i product = _mm256_mul_epu32(keyed, _mm256_srli_epi64(keyed, 32));
      sums[half] = _mm256_add_epi64(sums[half], _mm256_add_epi64(words, product));
    }
  for (size_t half = 0; half < NHALVES; half++)
    store(lanes, NLANES * half, sums[half]);
}

static inline void scramble(uint64_t lanes[XXPH3_NLANES])
{
  for (size_t half = 0; half < NHALVES; half++) {
    __m256i h = _mm256_load_si256((const void *)(lanes + NLANES * half));
    h = _mm256_xor_si256(h, _mm256_srli_epi64(h, 47));
    h = _mm256_xor_si256(
        h, _mm256_loadu_si256((const void *)(lanebloom_xxph3_secret + 128 + 32 * half)));
    store(lanes, NLANES * half, multiply32(h, XXPH3_PRIME32_1));
  }
}

static const struct xxph3_stripe_vocabulary stripes = {add_stripes, scramble};

/* ---- Keys of one width ---- */

/* Returns how many keys are done. */
/* NLANES keys, from which 16 bytes can be read. Where width is 8, they are in place. */
static inline __m256i load_4_to_8(const uint8_t *keys, size_t width, __m256i ends)
{
  return width == 8 ? _mm256_loadu_si256((const void *)keys)
                    : _mm256_shuffle_epi8(load_two(keys, 2 * width), ends);
}

/* Keys after which `nmore` others can be read. Returns how many are done. */
static inline __attribute__((always_inline)) size_t hash_4_to_8_of(const uint8_t *keys,
                                                                   size_t width, __m256i ends,
                                                                   size_t nmore, size_t n,
                                                                   void *hashes)
{
  const __m256i size = splat(width);
  __m256i words[NREGISTERS];
  size_t i = 0;
  for (; i + NREGISTERS * NLANES + nmore <= n; i += NREGISTERS * NLANES) {
    for (size_t r = 0; r < NREGISTERS; r++)
      words[r] = load_4_to_8(keys + (i + r * NLANES) * width, width, ends);
    hash_4_to_8(words, NREGISTERS, size);
    for (size_t r = 0; r < NREGISTERS; r++)
      store(hashes, i + r * NLANES, words[r]);
  }
  for (; i + NLANES + nmore <= n; i += NLANES) {
    words[0] = load_4_to_8(keys + i * width, width, ends);
    hash_4_to_8(words, 1, size);
    store(hashes, i, words[0]);
  }
  return i;
}

static size_t fixed_4_to_8(const uint8_t *keys, size_t width, size_t n, void *hashes)
{
  const __m128i at = _mm_set_epi8(-1, -2, -3, -4, 3, 2, 1, 0, -1, -2, -3, -4, 3, 2, 1, 0);
  const __m128i widths = _mm_mullo_epi16(_mm_set_epi32(0x02020202, 0x01010101, 0x01010101, 0),
                                         _mm_set1_epi16((short)width));
  const __m256i ends = _mm256_broadcastsi128_si256(_mm_add_epi8(at, widths));
  return hash_4_to_8_of(keys, width, ends, 2, n, hashes);
}

static size_t fixed_8(const uint8_t *keys, size_t n, void *hashes)
{
  return hash_4_to_8_of(keys, 8, _mm256_setzero_si256(), 0, n, hashes);
}

static size_t fixed_9_to_16(const uint8_t *keys, size_t width, size_t n, void *hashes)
{
  const __m256i size = splat(width);
  size_t i = 0;
  for (; i + NLANES + 1 <= n; i += NLANES) {
    const uint8_t *first = keys + i * width, *last = first + width - 8;
    __m256i low =
        _mm256_unpacklo_epi64(load_two(first, 2 * width), load_two(first + width, 2 * width));
    __m256i high =
        _mm256_unpacklo_epi64(load_two(last, 2 * width), load_two(last + width, 2 * width));
    store(hashes, i, hash_9_to_16(low, high, size));
  }
  return i;
}

static size_t fixed_16(const uint8_t *keys, size_t n, void *hashes)
{
  const __m256i size = splat(16);
  size_t i = 0;
  for (; i + NLANES <= n; i += NLANES) {
    __m256i even = load_two(keys + i * 16, 32), odd = load_two(keys + i * 16 + 16, 32);
    store(hashes, i,
          hash_9_to_16(_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd), size));
  }
  return i;
}

static inline __m256i mix16_of_width(const uint8_t *at, size_t width, size_t secret)
{
  return mix16(load_two(at, 2 * width), load_two(at + width, 2 * width), secret);
}

static size_t fixed_17_to_128(const uint8_t *keys, size_t width, size_t n, void *hashes)
{
  size_t i = 0;
  for (; i + NLANES <= n; i += NLANES) {
    const uint8_t *first = keys + i * width, *last = first + width - 16;
    __m256i h = splat(width * XXPH3_PRIME64_1);
    for (size_t j = 0; j <= (width - 1) / 32; j++) {
      h = _mm256_add_epi64(h, mix16_of_width(first + 16 * j, width, 32 * j));
      h = _mm256_add_epi64(h, mix16_of_width(last - 16 * j, width, 32 * j + 16));
    }
    store(hashes, i, avalanche(h));
  }
  return i;
}

static const struct xxph3_width_vocabulary widths = {
    fixed_8, fixed_16, fixed_4_to_8, fixed_9_to_16, fixed_17_to_128, NULL, &stripes};

static inline __attribute__((always_inline)) size_t hash_fixed(const uint8_t *keys, size_t width,
                                                               size_t n, void *hashes)
{
  return hash_width(keys, width, n, &widths, hashes);
}

/* ---- Keys of many sizes ---- */

/* Of keys i .. i + NLANES. */
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

static inline __m256i addresses_at(const lanebloom_keys *keys, size_t i)
{
  const __m256i data = splat((uintptr_t)keys->data);
  if (keys->layout == KEYS_OFFSETS32) {
    const uint32_t *offsets = (const uint32_t *)keys->index + i;
    return _mm256_add_epi64(data, _mm256_cvtepu32_epi64(_mm_loadu_si128((const void *)offsets)));
  }
  if (keys->layout == KEYS_OFFSETS64) {
    const uint64_t *offsets = (const uint64_t *)keys->index + i;
    return _mm256_add_epi64(data, _mm256_loadu_si256((const void *)offsets));
  }
  const lanebloom_slice *slices = (const lanebloom_slice *)keys->index + i;
  __m256i a = _mm256_loadu_si256((const void *)slices),
          b = _mm256_loadu_si256((const void *)(slices + 2));
  return _mm256_permute4x64_epi64(_mm256_unpacklo_epi64(a, b), 0xd8);
}

static inline bool stay_in_page(const lanebloom_keys *keys, size_t i)
{
  const __m256i size = sizes_at(keys, i);
  const __m256i at = _mm256_and_si256(addresses_at(keys, i), splat(PAGE_NBYTES - 1));
  const __m256i near_end = _mm256_cmpgt_epi64(at, splat(PAGE_NBYTES - MAX_SHORT));
  const __m256i beyond = _mm256_and_si256(near_end, _mm256_cmpgt_epi64(splat(MAX_SHORT), size));
  const __m256i empty = _mm256_cmpeq_epi64(size, _mm256_setzero_si256());
  return _mm256_testz_si256(_mm256_or_si256(beyond, empty), splat(UINT64_MAX));
}

/* 16 bytes of a key, of which the last may be somebody else's, on the same page: sanitizers would
 * object. */
__attribute__((no_sanitize("address", "thread"))) static inline __m128i
load_16(const lanebloom_keys *keys, size_t i)
{
  const void *from = keys_at(keys, i).data;
  __asm__("" : "+r"(from)); /* gcc 12 would add addresses in lanes and move them out one by one */
  return _mm_loadu_si128(from);
}

/* Of keys i and i + 2. */
static inline __m256i load_seconds(const lanebloom_keys *keys, size_t i)
{
  return _mm256_inserti128_si256(_mm256_castsi128_si256(load_16(keys, i)), load_16(keys, i + 2), 1);
}

/* Both classes at once, and each lane takes its own. Shifts by 64 bits and more leave zeros. */
static inline __m256i hash_short_lanes(__m256i front, __m256i back, __m256i size)
{
  const __m256i nbits = _mm256_slli_epi64(size, 3);
  const __m256i is_middle = _mm256_cmpgt_epi64(size, splat(8));
  __m256i words =
      _mm256_blend_epi32(front, _mm256_sllv_epi64(front, _mm256_sub_epi64(splat(64), nbits)), 0xaa);
  words = _mm256_xor_si256(words, splat(xxph3_secret64(0)));
  words = _mm256_xor_si256(words, _mm256_srli_epi64(words, 51));
  __m256i mixed = _mm256_add_epi64(size, multiply32(words, XXPH3_PRIME32_1));
  mixed = _mm256_xor_si256(mixed, _mm256_srli_epi64(mixed, 47));
  __m256i h = multiply(mixed, XXPH3_PRIME64_2);

  const __m256i last =
      _mm256_or_si256(_mm256_srlv_epi64(front, _mm256_sub_epi64(nbits, splat(64))),
                      _mm256_sllv_epi64(back, _mm256_sub_epi64(splat(128), nbits)));
  const __m256i low = _mm256_xor_si256(front, splat(xxph3_secret64(0)));
  const __m256i high = _mm256_xor_si256(last, splat(xxph3_secret64(8)));
  __m256i sum = _mm256_add_epi64(_mm256_add_epi64(size, low), high);
  sum = _mm256_add_epi64(sum, multiply_fold(low, high));
  return avalanche(_mm256_blendv_epi8(h, sum, is_middle));
}

static inline __attribute__((always_inline)) size_t hash_short(const lanebloom_keys *keys, size_t i,
                                                               size_t first,
                                                               struct unlisted *unlisted, size_t n,
                                                               void *hashes)
{
  const __m256i size = sizes_at(keys, i);
  const __m256i is_tiny = _mm256_cmpgt_epi64(splat(MIN_SHORT), size);
  const __m256i not_short = _mm256_or_si256(is_tiny, _mm256_cmpgt_epi64(size, splat(MAX_SHORT)));
  const unsigned mask = (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(not_short));
  if (mask != 0xf) {
    const __m256i even = load_seconds(keys, i), odd = load_seconds(keys, i + 1);
    store(
        hashes, 0,
        hash_short_lanes(_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd), size));
  }
  const size_t before = n;
  for (unsigned lane = 0; lane < NLANES; lane++) {
    unlisted->indices[n] = (uint32_t)first + lane;
    n += mask >> lane & 1;
  }
  return n - before;
}

static inline __attribute__((always_inline)) void list_keys(const lanebloom_keys *keys,
                                                            const struct unlisted *unlisted,
                                                            size_t n, struct lists *lists)
{
  for (size_t j = 0; j < n; j++) {
    const size_t size = keys_at(keys, unlisted->indices[j]).size;
    const size_t l = size < MIN_SHORT || size > 128 ? OTHERS : (size - 1) / 32;
    lists->indices[l][lists->counts[l]++] = unlisted->indices[j];
  }
}

/* 16 bytes each of every second key from the first on, at the same distance. */
static inline __m256i two_of(const uint8_t *const *at, ptrdiff_t distance)
{
  const __m128i lower = _mm_loadu_si128((const void *)(at[0] + distance)),
                upper = _mm_loadu_si128((const void *)(at[2] + distance));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(lower), upper, 1);
}

static inline __m256i mix16_of(const uint8_t *const *at, ptrdiff_t distance, size_t secret)
{
  return mix16(two_of(at, distance), two_of(at + 1, distance), secret);
}

static inline __attribute__((always_inline)) void hash_steps(const uint8_t *const *first,
                                                             const uint8_t *const *last,
                                                             const uint64_t *sizes, size_t nsteps,
                                                             uint64_t *hashes)
{
  __m256i h = _mm256_setzero_si256();
  for (size_t j = 0; j < nsteps; j++) {
    __asm__("" ::: "memory"); /* gcc 12 would keep addresses in vector registers */
    h = _mm256_add_epi64(h, mix16_of(first, 16 * (ptrdiff_t)j, 32 * j));
    h = _mm256_add_epi64(h, mix16_of(last, -16 * (ptrdiff_t)j, 32 * j + 16));
  }
  h = _mm256_add_epi64(h, multiply(_mm256_loadu_si256((const void *)sizes), XXPH3_PRIME64_1));
  store(hashes, 0, avalanche(h));
}

static const struct xxph3_list_vocabulary lanes = {NLANES,    stay_in_page, hash_short,
                                                   list_keys, hash_steps,   &stripes};

static inline __attribute__((always_inline)) void hash_mixed(const lanebloom_keys *keys,
                                                             void *hashes)
{
  hash_many_sizes(keys, &lanes, hashes);
}

static const struct xxph3_vocabulary vocabulary = {hash_fixed, hash_mixed, &stripes};

void KERNEL(xxph3_hash)(const lanebloom_keys *keys, void *hashes)
{
  xxph3_hash(keys, &vocabulary, hashes);
}
