/* The model's operations for a kernel table.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "model_parts.h"

typedef uint64_t position_function(const struct filter_shape *shape, const void *hash, unsigned i);

static uint64_t leveldb_position(const struct filter_shape *shape, const void *hash, unsigned i)
{
  uint32_t value;
  memcpy(&value, hash, sizeof value);
  return model_position(value, i, shape->nbytes);
}

static uint64_t legacy_position(const struct filter_shape *shape, const void *hash, unsigned i)
{
  uint32_t value;
  memcpy(&value, hash, sizeof value);
  return model_legacy_position(value, i, shape->nbytes, shape->lines.n);
}

static uint64_t local_position(const struct filter_shape *shape, const void *hash, unsigned i)
{
  uint64_t value;
  memcpy(&value, hash, sizeof value);
  return model_local_position(value, i, shape->nbytes);
}

static uint64_t parquet_position(const struct filter_shape *shape, const void *hash, unsigned i)
{
  uint64_t value;
  memcpy(&value, hash, sizeof value);
  return model_parquet_position(value, i, shape->nbytes);
}

static uint64_t spark_v1_position(const struct filter_shape *shape, const void *hash, unsigned i)
{
  uint64_t value;
  memcpy(&value, hash, sizeof value);
  return model_spark_v1_position(value, i, shape->nbytes);
}

static uint64_t spark_v2_position(const struct filter_shape *shape, const void *hash, unsigned i)
{
  uint64_t value;
  memcpy(&value, hash, sizeof value);
  return model_spark_v2_position(value, i, shape->nbytes);
}

static uint64_t dcso_position(const struct filter_shape *shape, const void *hash, unsigned i)
{
  uint64_t value;
  memcpy(&value, hash, sizeof value);
  return model_dcso_position(value, i, shape->nbits);
}

static uint64_t guava_32_position(const struct filter_shape *shape, const void *hash, unsigned i)
{
  uint64_t value[2];
  memcpy(value, hash, sizeof value);
  return model_guava_32_position(value, i, shape->nbytes);
}

static uint64_t guava_64_position(const struct filter_shape *shape, const void *hash, unsigned i)
{
  uint64_t value[2];
  memcpy(value, hash, sizeof value);
  return model_guava_64_position(value, i, shape->nbytes);
}

static uint64_t cassandra_position(const struct filter_shape *shape, const void *hash, unsigned i)
{
  uint64_t value[2];
  memcpy(value, hash, sizeof value);
  return model_cassandra_position(value, i, shape->nbytes, 4);
}

static uint64_t cassandra_3_position(const struct filter_shape *shape, const void *hash, unsigned i)
{
  uint64_t value[2];
  memcpy(value, hash, sizeof value);
  return model_cassandra_position(value, i, shape->nbytes, 3);
}

static uint64_t cassandra_2_position(const struct filter_shape *shape, const void *hash, unsigned i)
{
  uint64_t value[2];
  memcpy(value, hash, sizeof value);
  return model_cassandra_position(value, i, shape->nbytes, 2);
}

/* The operations take only stored hashes, which is all that tests need. */
static void probe_at(position_function *position, size_t hash_nbytes,
                     const struct filter_shape *shape, const uint8_t *payload,
                     const struct hash_source *source, uint8_t *bitmap)
{
  for (size_t i = 0; i < source->n; i++) {
    if (i % 8 == 0)
      bitmap[i / 8] = 0;
    unsigned nset = 0;
    for (unsigned p = 0; p < shape->nprobes; p++)
      nset += is_set(payload, position(shape, source->hashes + hash_nbytes * i, p));
    if (nset == shape->nprobes)
      bitmap[i / 8] = (uint8_t)(bitmap[i / 8] | 1 << i % 8);
  }
}

static void add_at(position_function *position, size_t hash_nbytes,
                   const struct filter_shape *shape, uint8_t *payload,
                   const struct hash_source *source)
{
  for (size_t i = 0; i < source->n; i++)
    for (unsigned p = 0; p < shape->nprobes; p++) {
      const uint64_t at = position(shape, source->hashes + hash_nbytes * i, p);
      payload[at / 8] = (uint8_t)(payload[at / 8] | 1 << at % 8);
    }
}

