/* Tables: of the real LevelDB and RocksDB in many option sets, frozen ones, damaged ones. No key
 * that is there is lost.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lanebloom_tables.h>

#include "bytes.h"
#include "oracle_filter_block.h"
#include "oracle_tables.h"
#include "support.h"
#include "tables/compression.h"
#include "tables/loader.h"

enum { PATH_NBYTES = 512, PROBLEM_NBYTES = 300 };

/* ---- Keys ---- */

struct key_list {
  uint8_t *bytes;
  uint64_t *offsets;
  size_t n, room, bytes_room;
};

static void list_add(void *context, const void *key, size_t size)
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

static void list_free(struct key_list *list)
{
  free(list->bytes);
  free(list->offsets);
}

static lanebloom_keys list_keys(const struct key_list *list)
{
  return lanebloom_keys_offsets64(list->bytes, list->offsets, list->n);
}

static lanebloom_slice list_key(const struct key_list *list, size_t i)
{
  return (lanebloom_slice){list->bytes + list->offsets[i], list->offsets[i + 1] - list->offsets[i]};
}

static int compare_slices(lanebloom_slice a, lanebloom_slice b)
{
  const size_t n = a.size < b.size ? a.size : b.size;
  const int order = n ? memcmp(a.data, b.data, n) : 0;
  return order ? order : (a.size > b.size) - (a.size < b.size);
}

static bool has_bit(const uint8_t *bitmap, size_t i)
{
  return bitmap[i / 8] >> i % 8 & 1;
}

static uint8_t *bitmap_make(size_t n)
{
  uint8_t *made = test_alloc(n / 8 + 2);
  memset(made, 0xa5, n / 8 + 2);
  return made;
}

/* ---- Files ---- */

static int remove_one(const char *path, const struct stat *found, int kind, struct FTW *place)
{
  (void)found, (void)kind, (void)place;
  return remove(path);
}

static void folder_make(char *path)
{
  const char *parent = getenv("TMPDIR");
  snprintf(path, PATH_NBYTES, "%s/lanebloom-tables-XXXXXX", parent ? parent : "/tmp");
  cr_assert(mkdtemp(path), "cannot make %s", path);
}

static void folder_free(const char *path)
{
  nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static uint8_t *file_read(const char *path, size_t *size)
{
  FILE *file = fopen(path, "rb");
  cr_assert(file, "cannot open %s", path);
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  uint8_t *bytes = test_alloc(*size + 1);
  cr_assert(fread(bytes, 1, *size, file) == *size);
  fclose(file);
  return bytes;
}

static bool is_table_name(const char *name)
{
  const char *dot = strrchr(name, '.');
  return dot && (strcmp(dot, ".ldb") == 0 || strcmp(dot, ".sst") == 0);
}

static lanebloom_table *must_open(const char *path)
{
  char problem[PROBLEM_NBYTES];
  lanebloom_table *table;
  lanebloom_status status =
      lanebloom_table_open(path, LANEBLOOM_WRITER_UNKNOWN, &table, problem, sizeof problem);
  cr_assert(status == LANEBLOOM_OK, "%s: %s", path, problem);
  cr_assert(problem[0] == 0);
  return table;
}

/* ---- Checks ---- */

/* Every kernel; keys of a table one chunk and more at a time; also one by one. */
static void check_keys(const lanebloom_table *table, const struct key_list *list, const char *what)
{
  const lanebloom_keys keys = list_keys(list);
  uint8_t *bitmap = bitmap_make(list->n);
  for (size_t k = 0; k < lanebloom_kernel_count(); k++) {
    cr_assert(lanebloom_kernel_use(lanebloom_kernel_name(k)) == LANEBLOOM_OK);
    const size_t count = lanebloom_table_screen(table, &keys, bitmap);
    for (size_t i = 0; i < list->n; i++)
      cr_assert(has_bit(bitmap, i), "%s: %s lost key %zu of %zu, %zu bytes", what,
                lanebloom_kernel_name(k), i, list->n, list_key(list, i).size);
    cr_assert(count == list->n && lanebloom_table_screen(table, &keys, NULL) == list->n);
    cr_assert(bitmap[(list->n + 7) / 8] == 0xa5);
  }
  cr_assert(lanebloom_kernel_use(NULL) == LANEBLOOM_OK);
  for (size_t i = 0; i < list->n; i += 1 + list->n / 500) {
    const lanebloom_keys one = lanebloom_keys_part(&keys, i, 1);
    cr_assert(lanebloom_table_screen(table, &one, NULL) == 1, "%s: lost key %zu alone", what, i);
  }
  free(bitmap);
}

/* The same of bytes in memory, where no MANIFEST says how keys are stored. */
static void check_parsed(const char *path, const struct key_list *list, const char *what)
{
  size_t size;
  uint8_t *bytes = file_read(path, &size);
  lanebloom_table *table;
  cr_assert(lanebloom_table_parse(bytes, size, LANEBLOOM_WRITER_UNKNOWN, &table, NULL, 0) ==
            LANEBLOOM_OK);
  check_keys(table, list, what);
  lanebloom_table_close(table);
  free(bytes);
}

/* Random keys that no set writes. */
static void draw_absent(struct key_list *list, size_t n, uint64_t stream)
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

/* Would this key be in the table, as far as the filter knows that is asked of `place`? */
static bool passes_at(const lanebloom_table *table, lanebloom_slice place, lanebloom_slice key)
{
  if (table->kind == LANEBLOOM_TABLE_FILTER_FULL)
    return !table->filters[0] ||
           lanebloom_filter_may_contain(table->filters[0], key.data, key.size);
  size_t block = lanebloom_index_find(&table->index, place, 0);
  if (table->kind == LANEBLOOM_TABLE_FILTER_PARTITIONED) {
    block = block < table->index.n ? block : table->index.n - 1;
    return !table->filters[block] ||
           lanebloom_filter_may_contain(table->filters[block], key.data, key.size);
  }
  if (block == table->index.n)
    return true;
  const uint64_t offset = table->index.handles[block].offset;
  for (size_t i = 0; i < 2; i++)
    if (table->filter_blocks[i] &&
        lanebloom_filter_block_may_contain(table->filter_blocks[i], offset, key.data, key.size))
      return true;
  return false;
}

/* Absent keys pass as often as random keys that are asked of the same filters. A false alarm is as
 * rare as five standard deviations, some 1 in 10^6. */
static void check_rate(const lanebloom_table *table, const char *name,
                       const struct key_list *absent)
{
  enum { NRANDOM = 4, RANDOM_NBYTES = 24 };
  struct rng rng = rng_start(absent->n);
  size_t n = 0, nhits = 0, nrandom_hits = 0;
  const lanebloom_keys keys = list_keys(absent);
  uint8_t *bitmap = bitmap_make(absent->n);
  lanebloom_table_screen(table, &keys, bitmap);
  for (size_t i = 0; i < absent->n; i++) {
    const lanebloom_slice key = list_key(absent, i);
    if (table->has_range &&
        (compare_slices(key, table->smallest) < 0 || compare_slices(key, table->largest) > 0))
      continue;
    nhits += has_bit(bitmap, i);
    for (size_t j = 0; j < NRANDOM; j++) {
      uint8_t other[RANDOM_NBYTES];
      rng_fill(&rng, other, sizeof other);
      nrandom_hits += passes_at(table, key, (lanebloom_slice){other, sizeof other});
    }
    n++;
  }
  free(bitmap);
  if (n == 0)
    return;
  const double rate = (double)nhits / (double)n,
               random = (double)nrandom_hits / (double)(NRANDOM * n);
  const double both = (double)(nhits + nrandom_hits) / (double)((NRANDOM + 1) * n);
  const double deviation = sqrt(both * (1 - both) * (1 + 1.0 / NRANDOM) / (double)n);
  cr_assert(fabs(rate - random) <= 5 * deviation + 1 / (double)n,
            "%s: %zu of %zu pass, of random keys %zu of %zu", name, nhits, n, nrandom_hits,
            NRANDOM * n);
}

/* LevelDB's own reader, asked of the same data block, gives the same answers. */
static void check_against_reader(const lanebloom_table *table, const char *name,
                                 const struct key_list *absent)
{
  if (table->kind != LANEBLOOM_TABLE_FILTER_BLOCK || table->filter_blocks[1] || !table->uses_filter)
    return;
  const lanebloom_keys keys = list_keys(absent);
  uint8_t *bitmap = bitmap_make(absent->n);
  lanebloom_table_screen(table, &keys, bitmap);
  for (size_t i = 0; i < absent->n; i++) {
    const lanebloom_slice key = list_key(absent, i);
    const size_t block = lanebloom_index_find(&table->index, key, 0);
    if (block == table->index.n || (table->has_range && (compare_slices(key, table->smallest) < 0 ||
                                                         compare_slices(key, table->largest) > 0)))
      continue;
    const bool expected =
        oracle_block_may_match(table->hash, table->filter_data->bytes, table->filter_data->nbytes,
                               table->index.handles[block].offset, key.data, key.size);
    cr_assert(has_bit(bitmap, i) == expected, "%s: key %zu of %zu", name, i, absent->n);
  }
  free(bitmap);
}

/* Absent keys of a table's range pass at the rate that its bits promise. */
static void check_absent(const lanebloom_table *table, const lanebloom_table_info *info,
                         const struct oracle_set *set, const struct key_list *absent)
{
  const lanebloom_keys keys = list_keys(absent);
  uint8_t *bitmap = bitmap_make(absent->n);
  const size_t count = lanebloom_table_screen(table, &keys, bitmap);
  size_t inside = 0, hits = 0;
  for (size_t i = 0; i < absent->n; i++) {
    const lanebloom_slice key = list_key(absent, i);
    const bool is_inside = !info->has_range || (compare_slices(key, info->smallest) >= 0 &&
                                                compare_slices(key, info->largest) <= 0);
    cr_assert(is_inside || !has_bit(bitmap, i), "%s: key %zu is outside of the range", set->name,
              i);
    inside += is_inside;
    hits += has_bit(bitmap, i);
    const lanebloom_keys one = lanebloom_keys_part(&keys, i, 1);
    if (i % 64 == 0)
      cr_assert((lanebloom_table_screen(table, &one, NULL) == 1) == has_bit(bitmap, i),
                "%s: key %zu alone", set->name, i);
  }
  cr_assert(count == hits);
  if (!set->uses_filter)
    cr_assert(info->model_rate == 1 && hits == inside, "%s: a filter that is not asked", set->name);
  if (!set->has_whole_keys || !set->uses_filter || set->is_skewed || inside == 0) {
    free(bitmap);
    return;
  }
  const double expected = info->model_rate * (double)inside, deviation = sqrt(expected) + 1;
  cr_assert((double)hits < 6 * deviation + 1.3 * expected, "%s: expected %.1f of %zu, found %zu",
            set->name, expected, inside, hits);
  /* Of many filters it depends on which are met, and these keys are not spread as those in the
   * table are. */
  if (info->filter == LANEBLOOM_TABLE_FILTER_FULL)
    cr_assert((double)hits > 0.7 * expected - 6 * deviation, "%s: expected %.1f of %zu, found %zu",
              set->name, expected, inside, hits);
  free(bitmap);
}

static void check_info(const lanebloom_table *table, const lanebloom_table_info *info,
                       const struct oracle_set *set, const struct key_list *keys)
{
  cr_assert(info->engine ==
            (set->is_leveldb ? LANEBLOOM_ENGINE_LEVELDB : LANEBLOOM_ENGINE_ROCKSDB));
  cr_assert(info->filter == set->filter, "%s: filter %d: %s", set->name, info->filter,
            info->warning);
  cr_assert(info->version == set->version && info->checksum == set->checksum,
            "%s: version %u, checksum %u", set->name, info->version, info->checksum);
  cr_assert(info->has_whole_keys == set->has_whole_keys && info->has_prefixes == set->has_prefixes,
            "%s: what it holds", set->name);
  const bool is_full = set->filter == LANEBLOOM_TABLE_FILTER_FULL;
  cr_assert(is_full == (lanebloom_table_full_filter(table) != NULL));
  const bool has_warning = info->warning[0];
  const bool is_fine =
      set->has_range && (set->uses_filter || set->filter == LANEBLOOM_TABLE_FILTER_NONE);
  if (info->has_range != set->has_range || has_warning == is_fine)
    cr_assert(strstr(info->warning, "cannot be told") || keys->n == 0, "%s: range %d, warning %s",
              set->name, info->has_range, info->warning);
  if (!info->has_range || keys->n == 0)
    return;
  cr_assert(compare_slices(info->smallest, list_key(keys, 0)) <= 0);
  cr_assert(compare_slices(info->largest, list_key(keys, keys->n - 1)) >= 0);
  if (set->is_leveldb && !strstr(info->warning, "cannot be told")) /* all entries are in the list */
    cr_assert(compare_slices(info->smallest, list_key(keys, 0)) == 0 &&
                  compare_slices(info->largest, list_key(keys, keys->n - 1)) == 0,
              "%s: range", set->name);
}

/* ---- Databases ---- */

enum { MAX_TABLES = 256 };

struct database {
  char folder[PATH_NBYTES];
  size_t ntables;
  lanebloom_table *tables[MAX_TABLES];
  struct key_list keys[MAX_TABLES];
};

static void database_open(struct database *database, size_t set)
{
  DIR *folder = opendir(database->folder);
  cr_assert(folder);
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (!is_table_name(entry->d_name))
      continue;
    char path[2 * PATH_NBYTES], problem[PROBLEM_NBYTES];
    snprintf(path, sizeof path, "%s/%s", database->folder, entry->d_name);
    if (oracle_set_at(set)->is_limit) {
      lanebloom_table *table;
      cr_assert(lanebloom_table_open(path, LANEBLOOM_WRITER_UNKNOWN, &table, problem,
                                     sizeof problem) == LANEBLOOM_ERR_LIMIT);
      cr_assert(!table && strstr(problem, "bzip2"), "%s", problem);
      continue;
    }
    cr_assert(database->ntables < MAX_TABLES);
    const size_t i = database->ntables++;
    database->tables[i] = must_open(path);
    oracle_keys_of_table(set, path, list_add, &database->keys[i]);
    if (database->keys[i].n > 0)
      check_parsed(path, &database->keys[i], oracle_set_at(set)->name);
  }
  closedir(folder);
  cr_assert(database->ntables > 0 || oracle_set_at(set)->is_limit);
}

