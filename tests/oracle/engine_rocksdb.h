/* The real RocksDB, for tests in C.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_ENGINE_ROCKSDB_H
#define LANEBLOOM_TESTS_ENGINE_ROCKSDB_H

#include <lanebloom.h>

#ifdef __cplusplus
extern "C" {
#endif

/* rocksdb::Hash with the seed that filters use, and rocksdb::Hash64. */
uint32_t oracle_rocksdb_hash32(const void *key, size_t size);
uint64_t oracle_rocksdb_hash64(const void *key, size_t size);

/* Returns a filter builder with optimize_filters_for_memory off, or NULL if RocksDB builds no
 * filter. NewBloomFilterPolicy(bits_per_key) makes the builders for format_version 4
 * (LANEBLOOM_ROCKSDB_LEGACY) and 5 (LANEBLOOM_ROCKSDB_LOCAL), and
 * NewRibbonFilterPolicy(bits_per_key, -1) the builder for LANEBLOOM_ROCKSDB_RIBBON. */
typedef struct oracle_builder oracle_builder;
oracle_builder *oracle_rocksdb_builder(lanebloom_format format, double bits_per_key);
void oracle_rocksdb_destroy(oracle_builder *builder);

/* AddKey, EstimateEntriesAdded, and Finish, whose result is for free(). */
void oracle_rocksdb_add(oracle_builder *builder, const void *key, size_t size);
size_t oracle_rocksdb_nentries(oracle_builder *builder);
uint8_t *oracle_rocksdb_finish(oracle_builder *builder, size_t *size);

/* CalculateSpace and EstimatedFpRate for any number of entries, which need not be added. */
uint64_t oracle_rocksdb_nbytes(oracle_builder *builder, uint64_t nentries);
double oracle_rocksdb_rate(oracle_builder *builder, uint64_t nentries, uint64_t nbytes);

/* GetFilterBitsReader of any bytes, which must outlive the reader, and the reader's MayMatch. */
typedef struct oracle_reader oracle_reader;
oracle_reader *oracle_rocksdb_reader(const void *bytes, size_t size);
bool oracle_rocksdb_may_match(oracle_reader *reader, const void *key, size_t size);
void oracle_rocksdb_close(oracle_reader *reader);

#ifdef __cplusplus
}
#endif

#endif
