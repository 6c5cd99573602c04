/* XXPH3 in lanes of AVX-512: eight keys at a time.
 * SPDX-License-Identifier: MIT */
#include "../lanes/lanes.h"
#include "../lanes/xxph3_lists.h"
#include "isa.h"

enum { NLANES = 8, VECTOR_NBYTES = 64, NREGISTERS = 8 };

/* ---- Vocabulary ---- */

static inline __m512i splat(uint64_t value)
{
  return _mm512_set1_epi64((long long)value);
}

static inline __m512i multiply(__m512i a, uint64_t b)
{
  return _mm512_mullo_epi64(a, splat(b));
}

/* The 128-bit products, folded to 64 bits: of four products of halves, as by hand.
 *
 *                 a.low  * b.low
 *         a.high * b.low            its lower half joins the two middle products' sum of 65 bits
 *         a.low  * b.high
 * a.high * b.high */
static inline __m512i multiply_fold(__m512i a, __m512i b)
{
  const __mmask16 upper = 0xaaaa;
  const __m512i low_half = splat(0xffffffff);
  __m512i a_high = _mm512_srli_epi64(a, 32), b_high = _mm512_srli_epi64(b, 32);
  __m512i bottom = _mm512_mul_epu32(a, b), top = _mm512_mul_epu32(a_high, b_high);
  __m512i middle = _mm512_add_epi64(_mm512_mul_epu32(a_high, b), _mm512_srli_epi64(bottom, 32));
  __m512i other = _mm512_add_epi64(_mm512_mul_epu32(a, b_high), _mm512_and_si512(middle, low_half));
  __m512i low = _mm512_mask_shuffle_epi32(bottom, upper, other, _MM_PERM_CCAA);
  __m512i high = _mm512_add_epi64(_mm512_add_epi64(top, _mm512_srli_epi64(middle, 32)),
                                  _mm512_srli_epi64(other, 32));
  return _mm512_xor_si512(low, high);
}

static inline __m512i avalanche(__m512i h)
{
  h = _mm512_xor_si512(h, _mm512_srli_epi64(h, 37));
  h = multiply(h, XXPH3_PRIME64_3);
  return _mm512_xor_si512(h, _mm512_srli_epi64(h, 32));
}

/* words: n registers, a key's last four bytes above its first four. They take each step side by
 * side, because a product takes 15 cycles: 8 bytes in 0.39 ns instead of 0.42 (Granite Rapids). The
 * secret's own shift joins the constant. */
static inline __attribute__((always_inline)) void hash_4_to_8(__m512i *words, size_t n,
                                                              __m512i size)
{
  const uint64_t secret = xxph3_secret64(0);
  for (size_t r = 0; r < n; r++)
    words[r] = _mm512_xor_si512(_mm512_xor_si512(words[r], _mm512_srli_epi64(words[r], 51)),
                                splat(secret ^ secret >> 51));
  for (size_t r = 0; r < n; r++)
    words[r] = _mm512_add_epi64(size, multiply(words[r], XXPH3_PRIME32_1));
  for (size_t r = 0; r < n; r++)
    words[r] = _mm512_xor_si512(words[r], _mm512_srli_epi64(words[r], 47));
  for (size_t r = 0; r < n; r++)
    words[r] = multiply(words[r], XXPH3_PRIME64_2);
  for (size_t r = 0; r < n; r++)
    words[r] = _mm512_xor_si512(words[r], _mm512_srli_epi64(words[r], 37));
  for (size_t r = 0; r < n; r++)
    words[r] = multiply(words[r], XXPH3_PRIME64_3);
  for (size_t r = 0; r < n; r++)
    words[r] = _mm512_xor_si512(words[r], _mm512_srli_epi64(words[r], 32));
}

/* low, high: a key's first and last eight bytes. */
static inline __m512i hash_9_to_16(__m512i low, __m512i high, __m512i size)
{
  low = _mm512_xor_si512(low, splat(xxph3_secret64(0)));
  high = _mm512_xor_si512(high, splat(xxph3_secret64(8)));
  __m512i sum = _mm512_add_epi64(_mm512_add_epi64(size, low), high);
  return avalanche(_mm512_add_epi64(sum, multiply_fold(low, high)));
}

