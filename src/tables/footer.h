/* Reads the footer of a table: its last bytes, which identify the engine that wrote the table and
 * locate the metaindex, the list of the table's other blocks (metaindex.h).
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_FOOTER_H
#define LANEBLOOM_TABLES_FOOTER_H

#include <lanebloom_tables.h>

#include "../common/table_end.h"
#include "../cursor.h"
#include "../input.h"
#include "checksum.h"

/* The position of a block in the file, without its trailer of BLOCK_TRAILER_NBYTES. */
struct handle {
  uint64_t offset, nbytes;
};

enum { BLOCK_TRAILER_NBYTES = 5 }; /* compression type, checksum */

/* Parses a handle, which is stored as two varints. Returns false if there are too few bytes, or if
 * they are not varints. */
static inline bool cursor_handle(struct cursor *cursor, struct handle *handle)
{
  return cursor_varint(cursor, &handle->offset) && cursor_varint(cursor, &handle->nbytes);
}

struct footer {
  lanebloom_engine engine;
  uint32_t version;
  enum checksum checksum;
  uint32_t checksum_base; /* for lanebloom_checksum_context() */
  uint64_t offset;        /* where the footer itself begins; all blocks end before it */
  struct handle metaindex, index;
  bool has_index; /* if false, the metaindex has the handle of the index */
};

/* Reads the footer. Errors: FORMAT if the file is no table; LIMIT if this version or kind of table
 * is not supported; CORRUPT, IO. */
lanebloom_status lanebloom_footer_read(const struct input *input, struct footer *footer,
                                       const struct problem *problem);

/* Returns the engine's name for messages. */
const char *lanebloom_footer_engine(const struct footer *footer);

#endif
