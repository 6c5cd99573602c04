/* The steps of XXPH3 for keys of 4 to 16 bytes, and its lists, for AVX-512. Keys of one width are
 * loaded side by side by masked loads and moved to lanes by permutations. A masked load can end
 * where the keys end, so no key is left to scalar code. For short keys of many sizes, rotations
 * find the ends of keys, and the indices of longer keys are compressed into lists.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX512_XXPH3_PACKED_H
#define LANEBLOOM_AVX512_XXPH3_PACKED_H

#include "../lanes/xxph3_steps.h"

static inline vector multiply(vector a, uint64_t b)
{
  return _mm512_mullo_epi64(a, splat64(b));
}

static inline vector multiply32(vector a, uint32_t b)
{
  return multiply(a, b);
}

/* Returns x ^ x >> 51, where x is words ^ secret. The secret and the shifted secret are combined
 * into one constant, so that one shift and one xor of three operands are enough. */
static inline vector under_secret(vector words)
{
  const uint64_t secret = xxph3_secret64(0);
  return bit_xor(bit_xor(words, shift_right64(words, 51)), splat64(secret ^ secret >> 51));
}

/* ---- Keys of one width ---- */

/* Loads n bytes, or 64 if n is more, and sets the other bytes of the vector to 0. */
static inline vector load_first(const uint8_t *from, size_t n)
{
  return _mm512_maskz_loadu_epi8(_bzhi_u64(UINT64_MAX, (unsigned)n), from);
}

static inline void store_first(void *hashes, size_t i, size_t n, vector h)
{
  _mm512_mask_storeu_epi64((uint8_t *)hashes + i * sizeof(uint64_t),
                           (__mmask8)_bzhi_u32(0xff, (unsigned)n), h);
}

/* The indices that move keys into blocks from a vector in which the keys are side by side. Each
 * block gets `unit` bytes: block j gets the bytes of the vector from byte j * unit on. permute()
 * first moves words of 16 bits, from word j * unit / 2 on, and then bytes: if `unit` is odd, blocks
 * 1 and 3 begin with the second byte of their first word. */
struct packing {
  vector words, bytes;
};

static inline vector permute(vector packed, const struct packing *how)
{
  return shuffle_bytes(_mm512_permutexvar_epi16(how->words, packed), how->bytes);
}

static inline vector word_indices(size_t unit)
{
  const vector block = _mm512_set_epi64(3, 3, 2, 2, 1, 1, 0, 0);
  const vector step = _mm512_broadcast_i32x4(_mm_set_epi16(7, 6, 5, 4, 3, 2, 1, 0));
  const vector first = shift_right64(mul_even32(block, splat64(unit)), 1);
  return _mm512_add_epi16(step, mul_low32(merge_even32(first, first), splat32(0x10001)));
}

/* Returns the packing for keys of 4 to 8 bytes, two in each block: the first four and the last four
 * bytes of each key. */
static inline struct packing packing_4_to_8(size_t width)
{
  return (struct packing){word_indices(2 * width), ends_of_two(width, width)};
}

/* Returns the packing for keys of 9 to 16 bytes, one in each block: the first eight and the last
 * eight bytes of the key. */
static inline struct packing packing_9_to_16(size_t width)
{
  const uint64_t first = 0x0706050403020100, each = 0x0101010101010101;
  const vector odd = _mm512_set_epi64(-1, -1, 0, 0, -1, -1, 0, 0);
  const vector second = bit_and(odd, splat8(width & 1));
  const vector ends = splat_block((const uint64_t[]){first, first + (width - 8) * each});
  return (struct packing){word_indices(width), add64(ends, second)};
}

/* Loads n keys, at most LANES64. */
static inline vector load_keys_4_to_8(const uint8_t *keys, size_t n, size_t width,
                                      const struct packing *how)
{
  const vector packed = load_first(keys, n * width);
  return width == 8 ? packed : permute(packed, how);
}

static inline vector load_4_to_8(const uint8_t *keys, size_t width, const struct packing *how)
{
  return load_keys_4_to_8(keys, LANES64, width, how);
}

static inline __attribute__((always_inline)) size_t hash_all_4_to_8(const uint8_t *keys,
                                                                    size_t width,
                                                                    const struct packing *how,
                                                                    size_t n, void *hashes)
{
  const size_t i = hash_4_to_8_of(keys, width, how, 0, n, hashes);
  if (i < n) {
    vector words = load_keys_4_to_8(keys + i * width, n - i, width, how);
    hash_4_to_8(&words, 1, splat64(width));
    store_first(hashes, i, n - i, words);
  }
  return n;
}

