/* Footers: the last bytes of a table. They identify the engine and locate the metaindex.
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

/* Parses a handle: two varints. false: there are too few bytes, or they are no varints. */
static inline bool cursor_handle(struct cursor *cursor, struct handle *handle)
{
  return cursor_varint(cursor, &handle->offset) && cursor_varint(cursor, &handle->nbytes);
}

struct footer {
  lanebloom_engine engine;
  uint32_t version;
  enum checksum checksum;
  uint32_t checksum_base; /* for lanebloom_checksum_context() */
  uint64_t offset;        /* of the footer itself: blocks end before it */
  struct handle metaindex, index;
  bool has_index; /* else the metaindex has the handle of the index */
};

/* Reads the footer. Errors: FORMAT: not a table; CORRUPT; LIMIT: a version or kind of table that is
 * not supported; IO. */
lanebloom_status lanebloom_footer_read(const struct input *input, struct footer *footer,
                                       const struct problem *problem);

#endif