static void leveldb_probe(const struct filter_shape *shape, const uint8_t *payload,
                          struct hash_source *source, uint8_t *bitmap)
{
  probe_at(leveldb_position, 4, shape, payload, source, bitmap);
}

static void leveldb_add(const struct filter_shape *shape, uint8_t *payload,
                        struct hash_source *source)
{
  add_at(leveldb_position, 4, shape, payload, source);
}

static void legacy_probe(const struct filter_shape *shape, const uint8_t *payload,
                         struct hash_source *source, uint8_t *bitmap)
{
  probe_at(legacy_position, 4, shape, payload, source, bitmap);
}

static void legacy_add(const struct filter_shape *shape, uint8_t *payload,
                       struct hash_source *source)
{
  add_at(legacy_position, 4, shape, payload, source);
}

static void local_probe(const struct filter_shape *shape, const uint8_t *payload,
                        struct hash_source *source, uint8_t *bitmap)
{
  probe_at(local_position, 8, shape, payload, source, bitmap);
}

static void local_add(const struct filter_shape *shape, uint8_t *payload,
                      struct hash_source *source)
{
  add_at(local_position, 8, shape, payload, source);
}

static void parquet_probe(const struct filter_shape *shape, const uint8_t *payload,
                          struct hash_source *source, uint8_t *bitmap)
{
  probe_at(parquet_position, 8, shape, payload, source, bitmap);
}

static void parquet_add(const struct filter_shape *shape, uint8_t *payload,
                        struct hash_source *source)
{
  add_at(parquet_position, 8, shape, payload, source);
}

static void spark_v1_probe_each(const struct filter_shape *shape, const uint8_t *payload,
                                struct hash_source *source, uint8_t *bitmap)
{
  probe_at(spark_v1_position, 8, shape, payload, source, bitmap);
}

static void spark_v1_add(const struct filter_shape *shape, uint8_t *payload,
                         struct hash_source *source)
{
  add_at(spark_v1_position, 8, shape, payload, source);
}

static void spark_v2_probe_each(const struct filter_shape *shape, const uint8_t *payload,
                                struct hash_source *source, uint8_t *bitmap)
{
  probe_at(spark_v2_position, 8, shape, payload, source, bitmap);
}

static void spark_v2_add(const struct filter_shape *shape, uint8_t *payload,
                         struct hash_source *source)
{
  add_at(spark_v2_position, 8, shape, payload, source);
}

static void dcso_probe(const struct filter_shape *shape, const uint8_t *payload,
                       struct hash_source *source, uint8_t *bitmap)
{
  probe_at(dcso_position, 8, shape, payload, source, bitmap);
}

static void dcso_add(const struct filter_shape *shape, uint8_t *payload, struct hash_source *source)
{
  add_at(dcso_position, 8, shape, payload, source);
}

static void guava_32_probe(const struct filter_shape *shape, const uint8_t *payload,
                           struct hash_source *source, uint8_t *bitmap)
{
  probe_at(guava_32_position, 16, shape, payload, source, bitmap);
}

static void guava_32_add(const struct filter_shape *shape, uint8_t *payload,
                         struct hash_source *source)
{
  add_at(guava_32_position, 16, shape, payload, source);
}

static void guava_64_probe(const struct filter_shape *shape, const uint8_t *payload,
                           struct hash_source *source, uint8_t *bitmap)
{
  probe_at(guava_64_position, 16, shape, payload, source, bitmap);
}

static void guava_64_add(const struct filter_shape *shape, uint8_t *payload,
                         struct hash_source *source)
{
  add_at(guava_64_position, 16, shape, payload, source);
}

static void cassandra_probe(const struct filter_shape *shape, const uint8_t *payload,
                            struct hash_source *source, uint8_t *bitmap)
{
  probe_at(cassandra_position, 16, shape, payload, source, bitmap);
}

static void cassandra_add(const struct filter_shape *shape, uint8_t *payload,
                          struct hash_source *source)
{
  add_at(cassandra_position, 16, shape, payload, source);
}