static inline size_t fixed_4_to_8(const uint8_t *keys, size_t width, size_t n, void *hashes)
{
  const struct packing how = packing_4_to_8(width);
  return hash_all_4_to_8(keys, width, &how, n, hashes);
}

static inline size_t fixed_8(const uint8_t *keys, size_t n, void *hashes)
{
  return hash_all_4_to_8(keys, 8, NULL, n, hashes);
}

/* Hashes eight keys, each in a block: keys 0 to 3 in a, keys 4 to 7 in b. */
static inline vector hash_pairs(vector a, vector b, vector size)
{
  return hash_9_to_16(unzipped(unzip_even64(a, b)), unzipped(unzip_odd64(a, b)), size);
}

static inline size_t fixed_9_to_16(const uint8_t *keys, size_t width, size_t n, void *hashes)
{
  const struct packing how = packing_9_to_16(width);
  const vector size = splat64(width);
  const size_t half = LANES64 / 2 * width;
  size_t i = 0;
  for (; i + LANES64 <= n; i += LANES64) {
    const uint8_t *at = keys + i * width;
    const vector a = load_first(at, half), b = load_first(at + half, half);
    store_hashes(hashes, i, hash_pairs(permute(a, &how), permute(b, &how), size));
  }
  if (i < n) {
    const uint8_t *at = keys + i * width;
    const size_t nbytes = (n - i) * width;
    const vector a = load_first(at, nbytes < half ? nbytes : half);
    const vector b = load_first(at + half, nbytes > half ? nbytes - half : 0);
    store_first(hashes, i, n - i, hash_pairs(permute(a, &how), permute(b, &how), size));
  }
  return n;
}

static inline size_t fixed_16(const uint8_t *keys, size_t n, void *hashes)
{
  const vector size = splat64(16);
  size_t i = 0;
  for (; i + LANES64 <= n; i += LANES64) {
    const uint8_t *at = keys + i * 16;
    store_hashes(hashes, i, hash_pairs(load(at), load(at + VECTOR_NBYTES), size));
  }
  if (i < n)
    fixed_9_to_16(keys + i * 16, 16, n - i, (uint8_t *)hashes + i * sizeof(uint64_t));
  return n;
}

/* ---- Keys of many sizes ---- */

static inline mask64 not_short(vector size)
{
  return _mm512_cmpgt_epu64_mask(sub64(size, splat64(MIN_SHORT)), splat64(MAX_SHORT - MIN_SHORT));
}

/* Returns the ends of keys, which rotations move to the top of lanes. The figure shows a key of 6
 * bytes and a key of 11 bytes, in the order of memory:
 *
 *   front, back                0123 45..  ........      0123 4567  89a.....
 *   front, rotated left        ..01 2345                 3456 7012
 *   back, rotated left                                             ...8 9a..  89a to the end
 *   last four, or eight             2345                 3456 789a */
static inline struct ends ends_of(vector front, vector back, vector size)
{
  const vector shift = sub64(splat64(128), shift_left64(size, 3));
  const vector rotated = _mm512_rolv_epi64(front, shift);
  const vector from_back = shift_left_each64(splat64(UINT64_MAX), shift);
  /* selects the rotated `back` where from_back is set, and otherwise the rotated `front` */
  const vector eights =
      _mm512_ternarylogic_epi64(from_back, _mm512_rolv_epi64(back, shift), rotated, 0xca);
  return (struct ends){rotated, eights};
}

static inline size_t leave_unlisted(mask64 chosen, vector size, size_t first,
                                    struct unlisted *unlisted, size_t n)
{
  /* Sizes below MIN_SHORT are replaced by the largest number, so that their keys get into the list
   * OTHERS. */
  const vector far =
      select64(greater_signed64(splat64(MIN_SHORT), size), splat64(UINT64_MAX), size);
  const __m256i list = _mm512_cvtepi64_epi32(
      _mm512_min_epu64(shift_right64(sub64(far, splat64(1)), 5), splat64(OTHERS)));
  const __m256i indices =
      _mm256_add_epi32(_mm256_set1_epi32((int)first), _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0));
  _mm256_storeu_si256((void *)(unlisted->indices + n),
                      _mm256_maskz_compress_epi32(chosen, indices));
  _mm256_storeu_si256((void *)(unlisted->lists + n), _mm256_maskz_compress_epi32(chosen, list));
  return (size_t)_mm_popcnt_u32(chosen);
}

static inline void list_keys(const lanebloom_keys *keys, const struct unlisted *unlisted, size_t n,
                             struct lists *lists)
{
  (void)keys;
  for (size_t j = 0; j < n; j += LANES64) {
    const __mmask8 there = n - j < LANES64 ? (__mmask8)_bzhi_u32(0xff, (unsigned)(n - j)) : 0xff;
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

#endif