/* In parts that are too small to be put in order. */
static size_t screen_parts(const lanebloom_table *table, const lanebloom_keys *keys,
                           uint8_t *bitmap)
{
  enum { PART_NKEYS = 504 };
  size_t count = 0;
  for (size_t first = 0; first < keys->n; first += PART_NKEYS) {
    const lanebloom_keys part = lanebloom_keys_part(keys, first, PART_NKEYS);
    count += lanebloom_table_screen(table, &part, bitmap + first / 8);
  }
  return count;
}

/* All tables in one call give what each gives alone, and find every live key in any of them. */
static void check_together(const struct database *database, const struct key_list *keys,
                           bool is_live, const char *name)
{
  const lanebloom_keys batch = list_keys(keys);
  const size_t n = database->ntables;
  uint8_t *bitmaps[MAX_TABLES], *any = bitmap_make(keys->n), *alone = bitmap_make(keys->n);
  size_t counts[MAX_TABLES];
  for (size_t i = 0; i < n; i++)
    bitmaps[i] = bitmap_make(keys->n);
  const lanebloom_table *const *tables = (const lanebloom_table *const *)database->tables;
  const size_t count = lanebloom_tables_screen(tables, n, &batch, any, bitmaps, counts);
  for (size_t i = 0; i < n; i++) {
    const size_t found = screen_parts(tables[i], &batch, alone);
    cr_assert(found == counts[i], "%s: table %zu: %zu together, %zu alone", name, i, counts[i],
              found);
    test_same_bytes("bitmap", bitmaps[i], alone, (keys->n + 7) / 8);
  }
  size_t expected = 0;
  for (size_t i = 0; i < keys->n; i++) {
    bool is_any = false;
    for (size_t j = 0; j < n; j++)
      is_any = is_any || has_bit(bitmaps[j], i);
    cr_assert(is_any == has_bit(any, i));
    cr_assert(is_any || !is_live, "%s: live key %zu is in no table", name, i);
    expected += is_any;
  }
  cr_assert(count == expected);
  cr_assert(lanebloom_tables_screen(tables, n, &batch, NULL, NULL, NULL) == expected);
  for (size_t i = 0; i < n; i++)
    free(bitmaps[i]);
  free(any);
  free(alone);
}

static size_t nkeys_to_write(void)
{
  enum { NKEYS = 3000 };
  const char *wanted = getenv("LANEBLOOM_TABLES_NKEYS");
  return wanted ? strtoul(wanted, NULL, 10) : NKEYS;
}

static void check_set(size_t i)
{
  const struct oracle_set *set = oracle_set_at(i);
  struct database *database = test_alloc(sizeof *database);
  folder_make(database->folder);
  struct rng rng = rng_start(i);
  oracle_write(i, database->folder, nkeys_to_write(), rng_next(&rng));
  database_open(database, i);

  struct key_list absent = {0}, live = {0};
  draw_absent(&absent, 3 * nkeys_to_write(), i);
  size_t npairs = 0;
  for (size_t t = 0; t < database->ntables; t++) {
    lanebloom_table_info info;
    test_context("set %zu, %s, table %zu", i, set->name, t);
    lanebloom_table_describe(database->tables[t], &info, sizeof info);
    if (database->keys[t].n == 0) { /* range tombstones alone */
      const lanebloom_keys keys = list_keys(&absent);
      cr_assert(lanebloom_table_screen(database->tables[t], &keys, NULL) == 0, "%s: has no keys",
                set->name);
      continue;
    }
    check_info(database->tables[t], &info, set, &database->keys[t]);
    check_keys(database->tables[t], &database->keys[t], set->name);
    if (!strstr(info.warning, "cannot be told"))
      check_absent(database->tables[t], &info, set, &absent);
    const lanebloom_table *table = database->tables[t];
    if (set->uses_filter && table->uses_filter && table->has_whole_keys &&
        table->extractor.kind == EXTRACT_KEY)
      check_rate(table, set->name, &absent);
    check_against_reader(table, set->name, &absent);
    npairs += database->keys[t].n;
  }
  oracle_keys_of_database(i, database->folder, list_add, &live);
  if (database->ntables > 0) {
    check_together(database, &live, true, set->name);
    check_together(database, &absent, false, set->name);
  }
  if (getenv("LANEBLOOM_TABLES_NKEYS"))
    fprintf(stderr, "# %s: %zu tables, %zu pairs, %zu kernels, %zu live\n", set->name,
            database->ntables, npairs, lanebloom_kernel_count(), live.n);

  for (size_t t = 0; t < database->ntables; t++) {
    lanebloom_table_close(database->tables[t]);
    list_free(&database->keys[t]);
  }
  list_free(&absent);
  list_free(&live);
  folder_free(database->folder);
  free(database);
}

ParameterizedTestParameters(tables, databases)
{
  enum { MAX_SETS = 256 };
  static size_t sets[MAX_SETS];
  const size_t n = oracle_sets();
  for (size_t i = 0; i < n && i < MAX_SETS; i++)
    sets[i] = i;
  return cr_make_param_array(size_t, sets, n);
}

ParameterizedTest(size_t *set, tables, databases)
{
  check_set(*set);
}

/* ---- Frozen tables ---- */

static const struct frozen {
  const char *name;
  bool is_leveldb;
  uint32_t version, checksum;
  lanebloom_table_filter filter;
  lanebloom_format format;
  bool has_whole_keys, has_prefixes, has_range;
} frozen[] = {
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
    /* Of so few keys that RocksDB made a Bloom filter instead. */
    {"rocksdb_fv5_xxh3_ribbon10.sst", false, 5, 4, LANEBLOOM_TABLE_FILTER_FULL,
     LANEBLOOM_ROCKSDB_LOCAL, true, false, true},
    /* Footer, metaindex and filter alone. */
    {"synthetic_fv6_xxh3.bin", false, 6, 4, LANEBLOOM_TABLE_FILTER_FULL, LANEBLOOM_ROCKSDB_LOCAL,
     false, false, false},
    {"synthetic_fv7_crc32c.bin", false, 7, 1, LANEBLOOM_TABLE_FILTER_FULL, LANEBLOOM_ROCKSDB_LOCAL,
     false, false, false},
};
enum { NFROZEN = sizeof frozen / sizeof *frozen };

static void frozen_path(size_t i, char *path)
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

static void frozen_keys(size_t i, struct key_list *list)
{
  char path[PATH_NBYTES];
  frozen_path(i, path);
  if (frozen[i].is_leveldb)
    oracle_keys_of_table(0, path, list_add, list);
  else
    read_keys_file(list);
}

