/* Defines the words of lanes/vocabulary.h for VSX, with a vector of two registers, which have four
 * lanes of 32 bits each. For compilers, a vector is one type of 32 bytes. But gcc 12 would compare
 * and move the lanes of such a vector one by one, so most words handle each register separately.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_VSX_VECTOR_H
#define LANEBLOOM_VSX_VECTOR_H

#include <altivec.h>
#include <string.h>
/* altivec.h defines these names as macros, with other meanings than in C and in lanes/. */
#undef vector
#undef pixel
#undef bool
#define bool _Bool
#include "../lanes/vocabulary.h"

#define HAS_GATHERS 0
#define HAS_LANE_LOADS 0
#define VECTOR_NBYTES 32
#define VECTOR_NBLOCKS (VECTOR_NBYTES / 16)
#define LANES32 (VECTOR_NBYTES / 4)
#define LANES64 (VECTOR_NBYTES / 8)

typedef uint32_t vector __attribute__((vector_size(VECTOR_NBYTES)));
/* masks: all bits of a lane are set, or none; order32: indices of lanes */
typedef vector mask8, mask32, mask64, order32;
typedef uint32_t count32;

/* ---- A single register, by its lanes ---- */

typedef __vector unsigned char unsigned8;
typedef __vector unsigned int unsigned32, block16;
typedef __vector unsigned long long unsigned64;
typedef __vector signed char signed8;
typedef __vector signed int signed32;
typedef __vector signed long long signed64;

union registers {
  vector both;
  block16 each[VECTOR_NBLOCKS];
};
#define LOW(v) (((union registers){.both = (v)}).each[0])
#define HIGH(v) (((union registers){.both = (v)}).each[1])
#define JOIN(low, high) (((union registers){.each = {(block16)(low), (block16)(high)}}).both)
#define TWICE(block) JOIN(block, block)
#define SPLAT(value) TWICE(vec_splats(value))

/* Defines a word by an expression of x and y. Each stands for one register of an operand, with
 * lanes of the type `lanes`. */
