/* The vocabulary of the folder lanes/. A word is a small function, type or constant, such as add32.
 * The file vector.h of each instruction set defines these words for its registers. The algorithms
 * in lanes/ use only these words and no intrinsics, so that each algorithm is written only once.
 * The folder of an instruction set has three kinds of files: vector.h; kernels.c, which lists the
 * set's kernels; and kernels that are faster in another form on this set, with a measurement that
 * shows this.
 *
 * A file lanes/ALGORITHM.c is compiled for each instruction set for which CMakeLists.txt lists it.
 * When such a file is compiled for AVX2, "vector.h" is the file of AVX2, and KERNEL(parquet_probe)
 * is lanebloom_parquet_probe_avx2.
 *
 * A set needs to define only the words that its algorithms use; compilers report missing words.
 * Only vectors of 32 bytes need bit_and_not, select_by_sign8, select_by_sign32 and zero_bits8.
 * Only vectors of 16 bytes need load_half, bit_masks8, splat_count64, shift_right_count64, equal8,
 * mask_bits8, join_halves, look_up_quarter, narrow_unsigned32, narrow_unsigned16, and the words for
 * lanes of 16 bits.
 * Only vectors of 64 bytes need or3, and_or, permute_both32, load_halves, load_in_halves,
 * store_halves, disjoint32 and zero_masks.
 *
 * Types and sizes
 *   vector            a register of VECTOR_NBYTES bytes, in VECTOR_NBLOCKS blocks of 16. The number
 *                     in the name of a word is the size of a lane in bits; a vector has LANES32 or
 *                     LANES64 lanes. The algorithm xxh64 casts this type to gcc's vectors, so it
 *                     must not be a struct in sets that have xxh64
 *   block16           a single block
 *   mask8, mask32, mask64
 *                     a choice of lanes: either one bit for each lane, or lanes that are all ones
 *                     or 0
 *   order32           says how compress32 moves the lanes of a mask together
 *   count32, count64  the number of bits for shift_right_count32, from 0 to 31, or for
 *                     shift_right_count64, from 0 to 63
 *   picked32          one bit of each lane, in the form that costs least in the set
 * Memory, at any alignment unless a word says otherwise
 *   load, store, load_aligned, store_aligned
 *   stream_aligned    stores, and bypasses the cache if the set can
 *   load_widened32    loads LANES64 numbers of 32 bits and widens them to 64 bits
 *   load_blocks       loads 16 bytes from each of VECTOR_NBLOCKS addresses. The last of these bytes
 *                     may belong to other data on the same page
 *   load_differences32
 *                     returns by how much each of LANES64 numbers of 32 bits is less than the
 *                     number after it, in lanes of 64 bits
 *   load_half         loads 8 bytes into the lower half of a vector of 16; the other half is 0
 *   load_block        loads 16 bytes. The word is always inlined, for callers that sanitizers do
 *                     not check
 *   load_in_eights    loads 8 numbers of 32 bits, and repeats them in each group of eight lanes
 *   set_bits_32       sets those bits of 32 bytes in memory that are set in 32 other bytes
 *   gather32          loads elements of an array of 32-bit numbers, by their indices. HAS_GATHERS
 *                     is 0 if the set has no gathers, or only slow ones
 *   store_masks8      stores a byte for each of LANES32 lanes. In this byte only the bit is set
 *                     whose number is the lowest 3 bits of the lane
 *   store_chosen32    stores the lanes whose bits are set in a mask side by side, and returns
 *                     their number. It may write up to a whole vector
 *   test_bits16       returns 16 bits. Bit i is set if payload[at[i]] has a bit of masks[i]
 *   load_halves, store_halves
 *                     load or store a vector of 64 bytes, with each half at its own address
 *   load_in_halves    loads adjacent halves by two loads
 * Constants
 *   zero, splat8, splat16, splat32, splat64
 *                     return a vector with the same number in all lanes
 *   splat_block       loads 16 bytes and repeats them in each block
 *   iota32            returns 0 1 2 3 ...
 *   splat_count32, splat_count64
 *                     make a count32 or count64 of a number of bits
 *   bit_masks8        returns, for each byte, which is from 0 to 7, a byte in which only the bit of
 *                     this number is set
 * Arithmetic, modulo 2^16, 2^32 or 2^64
 *   add16, add32, add64, sub32, sub64, mul_low16, mul_low32, min_signed32
 *   subtract_if_positive32, subtract_if_positive64
 *                     returns a - b in lanes in which this is not negative, and a in others. In
 *                     lanes of 64 bits, both must be below 2^63
 *   mul_high16        returns the high halves of products of 32 bits
 *   mul_even32        returns the products, of 64 bits, of the even lanes of 32 bits
 *   mul_high32        returns the high halves of products of 64 bits. All lanes of b must have the
 *                     same number
 *   sum_differences8  returns, in each lane of 64 bits, the sum of the absolute differences of its
 *                     eight pairs of unsigned bytes
 * Bits
 *   bit_and, bit_or, bit_xor
 *   bit_and_not       returns a & ~b
 *   or3, and_or       return a | b | c, and (a & b) | c
 *   shift_left16, shift_right16, shift_left32, shift_right32, shift_left64, shift_right64
 *                     shift all lanes by the same number of bits
 *   shift_right_count32, shift_right_count64
 *                     shift by a number that is not known at compile time
 *   shift_left_each32, shift_right_each32, shift_left_each64, shift_right_each64
 *                     shift each lane by its own number. If the number is at least the size of a
 *                     lane, the result is 0
 *   rotate_left32     rotates by a constant, which must not be 0 or 32
 *   shift_left_block  shifts 16 bytes from memory to the left by up to 127 bits. Returns two
 *                     vectors: one with the bits that stay within 16 bytes, and one with the bits
 *                     that are shifted out of them, each repeated in all blocks
 *   are_disjoint      returns true if no bit is set in both vectors
 * Masks, which & and | combine
 *   equal8, equal32, equal64, greater_signed8, greater_signed32, greater_signed64
 *   positive_low32, positive_high32
 *                     compare the lanes of 32 bits in the lower or the upper half of a vector with
 *                     0, and return the lanes that are above 0 as a mask64
 *   disjoint32        returns the lanes in which no bit is set in both vectors
 *   zero_masks        returns a bit for each of eight keys, which have eight lanes each. Bit i is
 *                     set if the mask is 0 in all lanes of key i
 *   mask_bits8, mask_bits32, mask_bits64
 *                     return a bit for each lane; bit 0 is for the first lane
 *   keep8, keep32     set the lanes outside of the mask to 0
 *   select32, select64
 *                     take lanes in the mask from the first vector, other lanes from the second
 *   select_by_sign8, select_by_sign32
 *                     take lanes from the second vector if the top bit of the first is set, other
 *                     lanes from the third
 *   zero_bits8        returns a bit for each byte of a vector of 32 bytes. It is set if the byte is
 *                     0
 * Bits in lanes
 *   pick_bits32       picks bit positions[i] of lane i. The high bits of a position are ignored. In
 *                     vectors of 32 bytes the picked bit becomes the sign, in vectors of 64 bytes
 *                     bit 0
 *   pick_loaded32     loads byte at[i] of memory for lane i, and picks the bit that store_masks8
 *                     would select. HAS_LANE_LOADS is 1 if loads into lanes cost no more than other
 *                     loads. A set with neither such loads nor gathers has no picked32
 *   both_picked32     returns the bits that are set in both of two picked32
 *   picked_bits32     returns a bit for each lane; bit 0 is for the first lane
 * Moving lanes
 *   permute32         lane i becomes the lane with the number indices[i], whose high bits are
 *                     ignored
 *   permute_both32    permutes the lanes of two vectors. Indices from LANES32 on select lanes of
 *                     the second vector
 *   shuffle_bytes     in each block, byte i becomes byte indices[i] modulo 16, or 0 if the top bit
 *                     of the index is set
 *   interleave_low32  in each block: a0 a1 a2 a3, b0 b1 b2 b3  ->  a0 b0 a1 b1
 *   interleave_high32                                              a2 b2 a3 b3
 *   interleave_low64  in each block: a0 a1, b0 b1  ->  a0 b0
 *   interleave_high64                                  a1 b1
 *   join_blocks       makes a vector of VECTOR_NBLOCKS blocks
 *   first_blocks      in each 32 bytes: blocks a0 a1, b0 b1  ->  a0 b0
 *   last_blocks                                                  a1 b1
 *   blend_odd32       a0 a1 a2 a3 ..., b0 b1 b2 b3 ...  ->  a0 b1 a2 b3 ...
 *   merge_even32      a0 a1 a2 a3 ..., b0 b1 b2 b3 ...  ->  a0 b0 a2 b2 ...
 *   merge_odd32                                             a1 b1 a3 b3 ...
 *   unzip_even32      a0 a1 a2 a3 ..., b0 b1 b2 b3 ...  ->  a0 a2 ... b0 b2 ..., but each set may
 *   unzip_odd32                                             a1 a3 ... b1 b3 ...  use another order
 *   unzip_even64, unzip_odd64
 *                     do the same with lanes of 64 bits
 *   unzipped          moves the lanes of a result of these four words into the order above
 *   narrow_signed32, narrow_signed16
 *                     in each block: the lanes of a, then the lanes of b, with half the bits. A
 *                     number that does not fit becomes the nearest number that does
 *   narrow_unsigned32, narrow_unsigned16
 *                     do the same, with a result that is unsigned
 *   join_halves       a0 a1, b0 b1  ->  a0 b1, of lanes of 64 bits
 *   look_up_quarter   returns the bytes of a vector of 16 whose numbers are from 16 * q to
 *                     16 * q + 15, and 0 for other numbers, which must be from 0 to 63
 *   order_of32        returns the order32 of a mask's bits
 *   compress32        0b1010, a b c d  ->  b d . .
 * Stores of some lanes
 *   scatter32         stores the first n lanes as elements of an array of 32-bit numbers, by their
 *                     indices
 *   store_positive64  stores those lanes of two vectors of 64 bits side by side whose lane in a
 *                     third vector, of 32 bits, is above 0. It may write up to two whole vectors
 *
 * In some sets only the CPU knows the length of the registers (see key_per_lane.h). In these sets
 * LANES32 is an expression that is evaluated at run time, and vectors and masks cannot be members
 * of structs or arrays. These sets define some of the words above, and the following:
 *   first_lanes32     returns a mask of the first n lanes
 *   load_first32      loads the first n lanes, and reads no memory for the others
 *   load_first_low_halves, load_first_high_halves
 *                     load the low or the high halves of n numbers of 64 bits
 *   gather_bytes32    loads a byte for each lane of the mask, by offsets, and reads no memory for
 *                     the others
 *   has_bit32         returns the lanes of a mask in which the bit of a given number, 0 to 31, is
 *                     set; each lane has its own number
 *   any32             returns true if the mask has at least one lane
 *   mask_bits32       as above, for the first 32 lanes
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_LANES_VOCABULARY_H
#define LANEBLOOM_LANES_VOCABULARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* KERNEL(name) is the symbol of a kernel for the instruction set for which the file is compiled. */
#define KERNEL_OF(name, set) lanebloom_##name##_##set
#define KERNEL_OF_SET(name, set) KERNEL_OF(name, set)
#define KERNEL(name) KERNEL_OF_SET(name, LANEBLOOM_INSTRUCTION_SET)

/* These macros define words that are one instruction or one expression. A macro whose name ends
 * with _AS takes an expression of the parameters of the word. */
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
