/* Filter blocks: LevelDB's small filters one behind the other, then where each begins, then what a
 * filter is for.
 *
 *   filter 0 | filter 1 | ... | begin of 0 | begin of 1 | ... | end of the last | base_lg
 *                             | 4 bytes each                                    | 1 byte
 *
 * Filter i holds the keys of the data blocks that start in bytes [i << base_lg, (i + 1) << base_lg)
 * of the file. A filter without keys has no bytes. (LevelDB 1.23 table/filter_block.cc)
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_FILTER_BLOCK_H
#define LANEBLOOM_TABLES_FILTER_BLOCK_H

#include <lanebloom_tables.h>

enum {
  OFFSET_NBYTES = 4,
  TRAILER_NBYTES = OFFSET_NBYTES + 1, /* the end of the last filter, where offsets begin; base_lg */
  MAX_BASE_LG = 63,
};

/* What calls that create something check first, in the first library's order. */
static inline lanebloom_status filter_block_check_format(lanebloom_format format)
{
  if (!lanebloom_kernel_active())
    return LANEBLOOM_ERR_KERNEL;
  return format == LANEBLOOM_LEVELDB || format == LANEBLOOM_LEVELDB_SIGNED ? LANEBLOOM_OK
                                                                           : LANEBLOOM_ERR_FORMAT;
}

/* How many filters a block has; 0 where it is malformed. */
uint64_t lanebloom_filter_block_size(const lanebloom_filter_block *block);

/* One of them, borrowed. false: it is damaged. */
bool lanebloom_filter_block_filter(const lanebloom_filter_block *block, uint64_t index,
                                   lanebloom_slice *filter);

#endif