static inline __mmask64 first_bytes(size_t n)
{
  return _bzhi_u64(UINT64_MAX, (unsigned)n); /* all from 64 upward */
}

static inline void store_first(void *hashes, size_t i, size_t n, __m512i h)
{
  _mm512_mask_storeu_epi64((uint8_t *)hashes + i * sizeof(uint64_t),
                           (__mmask8)_bzhi_u32(0xff, (unsigned)n), h);
}

static inline void store(void *hashes, size_t i, __m512i h)
{
  _mm512_storeu_si512((uint8_t *)hashes + i * sizeof(uint64_t), h);
}

/* 16 bytes of each key under 16 bytes of the secret: even and odd keys, in lanes of 16 bytes. */
static inline __m512i mix16(__m512i even, __m512i odd, size_t secret)
{
  const __m512i low = _mm512_unpacklo_epi64(even, odd), high = _mm512_unpackhi_epi64(even, odd);
  return multiply_fold(_mm512_xor_si512(low, splat(xxph3_secret64(secret))),
                       _mm512_xor_si512(high, splat(xxph3_secret64(secret + 8))));
}

/* ---- A key above 240 bytes ---- */

static inline void add_stripes(uint64_t lanes[XXPH3_NLANES], const uint8_t *stripes, size_t n,
                               size_t secret)
{
  __m512i sum = _mm512_load_si512(lanes);
  for (size_t i = 0; i < n; i++) {
    const __m512i words = _mm512_loadu_si512(stripes + i * VECTOR_NBYTES);
    const __m512i keyed =
        _mm512_xor_si512(words, _mm512_loadu_si512(lanebloom_xxph3_secret + secret + 8 * i));
    const __m512i product = _mm512_mul_epu32(keyed, _mm512_srli_epi64(keyed, 32));
    sum = _mm512_add_epi64(sum, _mm512_add_epi64(words, product));
  }
  _mm512_store_si512(lanes, sum);
}

static inline void scramble(uint64_t lanes[XXPH3_NLANES])
{
  __m512i h = _mm512_load_si512(lanes);
  h = _mm512_xor_si512(h, _mm512_srli_epi64(h, 47));
  h = _mm512_xor_si512(h, _mm512_loadu_si512(lanebloom_xxph3_secret + 128));
  _mm512_store_si512(lanes, multiply(h, XXPH3_PRIME32_1));
}

static const struct xxph3_stripe_vocabulary stripes = {add_stripes, scramble};

/* ---- Keys of one width ---- */

/* How quarters of a vector, of `unit` bytes each, get into lanes of 128 bits. Lane j begins with
 * 16-bit word j * unit / 2; where unit is odd, lanes 1 and 3 with that word's second byte. */
struct permutation {
  __m512i words, bytes;
};

static inline __m512i permute(__m512i packed, struct permutation how)
{
  return _mm512_shuffle_epi8(_mm512_permutexvar_epi16(how.words, packed), how.bytes);
}

static inline __m512i word_indices(size_t unit)
{
  const __m512i lane = _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0);
  const __m512i step = _mm512_broadcast_i32x4(_mm_set_epi16(7, 6, 5, 4, 3, 2, 1, 0));
  __m512i first = _mm512_srli_epi64(_mm512_mul_epu32(lane, splat(unit)), 1);
  return _mm512_add_epi16(step, _mm512_mullo_epi32(_mm512_shuffle_epi32(first, _MM_PERM_CCAA),
                                                   _mm512_set1_epi32(0x10001)));
}

/* Two keys per lane, of each the first four bytes and the last four:  a0-3 a(w-4)-(w-1) b0-3
 * b(w-4)-(w-1) */
static inline struct permutation permutation_4_to_8(size_t width)
{
  const __m128i at = _mm_set_epi8(-1, -2, -3, -4, 3, 2, 1, 0, -1, -2, -3, -4, 3, 2, 1, 0);
  const __m128i widths = _mm_mullo_epi16(_mm_set_epi32(0x02020202, 0x01010101, 0x01010101, 0),
                                         _mm_set1_epi16((short)width));
  return (struct permutation){word_indices(2 * width),
                              _mm512_broadcast_i32x4(_mm_add_epi8(at, widths))};
}

