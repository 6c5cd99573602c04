/* AVX2's vocabulary: what a vector of 32 bytes is for lanes/, and what can be done with it. A
 * number in a name is the bits of a lane, and "block" means 16 bytes, beyond which byte shuffles
 * and interleaving do not reach. Off x86, where only tests build this, by SIMDe.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_AVX2_VECTOR_H
#define LANEBLOOM_AVX2_VECTOR_H

#include <string.h>

#include "../lanes/vocabulary.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define VECTOR_OPERAND "+x" /* asm's */
#else
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx2.h>
#define VECTOR_OPERAND "+m" /* no register has as many bytes */
#endif

/* Without optimisation gcc's intrinsics with constant operands are macros, as SIMDe's always are,
 * and compilers report their conversions as ours. */
#if (defined(__GNUC__) && !defined(__clang__) && !defined(__OPTIMIZE__)) || !defined(__x86_64__)
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wconversion"
#endif

typedef __m256i vector;
typedef __m256i mask8, mask32, mask64; /* all bits of a lane, or none */
typedef __m256i order32;               /* see order_of32() */
typedef __m128i block16;
typedef __m256i count32, picked32; /* lanes; their signs */

#define VECTOR_NBYTES 32
enum {
  VECTOR_NBLOCKS = VECTOR_NBYTES / 16,
  LANES32 = VECTOR_NBYTES / 4,
  LANES64 = VECTOR_NBYTES / 8,
};

/* ---- Memory: any alignment, but where a name says otherwise ---- */

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

static inline vector load_widened32(const void *from)
{
  return _mm256_cvtepu32_epi64(_mm_loadu_si128(from));
}

static inline vector load_differences32(const uint32_t *from)
{
  return _mm256_cvtepu32_epi64(_mm_sub_epi32(_mm_loadu_si128((const void *)(from + 1)),
                                             _mm_loadu_si128((const void *)from)));
}
#define HAS_GATHERS

/* Elements of base, which holds 32 bits each. gcc 12 drops a mask that it knows, and then waits for
 * the register's old value: 3.6 times slower. */
static inline vector gather32(const void *base, vector indices)
{
  __m256i all = _mm256_set1_epi32(-1);
  __asm__("" : VECTOR_OPERAND(all));
  return _mm256_mask_i32gather_epi32(_mm256_setzero_si256(), (const int *)base, indices, all, 4);
}

/* Sanitizers would object to what may be somebody else's. */
__attribute__((no_sanitize("address", "thread"))) static inline vector
load_blocks(const uint8_t *const from[VECTOR_NBLOCKS])
{
  const block16 blocks[] = {load_block(from[0]), load_block(from[1])};
  return join_blocks(blocks);
}

/* Masks are bytes in dwords, and each block packs its own four:
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

static inline vector splat_block(const void *from)
{
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(from));
}

static inline vector iota32(void)
{
  return _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
}

/* ---- Arithmetic ---- */

BINARY(add32, _mm256_add_epi32)
BINARY(sub32, _mm256_sub_epi32)
BINARY(add64, _mm256_add_epi64)
BINARY(sub64, _mm256_sub_epi64)
BINARY(mul_low32, _mm256_mullo_epi32)
BINARY(mul_even32, _mm256_mul_epu32)
BINARY(min_signed32, _mm256_min_epi32)
BINARY(sum_differences8, _mm256_sad_epu8)

/* ---- Bits ---- */

BINARY(bit_and, _mm256_and_si256)
BINARY(bit_or, _mm256_or_si256)
BINARY(bit_xor, _mm256_xor_si256)

static inline vector bit_and_not(vector a, vector b)
{
  return _mm256_andnot_si256(b, a);
}

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

static inline vector keep8(mask8 mask, vector v)
{
  return _mm256_and_si256(mask, v);
}
static inline picked32 pick_bits32(vector v, vector positions)
{
  return shift_left_each32(v, bit_and_not(splat32(31), positions));
}

#define picked_bits32 mask_bits32

static inline vector keep32(mask32 mask, vector v)
{
  return _mm256_and_si256(mask, v);
}

static inline vector select32(mask32 mask, vector a, vector b)
{
  return _mm256_blendv_epi8(b, a, mask);
}

static inline vector select64(mask64 mask, vector a, vector b)
{
  return _mm256_blendv_epi8(b, a, mask);
}

static inline vector select_by_sign32(vector signs, vector a, vector b)
{
  return _mm256_castps_si256(
      _mm256_blendv_ps(_mm256_castsi256_ps(b), _mm256_castsi256_ps(a), _mm256_castsi256_ps(signs)));
}

/* ---- Moving lanes ---- */

BINARY(permute32, _mm256_permutevar8x32_epi32)
BINARY(shuffle_bytes, _mm256_shuffle_epi8)
BINARY(interleave_low32, _mm256_unpacklo_epi32)
BINARY(interleave_high32, _mm256_unpackhi_epi32)
BINARY(interleave_low64, _mm256_unpacklo_epi64)
BINARY(interleave_high64, _mm256_unpackhi_epi64)
BINARY(unzip_even64, _mm256_unpacklo_epi64)
BINARY(unzip_odd64, _mm256_unpackhi_epi64)

static inline vector unzip_even32(vector a, vector b)
{
  return _mm256_castps_si256(
      _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88));
}

static inline vector unzip_odd32(vector a, vector b)
{
  return _mm256_castps_si256(
      _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0xdd));
}

static inline vector unzipped(vector v)
{
  return _mm256_permute4x64_epi64(v, 0xd8);
}

BINARY(narrow_signed32, _mm256_packs_epi32)
BINARY(narrow_signed16, _mm256_packs_epi16)

