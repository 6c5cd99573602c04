/* Has the definitions that the formats of Spark, Guava and Cassandra share, whose first writers are
 * Java programs. The payload has words of 64 bits, and the last number of the header is the number
 * of words: 4 bytes, big-endian.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_FORMATS_JAVA_H
#define LANEBLOOM_FORMATS_JAVA_H

#include <limits.h>

#include "../common/bytes.h"
#include "../format.h"
#include "../layouts/double_hashing.h"

enum {
  JAVA_NWORDS_FROM_END = 4, /* of the header */
  JAVA_WORD_NBITS = 64,
  JAVA_WORD_NBYTES = JAVA_WORD_NBITS / 8,
  JAVA_MAX_NWORDS = INT_MAX,
};

static const double JAVA_LN_2 = 0.6931471805599453; /* the value of Java's Math.log(2) */

/* Serves as format_table.shape. */
static inline struct filter_shape java_shape(const struct format_table *format, uint64_t nbytes,
                                             uint32_t line_nbytes, uint32_t nprobes)
{
  (void)line_nbytes;
  const uint64_t nbits = 8 * nbytes, max_nbits = (uint64_t)1 << format->probe_nbits;
  return (struct filter_shape){
      .answer = ANSWER_BY_PROBES,
      .nprobes = nprobes,
      .nbytes = nbytes,
      .nbits = nbits < max_nbits ? nbits : max_nbits,
      .double_hashing = format->double_hashing,
  };
}

/* Finds the shape of a filter that is larger than its header. The engines' readers ignore bytes
 * after the words; here none may follow, because little else tells that bytes are a filter. Errors:
 * FORMAT. */
static inline lanebloom_status java_parse(const struct format_table *format, const uint8_t *bytes,
                                          size_t size, uint32_t nprobes, struct filter_shape *shape,
                                          const struct problem *problem)
{
  const uint64_t nwords = load_be32(bytes + format->header_nbytes - JAVA_NWORDS_FROM_END);
  const size_t nbytes = size - format->header_nbytes;
  if (nwords > JAVA_MAX_NWORDS || nbytes != nwords * JAVA_WORD_NBYTES)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "expected %" PRIu64 " bytes after the header, as it says, found %zu",
                       nwords * JAVA_WORD_NBYTES, nbytes);
  *shape = java_shape(format, nbytes, JAVA_WORD_NBYTES, nprobes);
  return LANEBLOOM_OK;
}

static inline void java_write_nwords(const struct format_table *format,
                                     const struct filter_shape *shape, uint8_t *bytes)
{
  store_be32(bytes + format->header_nbytes - JAVA_NWORDS_FROM_END,
             (uint32_t)(shape->nbytes / JAVA_WORD_NBYTES));
}

/* Makes the shape of a filter of at least nbits bits. Errors: LIMIT. */
static inline lanebloom_status java_plan(const struct format_table *format, uint64_t nbits,
                                         uint32_t nprobes, struct filter_shape *shape)
{
  const uint64_t nwords = nbits / JAVA_WORD_NBITS + (nbits % JAVA_WORD_NBITS > 0);
  if (nwords > JAVA_MAX_NWORDS)
    return LANEBLOOM_ERR_LIMIT;
  *shape = java_shape(format, nwords * JAVA_WORD_NBYTES, JAVA_WORD_NBYTES, nprobes);
  return LANEBLOOM_OK;
}

/* Finds the number of bits for Spark and Guava: nkeys times the bits per key, rounded down, but at
 * least the bits of one key, and at least 1. Errors: LIMIT. */
static inline lanebloom_status java_nbits(uint64_t millibits, uint64_t nkeys, uint64_t *nbits)
{
  uint64_t product;
  if (__builtin_mul_overflow(nkeys > 0 ? nkeys : 1, millibits, &product))
    return LANEBLOOM_ERR_LIMIT;
  *nbits = product < 1000 ? 1 : product / 1000;
  return LANEBLOOM_OK;
}

/* Serves as format_table.positions if a hash has 16 bytes. */
static inline void java_positions(const struct filter_shape *shape, const void *hash,
                                  uint64_t *positions)
{
  double_hash_positions(shape, hash_at(hash, 0, sizeof(struct key_hash)), positions);
}

#endif