Test(tables, frozen)
{
  for (size_t i = 0; i < NFROZEN; i++) {
    char path[PATH_NBYTES];
    frozen_path(i, path);
    test_context("%s", path);
    size_t size;
    uint8_t *bytes = file_read(path, &size);
    struct key_list keys = {0}, absent = {0};
    frozen_keys(i, &keys);
    draw_absent(&absent, 20000, i);
    cr_assert(keys.n >= 100);
    lanebloom_table *tables[2] = {must_open(path)};
    cr_assert(lanebloom_table_parse(bytes, size, LANEBLOOM_WRITER_UNKNOWN, &tables[1], NULL, 0) ==
              LANEBLOOM_OK);
    for (size_t t = 0; t < 2; t++) {
      lanebloom_table_info info;
      lanebloom_table_describe(tables[t], &info, sizeof info);
      cr_assert((info.engine == LANEBLOOM_ENGINE_LEVELDB) == frozen[i].is_leveldb &&
                info.file_nbytes == size);
      cr_assert(info.version == frozen[i].version && info.checksum == frozen[i].checksum);
      cr_assert(info.filter == frozen[i].filter && info.filter_format == frozen[i].format);
      cr_assert(info.has_whole_keys == frozen[i].has_whole_keys &&
                info.has_prefixes == frozen[i].has_prefixes);
      cr_assert(info.has_range == frozen[i].has_range && !info.warning[0] == frozen[i].has_range,
                "%s", info.warning);
      if (info.has_range && !frozen[i].is_leveldb) {
        cr_assert(info.nentries == keys.n);
        cr_assert(compare_slices(info.smallest, list_key(&keys, 0)) == 0);
        cr_assert(compare_slices(info.largest, list_key(&keys, keys.n - 1)) == 0);
      }
      check_keys(tables[t], &keys, path);
      const struct oracle_set set = {.name = path,
                                     .uses_filter = frozen[i].has_range,
                                     .has_whole_keys = frozen[i].has_whole_keys};
      check_absent(tables[t], &info, &set, &absent);
      lanebloom_table_close(tables[t]);
    }
    list_free(&keys);
    list_free(&absent);
    free(bytes);
  }
}

/* Tables of all engines, filters and hashes in one call, with more keys than one chunk has. */
Test(tables, mixed)
{
  struct database *database = test_alloc(sizeof *database);
  struct key_list absent = {0}, keys = {0};
  for (size_t i = 0; i < NFROZEN; i++) {
    char path[PATH_NBYTES];
    frozen_path(i, path);
    database->tables[database->ntables++] = must_open(path);
    frozen_keys(i, &keys);
  }
  draw_absent(&absent, 70000, 5);
  check_together(database, &keys, true, "mixed");
  check_together(database, &absent, false, "mixed");
  for (size_t i = 0; i < database->ntables; i++)
    lanebloom_table_close(database->tables[i]);
  list_free(&absent);
  list_free(&keys);
  free(database);
}

/* goleveldb's filter by each reading of its name. */
Test(tables, writers)
{
  char path[PATH_NBYTES];
  frozen_path(1, path);
  struct key_list keys = {0}, absent = {0};
  frozen_keys(1, &keys);
  draw_absent(&absent, 20000, 1);
  const lanebloom_keys batch = list_keys(&keys), others = list_keys(&absent);
  size_t found[3], passing[3];
  for (int writer = 0; writer < 3; writer++) {
    lanebloom_table *table;
    cr_assert(lanebloom_table_open(path, (lanebloom_writer)writer, &table, NULL, 0) ==
              LANEBLOOM_OK);
    found[writer] = lanebloom_table_screen(table, &batch, NULL);
    passing[writer] = lanebloom_table_screen(table, &others, NULL);
    lanebloom_table_close(table);
  }
  cr_assert(found[LANEBLOOM_WRITER_UNKNOWN] == keys.n &&
            found[LANEBLOOM_WRITER_GOLEVELDB] == keys.n);
  /* A writer that it was not: its keys are not in the filter, which shows at once. */
  cr_assert(found[LANEBLOOM_WRITER_LEVELDB] == keys.n &&
            passing[LANEBLOOM_WRITER_LEVELDB] > absent.n / 2);
  cr_assert(passing[LANEBLOOM_WRITER_GOLEVELDB] <= passing[LANEBLOOM_WRITER_UNKNOWN]);
  list_free(&keys);
  list_free(&absent);
}

/* A Pebble table of its versions 1 to 4 differs from RocksDB's by its magic number; later ones have
 * blocks that are not read. */
Test(tables, pebble)
{
  enum { FV2 = 2, MAGIC_NBYTES = 8, AT_VERSION = 12 /* from the end */, NVERSIONS = 8 };
  static const uint8_t magic[MAGIC_NBYTES] = {0xf0, 0x9f, 0xaa, 0xb3, 0xf0, 0x9f, 0xaa, 0xb3};
  char path[PATH_NBYTES], problem[PROBLEM_NBYTES];
  frozen_path(FV2, path);
  size_t size;
  uint8_t *bytes = file_read(path, &size);
  struct key_list keys = {0};
  frozen_keys(FV2, &keys);
  memcpy(bytes + size - MAGIC_NBYTES, magic, sizeof magic);
  for (uint8_t version = 0; version <= NVERSIONS; version++) {
    lanebloom_table *table;
    lanebloom_table_info info;
    bytes[size - AT_VERSION] = version;
    lanebloom_status status = lanebloom_table_parse(bytes, size, LANEBLOOM_WRITER_UNKNOWN, &table,
                                                    problem, sizeof problem);
    if (version == 0 || version > 5) {
      cr_assert(status == LANEBLOOM_ERR_LIMIT && strstr(problem, "format_version"), "%s", problem);
      continue;
    }
    cr_assert(status == LANEBLOOM_OK, "version %u: %s", version, problem);
    lanebloom_table_describe(table, &info, sizeof info);
    cr_assert(info.engine == LANEBLOOM_ENGINE_PEBBLE && info.version == version &&
              info.has_range == (version < 5));
    cr_assert(info.filter == LANEBLOOM_TABLE_FILTER_FULL && info.model_rate < 1);
    check_keys(table, &keys, "pebble");
    lanebloom_table_close(table);
  }
  list_free(&keys);
  free(bytes);
}

/* ---- RocksDB's versions 6 and 7, which Debian's RocksDB does not write ---- */

static const uint32_t checksum_base = 0x12345678;

static void checksum_block(uint8_t *file, struct handle handle, uint32_t checksum)
{
  uint8_t *trailer = file + handle.offset + handle.nbytes;
  store_le32(trailer + 1,
             lanebloom_checksum(checksum, file + handle.offset, (size_t)handle.nbytes + 1) +
                 lanebloom_checksum_context(checksum_base, handle.offset));
}

static uint8_t *put_varint(uint8_t *to, uint64_t value)
{
  for (; value >= 0x80; value >>= 7)
    *to++ = (uint8_t)(value | 0x80);
  *to++ = (uint8_t)value;
  return to;
}

/* The blocks that an index of version 5 names, and where those are indexes, too, what they name. */
static void checksum_named(struct block_reader *reader, struct handle handle, int nlevels,
                           uint8_t *file)
{
  struct index index = {0};
  const struct entry_form form = {.has_deltas = true};
  cr_assert(lanebloom_index_read(reader, handle, form, "", &index) == LANEBLOOM_OK);
  for (size_t i = 0; i < index.n; i++) {
    checksum_block(file, index.handles[i], reader->footer.checksum);
    if (nlevels > 1)
      checksum_named(reader, index.handles[i], nlevels - 1, file);
  }
  lanebloom_index_free(&index);
}

/* Writes a table of version 5 as one of a later version: other checksums, another footer, and the
 * index found by the metaindex. Returns its size. */
static size_t upgrade(const uint8_t *bytes, size_t size, bool is_partitioned, uint32_t version,
                      uint8_t *made)
{
  static const char name[] = "rocksdb.index";
  static const uint8_t mark[] = {0x3e, 0, 0x7a, 0};
  enum { FOOTER_NBYTES = 53, RESTARTS_NBYTES = 8 };
  const struct problem problem = {0};
  const struct input input = {-1, bytes, size};
  struct block_reader reader = {.input = &input, .nbytes_left = UINT64_MAX, .problem = &problem};
  cr_assert(lanebloom_footer_read(&input, &reader.footer, &problem) == LANEBLOOM_OK);
  const struct footer *old = &reader.footer;
  struct index meta = {0};
  cr_assert(lanebloom_index_read(&reader, old->metaindex, (struct entry_form){0}, "", &meta) ==
            LANEBLOOM_OK);
  memcpy(made, bytes, (size_t)old->metaindex.offset);
  checksum_block(made, old->index, old->checksum);
  for (size_t i = 0; i < meta.n; i++)
    checksum_block(made, meta.handles[i], old->checksum);
  checksum_named(&reader, old->index, is_partitioned ? 2 : 1, made);
  if (is_partitioned) /* filters are named by the first in the metaindex's order */
    checksum_named(&reader, meta.handles[0], 1, made);

  const uint8_t *from = bytes + old->metaindex.offset;
  const size_t entries_nbytes =
      (size_t)old->metaindex.nbytes - 4 - 4 * load_le32(from + old->metaindex.nbytes - 4);
  uint8_t value[20], *to = made + old->metaindex.offset;
  const size_t value_nbytes =
      (size_t)(put_varint(put_varint(value, old->index.offset), old->index.nbytes) - value);
  memcpy(to, from, entries_nbytes);
  to += entries_nbytes;
  to = put_varint(put_varint(put_varint(to, 0), sizeof name - 1), value_nbytes);
  memcpy(to, name, sizeof name - 1);
  memcpy(to + sizeof name - 1, value, value_nbytes);
  to += sizeof name - 1 + value_nbytes;
  memset(to, 0, RESTARTS_NBYTES + 1);
  store_le32(to + 4, 1);
  to += RESTARTS_NBYTES;
  const struct handle metaindex = {old->metaindex.offset,
                                   (uint64_t)(to - made) - old->metaindex.offset};
  checksum_block(made, metaindex, old->checksum);
  to += BLOCK_TRAILER_NBYTES;

  memset(to, 0, FOOTER_NBYTES);
  to[0] = (uint8_t)old->checksum;
  memcpy(to + 1, mark, sizeof mark);
  store_le32(to + 9, checksum_base);
  store_le32(to + 13, (uint32_t)metaindex.nbytes);
  store_le32(to + 41, version);
  memcpy(to + 45, bytes + size - 8, 8);
  store_le32(to + 5, lanebloom_checksum(old->checksum, to, FOOTER_NBYTES) +
                         lanebloom_checksum_context(checksum_base, (uint64_t)(to - made)));
  lanebloom_index_free(&meta);
  return (size_t)(to - made) + FOOTER_NBYTES;
}

static void check_damaged(const uint8_t *bytes, size_t size, const lanebloom_keys *keys,
                          const char *what, size_t at);

static void assert_refused(const uint8_t *bytes, size_t size, lanebloom_status expected,
                           const char *part_of_problem)
{
  char problem[PROBLEM_NBYTES];
  lanebloom_table *table;
  lanebloom_status status =
      lanebloom_table_parse(bytes, size, LANEBLOOM_WRITER_UNKNOWN, &table, problem, sizeof problem);
  cr_assert(status == expected && !table && strstr(problem, part_of_problem), "%d: %s", status,
            problem);
}

