/* The vocabulary of lanes/: the file vector.h of an instruction set defines these words for its
 * registers. The algorithms of this folder use no others, so each is written only once. The folder
 * of an instruction set has vector.h; kernels.c, which lists its kernels; and the kernels that are
 * faster there in another form, with the measurement that shows it.
 *
 * A file lanes/ALGORITHM.c is compiled for each instruction set for which CMakeLists.txt lists it.
 * Then "vector.h" is the file of that set, and KERNEL(parquet_probe) is
 * lanebloom_parquet_probe_avx2.
 *
 * A set needs only the words of the algorithms that it has; compilers report missing ones. Only
 * vectors of 32 bytes need bit_and_not, select_by_sign32, narrow_signed32 and narrow_signed16. Only
 * vectors of 64 bytes need or3, and_or, permute_both32, load_halves, load_in_halves, store_halves,
 * disjoint32 and zero_masks.
 *
 * Types and sizes
 *   vector            a register of VECTOR_NBYTES bytes, in VECTOR_NBLOCKS blocks of 16. The number
 *                     in a word is the size of its lanes in bits; there are LANES32 or LANES64 of
 *                     them. xxh64 casts a vector to gcc's vectors, so it cannot be a struct there
 *   block16           a single block
 *   mask8, mask32, mask64: a choice of lanes: bits, or lanes that are all ones or 0
 *   order32           how compress32 moves the lanes of a mask together
 *   count32           the count of shift_right_count32: 0 to 31
 *   picked32          a bit of each lane, in the form that costs least in the set
 * Memory, at any alignment unless a word is documented otherwise
 *   load, store, load_aligned, store_aligned
 *   stream_aligned    a store past the cache
 *   load_widened32    LANES64 numbers of 32 bits, widened to 64 bits
 *   load_blocks       16 bytes from each of VECTOR_NBLOCKS addresses. The last of these bytes may
 *                     belong to other data on the same page
 *   load_differences32: by how much each of LANES64 numbers of 32 bits is less than the next, in 64
 *                     bits
 *   load_block        16 bytes; always inlined, for callers that sanitizers do not check
 *   load_in_eights    8 numbers of 32 bits, repeated in each eight lanes
 *   set_bits_32       adds the bits of 32 bytes to those of others
 *   gather32          elements of an array of 32 bits, by their indices. HAS_GATHERS is 0 if a set
 *                     has no gathers, or only slow ones
 *   store_masks8      a byte for each of LANES32 lanes. In it that bit is set which the lane's
 *                     lowest 3 bits select
 *   store_chosen32    stores the lanes of a mask's bits together, and returns how many. It may
 *                     write as much as a vector with all of its lanes
 *   test_bits16       bit i: payload[at[i]] has a bit of masks[i], for 16 of them
 *   load_halves, store_halves: a vector of 64 bytes, from and to two addresses; load_in_halves: two
 *                     loads, although the halves are adjacent
 * Constants
 *   zero, splat8, splat32, splat64; splat_block: 16 bytes from memory in each block
 *   iota32            0 1 2 3 ...
 *   splat_count32     a number of bits as a count32
 * Arithmetic, modulo 2^32 or 2^64
 *   add32, sub32, add64, sub64, mul_low32, min_signed32
 *   mul_even32        products of 64 bits, from the even lanes of 32
 *   mul_high32        the high halves of products of 64 bits; b has one number in all lanes
 *   sum_differences8  in each lane of 64 bits, the sum of the absolute differences of its eight
 *                     pairs of unsigned bytes
 * Bits
 *   bit_and, bit_or, bit_xor; bit_and_not: a and not b
 *   or3: the or of three; and_or: a and b, or c
 *   shift_left32, shift_right32, shift_left64, shift_right64: shift all lanes by one number
 *   shift_right_count32: shifts by a number that is not known at compile time
 *   shift_left_each32, shift_right_each32, shift_left_each64, shift_right_each64: shift each lane
 *                     by its own number; a number of 32 or 64, or more, gives 0
 *   rotate_left32     by a constant, neither 0 nor 32
 *   shift_left_block  shifts 16 bytes from memory by up to 127 bits. Puts the bits that stay in the
 *                     16 bytes, and those that are shifted out of them, in each block
 *   are_disjoint      whether no bit is set in both
 * Masks, which & and | combine
 *   equal32, equal64, greater_signed8, greater_signed32, greater_signed64
 *   positive_low32, positive_high32: lanes of the lower or upper half that are above 0, as a mask64
 *   disjoint32        lanes in which no bit is set in both
 *   zero_masks        bit i: the mask is 0 in all lanes of key i, for eight keys of eight lanes
 *   mask_bits32, mask_bits64: the first lane is bit 0
 *   keep8, keep32     lanes outside the mask become 0
 *   select32, select64: lanes of the first vector in the mask, of the second outside
 *   select_by_sign32  selects by the top bit of each lane
 * Bits in lanes
 *   pick_bits32       bit positions[i] of lane i; high bits of a position are ignored. In vectors
 *                     of 32 bytes the bit becomes the sign, in those of 64 bytes bit 0
 *   pick_loaded32     a bit of byte at[i] of memory, which is selected as in store_masks8.
 *                     HAS_LANE_LOADS is 1 if loads into lanes cost no more than others. A set with
 *                     0 and no gathers has no picked32
 *   both_picked32     the bits that are set in both of two picked32
 *   picked_bits32     the first lane's bit is bit 0
 * Moving lanes
 *   permute32         lane i becomes lane indices[i], whose high bits are ignored
 *   permute_both32    permutes the lanes of two vectors: from LANES32 on, those of the second
 *   shuffle_bytes     in each block, byte i becomes byte indices[i] modulo 16, or 0 if the top bit
 *                     of the index is set
 *   interleave_low32  in each block: a0 a1 a2 a3, b0 b1 b2 b3  ->  a0 b0 a1 b1
 *   interleave_high32                                              a2 b2 a3 b3
 *   interleave_low64, interleave_high64: a0 b0; a1 b1
 *   join_blocks       makes a vector of VECTOR_NBLOCKS blocks
 *   first_blocks      in each 32 bytes: blocks a0 a1, b0 b1  ->  a0 b0; last_blocks: a1 b1
 *   blend_odd32       a0 a1 a2 a3 ..., b0 b1 b2 b3 ...  ->  a0 b1 a2 b3 ...
 *   merge_even32      a0 a1 a2 a3 ..., b0 b1 b2 b3 ...  ->  a0 b0 a2 b2 ...
 *   merge_odd32                                             a1 b1 a3 b3 ...
 *   unzip_even32      a0 a1 a2 a3 ..., b0 b1 b2 b3 ...  ->  a0 a2 ... b0 b2 ..., but in the set's
 *   unzip_odd32                                             a1 a3 ... b1 b3 ...  own order
 *   unzip_even64, unzip_odd64
 *   unzipped          puts the result of any of these four in the order above
 *   narrow_signed32   in each block: lanes of a, then of b, with half the bits. A number that does
 *                     not fit becomes the nearest one that does; narrow_signed16
 *   order_of32        the order32 of a mask's bits
 *   compress32        0b1010, a b c d  ->  b d . .
 * Stores of some lanes
 *   scatter32         stores the first n lanes as elements of an array of 32 bits, by their indices
 *   store_positive64  stores lanes of two vectors of 64 bits side by side: those that are above 0
 *                     in a vector of 32. Others may follow, up to the end of two vectors
 *
 * In sets whose registers have a length that only the CPU knows (key_per_lane.h), LANES32 is an
 * expression, and no struct or array holds their vectors and masks. They have some of the words
 * above, and these:
 *   first_lanes32     a mask of the first n lanes
 *   load_first32      loads the first n lanes; memory for the others is not read
 *   load_first_low_halves, load_first_high_halves: the halves of n numbers of 64 bits
 *   gather_bytes32    bytes at offsets, one in each lane; memory for lanes outside the mask is not
 *                     read
 *   has_bit32         the lanes of a mask that have the bit of this number, 0 to 31
 *   any32             whether the mask has a lane
 *   mask_bits32       as above, for the first 32 lanes
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_VOCABULARY_H
#define LANEBLOOM_LANES_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The name of a kernel of the instruction set that is being compiled. */
#define KERNEL_OF(name, set) lanebloom_##name##_##set
#define KERNEL_OF_SET(name, set) KERNEL_OF(name, set)
#define KERNEL(name) KERNEL_OF_SET(name, LANEBLOOM_INSTRUCTION_SET)

