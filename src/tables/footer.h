/* Footers: the last bytes of a table. They say which engine wrote it and where to begin.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_FOOTER_H
#define LANEBLOOM_TABLES_FOOTER_H

#include <lanebloom_tables.h>

#include "checksum.h"
#include "cursor.h"
#include "input.h"

/* The place of a block, without its trailer of BLOCK_TRAILER_NBYTES. */
struct handle {
  uint64_t offset, nbytes;
};

enum { BLOCK_TRAILER_NBYTES = 5 }; /* compression, checksum */

/* Two varints, as engines write them. */
static inline bool cursor_handle(struct cursor *cursor, struct handle *handle)
{
  return cursor_varint(cursor, &handle->offset) && cursor_varint(cursor, &handle->nbytes);
}

struct footer {
  lanebloom_engine engine;
  uint32_t version;
  enum checksum checksum;
  uint32_t checksum_base; /* of lanebloom_checksum_context() */
  uint64_t offset;        /* of the footer itself: blocks end before it */
  struct handle metaindex, index;
  bool has_index; /* else the metaindex says where it is */
};

/* Errors: FORMAT: no table; CORRUPT; LIMIT: a version or kind that is not read; IO. */
lanebloom_status lanebloom_footer_read(const struct input *input, struct footer *footer,
                                       const struct problem *problem);

#endif