/* The metaindex, which is to name the index, does not. Changes the bytes. */
static void check_index_unnamed(uint8_t *bytes, size_t size)
{
  static const char name[] = "rocksdb.index";
  const struct problem problem = {0};
  const struct input input = {-1, bytes, size};
  struct footer footer;
  cr_assert(lanebloom_footer_read(&input, &footer, &problem) == LANEBLOOM_OK);
  char *named =
      memmem(bytes + footer.metaindex.offset, footer.metaindex.nbytes, name, sizeof name - 1);
  cr_assert(named);
  named[sizeof name - 2] = 'y';
  checksum_block(bytes, footer.metaindex, footer.checksum);
  assert_refused(bytes, size, LANEBLOOM_ERR_CORRUPT, "expected it to name the index");
}

Test(tables, upgraded)
{
  for (size_t i = 0; i < NFROZEN; i++) {
    enum { ROOM = 256 };
    if (frozen[i].version != 5)
      continue;
    char path[PATH_NBYTES];
    frozen_path(i, path);
    size_t size;
    uint8_t *bytes = file_read(path, &size), *made = test_alloc(size + ROOM);
    struct key_list list = {0};
    frozen_keys(i, &list);
    const lanebloom_keys keys = list_keys(&list);
    for (uint32_t version = 6; version <= 7; version++) {
      const size_t made_size = upgrade(
          bytes, size, frozen[i].filter == LANEBLOOM_TABLE_FILTER_PARTITIONED, version, made);
      char problem[PROBLEM_NBYTES];
      lanebloom_table *table;
      cr_assert(lanebloom_table_parse(made, made_size, LANEBLOOM_WRITER_UNKNOWN, &table, problem,
                                      sizeof problem) == LANEBLOOM_OK,
                "%s: %s", path, problem);
      lanebloom_table_info info;
      lanebloom_table_describe(table, &info, sizeof info);
      cr_assert(info.version == version && info.has_range && !info.warning[0] &&
                info.filter == frozen[i].filter);
      check_keys(table, &list, path);
      lanebloom_table_close(table);
      for (size_t at = 0; frozen[i].checksum && at < made_size; at++) {
        made[at] ^= 0x10;
        check_damaged(made, made_size, &keys, path, at);
        made[at] ^= 0x10;
      }
      check_index_unnamed(made, made_size);
    }
    list_free(&list);
    free(made);
    free(bytes);
  }
}

/* ---- Damage ---- */

/* What still opens still has every key. */
static void check_damaged(const uint8_t *bytes, size_t size, const lanebloom_keys *keys,
                          const char *what, size_t at)
{
  char problem[PROBLEM_NBYTES];
  lanebloom_table *table;
  lanebloom_status status =
      lanebloom_table_parse(bytes, size, LANEBLOOM_WRITER_UNKNOWN, &table, problem, sizeof problem);
  cr_assert((status == LANEBLOOM_OK) == (table != NULL) && (status == LANEBLOOM_OK) == !problem[0]);
  cr_assert(!strchr(problem, '\n'));
  if (status)
    return;
  if (keys)
    cr_assert(lanebloom_table_screen(table, keys, NULL) == keys->n, "%s: damage at %zu lost a key",
              what, at);
  lanebloom_table_info info;
  lanebloom_table_describe(table, &info, sizeof info);
  lanebloom_table_close(table);
}

Test(tables, flipped)
{
  static const uint8_t flips[] = {0xff, 0x01, 0x80};
  for (size_t i = 0; i < NFROZEN; i++) {
    char path[PATH_NBYTES];
    frozen_path(i, path);
    test_context("%s", path);
    size_t size;
    uint8_t *bytes = file_read(path, &size);
    struct key_list list = {0};
    frozen_keys(i, &list);
    const lanebloom_keys keys = list_keys(&list);
    for (size_t at = 0; at < size; at++)
      for (size_t f = 0; f < sizeof flips; f++) {
        bytes[at] ^= flips[f];
        check_damaged(bytes, size, frozen[i].checksum ? &keys : NULL, path, at);
        bytes[at] ^= flips[f];
      }
    list_free(&list);
    free(bytes);
  }
}

Test(tables, truncated)
{
  for (size_t i = 0; i < NFROZEN; i++) {
    char path[PATH_NBYTES];
    frozen_path(i, path);
    size_t size;
    uint8_t *bytes = file_read(path, &size);
    for (size_t n = 0; n < size; n++) {
      lanebloom_table *table;
      struct guarded cut = guarded_copy(bytes, n, AT_END);
      cr_assert(lanebloom_table_parse(cut.bytes, n, LANEBLOOM_WRITER_UNKNOWN, &table, NULL, 0) !=
                    LANEBLOOM_OK,
                "%s cut to %zu bytes", path, n);
      guarded_free(&cut);
    }
    free(bytes);
  }
}

/* Changes 4 bytes of a footer of version 6. */
static void seal_footer(uint8_t *footer, size_t at, uint32_t value, size_t file_nbytes)
{
  enum { FOOTER_NBYTES = 53, AT_CHECKSUM = 5, AT_BASE = 9 };
  store_le32(footer + at, value);
  store_le32(footer + AT_CHECKSUM, 0);
  store_le32(footer + AT_CHECKSUM, lanebloom_checksum(footer[0], footer, FOOTER_NBYTES) +
                                       lanebloom_checksum_context(load_le32(footer + AT_BASE),
                                                                  file_nbytes - FOOTER_NBYTES));
}

Test(tables, footers)
{
  enum { FV5 = 8, FV6 = 11, FOOTER_NBYTES = 53, HANDLES_NBYTES = 40, MAGIC_NBYTES = 8 };
  enum { AT_MARK = 1, AT_BASE = 9, AT_METAINDEX_NBYTES = 13, AT_ZEROS = 33 };
  static const size_t fields[] = {AT_MARK, AT_BASE, AT_ZEROS, AT_ZEROS + 4};
  static const uint64_t other_magics[] = {0x8242229663bf9564, 0x4f3418eb7a8f13b8,
                                          0x926789d0c5f17873};
  char path[PATH_NBYTES];
  size_t size;
  frozen_path(FV5, path);
  uint8_t *bytes = file_read(path, &size), *footer = bytes + size - FOOTER_NBYTES;
  for (size_t n = FOOTER_NBYTES - 5; n < FOOTER_NBYTES; n++)
    assert_refused(bytes + size - n, n, LANEBLOOM_ERR_CORRUPT,
                   "truncated: expected RocksDB's footer");
  const uint8_t checksum = footer[0];
  footer[0] = CHECKSUM_END;
  assert_refused(bytes, size, LANEBLOOM_ERR_LIMIT, "checksum type: expected one below");
  footer[0] = checksum;
  memset(footer + 1, 0xff, HANDLES_NBYTES);
  assert_refused(bytes, size, LANEBLOOM_ERR_CORRUPT, "damaged footer");
  for (size_t i = 0; i < 3; i++) {
    store_le64(bytes + size - MAGIC_NBYTES, other_magics[i]);
    assert_refused(bytes, size, LANEBLOOM_ERR_LIMIT, i < 2 ? "plain" : "cuckoo");
  }
  free(bytes);

  /* Well sealed: a metaindex larger than the file; another mark, no base, something where zeros are
   * to be. */
  frozen_path(FV6, path);
  bytes = file_read(path, &size);
  footer = bytes + size - FOOTER_NBYTES;
  seal_footer(footer, AT_METAINDEX_NBYTES, (uint32_t)size, size);
  assert_refused(bytes, size, LANEBLOOM_ERR_CORRUPT, "expected a metaindex before");
  for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
    const uint32_t old = load_le32(footer + fields[i]);
    seal_footer(footer, fields[i], fields[i] == AT_BASE ? 0 : ~old, size);
    assert_refused(bytes, size, LANEBLOOM_ERR_CORRUPT, "expected the fields of format_version 6");
    store_le32(footer + fields[i], old);
  }
  free(bytes);
}

static void file_write(const char *folder, const char *name, const void *bytes, size_t size)
{
  char path[2 * PATH_NBYTES];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  FILE *file = fopen(path, "wb");
  cr_assert(file && fwrite(bytes, 1, size, file) == size && fclose(file) == 0, "%s", path);
}

/* A table in a database has a range where the MANIFEST names LevelDB's own order; its keys are
 * found in any case. */
static void check_in_database(const char *folder, const struct key_list *keys, const char *warning,
                              const char *what)
{
  char path[2 * PATH_NBYTES];
  snprintf(path, sizeof path, "%s/000005.ldb", folder);
  test_context("MANIFEST: %s", what);
  lanebloom_table *table = must_open(path);
  lanebloom_table_info info;
  lanebloom_table_describe(table, &info, sizeof info);
  cr_assert(info.has_range == !warning &&
                (warning ? strstr(info.warning, warning) != NULL : !info.warning[0]),
            "%s: range %d, %s", what, info.has_range, info.warning);
  check_keys(table, keys, what);
  lanebloom_table_close(table);
}

/* Of a MANIFEST that says no more than that keys are in bytewise order. */
static const char bytewise[] = "leveldb.BytewiseComparator", current[] = "MANIFEST-000004\n";
enum {
  AT_LENGTH = 4,
  AT_TYPE = 6,
  HEADER_NBYTES = 7,
  TAG = 1,
  AT_NAME = 9,
  NNAME = sizeof bytewise - 1,
  NLOG = AT_NAME + NNAME,
};

static void manifest_make(uint8_t *log)
{
  memcpy(log, (const uint8_t[AT_NAME]){0, 0, 0, 0, NLOG - HEADER_NBYTES, 0, 1, TAG, NNAME},
         AT_NAME);
  memcpy(log + AT_NAME, bytewise, NNAME);
  store_le32(log, lanebloom_checksum(CHECKSUM_CRC32C, log + AT_TYPE, NLOG - AT_TYPE));
}