/* One key per lane, of it the first eight bytes and the last eight. */
static inline struct permutation permutation_9_to_16(size_t width)
{
  const __m512i odd = _mm512_set_epi64(-1, -1, 0, 0, -1, -1, 0, 0);
  const __m128i at =
      _mm_add_epi8(_mm_set_epi8(-1, -2, -3, -4, -5, -6, -7, -8, 7, 6, 5, 4, 3, 2, 1, 0),
                   _mm_set_epi64x((long long)(width * 0x0101010101010101), 0));
  const __m512i second = _mm512_and_si512(odd, _mm512_set1_epi8((char)(width & 1)));
  return (struct permutation){word_indices(width),
                              _mm512_add_epi8(_mm512_broadcast_i32x4(at), second)};
}

/* n keys, at most NLANES of them. Where width is 8, they are in place. */
static inline __m512i load_4_to_8(const uint8_t *keys, size_t n, size_t width,
                                  struct permutation how)
{
  const __m512i packed =
      _mm512_maskz_loadu_epi8(first_bytes((n < NLANES ? n : NLANES) * width), keys);
  return width == 8 ? packed : permute(packed, how);
}

/* width: 8 where `how` is not used. Returns n. */
static inline __attribute__((always_inline)) size_t
hash_4_to_8_of(const uint8_t *keys, size_t width, struct permutation how, size_t n, void *hashes)
{
  const __m512i size = splat(width);
  __m512i words[NREGISTERS];
  size_t i = 0;
  for (; i + NREGISTERS * NLANES <= n; i += NREGISTERS * NLANES) {
    for (size_t r = 0; r < NREGISTERS; r++)
      words[r] = load_4_to_8(keys + (i + r * NLANES) * width, NLANES, width, how);
    hash_4_to_8(words, NREGISTERS, size);
    for (size_t r = 0; r < NREGISTERS; r++)
      store(hashes, i + r * NLANES, words[r]);
  }
  for (; i < n; i += NLANES) {
    words[0] = load_4_to_8(keys + i * width, n - i, width, how);
    hash_4_to_8(words, 1, size);
    store_first(hashes, i, n - i, words[0]);
  }
  return n;
}

static size_t fixed_4_to_8(const uint8_t *keys, size_t width, size_t n, void *hashes)
{
  return hash_4_to_8_of(keys, width, permutation_4_to_8(width), n, hashes);
}

static size_t fixed_8(const uint8_t *keys, size_t n, void *hashes)
{
  return hash_4_to_8_of(keys, 8, (struct permutation){0}, n, hashes);
}

/* a: keys 0 to 3, b: keys 4 to 7, in lanes of 16 bytes. */
static inline __m512i hash_pairs(__m512i a, __m512i b, __m512i size)
{
  const __m512i even = _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0),
                odd = _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1);
  return hash_9_to_16(_mm512_permutex2var_epi64(a, even, b), _mm512_permutex2var_epi64(a, odd, b),
                      size);
}

static size_t fixed_9_to_16(const uint8_t *keys, size_t width, size_t n, void *hashes)
{
  const struct permutation how = permutation_9_to_16(width);
  const __m512i size = splat(width);
  const size_t half = NLANES / 2 * width;
  const __mmask64 four = first_bytes(half);
  size_t i = 0;
  for (; i + NLANES <= n; i += NLANES) {
    const uint8_t *at = keys + i * width;
    __m512i a = _mm512_maskz_loadu_epi8(four, at), b = _mm512_maskz_loadu_epi8(four, at + half);
    store(hashes, i, hash_pairs(permute(a, how), permute(b, how), size));
  }
  if (i < n) {
    const uint8_t *at = keys + i * width;
    const size_t nbytes = (n - i) * width;
    __m512i a = _mm512_maskz_loadu_epi8(first_bytes(nbytes < half ? nbytes : half), at);
    __m512i b = _mm512_maskz_loadu_epi8(first_bytes(nbytes > half ? nbytes - half : 0), at + half);
    store_first(hashes, i, n - i, hash_pairs(permute(a, how), permute(b, how), size));
  }
  return n;
}