static void cassandra_3_probe(const struct filter_shape *shape, const uint8_t *payload,
                              struct hash_source *source, uint8_t *bitmap)
{
  probe_at(cassandra_3_position, 16, shape, payload, source, bitmap);
}

static void cassandra_3_add(const struct filter_shape *shape, uint8_t *payload,
                            struct hash_source *source)
{
  add_at(cassandra_3_position, 16, shape, payload, source);
}

static void cassandra_2_probe(const struct filter_shape *shape, const uint8_t *payload,
                              struct hash_source *source, uint8_t *bitmap)
{
  probe_at(cassandra_2_position, 16, shape, payload, source, bitmap);
}

static void cassandra_2_add(const struct filter_shape *shape, uint8_t *payload,
                            struct hash_source *source)
{
  add_at(cassandra_2_position, 16, shape, payload, source);
}

static void probe_sums(bool (*may_match)(const struct filter_shape *, const uint8_t *, uint64_t),
                       const struct filter_shape *shape, const uint8_t *payload,
                       const struct hash_source *source, uint8_t *bitmap)
{
  memset(bitmap, 0, (source->n + 7) / 8);
  for (size_t i = 0; i < source->n; i++) {
    uint64_t hash;
    memcpy(&hash, source->hashes + 8 * i, 8);
    if (may_match(shape, payload, hash))
      bitmap[i / 8] = (uint8_t)(bitmap[i / 8] | 1 << i % 8);
  }
}

static void ribbon_probe(const struct filter_shape *shape, const uint8_t *payload,
                         struct hash_source *source, uint8_t *bitmap)
{
  probe_sums(model_ribbon_may_match, shape, payload, source, bitmap);
}

static void fuse_probe(const struct filter_shape *shape, const uint8_t *payload,
                       struct hash_source *source, uint8_t *bitmap)
{
  probe_sums(model_fuse_may_match, shape, payload, source, bitmap);
}

/* Takes keys, which must be slices. */
static void hudi_probe(const struct filter_shape *shape, const uint8_t *payload,
                       struct hash_source *source, uint8_t *bitmap)
{
  const lanebloom_slice *slices = source->keys->index;
  memset(bitmap, 0, (source->n + 7) / 8);
  for (size_t i = 0; i < source->n; i++)
    if (model_hudi_may_have(shape, payload, slices[i]))
      bitmap[i / 8] = (uint8_t)(bitmap[i / 8] | 1 << i % 8);
}

static void bloomhash_slices(const lanebloom_keys *keys, void *hashes, bool signed_tail)
{
  const lanebloom_slice *slices = keys->index;
  for (size_t i = 0; i < keys->n; i++) {
    const uint32_t hash = model_bloomhash(slices[i].data, slices[i].size, signed_tail);
    memcpy((uint8_t *)hashes + 4 * i, &hash, 4);
  }
}

static void hash_unsigned(const lanebloom_keys *keys, void *hashes)
{
  bloomhash_slices(keys, hashes, false);
}

static void hash_signed(const lanebloom_keys *keys, void *hashes)
{
  bloomhash_slices(keys, hashes, true);
}

static void hash_xxph3(const lanebloom_keys *keys, void *hashes)
{
  const lanebloom_slice *slices = keys->index;
  for (size_t i = 0; i < keys->n; i++) {
    const uint64_t hash = model_xxph3(slices[i].data, slices[i].size);
    memcpy((uint8_t *)hashes + 8 * i, &hash, 8);
  }
}

static void hash_xxh64(const lanebloom_keys *keys, void *hashes)
{
  const lanebloom_slice *slices = keys->index;
  for (size_t i = 0; i < keys->n; i++) {
    const uint64_t hash = model_xxh64(slices[i].data, slices[i].size);
    memcpy((uint8_t *)hashes + 8 * i, &hash, 8);
  }
}

static void hash_spark_murmur3(const lanebloom_keys *keys, void *hashes)
{
  const lanebloom_slice *slices = keys->index;
  for (size_t i = 0; i < keys->n; i++) {
    const uint64_t hash = model_spark_murmur3(slices[i].data, slices[i].size);
    memcpy((uint8_t *)hashes + 8 * i, &hash, 8);
  }
}