Test(tables, manifests)
{
  static const char unreadable[] = "MANIFEST cannot be read";
  static const struct {
    const char *what;
    size_t at;
    uint8_t value;
    bool is_sealed;
    const char *warning;
  } changes[] = {
      {"nothing", AT_LENGTH, NLOG - HEADER_NBYTES, true, NULL},
      {"the first part of a record", AT_TYPE, 2, true, NULL},
      {"the middle of a record", AT_TYPE, 3, true, unreadable},
      {"longer than the file", AT_LENGTH, NLOG - HEADER_NBYTES + 1, true, unreadable},
      {"no name", AT_LENGTH, 1, true, unreadable},
      {"a name that is cut", AT_LENGTH, NLOG - HEADER_NBYTES - 1, true, unreadable},
      {"no comparator", HEADER_NBYTES, TAG + 1, true, unreadable},
      {"a 0 in the name", AT_NAME, 0, true, unreadable},
      {"a checksum", AT_NAME, 'x', false, unreadable},
      {"another name", AT_NAME, 'x', true, "order"},
  };
  char path[PATH_NBYTES], folder[PATH_NBYTES];
  size_t size;
  struct key_list keys = {0};
  frozen_path(0, path);
  frozen_keys(0, &keys);
  uint8_t *bytes = file_read(path, &size);
  folder_make(folder);
  file_write(folder, "000005.ldb", bytes, size);
  check_in_database(folder, &keys, NULL, "no database");
  file_write(folder, "CURRENT", "", 0);
  check_in_database(folder, &keys, unreadable, "CURRENT names none");
  file_write(folder, "CURRENT", current, sizeof current - 1);
  check_in_database(folder, &keys, unreadable, "not there");
  file_write(folder, "MANIFEST-000004", "abc", 3);
  check_in_database(folder, &keys, unreadable, "three bytes");
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    uint8_t log[NLOG];
    manifest_make(log);
    log[changes[i].at] = changes[i].value;
    const size_t nsealed =
        log[AT_LENGTH] + 1 < NLOG - AT_TYPE ? log[AT_LENGTH] + 1 : NLOG - AT_TYPE;
    if (changes[i].is_sealed)
      store_le32(log, lanebloom_checksum(CHECKSUM_CRC32C, log + AT_TYPE, nsealed));
    file_write(folder, "MANIFEST-000004", log, sizeof log);
    check_in_database(folder, &keys, changes[i].warning, changes[i].what);
  }
  folder_free(folder);
  list_free(&keys);
  free(bytes);
}

/* A table that is being written has no footer yet, and its file grows. */
Test(tables, being_written)
{
  static const size_t sizes[] = {0, 20, 2000};
  char path[PATH_NBYTES], folder[PATH_NBYTES], copy[2 * PATH_NBYTES], text[PROBLEM_NBYTES];
  const struct problem problem = {text, sizeof text};
  size_t size;
  frozen_path(8, path);
  uint8_t *bytes = file_read(path, &size);
  folder_make(folder);
  snprintf(copy, sizeof copy, "%s/copy.sst", folder);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    struct input input;
    lanebloom_table *table = NULL;
    file_write(folder, "copy.sst", bytes, sizes[i]);
    cr_assert(lanebloom_table_open(copy, 0, &table, text, sizeof text) == LANEBLOOM_ERR_FORMAT);
    cr_assert(strstr(text, "no table, or one that is being written (ask again)"), "%s", text);
    cr_assert(lanebloom_input_open(copy, &input, &problem) == LANEBLOOM_OK);
    file_write(folder, "copy.sst", bytes, sizes[i] + 1);
    cr_assert(lanebloom_table_load(&input, copy, 0, &problem, &table) == LANEBLOOM_ERR_FORMAT);
    cr_assert(!table && strncmp(text, "being written (ask again): ", 27) == 0, "%s", text);
    lanebloom_input_close(&input);
  }
  folder_free(folder);
  free(bytes);
}

/* A file that becomes shorter while it is read, and one that cannot be read. */
Test(tables, cut_while_it_is_read)
{
  enum { FOOTER_NBYTES = 53 };
  char path[PATH_NBYTES], folder[PATH_NBYTES], copy[2 * PATH_NBYTES], text[PROBLEM_NBYTES];
  const struct problem problem = {text, sizeof text};
  struct input input;
  struct footer footer;
  struct block block;
  size_t size;
  frozen_path(8, path);
  uint8_t *bytes = file_read(path, &size);
  folder_make(folder);
  file_write(folder, "copy.sst", bytes, size);
  snprintf(copy, sizeof copy, "%s/copy.sst", folder);
  cr_assert(lanebloom_input_open(copy, &input, &problem) == LANEBLOOM_OK);
  cr_assert(lanebloom_footer_read(&input, &footer, &problem) == LANEBLOOM_OK);
  struct block_reader reader = {.input = &input,
                                .footer = footer,
                                .nbytes_left = footer.metaindex.nbytes,
                                .problem = &problem};
  cr_assert(lanebloom_block_read(&reader, footer.metaindex, BLOCK_META, "metaindex", &block) ==
            LANEBLOOM_ERR_CORRUPT);
  cr_assert(!block.memory && strstr(text, "do not overlap"), "%s", text);
  reader.nbytes_left = size;
  cr_assert(truncate(copy, (off_t)(size - FOOTER_NBYTES - 1)) == 0);
  cr_assert(lanebloom_footer_read(&input, &footer, &problem) == LANEBLOOM_ERR_CORRUPT);
  cr_assert(truncate(copy, (off_t)reader.footer.metaindex.offset + 1) == 0);
  cr_assert(lanebloom_block_read(&reader, reader.footer.metaindex, BLOCK_META, "metaindex",
                                 &block) == LANEBLOOM_ERR_CORRUPT);
  cr_assert(!block.memory);
  lanebloom_input_close(&input);
  input.file = open(copy, O_WRONLY);
  cr_assert(lanebloom_footer_read(&input, &footer, &problem) == LANEBLOOM_ERR_IO);
  lanebloom_input_close(&input);
  folder_free(folder);
  free(bytes);
}

/* A hash index, of which a block has no room for the size. */
Test(tables, a_hash_index_without_room)
{
  static const uint8_t bytes[5] = {0, 0, 0, 0, 0x80};
  const struct block block = {.bytes = bytes + 1, .nbytes = 4};
  struct entries entries;
  cr_assert(lanebloom_entries_begin(&block, (struct entry_form){0}, LANEBLOOM_ENGINE_ROCKSDB,
                                    &(struct problem){0}, &entries) == LANEBLOOM_ERR_CORRUPT);
}

/* What a frozen table becomes without checksums, so that it can be changed. */
static uint8_t *read_unsealed(const char *path, size_t *size)
{
  enum { AT_CHECKSUM_TYPE = 53 /* from the end */ };
  uint8_t *bytes = file_read(path, size);
  bytes[*size - AT_CHECKSUM_TYPE] = CHECKSUM_NONE;
  return bytes;
}

static void check_warned(const uint8_t *bytes, size_t size, const struct key_list *keys,
                         const char *warning)
{
  lanebloom_table *table;
  lanebloom_table_info info;
  cr_assert(lanebloom_table_parse(bytes, size, LANEBLOOM_WRITER_UNKNOWN, &table, NULL, 0) ==
            LANEBLOOM_OK);
  lanebloom_table_describe(table, &info, sizeof info);
  cr_assert(strstr(info.warning, warning), "%s", info.warning);
  check_keys(table, keys, warning);
  lanebloom_table_close(table);
}

/* Partitions that cannot be asked beside one that can: a Ribbon filter, one of another hash. */
Test(tables, partitions_of_other_kinds)
{
  enum { TRAILER_NBYTES = 5, LINE_NBYTES = 64, RIBBON = 0xfe, NPROBES = 6 };
  char path[PATH_NBYTES];
  size_t size;
  struct key_list keys = {0};
  frozen_path(9, path);
  frozen_keys(9, &keys);
  lanebloom_table *table = must_open(path);
  cr_assert(table->index.n >= 2);
  uint8_t *bytes = read_unsealed(path, &size);
  const struct handle last = table->index.handles[table->index.n - 1];
  uint8_t *trailer = bytes + last.offset + last.nbytes - TRAILER_NBYTES;
  trailer[0] = RIBBON;
  check_warned(bytes, size, &keys, "Ribbon");
  trailer[0] = NPROBES; /* LegacyBloom's */
  store_le32(trailer + 1, (uint32_t)(last.nbytes - TRAILER_NBYTES) / LINE_NBYTES);
  check_warned(bytes, size, &keys, "unknown filter");
  lanebloom_table_close(table);
  list_free(&keys);
  free(bytes);
}

Test(tables, an_index_without_blocks)
{
  enum { FV5 = 8, FOOTER_NBYTES = 53, LEVELDB_FOOTER_NBYTES = 48 };
  static const uint8_t empty[9] = {0, 0, 0, 0, 1}; /* one restart, which is not compressed */
  char path[PATH_NBYTES];
  size_t size;
  struct key_list keys = {0};
  struct footer footer;
  frozen_path(FV5, path);
  frozen_keys(FV5, &keys);
  uint8_t *bytes = read_unsealed(path, &size);
  const struct input input = {-1, bytes, size};
  cr_assert(lanebloom_footer_read(&input, &footer, &(struct problem){0}) == LANEBLOOM_OK);
  memcpy(bytes + footer.index.offset, empty, sizeof empty);
  uint8_t *to = bytes + size - FOOTER_NBYTES + 1;
  to = put_varint(put_varint(to, footer.metaindex.offset), footer.metaindex.nbytes);
  put_varint(put_varint(to, footer.index.offset), sizeof empty - 1);
  check_warned(bytes, size, &keys, "the index has no data blocks");
  free(bytes);

  /* LevelDB's tables have no properties that could know better: such a one has no keys. */
  frozen_path(0, path);
  bytes = file_read(path, &size);
  const struct input other = {-1, bytes, size};
  cr_assert(lanebloom_footer_read(&other, &footer, &(struct problem){0}) == LANEBLOOM_OK);
  uint8_t *index = bytes + footer.index.offset;
  memcpy(index, empty, sizeof empty);
  store_le32(index + sizeof empty, lanebloom_checksum(CHECKSUM_CRC32C, index, sizeof empty));
  to = put_varint(put_varint(bytes + size - LEVELDB_FOOTER_NBYTES, footer.metaindex.offset),
                  footer.metaindex.nbytes);
  put_varint(put_varint(to, footer.index.offset), sizeof empty - 1);
  lanebloom_table *table;
  cr_assert(lanebloom_table_parse(bytes, size, LANEBLOOM_WRITER_UNKNOWN, &table, NULL, 0) ==
            LANEBLOOM_OK);
  const lanebloom_keys batch = list_keys(&keys);
  cr_assert(lanebloom_table_screen(table, &batch, NULL) == 0);
  lanebloom_table_close(table);
  list_free(&keys);
  free(bytes);
}

/* A filter block whose offsets begin behind it, well sealed. LevelDB does not ask such a one
 * either. */