static size_t fixed_16(const uint8_t *keys, size_t n, void *hashes)
{
  const __m512i size = splat(16);
  size_t i = 0;
  for (; i + NLANES <= n; i += NLANES) {
    const uint8_t *at = keys + i * 16;
    store(hashes, i,
          hash_pairs(_mm512_loadu_si512(at), _mm512_loadu_si512(at + VECTOR_NBYTES), size));
  }
  if (i < n)
    fixed_9_to_16(keys + i * 16, 16, n - i, (uint8_t *)hashes + i * sizeof(uint64_t));
  return n;
}

/* 16 bytes of each of four keys. */
static inline __m512i load_four(const uint8_t *at, size_t stride)
{
  __m512i four = _mm512_castsi128_si512(_mm_loadu_si128((const void *)at));
  four = _mm512_inserti64x2(four, _mm_loadu_si128((const void *)(at + stride)), 1);
  four = _mm512_inserti64x2(four, _mm_loadu_si128((const void *)(at + 2 * stride)), 2);
  return _mm512_inserti64x2(four, _mm_loadu_si128((const void *)(at + 3 * stride)), 3);
}

static inline __m512i mix16_of_width(const uint8_t *at, size_t width, size_t secret)
{
  return mix16(load_four(at, 2 * width), load_four(at + width, 2 * width), secret);
}

static size_t fixed_17_to_128(const uint8_t *keys, size_t width, size_t n, void *hashes)
{
  size_t i = 0;
  for (; i + NLANES <= n; i += NLANES) {
    const uint8_t *first = keys + i * width, *last = first + width - 16;
    __m512i h = splat(width * XXPH3_PRIME64_1);
    for (size_t j = 0; j <= (width - 1) / 32; j++) {
      h = _mm512_add_epi64(h, mix16_of_width(first + 16 * j, width, 32 * j));
      h = _mm512_add_epi64(h, mix16_of_width(last - 16 * j, width, 32 * j + 16));
    }
    store(hashes, i, avalanche(h));
  }
  return i;
}

static size_t fixed_129_to_240(const uint8_t *keys, size_t width, size_t n, void *hashes)
{
  size_t i = 0;
  for (; i + NLANES <= n; i += NLANES) {
    const uint8_t *at = keys + i * width;
    __m512i h = splat(width * XXPH3_PRIME64_1);
    for (size_t j = 0; j < 8; j++)
      h = _mm512_add_epi64(h, mix16_of_width(at + 16 * j, width, 16 * j));
    h = avalanche(h);
    for (size_t j = 8; j < width / 16; j++)
      h = _mm512_add_epi64(h, mix16_of_width(at + 16 * j, width, 16 * (j - 8) + 3));
    store(hashes, i, avalanche(_mm512_add_epi64(h, mix16_of_width(at + width - 16, width, 119))));
  }
  return i;
}

static const struct xxph3_width_vocabulary widths = {
    fixed_8, fixed_16, fixed_4_to_8, fixed_9_to_16, fixed_17_to_128, fixed_129_to_240, &stripes};

static inline __attribute__((always_inline)) size_t hash_fixed(const uint8_t *keys, size_t width,
                                                               size_t n, void *hashes)
{
  return hash_width(keys, width, n, &widths, hashes);
}

/* ---- Keys of many sizes ---- */

/* Of keys i .. i + NLANES. */
static inline __m512i sizes_at(const lanebloom_keys *keys, size_t i)
{
  if (keys->layout == KEYS_OFFSETS32) {
    const uint32_t *offsets = (const uint32_t *)keys->index + i;
    return _mm512_cvtepu32_epi64(_mm256_sub_epi32(_mm256_loadu_si256((const void *)(offsets + 1)),
                                                  _mm256_loadu_si256((const void *)offsets)));
  }
  if (keys->layout == KEYS_OFFSETS64) {
    const uint64_t *offsets = (const uint64_t *)keys->index + i;
    return _mm512_sub_epi64(_mm512_loadu_si512(offsets + 1), _mm512_loadu_si512(offsets));
  }
  const lanebloom_slice *slices = (const lanebloom_slice *)keys->index + i;
  return _mm512_permutex2var_epi64(_mm512_loadu_si512(slices),
                                   _mm512_set_epi64(15, 13, 11, 9, 7, 5, 3, 1),
                                   _mm512_loadu_si512(slices + 4));
}