#define FOR_BOTH(word, lanes, of_x_and_y)                                                          \
  static inline block16 word##_of(lanes x, lanes y)                                                \
  {                                                                                                \
    return (block16)(of_x_and_y);                                                                  \
  }                                                                                                \
  BINARY_AS(word, JOIN(word##_of((lanes)LOW(a), (lanes)LOW(b)),                                    \
                       word##_of((lanes)HIGH(a), (lanes)HIGH(b))))

/* Returns 16 bits of v. Byte i of the positions is the number of the bit, counted from the top of
 * v, that becomes bit i of the result. A number of 128 or more gives 0. */
static inline unsigned bits_at(block16 v, uint64_t first_positions, uint64_t last_positions)
{
  const unsigned64 positions = {first_positions, last_positions};
  return (unsigned)((unsigned64)vec_bperm((unsigned8)v, (unsigned8)positions))[1];
}

/* ---- Memory, at any alignment. No store bypasses the cache. ---- */

static inline __attribute__((always_inline)) block16 load_block(const void *from)
{
  return (block16)vec_xl(0, (const unsigned char *)from);
}

static inline void store(void *to, vector v)
{
  vec_xst((unsigned8)LOW(v), 0, (unsigned char *)to);
  vec_xst((unsigned8)HIGH(v), 16, (unsigned char *)to);
}

/* Loads blocks. Sanitizers do not check this function, because they would report the loaded bytes
 * that belong to other data. */
__attribute__((no_sanitize("address", "thread"))) static inline vector
load_blocks(const uint8_t *const from[VECTOR_NBLOCKS])
{
  return JOIN(load_block(from[0]), load_block(from[1]));
}

#define load(from) JOIN(load_block(from), load_block((const uint8_t *)(from) + 16))
#define WIDENED(block, upper) JOIN(vec_mergeh(block, upper), vec_mergel(block, upper))
#define load_widened32(from) WIDENED(load_block(from), vec_splats(0u))
#define splat_block(from) TWICE(load_block(from))
#define load_aligned load
#define load_in_eights load
#define store_aligned store
#define stream_aligned store
#define join_blocks(blocks) JOIN((blocks)[0], (blocks)[1])
#define load_differences32(from) WIDENED(load_block((from) + 1) - load_block(from), vec_splats(0u))
#define set_bits_32(to, bits) store(to, load(to) | load(bits))

static inline void store_masks8(uint8_t *to, vector v)
{
  const vector masks = SPLAT(1u) << (v & 7);
  const __vector unsigned short halves = vec_pack(LOW(masks), HIGH(masks));
  const uint64_t eight = ((unsigned64)vec_pack(halves, halves))[0];
  memcpy(to, &eight, sizeof eight);
}

static inline unsigned test_bits16(const uint8_t *payload, const uint32_t *at, const uint8_t *masks)
{
  uint64_t found[2] = {0};
  for (size_t i = 0; i < 16; i++)
    found[i / 8] |= (uint64_t)payload[at[i]] << i % 8 * 8;
  const unsigned8 wanted = (unsigned8)load_block(masks),
                  bytes = (unsigned8)(unsigned64){found[0], found[1]};
  return bits_at((block16)vec_cmpeq(bytes & wanted, wanted), 0x4048505860687078,
                 0x0008101820283038);
}

/* ---- Constants ---- */

#define zero() SPLAT(0u)
#define iota32() ((vector){0, 1, 2, 3, 4, 5, 6, 7})
#define splat_count32(nbits) (nbits)
SPLATTING(splat8, uint8_t, unsigned char, SPLAT)
SPLATTING(splat32, uint32_t, unsigned, SPLAT)
SPLATTING(splat64, uint64_t, unsigned long long, SPLAT)

/* ---- Arithmetic ---- */

FOR_BOTH(add32, unsigned32, x + y)
FOR_BOTH(sub32, unsigned32, x - y)
FOR_BOTH(add64, unsigned64, x + y)
FOR_BOTH(sub64, unsigned64, x - y)
FOR_BOTH(subtract_if_positive32, unsigned32, vec_min(x, x - y))
FOR_BOTH(subtract_if_positive64, unsigned64, vec_min(x, x - y))
FOR_BOTH(mul_low32, unsigned32, vec_mul(x, y))
FOR_BOTH(mul_even32, unsigned32, vec_mule(x, y))
FOR_BOTH(mul_high32, unsigned32, vec_mergeo((unsigned32)vec_mule(x, y), (unsigned32)vec_mulo(x, y)))
FOR_BOTH(min_signed32, signed32, vec_min(x, y))
FOR_BOTH(sum_fours8, unsigned8, vec_sum4s(vec_max(x, y) - vec_min(x, y), vec_splats(0u)))

/* ---- Bits ---- */

FOR_BOTH(bit_and, unsigned32, vec_and(x, y))
FOR_BOTH(bit_or, unsigned32, vec_or(x, y))
FOR_BOTH(bit_xor, unsigned32, vec_xor(x, y))
FOR_BOTH(bit_and_not, unsigned32, vec_andc(x, y))

/* The CPU uses only the lowest bits of a count, so lanes with a count of 32 (or 64) or more are set
 * to 0. */
FOR_BOTH(shift_left_each32, unsigned32, vec_sl(x, y) & (unsigned32)vec_cmplt(y, vec_splats(32u)))
FOR_BOTH(shift_right_each32, unsigned32, vec_sr(x, y) & (unsigned32)vec_cmplt(y, vec_splats(32u)))
FOR_BOTH(shift_left_each64, unsigned64, vec_sl(x, y) & (unsigned64)vec_cmplt(y, vec_splats(64ull)))
FOR_BOTH(shift_right_each64, unsigned64, vec_sr(x, y) & (unsigned64)vec_cmplt(y, vec_splats(64ull)))
FOR_BOTH(rotate_left_each32, unsigned32, vec_rl(x, y))
FOR_BOTH(pick_bits32, unsigned32, vec_sl(x, ~y)) /* the bit becomes the sign */
#define shift_left32(v, nbits) shift_left_each32(v, SPLAT((unsigned)(nbits)))
#define shift_right32(v, nbits) shift_right_each32(v, SPLAT((unsigned)(nbits)))
#define shift_right_count32 shift_right32
#define shift_left64(v, nbits) shift_left_each64(v, SPLAT((unsigned long long)(nbits)))
#define shift_right64(v, nbits) shift_right_each64(v, SPLAT((unsigned long long)(nbits)))
#define rotate_left32(v, nbits) rotate_left_each32(v, SPLAT((unsigned)(nbits)))

static inline void shift_left_block(const uint64_t block[2], uint32_t nbits, vector *here,
                                    vector *beyond)
{
  __extension__ typedef unsigned __int128 bits128;
  const bits128 bits = (bits128)block[1] << 64 | block[0];
  const bits128 low = bits << nbits, high = bits >> 1 >> (127 - nbits);
  *here = splat_block(&low);
  *beyond = splat_block(&high);
}
#define are_disjoint(a, b) vec_all_eq(LOW((a) & (b)) | HIGH((a) & (b)), vec_splats(0u))

/* ---- Masks ---- */

FOR_BOTH(equal32, unsigned32, vec_cmpeq(x, y))
FOR_BOTH(equal64, unsigned64, vec_cmpeq(x, y))
FOR_BOTH(greater_signed8, signed8, vec_cmpgt(x, y))
FOR_BOTH(greater_signed32, signed32, vec_cmpgt(x, y))
FOR_BOTH(greater_signed64, signed64, vec_cmpgt(x, y))
#define POSITIVE(four) ((block16)vec_cmpgt((signed32)(four), vec_splats(0)))
#define positive_low32(v) WIDENED(POSITIVE(LOW(v)), POSITIVE(LOW(v)))
#define positive_high32(v) WIDENED(POSITIVE(HIGH(v)), POSITIVE(HIGH(v)))
#define SIGNS(mask, low, high)                                                                     \
  (bits_at(LOW(mask), low, UINT64_MAX) | bits_at(HIGH(mask), high, UINT64_MAX))
#define mask_bits32(mask) SIGNS(mask, 0x8080808000204060, 0x0020406080808080)
#define mask_bits64(mask) SIGNS(mask, 0x8080808080800040, 0x8080808000408080)
#define select32(mask, a, b)                                                                       \
  JOIN(vec_sel(LOW(b), LOW(a), LOW(mask)), vec_sel(HIGH(b), HIGH(a), HIGH(mask)))
#define keep8 bit_and
#define keep32 bit_and
#define select64 select32
#define select_by_sign32(signs, a, b) select32(greater_signed32(zero(), signs), a, b)

/* ---- Moving lanes ---- */

/* Computes the indices of bytes for vec_perm, which selects bytes from two registers. */
#define BYTES_OF(indices) (((indices)&7) * 0x04040404 + 0x03020100)
BINARY_AS(permute32, JOIN(vec_perm(LOW(a), HIGH(a), (unsigned8)LOW(BYTES_OF(b))),
                          vec_perm(LOW(a), HIGH(a), (unsigned8)HIGH(BYTES_OF(b)))))
FOR_BOTH(shuffle_bytes, unsigned8,
         vec_perm(x, x, y) & (unsigned8)vec_cmplt(y, vec_splats((unsigned char)128)))
FOR_BOTH(interleave_low32, unsigned32, vec_mergeh(x, y))
FOR_BOTH(interleave_high32, unsigned32, vec_mergel(x, y))
FOR_BOTH(interleave_low64, unsigned64, vec_mergeh(x, y))
FOR_BOTH(interleave_high64, unsigned64, vec_mergel(x, y))
FOR_BOTH(merge_even32, unsigned32, vec_mergee(x, y))
FOR_BOTH(merge_odd32, unsigned32, vec_mergeo(x, y))
BINARY_AS(sum_differences8,
          merge_even32(sum_fours8(a, b), zero()) + merge_odd32(sum_fours8(a, b), zero()))
FOR_BOTH(narrow_signed32, signed32, vec_packs(x, y))
FOR_BOTH(narrow_signed16, __vector signed short, vec_packs(x, y))
BINARY_AS(first_blocks, JOIN(LOW(a), LOW(b)))
BINARY_AS(last_blocks, JOIN(HIGH(a), HIGH(b)))
BINARY_AS(unzip_even64, interleave_low64(first_blocks(a, b), last_blocks(a, b)))
BINARY_AS(unzip_odd64, interleave_high64(first_blocks(a, b), last_blocks(a, b)))
BINARY_AS(blend_odd32, select32(splat64(UINT32_MAX), a, b))
BINARY_AS(unzip_even32, JOIN(vec_pack((unsigned64)LOW(a), (unsigned64)HIGH(a)),
                             vec_pack((unsigned64)LOW(b), (unsigned64)HIGH(b))))
BINARY_AS(unzip_odd32, unzip_even32(shift_right64(a, 32), shift_right64(b, 32)))
#define unzipped(v) (v)
#define compress32 permute32

/* Returns the numbers of the lanes of a mask, in ascending order. At first, each number has 4 bits:
 * the lanes among the first four come first, then the lanes among the last four. */
static inline order32 order_of32(unsigned mask)
{
  static const uint16_t orders[16] = {0, 0,    1,    0x10,  2,    0x20,  0x21,  0x210,
                                      3, 0x30, 0x31, 0x310, 0x32, 0x320, 0x321, 0x3210};
  const unsigned low = mask & 15, nlow = (unsigned)__builtin_popcount(low);
  const uint32_t order = orders[low] | (orders[mask >> 4] + 0x4444u) << 4 * nlow;
  return shift_right_each32(splat32(order), (vector){0, 4, 8, 12, 16, 20, 24, 28});
}

/* ---- Stores of some lanes ---- */

static inline size_t store_chosen32(uint32_t *to, vector v, unsigned mask)
{
  store(to, compress32(v, order_of32(mask)));
  return (unsigned)__builtin_popcount(mask);
}

static inline void scatter32(uint8_t *base, const uint32_t *indices, size_t n, vector v)
{
  for (size_t i = 0; i < n; i++)
    memcpy(base + 4 * (size_t)indices[i], (const uint32_t *)&v + i, sizeof *indices);
}

static inline void store_positive64(uint64_t *to, vector low, vector high, vector v)
{
  const vector lanes[] = {low, high};
  for (size_t i = 0; i < LANES32; i++) {
    memcpy(to, (const uint64_t *)lanes + i, sizeof *to);
    to += (int32_t)v[i] > 0;
  }
}

#endif
