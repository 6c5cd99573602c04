/* The frozen tables, and keys for the tests of tables.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "tables.h"

/* ---- Keys ---- */

void list_add(void *context, const void *key, size_t size)
{
  struct key_list *list = context;
  if (list->n + 2 > list->room) {
    list->room = list->room ? 2 * list->room : 1024;
    list->offsets = realloc(list->offsets, list->room * sizeof *list->offsets);
    cr_assert(list->offsets);
    if (list->n == 0)
      list->offsets[0] = 0;
  }
  const uint64_t begin = list->offsets[list->n];
  if (begin + size + 1 > list->bytes_room) {
    list->bytes_room = 2 * (begin + size + 1);
    list->bytes = realloc(list->bytes, list->bytes_room);
    cr_assert(list->bytes);
  }
  memcpy(list->bytes + begin, key, size);
  list->offsets[++list->n] = begin + size;
}

void list_free(struct key_list *list)
{
  free(list->bytes);
  free(list->offsets);
}

int compare_slices(lanebloom_slice a, lanebloom_slice b)
{
  const size_t n = a.size < b.size ? a.size : b.size;
  const int order = n ? memcmp(a.data, b.data, n) : 0;
  return order ? order : (a.size > b.size) - (a.size < b.size);
}

uint8_t *bitmap_make(size_t n)
{
  uint8_t *made = test_alloc(n / 8 + 2);
  memset(made, 0xa5, n / 8 + 2);
  return made;
}

void draw_absent(struct key_list *list, size_t n, uint64_t stream)
{
  struct rng rng = rng_start(stream);
  for (size_t i = 0; i < n; i++) {
    char text[64];
    int size =
        snprintf(text, sizeof text, "user%016llu", (unsigned long long)rng_below(&rng, 100000000));
    const uint64_t kind = rng_below(&rng, 4);
    if (kind == 0) {
      rng_fill(&rng, text, 24);
      size = 24;
    } else {
      const uint64_t tail = rng_next(&rng);
      memcpy(text + size, &tail, sizeof tail);
      size += (int)sizeof tail;
    }
    list_add(list, text, (size_t)size);
  }
}

/* ---- Frozen tables ---- */

const struct frozen frozen[NFROZEN] = {
    {"leveldb_bloom10.ldb", true, 0, 1, LANEBLOOM_TABLE_FILTER_BLOCK, LANEBLOOM_LEVELDB, true,
     false, true},
    {"goleveldb_bloom10.ldb", true, 0, 1, LANEBLOOM_TABLE_FILTER_BLOCK, LANEBLOOM_LEVELDB, true,
     false, true},
    {"rocksdb_fv2_crc32c_legacy10.sst", false, 2, 1, LANEBLOOM_TABLE_FILTER_FULL,
     LANEBLOOM_ROCKSDB_LEGACY, true, false, true},
    {"rocksdb_fv3_xxh32_legacy10.sst", false, 3, 2, LANEBLOOM_TABLE_FILTER_FULL,
     LANEBLOOM_ROCKSDB_LEGACY, true, false, true},
    {"rocksdb_fv4_crc32c_legacy10_partitioned.sst", false, 4, 1, LANEBLOOM_TABLE_FILTER_PARTITIONED,
     LANEBLOOM_ROCKSDB_LEGACY, true, false, true},
    {"rocksdb_fv4_xxh64_legacy10_prefix3.sst", false, 4, 3, LANEBLOOM_TABLE_FILTER_FULL,
     LANEBLOOM_ROCKSDB_LEGACY, true, true, true},
    {"rocksdb_fv5_crc32c_flb10_prefixonly3.sst", false, 5, 1, LANEBLOOM_TABLE_FILTER_FULL,
     LANEBLOOM_ROCKSDB_LOCAL, false, true, true},
    {"rocksdb_fv5_nosum_flb16.sst", false, 5, 0, LANEBLOOM_TABLE_FILTER_FULL,
     LANEBLOOM_ROCKSDB_LOCAL, true, false, true},
    {"rocksdb_fv5_xxh3_flb10.sst", false, 5, 4, LANEBLOOM_TABLE_FILTER_FULL,
     LANEBLOOM_ROCKSDB_LOCAL, true, false, true},
    {"rocksdb_fv5_xxh3_flb10_partitioned.sst", false, 5, 4, LANEBLOOM_TABLE_FILTER_PARTITIONED,
     LANEBLOOM_ROCKSDB_LOCAL, true, false, true},
    /* RocksDB made a Bloom filter instead of a Ribbon filter, because there are few keys. */
    {"rocksdb_fv5_xxh3_ribbon10.sst", false, 5, 4, LANEBLOOM_TABLE_FILTER_FULL,
     LANEBLOOM_ROCKSDB_LOCAL, true, false, true},
    /* This file has only a footer, a metaindex and a filter. */
    {"synthetic_fv6_xxh3.bin", false, 6, 4, LANEBLOOM_TABLE_FILTER_FULL, LANEBLOOM_ROCKSDB_LOCAL,
     false, false, false},
    {"synthetic_fv7_crc32c.bin", false, 7, 1, LANEBLOOM_TABLE_FILTER_FULL, LANEBLOOM_ROCKSDB_LOCAL,
     false, false, false},
    {"rocksdb_fv6_xxh3_flb10.sst", false, 6, 4, LANEBLOOM_TABLE_FILTER_FULL,
     LANEBLOOM_ROCKSDB_LOCAL, true, false, true},
    {"rocksdb_fv7_xxh3_flb10.sst", false, 7, 4, LANEBLOOM_TABLE_FILTER_FULL,
     LANEBLOOM_ROCKSDB_LOCAL, true, false, true},
    {"rocksdb_fv7_crc32c_flb10_partitioned.sst", false, 7, 1, LANEBLOOM_TABLE_FILTER_PARTITIONED,
     LANEBLOOM_ROCKSDB_LOCAL, true, false, true},
    /* Its data blocks store values apart from keys, so its keys are not read. */
    {"rocksdb_fv7_xxh64_flb10_apart.sst", false, 7, 3, LANEBLOOM_TABLE_FILTER_FULL,
     LANEBLOOM_ROCKSDB_LOCAL, true, false, false},
};

void frozen_path(size_t i, char *path)
{
  snprintf(path, PATH_NBYTES, "%s/tables/%s", LANEBLOOM_TEST_VECTORS, frozen[i].name);
}

static void read_keys_file(struct key_list *list)
{
  char path[PATH_NBYTES], line[1024];
  snprintf(path, sizeof path, "%s/tables/keys.txt", LANEBLOOM_TEST_VECTORS);
  FILE *file = fopen(path, "r");
  cr_assert(file);
  while (fgets(line, sizeof line, file)) {
    uint8_t key[sizeof line];
    line[strcspn(line, "\n")] = 0;
    if (line[0] != '#')
      list_add(list, key, hex_decode(line, key, sizeof key));
  }
  fclose(file);
}

void frozen_keys(size_t i, struct key_list *list)
{
  char path[PATH_NBYTES];
  frozen_path(i, path);
  if (frozen[i].is_leveldb)
    oracle_keys_of_table(0, path, list_add, list);
  else
    read_keys_file(list);
}

uint8_t *read_unsealed(const char *path, size_t *size)
{
  enum { AT_CHECKSUM_TYPE = 53 /* from the end */ };
  uint8_t *bytes = test_read_file(path, size);
  bytes[*size - AT_CHECKSUM_TYPE] = CHECKSUM_NONE;
  return bytes;
}
