/* What describes a table counts its small filters, too.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_FILTER_BLOCK_H
#define LANEBLOOM_TABLES_FILTER_BLOCK_H

#include <lanebloom_tables.h>

/* How many filters a block has; 0 where it is malformed. */
uint64_t lanebloom_filter_block_size(const lanebloom_filter_block *block);

/* One of them, borrowed. false: it is damaged. */
bool lanebloom_filter_block_filter(const lanebloom_filter_block *block, uint64_t index,
                                   lanebloom_slice *filter);

#endif
