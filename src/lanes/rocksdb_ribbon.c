/* Probes RocksDB's Ribbon filters in lanes. The lanes hold the columns of one key's equation, and a
 * pass tests two vectors of them. All columns are always tested. So absent keys take as long as
 * present keys, but no branch depends on a column, so the CPU mispredicts no branch.
 * SPDX-License-Identifier: MIT */
#include "../scalar/rocksdb_ribbon.h"
#include "lanes.h"
#include "vector.h"

_Static_assert((int)ROCKSDB_RIBBON_SEGMENT_NBYTES == 16, "a block holds a column");

enum {
  PASS_NCOLUMNS = 2 * VECTOR_NBLOCKS,
  /* The largest size of the two blocks of a key together, rounded up to whole passes. */
  MAX_PASSES_NBYTES = 2 * ROCKSDB_RIBBON_MAX_NCOLUMNS * ROCKSDB_RIBBON_SEGMENT_NBYTES,
};

/* The equation of a key, and the addresses of the two blocks to which its coefficients apply. Both
 * blocks can be read in whole passes; the bytes after their columns are ignored. */
struct query {
  struct rocksdb_ribbon_equation equation;
  const uint8_t *segments, *next;
  uint32_t ncolumns, npasses;
};

/* Returns, in each block of 16 bytes, those bits of one column that have to be added up. */
static inline vector columns_at(const struct query *query, size_t at, vector here, vector beyond)
{
  return bit_xor(bit_and(load(query->segments + at), here),
                 bit_and(load(query->next + at), beyond));
}

/* Adds up the bits of each lane of 64 bits modulo 2, and returns the sum in bit 0 of the lane.
 * Other bits of the result have no meaning. */
static inline vector parities(vector lanes)
{
  static const uint8_t of_nibble[16] = {0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0};
  const vector nibbles = bit_and(bit_xor(lanes, shift_right64(lanes, 4)), splat8(15));
  return sum_differences8(shuffle_bytes(splat_block(of_nibble), nibbles), zero());
}

/* Checks whether the equation is fulfilled in every column. A pass combines two vectors of columns
 * into one, with one lane of 64 bits per column. The figure shows vectors of 32 bytes, and the
 * numbers are columns:
 *
 *   a   columns 0 1, 128 slots each
 *   b   columns 2 3                      ->   0 2 1 3, 64 bits each */
static inline __attribute__((always_inline)) bool is_fulfilled(const struct query *query)
{
  enum { N = VECTOR_NBLOCKS };
  static const _Alignas(64) uint64_t first_columns[] = {0, N, 1, N + 1, 2, N + 2, 3, N + 3};
  vector here, beyond;
  shift_left_block(query->equation.coefficients, query->equation.slot, &here, &beyond);
  const vector expected = splat64(query->equation.expected),
               counting = splat64(((uint64_t)1 << query->ncolumns) - 1);
  vector columns = load(first_columns), differing = zero();
  for (uint32_t pass = 0; pass < query->npasses; pass++) {
    const size_t at = (size_t)pass * PASS_NCOLUMNS * ROCKSDB_RIBBON_SEGMENT_NBYTES;
    const vector a = columns_at(query, at, here, beyond),
                 b = columns_at(query, at + VECTOR_NBYTES, here, beyond);
    const vector found = parities(bit_xor(interleave_low64(a, b), interleave_high64(a, b)));
    const vector wanted = shift_right_each64(expected, columns),
                 counts = shift_right_each64(counting, columns);
    differing = bit_or(differing, bit_and(bit_xor(found, wanted), counts));
    columns = add64(columns, splat64(PASS_NCOLUMNS));
  }
  return are_disjoint(differing, splat64(1));
}

/* Checks whether the equation of hash i is fulfilled. If the blocks of the hash are at the end of
 * the payload, they are copied, so that whole passes can be read. */
static inline __attribute__((always_inline)) bool
may_match(const struct filter_shape *shape, const uint8_t *payload, const void *hashes, size_t i)
{
  struct query query = {.equation = rocksdb_ribbon_equation(shape, hash64_at(hashes, i))};
  query.ncolumns = rocksdb_ribbon_ncolumns(shape, query.equation.block);
  query.npasses = (shape->nprobes + PASS_NCOLUMNS - 1) / PASS_NCOLUMNS;
  const uint64_t first = rocksdb_ribbon_block(shape, query.equation.block);
  const uint64_t left = shape->nbits / 8 - first;
  const size_t nbytes =
      (size_t)(query.ncolumns + query.npasses * PASS_NCOLUMNS) * ROCKSDB_RIBBON_SEGMENT_NBYTES;
  uint8_t copy[MAX_PASSES_NBYTES];
  query.segments = payload + first;
  if (__builtin_expect(left < nbytes, 0)) {
    memcpy(copy, payload + first, (size_t)left);
    memset(copy + left, 0, nbytes - (size_t)left);
    query.segments = copy;
  }
  query.next = query.segments + (size_t)query.ncolumns * ROCKSDB_RIBBON_SEGMENT_NBYTES;
  return is_fulfilled(&query);
}

void KERNEL(rocksdb_ribbon_probe)(const struct filter_shape *shape, const uint8_t *payload,
                                  struct hash_source *source, uint8_t *bitmap)
{
  probe_each_line(shape, payload, source, bitmap, ribbon_fetch, may_match, may_match);
}
