/* The last bytes of a table of LevelDB, RocksDB or Pebble.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLE_END_H
#define LANEBLOOM_TABLE_END_H

#include <stdbool.h>
#include <stdint.h>

/* Are these bytes the end of a table? Kinds of tables that are not read count, too. Text may end in
 * Pebble's magic number, which is two characters of UTF-8, but it has no version before that. */
enum { FOOTER_END_NBYTES = 12 };
bool lanebloom_footer_ends_table(const uint8_t bytes[FOOTER_END_NBYTES]);

#endif
