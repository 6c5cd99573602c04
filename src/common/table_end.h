/* Recognises a table of LevelDB, RocksDB or Pebble (a sorted file of a database) by its last bytes.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLE_END_H
#define LANEBLOOM_TABLE_END_H

#include <stdbool.h>
#include <stdint.h>

/* Checks whether these bytes are the end of a table. Kinds of tables that lanebloom cannot read
 * count, too. The magic number alone does not decide: Pebble's magic number is two characters of
 * UTF-8, so a text may end with it. But a text does not have a version number before the magic
 * number. */
enum { FOOTER_END_NBYTES = 12 };
bool lanebloom_footer_ends_table(const uint8_t bytes[FOOTER_END_NBYTES]);

#endif