BINARY_AS(first_blocks, _mm256_permute2x128_si256(a, b, 0x20))
BINARY_AS(last_blocks, _mm256_permute2x128_si256(a, b, 0x31))
BINARY_AS(even64, _mm256_permute4x64_epi64(_mm256_unpacklo_epi64(a, b), 0xd8))
BINARY_AS(odd64, _mm256_permute4x64_epi64(_mm256_unpackhi_epi64(a, b), 0xd8))
BINARY_AS(blend_odd32, _mm256_blend_epi32(a, b, 0xaa))
BINARY_AS(merge_even32, blend_odd32(a, _mm256_slli_epi64(b, 32)))
BINARY_AS(merge_odd32, blend_odd32(_mm256_srli_epi64(a, 32), b))

/* The lanes of a mask, in order, 4 bits each. pdep and pext, which could make them, are microcode
 * on Zen 1 and 2. */
static const uint32_t lanes_of_mask[256] = {
    0x00000000, 0x00000000, 0x00000001, 0x00000010, 0x00000002, 0x00000020, 0x00000021, 0x00000210,
    0x00000003, 0x00000030, 0x00000031, 0x00000310, 0x00000032, 0x00000320, 0x00000321, 0x00003210,
    0x00000004, 0x00000040, 0x00000041, 0x00000410, 0x00000042, 0x00000420, 0x00000421, 0x00004210,
    0x00000043, 0x00000430, 0x00000431, 0x00004310, 0x00000432, 0x00004320, 0x00004321, 0x00043210,
    0x00000005, 0x00000050, 0x00000051, 0x00000510, 0x00000052, 0x00000520, 0x00000521, 0x00005210,
    0x00000053, 0x00000530, 0x00000531, 0x00005310, 0x00000532, 0x00005320, 0x00005321, 0x00053210,
    0x00000054, 0x00000540, 0x00000541, 0x00005410, 0x00000542, 0x00005420, 0x00005421, 0x00054210,
    0x00000543, 0x00005430, 0x00005431, 0x00054310, 0x00005432, 0x00054320, 0x00054321, 0x00543210,
    0x00000006, 0x00000060, 0x00000061, 0x00000610, 0x00000062, 0x00000620, 0x00000621, 0x00006210,
    0x00000063, 0x00000630, 0x00000631, 0x00006310, 0x00000632, 0x00006320, 0x00006321, 0x00063210,
    0x00000064, 0x00000640, 0x00000641, 0x00006410, 0x00000642, 0x00006420, 0x00006421, 0x00064210,
    0x00000643, 0x00006430, 0x00006431, 0x00064310, 0x00006432, 0x00064320, 0x00064321, 0x00643210,
    0x00000065, 0x00000650, 0x00000651, 0x00006510, 0x00000652, 0x00006520, 0x00006521, 0x00065210,
    0x00000653, 0x00006530, 0x00006531, 0x00065310, 0x00006532, 0x00065320, 0x00065321, 0x00653210,
    0x00000654, 0x00006540, 0x00006541, 0x00065410, 0x00006542, 0x00065420, 0x00065421, 0x00654210,
    0x00006543, 0x00065430, 0x00065431, 0x00654310, 0x00065432, 0x00654320, 0x00654321, 0x06543210,
    0x00000007, 0x00000070, 0x00000071, 0x00000710, 0x00000072, 0x00000720, 0x00000721, 0x00007210,
    0x00000073, 0x00000730, 0x00000731, 0x00007310, 0x00000732, 0x00007320, 0x00007321, 0x00073210,
    0x00000074, 0x00000740, 0x00000741, 0x00007410, 0x00000742, 0x00007420, 0x00007421, 0x00074210,
    0x00000743, 0x00007430, 0x00007431, 0x00074310, 0x00007432, 0x00074320, 0x00074321, 0x00743210,
    0x00000075, 0x00000750, 0x00000751, 0x00007510, 0x00000752, 0x00007520, 0x00007521, 0x00075210,
    0x00000753, 0x00007530, 0x00007531, 0x00075310, 0x00007532, 0x00075320, 0x00075321, 0x00753210,
    0x00000754, 0x00007540, 0x00007541, 0x00075410, 0x00007542, 0x00075420, 0x00075421, 0x00754210,
    0x00007543, 0x00075430, 0x00075431, 0x00754310, 0x00075432, 0x00754320, 0x00754321, 0x07543210,
    0x00000076, 0x00000760, 0x00000761, 0x00007610, 0x00000762, 0x00007620, 0x00007621, 0x00076210,
    0x00000763, 0x00007630, 0x00007631, 0x00076310, 0x00007632, 0x00076320, 0x00076321, 0x00763210,
    0x00000764, 0x00007640, 0x00007641, 0x00076410, 0x00007642, 0x00076420, 0x00076421, 0x00764210,
    0x00007643, 0x00076430, 0x00076431, 0x00764310, 0x00076432, 0x00764320, 0x00764321, 0x07643210,
    0x00000765, 0x00007650, 0x00007651, 0x00076510, 0x00007652, 0x00076520, 0x00076521, 0x00765210,
    0x00007653, 0x00076530, 0x00076531, 0x00765310, 0x00076532, 0x00765320, 0x00765321, 0x07653210,
    0x00007654, 0x00076540, 0x00076541, 0x00765410, 0x00076542, 0x00765420, 0x00765421, 0x07654210,
    0x00076543, 0x00765430, 0x00765431, 0x07654310, 0x00765432, 0x07654320, 0x07654321, 0x76543210,
};

/* How the lanes of a mask move together:  0b01001010, a b c d e f g h  ->  b d g a a a a a */
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

/* As pairs of dwords: lane i of 64 bits is dwords 2 i and 2 i + 1. */
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
