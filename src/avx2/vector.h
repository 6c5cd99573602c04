/* Defines the words of lanes/vocabulary.h for AVX2, with a vector of 32 bytes. A number in a name
 * is the size of a lane in bits. A "block" is 16 bytes; byte shuffles and interleaving move bytes
 * only within a block. Tests also build this file on CPUs other than x86, where SIMDe provides the
 * intrinsics.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX2_VECTOR_H
#define LANEBLOOM_AVX2_VECTOR_H

#include <string.h>

#include "../lanes/vocabulary.h"
#include "lanes_of_mask.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define VECTOR_OPERAND "+x" /* the constraint for vectors in asm */
#else
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx2.h>
#define VECTOR_OPERAND "+m" /* in memory, because no register has 32 bytes */
#endif

/* Without optimisation, gcc's intrinsics with constant operands are macros; SIMDe's are always
 * macros. Compilers would report the conversions in these macros as if they were in this code, so
 * the warnings are switched off. */
#if (defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE__)) || !defined(__x86_64__)
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wconversion"
#endif

typedef __m256i vector;
typedef __m256i mask8, mask32, mask64; /* all bits of a lane are set, or none */
typedef __m256i order32;               /* see order_of32() */
typedef __m128i block16;
typedef __m256i count32, picked32; /* a picked bit is the sign of its lane */

#define VECTOR_NBYTES 32
enum {
  VECTOR_NBLOCKS = VECTOR_NBYTES / 16,
  LANES32 = VECTOR_NBYTES / 4,
  LANES64 = VECTOR_NBYTES / 8,
};

/* ---- Memory, at any alignment unless a name says otherwise ---- */

LOADING(load, _mm256_loadu_si256)
STORING(store, _mm256_storeu_si256)
LOADING(load_aligned, _mm256_load_si256)
STORING(store_aligned, _mm256_store_si256)
STORING(stream_aligned, _mm256_stream_si256)

static inline __attribute__((always_inline)) block16 load_block(const void *from)
{
  return _mm_loadu_si128(from);
}

static inline vector join_blocks(const block16 *blocks)
{
  return _mm256_inserti128_si256(_mm256_castsi128_si256(blocks[0]), blocks[1], 1);
}

LOADING_AS(load_widened32, _mm256_cvtepu32_epi64(_mm_loadu_si128(from)))

static inline vector load_differences32(const uint32_t *from)
{
  return _mm256_cvtepu32_epi64(_mm_sub_epi32(_mm_loadu_si128((const void *)(from + 1)),
                                             _mm_loadu_si128((const void *)from)));
}

#define HAS_GATHERS 1

/* Loads elements of `base`, an array of 32-bit numbers. The empty asm hides from gcc 12 that the
 * mask selects all lanes. Otherwise gcc would use a gather without the initial value of zero. Such
 * a gather waits for the old value of its register, and is 3.6 times slower. */
static inline vector gather32(const void *base, vector indices)
{
  __m256i all = _mm256_set1_epi32(-1);
  __asm__("" : VECTOR_OPERAND(all));
  return _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), (const int *)base, indices, all, 4);
}

/* Loads blocks. Sanitizers do not check this function, because they would report the loaded bytes
 * that belong to other data. */
__attribute__((no_sanitize("address", "thread"))) static inline vector
load_blocks(const uint8_t *const from[VECTOR_NBLOCKS])
{
  const block16 blocks[] = {load_block(from[0]), load_block(from[1])};
  return join_blocks(blocks);
}

/* Stores masks. At first, each mask is a byte in a dword. The four masks of each block are packed
 * into a dword, and then the two blocks are joined:
 *
 *   m0 m1 m2 m3 | m4 m5 m6 m7   ->   0123 0123 0123 0123 | 4567 4567 4567 4567   ->   0123 4567 */
static inline void store_masks8(uint8_t *to, vector v)
{
  const __m256i masks =
      _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_and_si256(v, _mm256_set1_epi32(7)));
  const __m256i words = _mm256_packs_epi32(masks, masks);
  const __m256i fours = _mm256_packus_epi16(words, words);
  _mm_storel_epi64((void *)to, _mm_unpacklo_epi32(_mm256_castsi256_si128(fours),
                                                  _mm256_extracti128_si256(fours, 1)));
}

