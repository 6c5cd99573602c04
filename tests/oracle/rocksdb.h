/* What the tests against the real RocksDB share.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_ROCKSDB_H
#define LANEBLOOM_TESTS_ROCKSDB_H

#include "engine_rocksdb.h"
#include "key_set.h"

static const lanebloom_format formats[] = {LANEBLOOM_ROCKSDB_LEGACY, LANEBLOOM_ROCKSDB_LOCAL};

/* Sizes and rates of nentries, which need not be there, to the last bit. */
void check_plan(lanebloom_format format, double bits, oracle_builder *oracle, uint64_t nentries);

/* Screens the key set, opened as `format`; every answer must be RocksDB's. Returns how many it was
 * asked for. */
size_t check_answers(lanebloom_format format, const uint8_t *bytes, size_t size,
                     const struct key_set *set, size_t *nhits);

#endif
