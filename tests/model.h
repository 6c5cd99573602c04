/* The filters written a second time, straight from their definitions, to check the scalar kernels:
 * one key and one probe at a time, arithmetic in the open, nothing shared with the library but the
 * shape of the kernel table.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_MODEL_H
#define LANEBLOOM_TESTS_MODEL_H

#include "format.h"

/* BloomHash of one key. */
uint32_t model_bloomhash(const void *key, size_t size, bool signed_tail);

/* XXPH3, XXH64 and both of Spark's hashes of one key. */
uint64_t model_xxph3(const void *key, size_t size);
uint64_t model_xxh64(const void *key, size_t size);
uint64_t model_spark_murmur3(const void *key, size_t size);

/* Where probe number i, from 0, of a hash lies in a LevelDB filter's payload of nbytes; in a legacy
 * RocksDB filter's of nbytes in nlines lines; and in a FastLocalBloom's, a Parquet filter's or one
 * of Spark's of nbytes. */
uint64_t model_position(uint32_t hash, unsigned i, uint64_t nbytes);
uint64_t model_legacy_position(uint32_t hash, unsigned i, uint64_t nbytes, uint64_t nlines);
uint64_t model_local_position(uint64_t hash, unsigned i, uint64_t nbytes);
uint64_t model_parquet_position(uint64_t hash, unsigned i, uint64_t nbytes);
uint64_t model_spark_v1_position(uint64_t hash, unsigned i, uint64_t nbytes);
uint64_t model_spark_v2_position(uint64_t hash, unsigned i, uint64_t nbytes);

/* Whether a hash fulfils its equation in a Ribbon filter's payload, and a payload in which all
 * these hashes do, except those that begin at the slot of another one: changes payload where
 * needed. */
bool model_ribbon_may_match(const struct filter_shape *shape, const uint8_t *payload,
                            uint64_t hash);
void model_ribbon_fit(const struct filter_shape *shape, uint8_t *payload, uint64_t *hashes,
                      size_t n);

/* The number of probes that the engines choose. A thousandth of a bit is a millibit. */
unsigned model_nprobes(unsigned bits_per_key);
unsigned model_local_nprobes(uint64_t millibits_per_key);

/* The bytes of RocksDB's payloads for so many entries: 0 for none. */
uint64_t model_legacy_nbytes(uint64_t bits_per_key, uint64_t nentries);
uint64_t model_local_nbytes(uint64_t millibits_per_key, uint64_t nentries);

/* LevelDB's KeyMayMatch of a hash, on any bytes. */
bool model_may_match(const uint8_t *bytes, size_t size, uint32_t hash);

/* What a table has for a format. */
struct operations {
  hash_function *hash;
  probe_function *probe;
  add_function *add;
  scratch_function *scratch_nbytes;
};

static inline struct operations operations_of(const struct kernel_table *table,
                                              const struct format_table *format)
{
  const struct layout_kernels *layout = &table->layout[format->layout];
  return (struct operations){table->hash[format->hash], layout->probe, layout->add,
                             layout->scratch_nbytes};
}

/* A format: its operations, and where its probes lie; Ribbon: NULL. Hashing takes keys in slices
 * only: it is no judge of its own reading of other layouts. */
struct model {
  struct operations ops;
  uint64_t (*position)(const struct filter_shape *shape, const void *hash, unsigned i);
};

extern const struct model model_leveldb, model_leveldb_signed, model_rocksdb_legacy,
    model_rocksdb_local, model_rocksdb_ribbon, model_parquet, model_spark_v1, model_spark_v2;

#endif
