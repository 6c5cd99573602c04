/* Reads the filter of a column chunk. In the file, a filter is a header in Thrift's encoding,
 * directly followed by the bits, which are in blocks of 32 bytes.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_FILTER_H
#define LANEBLOOM_PARQUET_FILTER_H

#include "../layouts/parquet.h"
#include "../system/system.h"
#include "file.h"

/* The position of a filter's bits in the file. */
struct filter_place {
  uint64_t offset;
  size_t nbytes; /* a multiple of PARQUET_BLOCK_NBYTES, at least one */
};

/* The bits of a filter in memory. */
struct filter_bits {
  const uint8_t *bytes;
  uint8_t *own; /* owns the bytes; NULL if they are borrowed from a file in memory */
};

/* Finds the bits of a chunk's filter by reading its header. Errors: ARGUMENT if the chunk has no
 * filter; FORMAT if the filter is of an unknown kind; LIMIT if the chunk is encrypted or in another
 * file; CORRUPT, IO. */
lanebloom_status lanebloom_bits_find(const struct lanebloom_parquet *file,
                                     const struct chunk *chunk, struct filter_place *place,
                                     const struct problem *problem);

/* Reads the bits of a filter; filter_bits_free() frees them. Errors: IO, CORRUPT, MEMORY. On an
 * error there is nothing to free. */
lanebloom_status lanebloom_bits_read(const struct lanebloom_parquet *file,
                                     const struct filter_place *place, struct filter_bits *bits,
                                     const struct problem *problem);

static inline void filter_bits_free(struct filter_bits *bits)
{
  lanebloom_system_free(bits->own);
}

#endif
