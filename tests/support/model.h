/* The filters written a second time, straight from their definitions, to check the scalar kernels.
 * The model takes one key and one probe at a time, with plain arithmetic. It shares only the shape
 * of the kernel table with the library.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TESTS_MODEL_H
#define LANEBLOOM_TESTS_MODEL_H

#include "format.h"

/* Returns the BloomHash of one key. */
uint32_t model_bloomhash(const void *key, size_t size, bool signed_tail);

/* Each returns a hash of one key: XXPH3, XXH64, one of Spark's hashes, or XXH3. */
uint64_t model_xxph3(const void *key, size_t size);
uint64_t model_xxh64(const void *key, size_t size);
uint64_t model_spark_murmur3(const void *key, size_t size);
uint64_t model_xxh3(const void *key, size_t size);

/* Returns the FNV-1 hash of one key, whose bytes may be signed. */
uint64_t model_fnv1(const void *key, size_t size, bool is_signed);
/* Computes Guava's hash of one key or, with signed_tail, Cassandra's. */
void model_murmur3_128(const void *key, size_t size, bool signed_tail, uint64_t hash[2]);

/* Each returns the position of probe i of a hash, counted from 0, in a payload of nbytes. The
 * formats are LevelDB; RocksDB's legacy filters, with nlines lines; FastLocalBloom; Parquet; Spark;
 * Guava; and Cassandra, of which `version` is 2, 3 or 4. */
uint64_t model_position(uint32_t hash, unsigned i, uint64_t nbytes);
uint64_t model_legacy_position(uint32_t hash, unsigned i, uint64_t nbytes, uint64_t nlines);
uint64_t model_local_position(uint64_t hash, unsigned i, uint64_t nbytes);
uint64_t model_parquet_position(uint64_t hash, unsigned i, uint64_t nbytes);
uint64_t model_spark_v1_position(uint64_t hash, unsigned i, uint64_t nbytes);
uint64_t model_spark_v2_position(uint64_t hash, unsigned i, uint64_t nbytes);
uint64_t model_guava_32_position(const uint64_t hash[2], unsigned i, uint64_t nbytes);
uint64_t model_guava_64_position(const uint64_t hash[2], unsigned i, uint64_t nbytes);
uint64_t model_cassandra_position(const uint64_t hash[2], unsigned i, uint64_t nbytes,
                                  unsigned version);

/* Returns the position of probe i of a hash in a filter of DCSO's. */
uint64_t model_dcso_position(uint64_t hash, unsigned i, uint64_t nbits);

/* may_match returns whether a hash fulfils its equation in the payload of a Ribbon filter. fit
 * changes a payload so that all given hashes fulfil their equations, except hashes that begin at
 * the same slot as another hash. */
bool model_ribbon_may_match(const struct filter_shape *shape, const uint8_t *payload,
                            uint64_t hash);
void model_ribbon_fit(const struct filter_shape *shape, uint8_t *payload, uint64_t *hashes,
                      size_t n);

/* may_match returns whether a hash may be in the payload of a binary fuse filter. fit changes a
 * payload so that this is true of most of the given hashes. */
bool model_fuse_may_match(const struct filter_shape *shape, const uint8_t *payload, uint64_t hash);
void model_fuse_fit(const struct filter_shape *shape, uint8_t *payload, const uint64_t *hashes,
                    size_t n);

/* Returns Hudi's hash of a key with a seed. */
uint32_t model_hudi_hash(const void *key, size_t size, uint32_t seed);

/* Hudi's records with this number of rows; 0: a SIMPLE one. nbytes returns the size of a record,
 * write_headers writes all but bits and numbers of keys, and row returns the bits of a row. */
enum { HUDI_HEADER_NBYTES = 13, HUDI_DYNAMIC_NBYTES = 25 };
size_t model_hudi_nbytes(uint32_t nrows, uint32_t row_nbits);
void model_hudi_write_headers(uint8_t *record, uint32_t nrows, uint32_t nprobes,
                              uint32_t row_nbits);
uint8_t *model_hudi_row(uint8_t *record, uint32_t nrows, uint32_t row, uint32_t row_nbits);

/* may_have returns whether a key may be in a filter of Hudi. add sets the bits of a key in a row of
 * row_nbits bits. */
bool model_hudi_may_have(const struct filter_shape *shape, const uint8_t *payload,
                         lanebloom_slice key);
void model_hudi_add(uint8_t *row, uint32_t row_nbits, uint32_t nprobes, lanebloom_slice key);

/* Each returns the number of probes that an engine chooses. A millibit is a thousandth of a bit. */
unsigned model_nprobes(unsigned bits_per_key);
unsigned model_local_nprobes(uint64_t millibits_per_key);

/* Each returns the size of a RocksDB payload for nentries, or 0 if there are none. */
uint64_t model_legacy_nbytes(uint64_t bits_per_key, uint64_t nentries);
uint64_t model_local_nbytes(uint64_t millibits_per_key, uint64_t nentries);

/* Returns what LevelDB's KeyMayMatch answers for a hash and any bytes. */
bool model_may_match(const uint8_t *bytes, size_t size, uint32_t hash);

/* The operations of a kernel table for one format. */
struct operations {
  hash_function *hash; /* NULL if the format has no hash */
  probe_function *probe;
  add_function *add;
  scratch_function *scratch_nbytes;
  may_match_function *may_match; /* NULL in a model, and if the format has no hash */
};

static inline struct operations operations_of(const struct kernel_table *table,
                                              const struct format_table *format)
{
  const struct layout_kernels *layout = &table->layout[format->layout];
  return (struct operations){table->hash[format->hash], layout->probe, layout->add,
                             layout->scratch_nbytes, table->may_match[format->layout]};
}

/* Probes hashes of this size one by one. */
static inline void probe_one_by_one(const struct operations *ops, const struct filter_shape *shape,
                                    const uint8_t *payload, const void *hashes, size_t hash_nbytes,
                                    size_t n, uint8_t *bitmap)
{
  memset(bitmap, 0, (n + 7) / 8);
  for (size_t i = 0; i < n; i++) {
    const struct key_hash hash = hash_at(hashes, i, hash_nbytes);
    bitmap[i / 8] |= (uint8_t)(ops->may_match(shape, payload, hash) << i % 8);
  }
}

/* A format: its operations, and the positions of its probes, which are NULL for Ribbon, binary
 * fuse and Hudi. Hashing takes only slices, so that the model does not read the other layouts a
 * second time. */
struct model {
  struct operations ops;
  uint64_t (*position)(const struct filter_shape *shape, const void *hash, unsigned i);
};

extern const struct model model_leveldb, model_leveldb_signed, model_rocksdb_legacy,
    model_rocksdb_local, model_rocksdb_ribbon, model_parquet, model_spark_v1, model_spark_v2,
    model_pebble_binaryfuse, model_dcso, model_dcso_signed, model_guava_32, model_guava_64,
    model_cassandra, model_cassandra_3, model_cassandra_2, model_hudi;

#endif
