/* The filter of a column chunk: a header in Thrift, directly followed by the bits, in blocks of 32
 * bytes.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_FILTER_H
#define LANEBLOOM_PARQUET_FILTER_H

#include "../layouts/parquet.h"
#include "file.h"

/* The position of a filter's bits in the file. */
struct filter_place {
  uint64_t offset;
  size_t nbytes; /* a multiple of PARQUET_BLOCK_NBYTES, at least one */
};

/* Bits in memory. */
struct filter_bits {
  const uint8_t *bytes;
  uint8_t *own; /* NULL: borrowed from a file in memory */
};

/* Reads the header. Errors: ARGUMENT: the chunk has no filter; FORMAT, CORRUPT, LIMIT, IO. */
lanebloom_status lanebloom_bits_find(const struct lanebloom_parquet *file,
                                     const struct chunk *chunk, struct filter_place *place,
                                     const struct problem *problem);

/* Reads the bits. On an error there is nothing to free. Errors: IO, CORRUPT, MEMORY. */
lanebloom_status lanebloom_bits_read(const struct lanebloom_parquet *file,
                                     const struct filter_place *place, struct filter_bits *bits,
                                     const struct problem *problem);

static inline void filter_bits_free(struct filter_bits *bits)
{
  free(bits->own);
}

#endif
