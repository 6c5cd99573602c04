/* The footer: schema, row groups, and where in its bytes each column chunk is described. A chunk is
 * read when it is asked for, so that a footer in memory takes little more than its bytes.
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
  const uint8_t *bytes; /* the metadata, without what follows it */
  uint8_t *own;         /* the memory they are in; NULL: borrowed */
  uint32_t nbytes;
  uint64_t offset; /* in the file */
  struct schema schema;
  size_t nrow_groups;
  struct row_group *row_groups;
  uint32_t *chunks; /* of each row group, each column: offsets in `bytes` */
  size_t nfilters;
  uint64_t *filter_offsets; /* ascending, of all chunks; behind them the footer's offset */
  uint64_t nrows;
  char *created_by; /* NULL: the file does not say */
  struct trust trust;
};

/* Reads a file's footer, and checks all of it. bounds: which statistics are relied on. Errors:
 * FORMAT, CORRUPT, LIMIT, IO, MEMORY. On an error there is nothing to free. */
lanebloom_status lanebloom_footer_load(const struct input *input, lanebloom_parquet_bounds bounds,
                                       struct footer *footer, const struct problem *problem);

void lanebloom_footer_free(struct footer *footer);

/* A column chunk. Slices are borrowed from the footer's bytes. */
struct chunk {
  bool is_encrypted;
  lanebloom_slice file_path; /* of another file that has it; empty: this one */
  bool is_elsewhere;         /* either; neither filter nor bounds can then be read */
  uint64_t nvalues, nnulls;  /* nnulls: LANEBLOOM_UNKNOWN */
  uint64_t offset, nbytes;   /* of its pages */
  bool has_filter;
  uint64_t filter_offset, filter_nbytes; /* filter_nbytes: LANEBLOOM_UNKNOWN */
  struct certainties known;
};

/* row_group, column: below the footer's counts. */
struct chunk lanebloom_footer_chunk(const struct footer *footer, size_t row_group, size_t column);

/* Where the filter that a chunk has at this offset, before the footer, must end: where another
 * chunk's begins, which may be the same offset, or the footer. */
uint64_t lanebloom_footer_filter_end(const struct footer *footer, uint64_t offset);

/* chunk.c: reads the struct ColumnChunk of a column. A chunk that is in the file must end before
 * the footer. */
void lanebloom_chunk_read(struct thrift *thrift, const struct footer *footer,
                          const struct column *column, struct chunk *chunk);

#endif