LOADING(load_in_eights, _mm256_loadu_si256)

static inline void set_bits_32(uint8_t *to, const void *bits)
{
  store(to, _mm256_or_si256(load(to), load(bits)));
}

/* ---- Constants ---- */

static inline vector zero(void)
{
  return _mm256_setzero_si256();
}

SPLATTING(splat8, uint8_t, char, _mm256_set1_epi8)
SPLATTING(splat32, uint32_t, int, _mm256_set1_epi32)
SPLATTING(splat64, uint64_t, long long, _mm256_set1_epi64x)
SPLATTING(splat_count32, uint32_t, int, _mm256_set1_epi32)

LOADING_AS(splat_block, _mm256_broadcastsi128_si256(_mm_loadu_si128(from)))

static inline vector iota32(void)
{
  return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
}

/* ---- Arithmetic ---- */

BINARY(add32, _mm256_add_epi32)
BINARY(sub32, _mm256_sub_epi32)
BINARY(add64, _mm256_add_epi64)
BINARY(sub64, _mm256_sub_epi64)

BINARY_AS(subtract_if_positive32, _mm256_min_epu32(a, _mm256_sub_epi32(a, b)))

static inline vector subtract_if_positive64(vector a, vector b)
{
  const __m256i difference = _mm256_sub_epi64(a, b);
  const __m256d signs = _mm256_castsi256_pd(difference);
  return _mm256_castpd_si256(_mm256_blendv_pd(signs, _mm256_castsi256_pd(a), signs));
}

BINARY(mul_low32, _mm256_mullo_epi32)
BINARY(mul_even32, _mm256_mul_epu32)
BINARY(min_signed32, _mm256_min_epi32)
BINARY(sum_differences8, _mm256_sad_epu8)

/* ---- Bits ---- */

BINARY(bit_and, _mm256_and_si256)
BINARY(bit_or, _mm256_or_si256)
BINARY(bit_xor, _mm256_xor_si256)

BINARY_AS(bit_and_not, _mm256_andnot_si256(b, a))

SHIFTING(shift_left32, int, _mm256_slli_epi32)
SHIFTING(shift_right32, int, _mm256_srli_epi32)
SHIFTING(shift_left64, int, _mm256_slli_epi64)
SHIFTING(shift_right64, int, _mm256_srli_epi64)
SHIFTING(shift_right_count32, count32, _mm256_srlv_epi32)
BINARY(shift_left_each32, _mm256_sllv_epi32)
BINARY(shift_right_each32, _mm256_srlv_epi32)
BINARY(shift_left_each64, _mm256_sllv_epi64)
BINARY(shift_right_each64, _mm256_srlv_epi64)

COMPARING(are_disjoint, bool, _mm256_testz_si256)

static inline vector rotate_left32(vector v, int nbits)
{
  return bit_or(shift_left32(v, nbits), shift_right32(v, 32 - nbits));
}

/* ---- Masks ---- */

COMPARING(equal32, mask32, _mm256_cmpeq_epi32)
COMPARING(greater_signed8, mask8, _mm256_cmpgt_epi8)
COMPARING(equal64, mask64, _mm256_cmpeq_epi64)
COMPARING(greater_signed32, mask32, _mm256_cmpgt_epi32)
COMPARING(greater_signed64, mask64, _mm256_cmpgt_epi64)

static inline unsigned mask_bits32(mask32 mask)
{
  return (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(mask));
}

static inline unsigned mask_bits64(mask64 mask)
{
  return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(mask));
}

static inline mask64 positive_low32(vector v)
{
  return _mm256_cvtepi32_epi64(_mm256_castsi256_si128(greater_signed32(v, zero())));
}

static inline mask64 positive_high32(vector v)
{
  return _mm256_cvtepi32_epi64(_mm256_extracti128_si256(greater_signed32(v, zero()), 1));
}

CHOOSING_AS(keep8, mask8, _mm256_and_si256(mask, v))
CHOOSING_AS(keep32, mask32, _mm256_and_si256(mask, v))

