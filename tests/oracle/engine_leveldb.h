/* The real LevelDB, for tests in C.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_ENGINE_LEVELDB_H
#define LANEBLOOM_TESTS_ENGINE_LEVELDB_H

#include <lanebloom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* leveldb::Hash with the seed that filters use. */
uint32_t oracle_leveldb_hash(const void *key, size_t size);

/* NewBloomFilterPolicy(bits_per_key)'s CreateFilter. The result is for free(). */
uint8_t *oracle_leveldb_create(int bits_per_key, const lanebloom_slice *keys, size_t n,
                               size_t *size);

/* KeyMayMatch, for any bytes as a filter. */
bool oracle_leveldb_may_match(const void *bytes, size_t size, const void *key, size_t key_size);

#ifdef __cplusplus
}
#endif

#endif