static void hash_xxh3(const lanebloom_keys *keys, void *hashes)
{
  const lanebloom_slice *slices = keys->index;
  for (size_t i = 0; i < keys->n; i++) {
    const uint64_t hash = model_xxh3(slices[i].data, slices[i].size);
    memcpy((uint8_t *)hashes + 8 * i, &hash, 8);
  }
}

static void fnv1_slices(const lanebloom_keys *keys, void *hashes, bool is_signed)
{
  const lanebloom_slice *slices = keys->index;
  for (size_t i = 0; i < keys->n; i++) {
    const uint64_t hash = model_fnv1(slices[i].data, slices[i].size, is_signed);
    memcpy((uint8_t *)hashes + 8 * i, &hash, 8);
  }
}

static void hash_fnv1(const lanebloom_keys *keys, void *hashes)
{
  fnv1_slices(keys, hashes, false);
}

static void hash_fnv1_signed(const lanebloom_keys *keys, void *hashes)
{
  fnv1_slices(keys, hashes, true);
}

static void murmur3_128_slices(const lanebloom_keys *keys, void *hashes, bool signed_tail)
{
  const lanebloom_slice *slices = keys->index;
  for (size_t i = 0; i < keys->n; i++) {
    uint64_t hash[2];
    model_murmur3_128(slices[i].data, slices[i].size, signed_tail, hash);
    memcpy((uint8_t *)hashes + sizeof hash * i, hash, sizeof hash);
  }
}

static void hash_murmur3_128(const lanebloom_keys *keys, void *hashes)
{
  murmur3_128_slices(keys, hashes, false);
}

static void hash_murmur3_128_signed(const lanebloom_keys *keys, void *hashes)
{
  murmur3_128_slices(keys, hashes, true);
}

const struct model model_leveldb = {{hash_unsigned, leveldb_probe, leveldb_add, NULL, NULL},
                                    leveldb_position};
const struct model model_leveldb_signed = {{hash_signed, leveldb_probe, leveldb_add, NULL, NULL},
                                           leveldb_position};
const struct model model_rocksdb_legacy = {{hash_signed, legacy_probe, legacy_add, NULL, NULL},
                                           legacy_position};
const struct model model_rocksdb_local = {{hash_xxph3, local_probe, local_add, NULL, NULL},
                                          local_position};
const struct model model_rocksdb_ribbon = {{hash_xxph3, ribbon_probe, NULL, NULL, NULL}, NULL};
const struct model model_parquet = {{hash_xxh64, parquet_probe, parquet_add, NULL, NULL},
                                    parquet_position};
const struct model model_spark_v1 = {
    {hash_spark_murmur3, spark_v1_probe_each, spark_v1_add, NULL, NULL}, spark_v1_position};
const struct model model_spark_v2 = {
    {hash_spark_murmur3, spark_v2_probe_each, spark_v2_add, NULL, NULL}, spark_v2_position};
const struct model model_pebble_binaryfuse = {{hash_xxh3, fuse_probe, NULL, NULL, NULL}, NULL};
const struct model model_dcso = {{hash_fnv1, dcso_probe, dcso_add, NULL, NULL}, dcso_position};
const struct model model_dcso_signed = {{hash_fnv1_signed, dcso_probe, dcso_add, NULL, NULL},
                                        dcso_position};
const struct model model_guava_32 = {{hash_murmur3_128, guava_32_probe, guava_32_add, NULL, NULL},
                                     guava_32_position};
const struct model model_guava_64 = {{hash_murmur3_128, guava_64_probe, guava_64_add, NULL, NULL},
                                     guava_64_position};
const struct model model_cassandra = {
    {hash_murmur3_128_signed, cassandra_probe, cassandra_add, NULL, NULL}, cassandra_position};
const struct model model_cassandra_3 = {
    {hash_murmur3_128_signed, cassandra_3_probe, cassandra_3_add, NULL, NULL},
    cassandra_3_position};
const struct model model_cassandra_2 = {
    {hash_murmur3_128_signed, cassandra_2_probe, cassandra_2_add, NULL, NULL},
    cassandra_2_position};
const struct model model_hudi = {{NULL, hudi_probe, NULL, NULL, NULL}, NULL};