SELECTING_AS(select32, mask32, _mm256_blendv_epi8(b, a, mask))

SELECTING_AS(select64, mask64, _mm256_blendv_epi8(b, a, mask))

static inline vector select_by_sign32(vector signs, vector a, vector b)
{
  return _mm256_castps_si256(
      _mm256_blendv_ps(_mm256_castsi256_ps(b), _mm256_castsi256_ps(a), _mm256_castsi256_ps(signs)));
}

static inline vector select_by_sign8(vector signs, vector a, vector b)
{
  return _mm256_blendv_epi8(b, a, signs);
}

static inline uint32_t zero_bits8(vector v)
{
  return (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(v, zero()));
}

/* ---- Bits in lanes ---- */

static inline picked32 pick_bits32(vector v, vector positions)
{
  return shift_left_each32(v, bit_and_not(splat32(31), positions));
}

#define picked_bits32 mask_bits32

/* ---- Moving lanes ---- */

BINARY(permute32, _mm256_permutevar8x32_epi32)
BINARY(shuffle_bytes, _mm256_shuffle_epi8)
BINARY(interleave_low32, _mm256_unpacklo_epi32)
BINARY(interleave_high32, _mm256_unpackhi_epi32)
BINARY(interleave_low64, _mm256_unpacklo_epi64)
BINARY(interleave_high64, _mm256_unpackhi_epi64)
BINARY(unzip_even64, _mm256_unpacklo_epi64)
BINARY(unzip_odd64, _mm256_unpackhi_epi64)

BINARY_AS(unzip_even32, _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a),
                                                              _mm256_castsi256_ps(b), 0x88)))

BINARY_AS(unzip_odd32, _mm256_castps_si256(_mm256_shuffle_ps(_mm256_castsi256_ps(a),
                                                             _mm256_castsi256_ps(b), 0xdd)))

static inline vector unzipped(vector v)
{
  return _mm256_permute4x64_epi64(v, 0xd8);
}

BINARY(narrow_signed32, _mm256_packs_epi32)
BINARY(narrow_signed16, _mm256_packs_epi16)

BINARY_AS(first_blocks, _mm256_permute2x128_si256(a, b, 0x20))
BINARY_AS(last_blocks, _mm256_permute2x128_si256(a, b, 0x31))
BINARY_AS(blend_odd32, _mm256_blend_epi32(a, b, 0xaa))
BINARY_AS(merge_even32, blend_odd32(a, _mm256_slli_epi64(b, 32)))
BINARY_AS(merge_odd32, blend_odd32(_mm256_srli_epi64(a, 32), b))

/* Returns the order that moves the lanes of a mask together. For the mask 0b01001010:
 *
 *   a b c d e f g h  ->  b d g a a a a a */
static inline order32 order_of32(unsigned mask)
{
  const __m256i nibble = _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28);
  return _mm256_srlv_epi32(_mm256_set1_epi32((int)lanes_of_mask[mask]), nibble);
}

static inline vector compress32(vector v, order32 order)
{
  return _mm256_permutevar8x32_epi32(v, order);
}

/* ---- Stores of some lanes ---- */

static inline void scatter32(uint8_t *base, const uint32_t *indices, size_t n, vector v)
{
  uint32_t lanes[LANES32];
  store(lanes, v);
  for (size_t i = 0; i < n; i++)
    memcpy(base + 4 * (size_t)indices[i], &lanes[i], sizeof lanes[i]);
}

/* Returns the order for lanes of 64 bits as indices of dwords. Lane i consists of the dwords 2 i
 * and 2 i + 1. */
static inline order32 order_of64(unsigned mask)
{
  const __m256i twice = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
  const vector order = permute32(order_of32(mask), twice);
  return add32(add32(order, order), splat64((uint64_t)1 << 32));
}

static inline void store_positive64(uint64_t *to, vector low, vector high, vector v)
{
  const unsigned mask = mask_bits32(greater_signed32(v, zero())), low_mask = mask & 0xf;
  store(to, permute32(low, order_of64(low_mask)));
  store(to + __builtin_popcount(low_mask), permute32(high, order_of64(mask >> 4)));
}

#include "../x86/words.h"

#endif
