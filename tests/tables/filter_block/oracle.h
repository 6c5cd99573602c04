/* The real LevelDB's filter blocks, for tests in C.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_ORACLE_FILTER_BLOCK_H
#define LANEBLOOM_TESTS_ORACLE_FILTER_BLOCK_H

#include <lanebloom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For LANEBLOOM_LEVELDB, both the filters and the block are LevelDB's own. LevelDB has no filters
 * of LANEBLOOM_LEVELDB_SIGNED, so for that format lanebloom makes the filters, and only the block
 * is LevelDB's. */

/* LevelDB's FilterBlockBuilder. */
typedef struct oracle_block_builder oracle_block_builder;
oracle_block_builder *oracle_block_builder_create(lanebloom_format format, int bits_per_key);
void oracle_block_builder_start_block(oracle_block_builder *builder, uint64_t data_block_offset);
void oracle_block_builder_add(oracle_block_builder *builder, const void *key, size_t size);

/* Finishes the block, and destroys the builder. The bytes are for free(). */
uint8_t *oracle_block_builder_finish(oracle_block_builder *builder, size_t *size);

/* FilterBlockReader on any bytes whose last one, base_lg, is at most 63. A shift by more is
 * undefined. */
bool oracle_block_may_match(lanebloom_format format, const void *bytes, size_t size,
                            uint64_t data_block_offset, const void *key, size_t key_size);

#ifdef __cplusplus
}
#endif

#endif