/* These define words that are one instruction, or an expression. */
#define LOADING(word, instruction)                                                                 \
  static inline vector word(const void *from)                                                      \
  {                                                                                                \
    return instruction(from);                                                                      \
  }
#define LOADING_AS(word, of_from)                                                                  \
  static inline vector word(const void *from)                                                      \
  {                                                                                                \
    return of_from;                                                                                \
  }
#define STORING(word, instruction)                                                                 \
  static inline void word(void *to, vector v)                                                      \
  {                                                                                                \
    instruction(to, v);                                                                            \
  }
#define SPLATTING(word, type, of, instruction)                                                     \
  static inline vector word(type value)                                                            \
  {                                                                                                \
    return instruction((of)value);                                                                 \
  }
#define BINARY(word, instruction)                                                                  \
  static inline vector word(vector a, vector b)                                                    \
  {                                                                                                \
    return instruction(a, b);                                                                      \
  }
#define BINARY_AS(word, of_a_and_b)                                                                \
  static inline vector word(vector a, vector b)                                                    \
  {                                                                                                \
    return of_a_and_b;                                                                             \
  }
#define CHOOSING_AS(word, mask_type, of_mask_and_v)                                                \
  static inline vector word(mask_type mask, vector v)                                              \
  {                                                                                                \
    return of_mask_and_v;                                                                          \
  }
#define SELECTING_AS(word, mask_type, of_mask_a_and_b)                                             \
  static inline vector word(mask_type mask, vector a, vector b)                                    \
  {                                                                                                \
    return of_mask_a_and_b;                                                                        \
  }
#define SHIFTING(word, type, instruction)                                                          \
  static inline vector word(vector v, type nbits)                                                  \
  {                                                                                                \
    return instruction(v, nbits);                                                                  \
  }
#define COMPARING(word, mask, instruction)                                                         \
  static inline mask word(vector a, vector b)                                                      \
  {                                                                                                \
    return instruction(a, b);                                                                      \
  }

#endif
