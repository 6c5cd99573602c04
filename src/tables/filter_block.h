/* Filter blocks. LevelDB makes one small filter for each 1 << base_lg bytes of a table's data
 * blocks, by default 2 KiB. It stores all filters of a table in one block, followed by the offset
 * of each filter.
 *
 *   filter 0 | filter 1 | ... | offset of 0 | offset of 1 | ... | end of the last | base_lg
 *                             | 4 bytes each                                      | 1 byte
 *
 * Filter i holds the keys of the data blocks that start in bytes [i << base_lg, (i + 1) << base_lg)
 * of the file. A filter without keys has no bytes. (LevelDB 1.23 table/filter_block.cc)
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_FILTER_BLOCK_H
#define LANEBLOOM_TABLES_FILTER_BLOCK_H

#include <lanebloom_tables.h>

enum {
  OFFSET_NBYTES = 4,
  TRAILER_NBYTES = OFFSET_NBYTES + 1, /* the end of the last filter, then base_lg */
  MAX_BASE_LG = 63,
};

/* Makes the first checks of every function that parses or builds a filter block. The checks come in
 * the same order as in the functions of lanebloom.h. Errors: KERNEL, FORMAT. */
static inline lanebloom_status filter_block_check_format(lanebloom_format format)
{
  if (!lanebloom_kernel_active())
    return LANEBLOOM_ERR_KERNEL;
  return format == LANEBLOOM_LEVELDB || format == LANEBLOOM_LEVELDB_SIGNED ? LANEBLOOM_OK
                                                                           : LANEBLOOM_ERR_FORMAT;
}

/* Returns the number of filters, or 0 if the block is malformed. */
uint64_t lanebloom_filter_block_size(const lanebloom_filter_block *block);

/* Returns the number of the filter that holds the keys of the data block at this offset. The block
 * may have no filter of that number. */
uint64_t lanebloom_filter_block_index(const lanebloom_filter_block *block,
                                      uint64_t data_block_offset);

/* Queries filter number `index` for n hashes, which must be hashes of the block's format. If there
 * is no such filter, every key may be present. bitmap and result: as for
 * lanebloom_filter_screen_hashes(). */
size_t lanebloom_filter_block_screen_hashes(const lanebloom_filter_block *block, uint64_t index,
                                            const uint32_t *hashes, size_t n, uint8_t *bitmap);

/* Sets *filter to the bytes of filter number `index`, borrowed from the block. Returns false if the
 * filter is damaged. */
bool lanebloom_filter_block_filter(const lanebloom_filter_block *block, uint64_t index,
                                   lanebloom_slice *filter);

#endif