Test(tables, a_filter_block_without_offsets)
{
  enum { TRAILER_NBYTES = 5 };
  char path[PATH_NBYTES];
  size_t size;
  struct key_list keys = {0};
  frozen_path(0, path);
  frozen_keys(0, &keys);
  uint8_t *bytes = file_read(path, &size);
  lanebloom_table *table = must_open(path);
  const size_t at = (size_t)table->filter_data[0].offset, nbytes = table->filter_data[0].nbytes;
  lanebloom_table_close(table);
  store_le32(bytes + at + nbytes - TRAILER_NBYTES, UINT32_MAX);
  store_le32(bytes + at + nbytes + 1, lanebloom_checksum(CHECKSUM_CRC32C, bytes + at, nbytes + 1));
  cr_assert(lanebloom_table_parse(bytes, size, LANEBLOOM_WRITER_UNKNOWN, &table, NULL, 0) ==
            LANEBLOOM_OK);
  lanebloom_table_info info;
  lanebloom_table_describe(table, &info, sizeof info);
  cr_assert(info.filter == LANEBLOOM_TABLE_FILTER_BLOCK && info.filter_nbytes == nbytes &&
                info.model_rate == 1,
            "rate %g", info.model_rate);
  check_keys(table, &keys, "without offsets");
  lanebloom_table_close(table);
  list_free(&keys);
  free(bytes);
}

/* A table of LevelDB's table builder in the place of a database's: its keys end in no suffix. */
Test(tables, a_foreign_table_in_a_database)
{
  enum { NKEYS = 1000 };
  size_t set = 0;
  while (strcmp(oracle_set_at(set)->name, "leveldb, a table") != 0)
    set++;
  char folder[PATH_NBYTES], path[2 * PATH_NBYTES];
  struct key_list keys = {0};
  folder_make(folder);
  oracle_write(set, folder, NKEYS, 1);
  snprintf(path, sizeof path, "%s/table.ldb", folder);
  oracle_keys_of_table(set, path, list_add, &keys);
  file_write(folder, "CURRENT", "", 0);
  lanebloom_table *table = must_open(path);
  lanebloom_table_info info;
  lanebloom_table_describe(table, &info, sizeof info);
  cr_assert(!info.has_range &&
                strstr(info.warning, "keys are not stored as LevelDB's databases do"),
            "%s", info.warning);
  check_keys(table, &keys, path);
  lanebloom_table_close(table);
  list_free(&keys);
  folder_free(folder);
}

/* ---- Tables made by hand ---- */

/* A file that grows, a block at a time. */
struct made {
  size_t n, begin; /* of the block that is being made */
  uint8_t bytes[1 << 16];
};

static lanebloom_slice text(const char *string)
{
  return (lanebloom_slice){string, strlen(string)};
}

static void made_add(struct made *made, lanebloom_slice bytes)
{
  cr_assert(bytes.size <= sizeof made->bytes - made->n);
  memcpy(made->bytes + made->n, bytes.data, bytes.size);
  made->n += bytes.size;
}

/* An entry whose key begins with so many bytes of the key before. */
static void made_entry(struct made *made, size_t shared, lanebloom_slice rest,
                       lanebloom_slice value)
{
  uint8_t sizes[30];
  const uint8_t *end = put_varint(put_varint(put_varint(sizes, shared), rest.size), value.size);
  made_add(made, (lanebloom_slice){sizes, (size_t)(end - sizes)});
  made_add(made, rest);
  made_add(made, value);
}

static void made_handle(struct made *made, const char *key, struct handle handle)
{
  uint8_t value[20];
  const uint8_t *end = put_varint(put_varint(value, handle.offset), handle.nbytes);
  made_entry(made, 0, text(key), (lanebloom_slice){value, (size_t)(end - value)});
}

/* Ends a block of any bytes. */
static struct handle made_end(struct made *made, uint8_t compression)
{
  const struct handle handle = {made->begin, made->n - made->begin};
  uint8_t sum[4];
  made_add(made, (lanebloom_slice){&compression, 1});
  store_le32(sum, lanebloom_checksum(CHECKSUM_CRC32C, made->bytes + handle.offset,
                                     (size_t)handle.nbytes + 1));
  made_add(made, (lanebloom_slice){sum, sizeof sum});
  made->begin = made->n;
  return handle;
}

static struct handle made_end_entries(struct made *made)
{
  static const uint8_t restarts[] = {0, 0, 0, 0, 1, 0, 0, 0};
  made_add(made, (lanebloom_slice){restarts, sizeof restarts});
  return made_end(made, 0);
}

/* A data block of keys of one letter, with this behind each. */
static struct handle made_data(struct made *made, const char *letters, const char *suffix)
{
  for (char key[16] = ""; *letters; letters++) {
    snprintf(key, sizeof key, "%c%s", *letters, suffix);
    made_entry(made, 0, text(key), text(""));
  }
  return made_end_entries(made);
}

/* A filter block of these letters of data blocks. */
static struct handle made_filter_block(struct made *made, const struct handle *data,
                                       const char *const *letters, size_t n)
{
  enum { BASE_LG = 4 }; /* as small as data blocks are, so that each has a filter */
  lanebloom_filter_block_builder *builder;
  cr_assert(lanebloom_filter_block_builder_create(LANEBLOOM_LEVELDB, 20, BASE_LG, &builder) ==
            LANEBLOOM_OK);
  for (size_t i = 0; i < n; i++) {
    const lanebloom_keys keys = lanebloom_keys_fixed(letters[i], 1, strlen(letters[i]));
    cr_assert(lanebloom_filter_block_builder_start_block(builder, data[i].offset) == LANEBLOOM_OK);
    cr_assert(lanebloom_filter_block_builder_add(builder, &keys) == LANEBLOOM_OK);
  }
  lanebloom_slice filters;
  cr_assert(lanebloom_filter_block_builder_finish(builder, &filters.data, &filters.size) ==
            LANEBLOOM_OK);
  made_add(made, filters);
  lanebloom_filter_block_builder_destroy(builder);
  return made_end(made, 0);
}

/* Properties of an index of user keys. */
static struct handle made_properties(struct made *made, lanebloom_slice comparator,
                                     uint8_t index_type)
{
  const uint8_t type[] = {index_type, 0, 0, 0};
  made_entry(made, 0, text("rocksdb.block.based.table.index.type"),
             (lanebloom_slice){type, sizeof type});
  made_entry(made, 0, text("rocksdb.comparator"), comparator);
  made_entry(made, 0, text("rocksdb.index.key.is.user.key"), text("\1"));
  return made_end_entries(made);
}

static void made_finish(struct made *made, bool is_leveldb, struct handle metaindex,
                        struct handle index)
{
  static const uint8_t leveldb[] = {0x57, 0xfb, 0x80, 0x8b, 0x24, 0x75, 0x47, 0xdb},
                       rocksdb[] = {5, 0, 0, 0, 0xf7, 0xcf, 0xf4, 0x85, 0xb7, 0x41, 0xe2, 0x88};
  uint8_t handles[40] = {0};
  put_varint(
      put_varint(put_varint(put_varint(handles, metaindex.offset), metaindex.nbytes), index.offset),
      index.nbytes);
  if (!is_leveldb)
    made_add(made, (lanebloom_slice){&(uint8_t){CHECKSUM_CRC32C}, 1});
  made_add(made, (lanebloom_slice){handles, sizeof handles});
  made_add(made, is_leveldb ? (lanebloom_slice){leveldb, sizeof leveldb}
                            : (lanebloom_slice){rocksdb, sizeof rocksdb});
}

static struct key_list list_letters(const char *letters)
{
  struct key_list list = {0};
  for (; *letters; letters++)
    list_add(&list, letters, 1);
  return list;
}

/* A table has a range, and every filter is asked, unless there is a warning; keys are found in any
 * case. */
static void check_made(const struct made *made, const char *letters, const char *warning)
{
  struct key_list keys = list_letters(letters);
  char problem[PROBLEM_NBYTES];
  lanebloom_table *table;
  cr_assert(lanebloom_table_parse(made->bytes, made->n, LANEBLOOM_WRITER_UNKNOWN, &table, problem,
                                  sizeof problem) == LANEBLOOM_OK,
            "%s", problem);
  cr_assert(warning ? strstr(table->warning, warning) != NULL
                    : table->has_range && !table->warning[0],
            "%s", table->warning);
  check_keys(table, &keys, "made");
  lanebloom_table_close(table);
  list_free(&keys);
}

static const char suffix[] =
    "\1......."; /* as LevelDB's and RocksDB's databases have it behind a key */

/* Keys in order, but one of them is not in the block that separators lead to, whose filter lacks
 * it, or has no suffix. Where a block is damaged it is not known whether there are such keys. */
Test(tables, a_key_where_no_separator_leads)
{
  enum { NBLOCKS = 3 };
  static const char *const letters[NBLOCKS] = {"ab", "c", "dz"},
                           other[] = "keys are not in bytewise order";
  static const struct {
    const char *separators[NBLOCKS], *suffix, *of_middle;
    bool is_damaged;
    const char *warning;
  } trials[] = {
      {{"b", "c", "z"}, "", "", false, NULL},
      {{"b", "d", "z"}, "", "", false, other},
      {{"a", "c", "z"}, "", "", false, other},
      {{"b", "d", "z"},
       "",
       "",
       true,
       "a data block is damaged or too large, and the order of keys is not known"},
      {{"b\1.......", "cc\1.......", "z\1......."}, suffix, suffix, false, NULL},
      {{"b\1.......", "cc\1.......", "z\1......."}, suffix, "", false, other},
  };
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
    struct made *made = test_alloc(sizeof *made);
    struct handle data[NBLOCKS];
    for (size_t b = 0; b < NBLOCKS; b++)
      data[b] = made_data(made, letters[b], b == 1 ? trials[i].of_middle : trials[i].suffix);
    made->bytes[data[1].offset] ^= trials[i].is_damaged;
    const struct handle filters = made_filter_block(made, data, letters, NBLOCKS);
    for (size_t b = 0; b < NBLOCKS; b++)
      made_handle(made, trials[i].separators[b], data[b]);
    const struct handle index = made_end_entries(made);
    made_handle(made, "filter.leveldb.BuiltinBloomFilter2", filters);
    made_finish(made, true, made_end_entries(made), index);
    check_made(made, "abcdz", trials[i].warning);
    free(made);
  }
}

/* Without a filter stored keys may be the user's, or have a suffix: neither are lost. */
Test(tables, a_suffix_or_none)
{
  static const char letters[] = "abc";
  struct made *made = test_alloc(sizeof *made);
  made_handle(made, "d\1.......", made_data(made, letters, suffix));
  const struct handle index = made_end_entries(made);
  made_finish(made, true, made_end_entries(made), index);
  check_made(made, letters, "it cannot be told whether");
  struct key_list stored = {0};
  for (size_t i = 0; letters[i]; i++) {
    char key[16];
    list_add(&stored, key, (size_t)snprintf(key, sizeof key, "%c%s", letters[i], suffix));
  }
  check_warned(made->bytes, made->n, &stored, "it cannot be told whether");
  list_free(&stored);
  free(made);
}