static inline __m512i addresses_at(const lanebloom_keys *keys, size_t i)
{
  const __m512i data = splat((uintptr_t)keys->data);
  if (keys->layout == KEYS_OFFSETS32) {
    const uint32_t *offsets = (const uint32_t *)keys->index + i;
    return _mm512_add_epi64(data, _mm512_cvtepu32_epi64(_mm256_loadu_si256((const void *)offsets)));
  }
  if (keys->layout == KEYS_OFFSETS64)
    return _mm512_add_epi64(data, _mm512_loadu_si512((const uint64_t *)keys->index + i));
  const lanebloom_slice *slices = (const lanebloom_slice *)keys->index + i;
  return _mm512_permutex2var_epi64(_mm512_loadu_si512(slices),
                                   _mm512_set_epi64(14, 12, 10, 8, 6, 4, 2, 0),
                                   _mm512_loadu_si512(slices + 4));
}

static inline bool stay_in_page(const lanebloom_keys *keys, size_t i)
{
  const __m512i size = sizes_at(keys, i);
  const __m512i at = _mm512_and_si512(addresses_at(keys, i), splat(PAGE_NBYTES - 1));
  const __mmask8 near_end = _mm512_cmpgt_epu64_mask(at, splat(PAGE_NBYTES - MAX_SHORT));
  return ((near_end & _mm512_cmplt_epu64_mask(size, splat(MAX_SHORT))) |
          _mm512_testn_epi64_mask(size, size)) == 0;
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

/* Of every second key from i on. */
static inline __m512i load_seconds(const lanebloom_keys *keys, size_t i)
{
  __m512i four = _mm512_castsi128_si512(load_16(keys, i));
  four = _mm512_inserti64x2(four, load_16(keys, i + 2), 1);
  four = _mm512_inserti64x2(four, load_16(keys, i + 4), 2);
  return _mm512_inserti64x2(four, load_16(keys, i + 6), 3);
}

/* Both classes at once, and each lane takes its own. Key in memory order, 6 and 11 bytes of it:
 *
 *   front, back                0123 45..  ........      0123 4567  89a.....
 *   front, rotated left        ..01 2345                 3456 7012
 *   back, rotated left                                             ...8 9a..  89a to the end
 *   last four, or eight             2345                 3456 789a */
static inline __m512i hash_short_lanes(__m512i front, __m512i back, __m512i size)
{
  const __m512i shift = _mm512_sub_epi64(splat(128), _mm512_slli_epi64(size, 3));
  const __m512i rotated = _mm512_rolv_epi64(front, shift);
  const __m512i from_back = _mm512_sllv_epi64(splat(UINT64_MAX), shift);
  /* (rotated & ~from_back) | (back, rotated & from_back) */
  const __m512i last =
      _mm512_ternarylogic_epi64(from_back, _mm512_rolv_epi64(back, shift), rotated, 0xca);
  const __mmask8 middle = _mm512_cmpgt_epu64_mask(size, splat(8));

  const uint64_t secret = xxph3_secret64(0);
  __m512i words = _mm512_mask_blend_epi32(0xaaaa, front, rotated);
  words = _mm512_xor_si512(_mm512_xor_si512(words, _mm512_srli_epi64(words, 51)),
                           splat(secret ^ secret >> 51));
  __m512i mixed = _mm512_add_epi64(size, multiply(words, XXPH3_PRIME32_1));
  mixed = _mm512_xor_si512(mixed, _mm512_srli_epi64(mixed, 47));
  const __m512i h = multiply(mixed, XXPH3_PRIME64_2);

  const __m512i low = _mm512_xor_si512(front, splat(xxph3_secret64(0)));
  const __m512i high = _mm512_xor_si512(last, splat(xxph3_secret64(8)));
  const __m512i sum = _mm512_add_epi64(_mm512_add_epi64(size, low), high);
  return avalanche(_mm512_mask_add_epi64(h, middle, sum, multiply_fold(low, high)));
}

static inline __attribute__((always_inline)) size_t hash_short(const lanebloom_keys *keys, size_t i,
                                                               size_t first,
                                                               struct unlisted *unlisted, size_t n,
                                                               void *hashes)
{
  const __m512i size = sizes_at(keys, i);
  const __mmask8 not_short = _mm512_cmpgt_epu64_mask(_mm512_sub_epi64(size, splat(MIN_SHORT)),
                                                     splat(MAX_SHORT - MIN_SHORT));
  if (not_short != 0xff) {
    const __m512i even = load_seconds(keys, i), odd = load_seconds(keys, i + 1);
    store(
        hashes, 0,
        hash_short_lanes(_mm512_unpacklo_epi64(even, odd), _mm512_unpackhi_epi64(even, odd), size));
  }
  /* Sizes below MIN_SHORT as if more than any. */
  const __m512i far = _mm512_mask_mov_epi64(size, _mm512_cmplt_epu64_mask(size, splat(MIN_SHORT)),
                                            splat(UINT64_MAX));
  const __m256i list = _mm512_cvtepi64_epi32(
      _mm512_min_epu64(_mm512_srli_epi64(_mm512_sub_epi64(far, splat(1)), 5), splat(OTHERS)));
  const __m256i indices =
      _mm256_add_epi32(_mm256_set1_epi32((int)first), _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
  _mm256_storeu_si256((void *)(unlisted->indices + n),
                      _mm256_maskz_compress_epi32(not_short, indices));
  _mm256_storeu_si256((void *)(unlisted->lists + n), _mm256_maskz_compress_epi32(not_short, list));
  return (size_t)_mm_popcnt_u32(not_short);
}

static inline __attribute__((always_inline)) void list_keys(const lanebloom_keys *keys,
                                                            const struct unlisted *unlisted,
                                                            size_t n, struct lists *lists)
{
  (void)keys;
  for (size_t j = 0; j < n; j += NLANES) {
    const __mmask8 there = n - j < NLANES ? (__mmask8)_bzhi_u32(0xff, (unsigned)(n - j)) : 0xff;
    const __m256i indices = _mm256_loadu_si256((const void *)(unlisted->indices + j));
    const __m256i list = _mm256_loadu_si256((const void *)(unlisted->lists + j));
    for (size_t l = 0; l < NLISTS; l++) {
      const __mmask8 in_list = _mm256_mask_cmpeq_epi32_mask(there, list, _mm256_set1_epi32((int)l));
      _mm256_storeu_si256((void *)(lists->indices[l] + lists->counts[l]),
                          _mm256_maskz_compress_epi32(in_list, indices));
      lists->counts[l] += (unsigned)_mm_popcnt_u32(in_list);
    }
  }
}

/* 16 bytes each of every second key from the first on, at the same distance. */
static inline __m512i four_of(const uint8_t *const *at, ptrdiff_t distance)
{
  __m512i four = _mm512_castsi128_si512(_mm_loadu_si128((const void *)(at[0] + distance)));
  four = _mm512_inserti64x2(four, _mm_loadu_si128((const void *)(at[2] + distance)), 1);
  four = _mm512_inserti64x2(four, _mm_loadu_si128((const void *)(at[4] + distance)), 2);
  return _mm512_inserti64x2(four, _mm_loadu_si128((const void *)(at[6] + distance)), 3);
}

static inline __m512i mix16_of(const uint8_t *const *at, ptrdiff_t distance, size_t secret)
{
  return mix16(four_of(at, distance), four_of(at + 1, distance), secret);
}

static inline __attribute__((always_inline)) void hash_steps(const uint8_t *const *first,
                                                             const uint8_t *const *last,
                                                             const uint64_t *sizes, size_t nsteps,
                                                             uint64_t *hashes)
{
  __m512i h = _mm512_setzero_si512();
  for (size_t j = 0; j < nsteps; j++) {
    __asm__("" ::: "memory"); /* gcc 12 would keep addresses in vector registers */
    h = _mm512_add_epi64(h, mix16_of(first, 16 * (ptrdiff_t)j, 32 * j));
    h = _mm512_add_epi64(h, mix16_of(last, -16 * (ptrdiff_t)j, 32 * j + 16));
  }
  h = _mm512_add_epi64(h, multiply(_mm512_loadu_si512(sizes), XXPH3_PRIME64_1));
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
