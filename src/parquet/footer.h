/* Reads the footer of a Parquet file: its schema and its row groups. The footer also describes each
 * column chunk, that is, the values of one column in one row group. In memory, only the offset of
 * each description is stored, and the description is parsed again when a caller needs it. So a
 * footer in memory takes little more than its bytes in the file.
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

/* What Hudi writes into the metadata. The texts are borrowed from the footer's bytes; if one is
 * missing, its data are NULL. */
struct hudi_metadata {
  lanebloom_slice filter; /* in Base64 */
  lanebloom_slice type;   /* of the filter */
  lanebloom_slice min_key, max_key;
  bool is_ambiguous; /* one of the members is there twice */
};

struct footer {
  const uint8_t *bytes; /* the metadata, without the tail that follows it */
  uint8_t *own;         /* owns the bytes; NULL if they are borrowed */
  uint32_t nbytes;
  uint64_t offset; /* in the file */
  struct schema schema;
  size_t nrow_groups;
  struct row_group *row_groups;
  uint32_t *chunks; /* offsets in `bytes` of all chunks, by row group and column */
  size_t nfilters;
  uint64_t *filter_offsets; /* the offsets of all filters, ascending; then the offset of the
                             * footer */
  uint64_t nrows;
  char *created_by; /* the writer; NULL if the file does not name it */
  struct trust trust;
  struct hudi_metadata hudi;
};

/* Reads the footer of a file, and checks all of it. bounds: the writers whose statistics are used.
 * Errors: FORMAT, CORRUPT, LIMIT, IO, MEMORY. On an error there is nothing to free. */
lanebloom_status lanebloom_footer_load(const struct input *input, lanebloom_parquet_bounds bounds,
                                       struct footer *footer, const struct problem *problem);

void lanebloom_footer_free(struct footer *footer);

/* The description of a column chunk. Its slices are borrowed from the footer's bytes. */
struct chunk {
  bool is_encrypted;
  lanebloom_slice file_path; /* the file that has the chunk; empty if it is this file */
  bool is_elsewhere;         /* encrypted or in another file: filter and bounds cannot be read */
  uint64_t nvalues, nnulls;  /* nnulls may be LANEBLOOM_UNKNOWN */
  uint64_t offset, nbytes;   /* where its pages are */
  bool has_filter;
  uint64_t filter_offset, filter_nbytes; /* filter_nbytes may be LANEBLOOM_UNKNOWN */
  struct certainties known;
};

/* Returns the description of the chunk of a column in a row group. Both indices must be below the
 * footer's counts. */
struct chunk lanebloom_footer_chunk(const struct footer *footer, size_t row_group, size_t column);

/* Returns the offset before which a filter must end. That is the offset of the next filter in the
 * file, or the offset of the footer if no filter follows. `offset` is the offset of the filter
 * itself, and must be in filter_offsets. If two chunks name the same filter, the result equals
 * `offset`. */
uint64_t lanebloom_footer_filter_end(const struct footer *footer, uint64_t offset);

/* Reads Thrift's struct ColumnChunk, the description of a column's chunk (in chunk.c). Marks
 * `thrift` as damaged if the chunk is in this file but does not end before the footer. */
void lanebloom_chunk_read(struct thrift *thrift, const struct footer *footer,
                          const struct column *column, struct chunk *chunk);

#endif