/* Of a table whose only block would become too large nothing is known. */
Test(tables, a_first_block_that_is_too_large)
{
  enum { SNAPPY = 1 };
  struct made *made = test_alloc(sizeof *made);
  made_add(made, text("\x80\x80\x80\x80\4")); /* 2^30 bytes */
  made_handle(made, "z", made_end(made, SNAPPY));
  const struct handle index = made_end_entries(made);
  made_finish(made, true, made_end_entries(made), index);
  check_made(made, "abc", "very large, and the key range is not known");
  free(made);
}

/* RocksDB's index of two levels, whose parts between the first and the last one count, and one that
 * does not ascend. */
Test(tables, an_index_for_a_filter_block)
{
  enum { NBLOCKS = 4, TWO_LEVELS = 2 };
  static const char *const letters[NBLOCKS] = {"ab", "ef", "cd", "gh"}, *const in_order[] = {
                                                                            "ab", "cd", "ef", "gh"};
  for (int is_in_order = 0; is_in_order < 2; is_in_order++) {
    const char *const *of_blocks = is_in_order ? in_order : letters;
    struct made *made = test_alloc(sizeof *made);
    struct handle blocks[NBLOCKS], parts[NBLOCKS];
    for (size_t i = 0; i < NBLOCKS; i++)
      blocks[i] = made_data(made, of_blocks[i], suffix);
    const struct handle filters = made_filter_block(made, blocks, of_blocks, NBLOCKS);
    for (size_t i = 0; i < NBLOCKS; i++) {
      made_handle(made, of_blocks[i] + 1, blocks[i]);
      parts[i] = made_end_entries(made);
    }
    for (size_t i = 0; i < NBLOCKS; i++)
      made_handle(made, of_blocks[i] + 1, parts[i]);
    const struct handle index = made_end_entries(made);
    const struct handle properties = made_properties(made, text(bytewise), TWO_LEVELS);
    made_handle(made, "filter.rocksdb.BuiltinBloomFilter", filters);
    made_handle(made, "rocksdb.properties", properties);
    made_finish(made, false, made_end_entries(made), index);
    check_made(made, "abcdefgh", is_in_order ? NULL : "the index is not in bytewise order");
    free(made);
  }
}

/* RocksDB's table of one data block. */
static struct made *make_small(const char *letters, const char *behind, lanebloom_slice comparator)
{
  struct made *made = test_alloc(sizeof *made);
  made_handle(made, "z", made_data(made, letters, behind));
  const struct handle index = made_end_entries(made),
                      properties = made_properties(made, comparator, 0);
  made_handle(made, "rocksdb.properties", properties);
  made_finish(made, false, made_end_entries(made), index);
  return made;
}

/* A comparator's name of which strings would show the beginning alone. */
Test(tables, a_name_with_a_0)
{
  static const char other[] = "leveldb.BytewiseComparator\0.other";
  struct made *made = make_small("abc", suffix, text(bytewise));
  check_made(made, "abc", NULL);
  free(made);
  made = make_small("bac", suffix, (lanebloom_slice){other, sizeof other - 1});
  check_made(made, "bac", "in that of their comparator");
  free(made);
}

Test(tables, a_key_without_a_suffix)
{
  struct made *made = make_small("abc", suffix, text(bytewise));
  check_made(made, "abc", NULL);
  free(made);
  made = make_small("abc", "......", text(bytewise));
  assert_refused(made->bytes, made->n, LANEBLOOM_ERR_CORRUPT,
                 "expected keys of at least 8 bytes, found one of 7");
  free(made);
}

/* Of several filters the one is asked that RocksDB asks, wherever it is named. */
Test(tables, several_filters)
{
  const lanebloom_keys letters = lanebloom_keys_fixed("abc", 1, 3),
                       others = lanebloom_keys_fixed("ABC", 1, 3);
  struct made *made = test_alloc(sizeof *made);
  struct handle handles[2];
  for (size_t i = 0; i < 2; i++) {
    lanebloom_filter *filter;
    lanebloom_slice bytes;
    cr_assert(lanebloom_filter_build(LANEBLOOM_ROCKSDB_LOCAL, 20, i ? &others : &letters,
                                     &filter) == LANEBLOOM_OK);
    bytes.data = lanebloom_filter_bytes(filter, &bytes.size);
    made_add(made, bytes);
    lanebloom_filter_close(filter);
    handles[i] = made_end(made, 0);
  }
  made_handle(made, "z", handles[1]);
  const struct handle parts = made_end_entries(made);
  made_handle(made, "z", made_data(made, "abc", suffix));
  const struct handle index = made_end_entries(made),
                      properties = made_properties(made, text(bytewise), 0);
  made_handle(made, "filter.rocksdb.BuiltinBloomFilter", handles[1]);
  made_handle(made, "fullfilter.rocksdb.BuiltinBloomFilter", handles[0]);
  made_handle(made, "partitionedfilter.rocksdb.BuiltinBloomFilter", parts);
  made_handle(made, "rocksdb.properties", properties);
  made_finish(made, false, made_end_entries(made), index);
  check_made(made, "abc", NULL);
  free(made);
}

/* What a table's blocks may become together. */
Test(tables, blocks_that_become_too_large)
{
  enum { SNAPPY = 1 };
  struct made *made = test_alloc(sizeof *made);
  made_add(made, (lanebloom_slice){"\5\20hello", 7}); /* 5 bytes: of them 5 as they are */
  const struct handle handle = made_end(made, SNAPPY);
  const struct input input = {-1, made->bytes, made->n};
  const struct footer footer = {.checksum = CHECKSUM_CRC32C, .offset = made->n};
  const struct problem problem = {0};
  struct block_reader reader = {.input = &input,
                                .footer = footer,
                                .nbytes_left = UINT64_MAX,
                                .unpacked_left = 14,
                                .problem = &problem};
  struct block block;
  for (size_t i = 0; i < 2; i++) {
    cr_assert(lanebloom_block_read(&reader, handle, BLOCK_META, "", &block) == LANEBLOOM_OK);
    cr_assert(block.nbytes == 5 && memcmp(block.bytes, "hello", 5) == 0 && !reader.is_too_large);
    lanebloom_block_free(&block);
  }
  cr_assert(lanebloom_block_read(&reader, handle, BLOCK_META, "", &block) == LANEBLOOM_ERR_LIMIT);
  cr_assert(reader.is_too_large && !block.memory);
  free(made);
}

/* A table of LevelDB's in the folder of a database whose MANIFEST is believed: what all keys would
 * tell is not asked. */
static void check_believed(struct made *made, struct handle data, const char *separator,
                           const char *letters, const char *warning)
{
  char folder[PATH_NBYTES];
  uint8_t log[NLOG];
  struct key_list keys = list_letters(letters);
  made_handle(made, separator, data);
  const struct handle index = made_end_entries(made);
  made_finish(made, true, made_end_entries(made), index);
  folder_make(folder);
  manifest_make(log);
  file_write(folder, "CURRENT", current, sizeof current - 1);
  file_write(folder, "MANIFEST-000004", log, sizeof log);
  file_write(folder, "000005.ldb", made->bytes, made->n);
  check_in_database(folder, &keys, warning, separator);
  folder_free(folder);
  list_free(&keys);
  free(made);
}

Test(tables, a_believed_order)
{
  static const struct {
    const char *letters, *separator, *warning;
  } trials[] = {
      {"abc", "c\1.......", NULL},
      {"bac", "c\1.......",
       "keys are not in bytewise order"},             /* the first one is not the smallest */
      {"abc", "c", "keys are not in bytewise order"}, /* a separator without a suffix */
  };
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
    struct made *made = test_alloc(sizeof *made);
    const struct handle data = made_data(made, trials[i].letters, suffix);
    check_believed(made, data, trials[i].separator, trials[i].letters, trials[i].warning);
  }
}

/* Keys of 16 times their block and 64 KiB are judged; here, not one byte is left for the last one,
 * which is too short. */
Test(tables, a_last_key_that_is_not_judged)
{
  enum {
    KEY_NBYTES = 4096,
    NKEYS = 50,
    BLOCK_NBYTES = 5120,
    LAST_NBYTES = 3,
    RESTARTS_NBYTES = 8,
    LAST_ENTRY = 3
  };
  static const uint8_t zeros[KEY_NBYTES];
  struct made *made = test_alloc(sizeof *made);
  made_entry(made, 0, (lanebloom_slice){zeros, KEY_NBYTES}, text(""));
  for (size_t i = 1; i < NKEYS; i++)
    made_entry(made, KEY_NBYTES, text(""), text(""));
  const size_t header_nbytes = 5; /* of an entry whose value is to fill the block */
  const size_t left = BLOCK_NBYTES - RESTARTS_NBYTES - LAST_ENTRY - header_nbytes - made->n;
  cr_assert(left >= 128 && left < sizeof zeros);
  made_entry(made, KEY_NBYTES, text(""), (lanebloom_slice){zeros, left});
  made_entry(made, LAST_NBYTES, text(""), text(""));
  cr_assert(made->n + RESTARTS_NBYTES == BLOCK_NBYTES);
  check_believed(made, made_end_entries(made), "z\1.......", "", "first or last key has no suffix");
}

/* Separators whose first 8 bytes are the largest number are told apart by what follows. */
Test(tables, separators_of_the_last_window)
{
  uint8_t separators[] = "a\xff\xff\xff\xff\xff\xff\xff\xff.\xff\xff\xff\xff\xff\xff\xff\xff~";
  size_t begins[] = {0, 1, 10, 19};
  struct index index = {.n = 3, .separators = separators, .begins = begins};
  cr_assert(lanebloom_index_prepare(&index, 0));
  for (size_t near = 0; near <= index.n; near++)
    for (size_t i = 0; i < index.n; i++)
      cr_assert(lanebloom_index_find(&index, lanebloom_index_separator(&index, i), near) == i,
                "%zu, %zu", near, i);
  free(index.windows);
}

/* Bytes that no codec makes, behind sizes of each way to write them. */
Test(tables, unpacking)
{
  enum { NTYPES = 9, NBYTES = 16, ZSTD_NOT_FINAL = 0x40 };
  static const lanebloom_engine engines[] = {LANEBLOOM_ENGINE_LEVELDB, LANEBLOOM_ENGINE_ROCKSDB};
  cr_assert(lanebloom_codec(LANEBLOOM_ENGINE_ROCKSDB, ZSTD_NOT_FINAL) == CODEC_ZSTD);
  for (size_t i = 0; i < 2 * NTYPES; i++)
    for (uint32_t version = 0; version <= 5; version++)
      for (size_t n = 0; n < 2 * NBYTES; n++) {
        uint8_t bytes[NBYTES], *unpacked;
        memset(bytes, 0xff, sizeof bytes);
        bytes[0] = n < NBYTES ? 9 : 0xff; /* a size that may be; one without an end */
        const struct packed packed = {
            .codec = lanebloom_codec(engines[i / NTYPES], (uint8_t)(i % NTYPES)),
            .engine = engines[i / NTYPES],
            .version = version,
            .bytes = bytes,
            .nbytes = n % NBYTES + 1,
            .most_nbytes = 1 << 20};
        size_t nbytes;
        if (packed.codec == CODEC_NONE)
          continue;
        const lanebloom_status status = lanebloom_unpack(&packed, &unpacked, &nbytes);
        cr_assert((status == LANEBLOOM_ERR_CORRUPT || status == LANEBLOOM_ERR_LIMIT) && !unpacked,
                  "%s, type %zu of engine %zu, version %u, %zu bytes: %d",
                  lanebloom_codec_name(packed.codec), i % NTYPES, i / NTYPES, version,
                  packed.nbytes, status);
      }
}

