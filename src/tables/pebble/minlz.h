/* Decompresses MinLZ, a codec of Pebble. A block is 0, the size of the data as a varint, and
 * elements to the end. An element stores bytes, or copies bytes that were decompressed before.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_PEBBLE_MINLZ_H
#define LANEBLOOM_TABLES_PEBBLE_MINLZ_H

#include <lanebloom.h>
#include <stdbool.h>

/* Reads how many bytes a block becomes, at most 8 MiB. Returns false if the block is damaged. */
bool lanebloom_minlz_size(lanebloom_slice block, size_t *nbytes);

/* Decompresses a block of this size to `to`. Returns false if the block is damaged; `to` then has
 * any bytes. */
bool lanebloom_minlz_decompress(lanebloom_slice block, uint8_t *to, size_t nbytes);

#endif
