/* Shared by the tests against the real RocksDB.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_ROCKSDB_H
#define LANEBLOOM_TESTS_ROCKSDB_H

#include "engine_rocksdb.h"
#include "key_set.h"

static const lanebloom_format formats[] = {LANEBLOOM_ROCKSDB_LEGACY, LANEBLOOM_ROCKSDB_LOCAL};

/* Checks the size and the rate for nentries, to the last bit. The entries need not be added. */
void check_plan(lanebloom_format format, double bits, oracle_builder *oracle, uint64_t nentries);

/* Screens the key set with the bytes opened as `format`, and checks that every answer is RocksDB's.
 * Returns the number of queries. */
size_t check_answers(lanebloom_format format, const uint8_t *bytes, size_t size,
                     const struct key_set *set, size_t *nhits);

#endif
