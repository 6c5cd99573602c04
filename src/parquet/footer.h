/* The footer: schema, row groups, and the offset of each column chunk's description. A chunk is
 * parsed on demand, so that a footer in memory takes little more than its bytes.
 *
 *   data and filters | footer | size of the footer, 4 bytes | "PAR1"
 *
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_PARQUET_FOOTER_H
#define LANEBLOOM_PARQUET_FOOTER_H

#include "../input.h"
#include "statistics.h"

struct row_group {
  uint64_t first_row, nrows;
};

struct footer {
  const uint8_t *bytes; /* the metadata, without the tail that follows it */
  uint8_t *own;         /* owns the bytes; NULL: they are borrowed */
  uint32_t nbytes;
  uint64_t offset; /* in the file */
  struct schema schema;
  size_t nrow_groups;
  struct row_group *row_groups;
  uint32_t *chunks; /* offsets in `bytes`, by row group and column */
  size_t nfilters;
  uint64_t *filter_offsets; /* of all chunks, ascending; then the footer's offset */
  uint64_t nrows;
  char *created_by; /* NULL: the file does not say */
  struct trust trust;
};

/* Reads a file's footer, and checks all of it. bounds: the statistics to rely on. Errors: FORMAT,
 * CORRUPT, LIMIT, IO, MEMORY. On an error there is nothing to free. */
lanebloom_status lanebloom_footer_load(const struct input *input, lanebloom_parquet_bounds bounds,
                                       struct footer *footer, const struct problem *problem);

void lanebloom_footer_free(struct footer *footer);

/* A column chunk. Slices are borrowed from the footer's bytes. */
struct chunk {
  bool is_encrypted;
  lanebloom_slice file_path; /* of the other file that has it; empty: this file */
  bool is_elsewhere;         /* encrypted or in another file: filter and bounds cannot be read */
  uint64_t nvalues, nnulls;  /* nnulls: LANEBLOOM_UNKNOWN */
  uint64_t offset, nbytes;   /* of its pages */
  bool has_filter;
  uint64_t filter_offset, filter_nbytes; /* filter_nbytes: LANEBLOOM_UNKNOWN */
  struct certainties known;
};

/* row_group, column: below the footer's counts. */
struct chunk lanebloom_footer_chunk(const struct footer *footer, size_t row_group, size_t column);

/* Returns the offset at which a chunk's filter must end: that of another chunk's filter, which may
 * be the same offset, or that of the footer. offset: that of the filter, which is before the
 * footer. */
uint64_t lanebloom_footer_filter_end(const struct footer *footer, uint64_t offset);

/* chunk.c: reads the struct ColumnChunk of a column. A chunk that is in the file must end before
 * the footer. */
void lanebloom_chunk_read(struct thrift *thrift, const struct footer *footer,
                          const struct column *column, struct chunk *chunk);

#endif