/* A table without checksums whose first key is behind its last one. */
Test(tables, disordered)
{
  char path[PATH_NBYTES];
  snprintf(path, sizeof path, "%s/tables/damaged_order.sst", LANEBLOOM_TEST_VECTORS);
  lanebloom_table *table = must_open(path);
  lanebloom_table_info info;
  lanebloom_table_describe(table, &info, sizeof info);
  cr_assert(!info.has_range && info.smallest.size == 0 && strstr(info.warning, "bytewise order"),
            "%s", info.warning);
  lanebloom_table_close(table);
}

/* Without checksums every field is reached: no crash, no read outside, no end of memory. */
Test(tables, garbled)
{
  enum { NROUNDS = 3000, MAX_CHANGES = 8, AT_CHECKSUM_TYPE = 53 /* from the end */ };
  struct rng rng = rng_start(77);
  for (size_t i = 0; i < NFROZEN; i++) {
    if (frozen[i].is_leveldb || frozen[i].version > 5)
      continue;
    char path[PATH_NBYTES];
    frozen_path(i, path);
    size_t size;
    uint8_t *bytes = file_read(path, &size);
    bytes[size - AT_CHECKSUM_TYPE] = 0;
    struct key_list list = {0};
    frozen_keys(i, &list);
    const lanebloom_keys keys = list_keys(&list);
    for (size_t round = 0; round < NROUNDS; round++) {
      test_context("%s, round %zu", path, round);
      struct guarded damaged = guarded_copy(bytes, size, AT_END);
      /* The data blocks are most of the file, but what lies behind them says more. */
      const size_t first = round % 2 ? size * 2 / 3 : 0;
      for (uint64_t n = 1 + rng_below(&rng, MAX_CHANGES); n > 0; n--)
        damaged.bytes[first + rng_below(&rng, size - first)] = (uint8_t)rng_next(&rng);
      check_damaged(damaged.bytes, size, NULL, path, round);
      lanebloom_table *table;
      if (lanebloom_table_parse(damaged.bytes, size, LANEBLOOM_WRITER_UNKNOWN, &table, NULL, 0) ==
          LANEBLOOM_OK)
        lanebloom_table_screen(table, &keys, NULL);
      lanebloom_table_close(table);
      guarded_free(&damaged);
    }
    list_free(&list);
    free(bytes);
  }
}

/* ---- Calls ---- */

Test(tables, errors)
{
  char problem[PROBLEM_NBYTES];
  lanebloom_table *table = (lanebloom_table *)problem;
  cr_assert(lanebloom_table_open("/no/such/file", 0, &table, problem, sizeof problem) ==
            LANEBLOOM_ERR_IO);
  cr_assert(!table && strstr(problem, "No such file"), "%s", problem);
  cr_assert(lanebloom_table_open("/", 0, &table, problem, sizeof problem) == LANEBLOOM_ERR_FORMAT);
  cr_assert(lanebloom_table_open("/dev/null", 0, &table, problem, sizeof problem) ==
            LANEBLOOM_ERR_FORMAT);
  cr_assert(lanebloom_table_parse(NULL, 0, 0, &table, problem, sizeof problem) ==
            LANEBLOOM_ERR_FORMAT);
  cr_assert(lanebloom_table_parse(NULL, 9, 0, &table, problem, sizeof problem) ==
            LANEBLOOM_ERR_ARGUMENT);
  cr_assert(lanebloom_table_parse(problem, sizeof problem, 0, &table, problem, 5) ==
            LANEBLOOM_ERR_FORMAT);
  cr_assert(strlen(problem) == 4);
  cr_assert(lanebloom_table_parse(NULL, 0, 3, &table, problem, sizeof problem) ==
            LANEBLOOM_ERR_ARGUMENT);
  cr_assert(!table && strstr(problem, "writer"), "%s", problem);
  lanebloom_table_close(NULL);
}

Test(tables, no_kernel)
{
  char path[PATH_NBYTES], problem[PROBLEM_NBYTES];
  frozen_path(0, path);
  cr_assert(setenv("LANEBLOOM_KERNEL", "avx1024", 1) == 0);
  lanebloom_table *table;
  cr_assert(lanebloom_table_open(path, 0, &table, problem, sizeof problem) ==
                LANEBLOOM_ERR_KERNEL &&
            !table);
  cr_assert(problem[0]);
}

Test(tables, empty_batches)
{
  char path[PATH_NBYTES];
  frozen_path(0, path);
  lanebloom_table *table = must_open(path);
  const lanebloom_keys none = lanebloom_keys_slices(NULL, 0),
                       one = lanebloom_keys_fixed(NULL, 0, 1);
  uint8_t any = 0xff;
  size_t counts[1] = {7};
  cr_assert(lanebloom_table_screen(table, &none, NULL) == 0);
  cr_assert(lanebloom_tables_screen((const lanebloom_table *const *)&table, 1, &none, NULL, NULL,
                                    counts) == 0);
  cr_assert(counts[0] == 0);
  cr_assert(lanebloom_tables_screen(NULL, 0, &one, &any, NULL, NULL) == 0 && any == 0);
  cr_assert(lanebloom_table_screen(table, &one, &any) == 1 &&
            any == 1); /* the empty key is there */
  lanebloom_table_close(table);
}

Test(tables, names_of_checksums)
{
  static const char *const names[] = {"none", "crc32c", "xxh32", "xxh64", "xxh3", "unknown"};
  for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
    cr_assert(strcmp(lanebloom_table_checksum_name(i), names[i]) == 0);
  cr_assert(strcmp(lanebloom_table_checksum_name(UINT32_MAX), "unknown") == 0);
}

Test(tables, names)
{
  static const char *const engines[] = {"unknown", "leveldb", "rocksdb", "pebble", "unknown"},
                           *const filters[] = {"none",        "block", "full",
                                               "partitioned", "other", "unknown"},
                           *const writers[] = {"unknown", "leveldb", "goleveldb", "unknown"};
  for (size_t i = 0; i < sizeof engines / sizeof *engines; i++)
    cr_assert(strcmp(lanebloom_engine_name((lanebloom_engine)i), engines[i]) == 0);
  for (size_t i = 0; i < sizeof filters / sizeof *filters; i++)
    cr_assert(strcmp(lanebloom_table_filter_name((lanebloom_table_filter)i), filters[i]) == 0);
  for (size_t i = 0; i < sizeof writers / sizeof *writers; i++) {
    cr_assert(strcmp(lanebloom_writer_name((lanebloom_writer)i), writers[i]) == 0);
    cr_assert(lanebloom_writer_find(writers[i]) == (i % 3 ? (lanebloom_writer)i : 0));
  }
  cr_assert(lanebloom_writer_find("") == LANEBLOOM_WRITER_UNKNOWN);
}

/* Callers that know fewer fields, and such that know more. */
Test(tables, describing_into_other_sizes)
{
  struct {
    lanebloom_table_info info;
    uint8_t more[64];
  } large;
  lanebloom_table_info full, small;
  const size_t small_size = offsetof(lanebloom_table_info, nfilters);
  char path[PATH_NBYTES];
  frozen_path(8, path);
  lanebloom_table *table = must_open(path);
  memset(&full, 0xa5, sizeof full);
  memset(&small, 0xa5, sizeof small);
  memset(&large, 0xa5, sizeof large);
  lanebloom_table_describe(table, &full, sizeof full);
  lanebloom_table_describe(table, &small, small_size);
  lanebloom_table_describe(table, (lanebloom_table_info *)&large, sizeof large);
  cr_assert(small.nprobes == full.nprobes && full.nprobes > 0 && full.nfilters == 1);
  for (size_t i = small_size; i < sizeof small; i++)
    cr_assert(((const uint8_t *)&small)[i] == 0xa5, "byte %zu", i);
  cr_assert(large.info.nfilters == 1 && large.info.warning == full.warning);
  for (size_t i = 0; i < sizeof large.more; i++)
    cr_assert(large.more[i] == 0, "byte %zu", i);
  lanebloom_table_close(table);
}

/* Keys that share a prefix pass together: of prefixes alone no rate of keys follows, unless each is
 * a whole key. */
Test(tables, rates_of_prefixes)
{
  static const struct {
    const char *extractor;
    bool has_rate;
  } trials[] = {{"rocksdb.FixedPrefix.1", false}, {"rocksdb.Noop", true}, {"other", true}};
  for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
    struct made *made = test_alloc(sizeof *made);
    const lanebloom_keys keys = lanebloom_keys_fixed("abc", 1, 3);
    lanebloom_filter *filter;
    lanebloom_slice bytes;
    cr_assert(lanebloom_filter_build(LANEBLOOM_ROCKSDB_LOCAL, 20, &keys, &filter) == LANEBLOOM_OK);
    bytes.data = lanebloom_filter_bytes(filter, &bytes.size);
    made_add(made, bytes);
    lanebloom_filter_close(filter);
    const struct handle filters = made_end(made, 0);
    made_handle(made, "z", made_data(made, "abc", suffix));
    const struct handle index = made_end_entries(made);
    made_entry(made, 0, text("rocksdb.block.based.table.prefix.filtering"), text("1"));
    made_entry(made, 0, text("rocksdb.block.based.table.whole.key.filtering"), text("0"));
    made_entry(made, 0, text("rocksdb.prefix.extractor.name"), text(trials[i].extractor));
    const struct handle properties = made_properties(made, text(bytewise), 0);
    made_handle(made, "fullfilter.rocksdb.BuiltinBloomFilter", filters);
    made_handle(made, "rocksdb.properties", properties);
    made_finish(made, false, made_end_entries(made), index);
    lanebloom_table *table;
    lanebloom_table_info info;
    cr_assert(lanebloom_table_parse(made->bytes, made->n, 0, &table, NULL, 0) == LANEBLOOM_OK);
    lanebloom_table_describe(table, &info, sizeof info);
    cr_assert(!info.has_whole_keys && info.has_prefixes && info.nfilters == 1);
    cr_assert(isnan(info.model_rate) == !trials[i].has_rate, "%s: %g", trials[i].extractor,
              info.model_rate);
    lanebloom_table_close(table);
    free(made);
  }
}
