/* Databases that the real LevelDB and RocksDB write with many option sets: no key is lost, and
 * absent keys pass as rarely as they should.
 * SPDX-License-Identifier: MIT */
#include <criterion/parameterized.h>
#include <dirent.h>
#include <math.h>
#include <stdio.h>

#include "filter_block/oracle.h"
#include "tables.h"

/* ---- One table ---- */

/* Checks the table from memory, so that no MANIFEST states how keys are stored. */
static void check_parsed(const char *path, const struct key_list *list, const char *what)
{
  size_t size;
  uint8_t *bytes = test_read_file(path, &size);
  lanebloom_table *table;
  cr_assert(lanebloom_table_parse(bytes, size, LANEBLOOM_WRITER_UNKNOWN, &table, NULL, 0) ==
            LANEBLOOM_OK);
  check_keys(table, list, what);
  lanebloom_table_free(table);
  free(bytes);
}

/* Does the key pass the filter of data block or partition i? */
static bool passes_filter(const lanebloom_table *table, size_t i, lanebloom_slice key)
{
  if (table->kind == LANEBLOOM_TABLE_FILTER_PARTITIONED)
    return !table->filters[i] ||
           lanebloom_filter_may_contain(table->filters[i], key.data, key.size);
  const uint64_t offset = table->index.handles[i].offset;
  for (size_t hash = 0; hash < 2; hash++)
    if (table->filter_blocks[hash] &&
        lanebloom_filter_block_may_contain(table->filter_blocks[hash], offset, key.data, key.size))
      return true;
  return false;
}

/* Does the key pass the filter of any data block or partition? */
static bool passes_any(const lanebloom_table *table, lanebloom_slice key)
{
  for (size_t i = 0; i < table->index.n; i++)
    if (passes_filter(table, i, key))
      return true;
  return false;
}

/* Does `key` pass the filters that are queried for `neighbour`? */
static bool passes_beside(const lanebloom_table *table, lanebloom_slice neighbour,
                          lanebloom_slice key)
{
  if (table->kind == LANEBLOOM_TABLE_FILTER_FULL)
    return !table->filters[0] ||
           lanebloom_filter_may_contain(table->filters[0], key.data, key.size);
  if (table->asks_all_filters)
    return passes_any(table, key);
  size_t block = lanebloom_index_find(&table->index, neighbour, 0);
  if (table->kind == LANEBLOOM_TABLE_FILTER_PARTITIONED)
    block = block < table->index.n ? block : table->index.n - 1;
  return block == table->index.n || passes_filter(table, block, key);
}

/* Checks that absent keys pass as often as random keys in the same filters. At five standard
 * deviations, about one check in 10^6 fails by chance. */
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
      nrandom_hits += passes_beside(table, key, (lanebloom_slice){other, sizeof other});
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

/* Returns the answer of LevelDB's own reader for a key and this data block. */
static bool may_be_in_block(const lanebloom_table *table, size_t block, lanebloom_slice key)
{
  return oracle_block_may_match(table->hash, table->filter_data->bytes, table->filter_data->nbytes,
                                table->index.handles[block].offset, key.data, key.size);
}

/* Checks that LevelDB's own reader gives the same answers for the same data blocks. */
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
    size_t block = 0;
    if (table->asks_all_filters)
      while (block + 1 < table->index.n && !may_be_in_block(table, block, key))
        block++;
    else
      block = lanebloom_index_find(&table->index, key, 0);
    if (block == table->index.n || (table->has_range && (compare_slices(key, table->smallest) < 0 ||
                                                         compare_slices(key, table->largest) > 0)))
      continue;
    cr_assert(has_bit(bitmap, i) == may_be_in_block(table, block, key), "%s: key %zu of %zu", name,
              i, absent->n);
  }
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
  if (set->is_leveldb && !strstr(info->warning, "cannot be told")) /* it lists all entries */
    cr_assert(compare_slices(info->smallest, list_key(keys, 0)) == 0 &&
                  compare_slices(info->largest, list_key(keys, keys->n - 1)) == 0,
              "%s: range", set->name);
}

/* ---- A database ---- */

enum { MAX_TABLES = 256 };

struct database {
  char folder[PATH_NBYTES];
  size_t ntables;
  lanebloom_table *tables[MAX_TABLES];
  struct key_list keys[MAX_TABLES];
};

static bool is_table_name(const char *name)
{
  const char *dot = strrchr(name, '.');
  return dot && (strcmp(dot, ".ldb") == 0 || strcmp(dot, ".sst") == 0);
}

static void database_open(struct database *database, size_t set)
{
  DIR *folder = opendir(database->folder);
  cr_assert(folder);
  for (struct dirent *entry; (entry = readdir(folder));) {
    if (!is_table_name(entry->d_name))
      continue;
    char path[2 * PATH_NBYTES];
    snprintf(path, sizeof path, "%s/%s", database->folder, entry->d_name);
    cr_assert(database->ntables < MAX_TABLES);
    const size_t i = database->ntables++;
    database->tables[i] = must_open(path);
    oracle_keys_of_table(set, path, list_add, &database->keys[i]);
    if (database->keys[i].n > 0)
      check_parsed(path, &database->keys[i], oracle_set_at(set)->name);
  }
  closedir(folder);
  cr_assert(database->ntables > 0);
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
    if (database->keys[t].n == 0) { /* the table has only range tombstones */
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
  check_together((const lanebloom_table *const *)database->tables, database->ntables, &live, true,
                 set->name);
  check_together((const lanebloom_table *const *)database->tables, database->ntables, &absent,
                 false, set->name);
  if (getenv("LANEBLOOM_TABLES_NKEYS"))
    fprintf(stderr, "# %s: %zu tables, %zu pairs, %zu kernels, %zu live\n", set->name,
            database->ntables, npairs, lanebloom_kernel_count(), live.n);

  for (size_t t = 0; t < database->ntables; t++) {
    lanebloom_table_free(database->tables[t]);
    list_free(&database->keys[t]);
  }
  list_free(&absent);
  list_free(&live);
  folder_free(database->folder);
  free(database);
}

/* If several sets share a name, only every fourth of them is tried unless exhaustive. */
static bool is_wanted(size_t i)
{
  enum { STEP = 4 };
  size_t nsame = 0;
  for (size_t other = 0; other < i; other++)
    nsame += strcmp(oracle_set_at(other)->name, oracle_set_at(i)->name) == 0;
  return test_exhaustive() || getenv("LANEBLOOM_TABLES_NKEYS") || nsame % STEP == 0;
}

ParameterizedTestParameters(tables, databases)
{
  enum { MAX_SETS = 256 };
  static size_t sets[MAX_SETS];
  size_t n = 0;
  for (size_t i = 0; i < oracle_sets() && n < MAX_SETS; i++)
    if (is_wanted(i))
      sets[n++] = i;
  return cr_make_param_array(size_t, sets, n);
}

ParameterizedTest(size_t *set, tables, databases)
{
  check_set(*set);
}
