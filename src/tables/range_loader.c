/* Loads the key range of a table: its smallest and its largest key. Also loads the index that finds
 * a key's data block. Both are useful only if the keys are in bytewise order, so this file finds
 * out whether the keys are in this order.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "key_form.h"
#include "manifest.h"

static const char other_order[] = "keys are not in bytewise order, but in their comparator's "
                                  "order, so the key range is not known";
static const char unknown_columns[] =
    "data blocks store keys by an unknown schema, so the key range is not known";
static const char large_block[] =
    "the first or last data block is very large, so the key range is not known";
static const char values_apart[] =
    "data blocks store values apart from their keys (separate_key_value_in_data_block), which is "
    "not supported, so the key range is not known";

/* ---- The index ---- */

static lanebloom_status load_index(struct loader *loader, bool needs_all, struct index *index)
{
  struct block_reader *reader = &loader->reader;
  const struct properties *properties = &loader->properties;
  const struct handle handle = loader->metaindex.index;
  const struct entry_form form = {.has_deltas = properties->index_has_deltas,
                                  .has_first_key = properties->index_type == INDEX_WITH_FIRST_KEYS};
  if (properties->index_type != INDEX_TWO_LEVELS)
    return lanebloom_index_read(reader, handle, form, "index", index);

  struct index top = {0};
  lanebloom_status status = lanebloom_index_read(reader, handle, form, "index", &top);
  for (size_t i = 0; !status && i < top.n; i++)
    if (needs_all || i == 0 || i + 1 == top.n) {
      const size_t n = index->n;
      status = lanebloom_index_read(reader, top.handles[i], form, "partition of the index", index);
      if (!status && index->n == n) /* an empty partition hides the table's first or last key */
        status = problem_set(loader->problem, LANEBLOOM_ERR_CORRUPT,
                             "damaged partition of the index: expected data blocks, found none");
    }
  lanebloom_index_free(&top);
  return status;
}

/* ---- Key range and order ---- */

/* Adds a warning, and stops relying on the order of keys. If each data block or partition has a
 * filter, the order selects the filter of a key; without the order, all filters will be queried.
 * The range does not change. */
static void drop_order(lanebloom_table *table, const char *why)
{
  lanebloom_table_warn(table, why);
  table->asks_all_filters = table->kind == LANEBLOOM_TABLE_FILTER_BLOCK ||
                            table->kind == LANEBLOOM_TABLE_FILTER_PARTITIONED;
}

/* Adds a warning, and stops using the filter. */
static void drop_filter(lanebloom_table *table, const char *why)
{
  lanebloom_table_warn(table, why);
  table->uses_filter = false;
}

/* Stops using what only Pebble's default comparer guarantees: that the filter holds whole keys, and
 * that keys are in bytewise order. A program may change a copy of this comparer but not its
 * name. */
static void drop_comparer(lanebloom_table *table)
{
  drop_filter(table, "the comparer has the name of the default one but extracts parts of keys, so "
                     "neither the filter nor the key range is used");
  table->has_prefixes |= table->has_whole_keys;
  table->has_whole_keys = false;
}

static void set_range(lanebloom_table *table, struct ends *ends, size_t first_suffix,
                      size_t last_suffix)
{
  if (ends->first.size < first_suffix ||
      ends->last.size < last_suffix) { /* possible, because very large keys are not examined */
    drop_order(table, "the first or last key has no suffix, but others have one");
    return;
  }
  const lanebloom_slice smallest = user_key(ends->first, first_suffix),
                        largest = user_key(ends->last, last_suffix);
  if (lanebloom_key_compare(smallest, largest) > 0) {
    drop_order(table, "the first and the last key are not in bytewise order");
    return;
  }
  table->smallest = smallest;
  table->largest = largest;
  table->has_range = true;
  ends->first = ends->last = (lanebloom_slice){NULL, 0}; /* the table owns both keys now */
}

/* Prepares the index if queries will need it to find a key's data block. */
static lanebloom_status prepare_index(const struct loader *loader, lanebloom_table *table,
                                      size_t suffix)
{
  if (table->kind != LANEBLOOM_TABLE_FILTER_BLOCK || !table->uses_filter || table->asks_all_filters)
    return LANEBLOOM_OK;
  return lanebloom_index_prepare(&table->index, suffix)
             ? LANEBLOOM_OK
             : problem_memory(loader->problem, table->index.n * sizeof *table->index.windows);
}

/* ---- LevelDB ---- */

/* Finds the table's comparator in the MANIFEST of its database, because LevelDB's tables do not
 * store its name. Returns whether the table is in the folder of a database. */
static bool find_comparator(const struct loader *loader, lanebloom_table *table)
{
  char *comparator = NULL;
  const bool in_database = loader->path && lanebloom_manifest_find(loader->path, &comparator);
  if (comparator) {
    free(table->comparator);
    table->comparator = comparator;
  }
  return in_database;
}

/* Finds whether keys are in bytewise order, in each form that they may have (may_be). If the
 * comparator is unknown, and the first and the last data block are in order, reads all keys. */
static lanebloom_status find_order(struct loader *loader, const lanebloom_table *table,
                                   const struct index *index, const struct ends *ends,
                                   const bool *may_be, enum key_order *order)
{
  *order = ORDER_BYTEWISE;
  for (size_t i = 0; i < NKEY_FORMS; i++)
    if (may_be[i] && (!ends->forms[i].ascends || !lanebloom_index_ascends(index, suffix_nbytes[i])))
      *order = ORDER_OTHER;
  if (table->comparator[0])
    return LANEBLOOM_OK;
  lanebloom_status status = LANEBLOOM_OK;
  for (size_t i = 0; !status && *order == ORDER_BYTEWISE && i < NKEY_FORMS; i++)
    if (may_be[i])
      status = lanebloom_key_order_find(&loader->reader, index, suffix_nbytes[i], order);
  return status;
}

static lanebloom_status decide_leveldb(struct loader *loader, lanebloom_table *table,
                                       const struct index *index, struct ends *ends)
{
  const bool in_database = find_comparator(loader, table);
  bool may_be[NKEY_FORMS] = {false};
  for (size_t i = 0; i < NKEY_FORMS; i++)
    may_be[i] = ends->forms[i].is_possible && ends->forms[i].is_in_filter;
  if (!may_be[USER_KEYS] && !may_be[INTERNAL_KEYS]) {
    drop_filter(table, "the filter is not used: it lacks keys of the table");
    return LANEBLOOM_OK;
  }
  if (in_database)
    may_be[USER_KEYS] = false;

  enum key_order order;
  const lanebloom_status status = find_order(loader, table, index, ends, may_be, &order);
  if (status)
    return status;
  const bool is_sure =
      may_be[INTERNAL_KEYS] != may_be[USER_KEYS] && (in_database || table->filter_blocks[0]);
  if (in_database && !may_be[INTERNAL_KEYS])
    drop_filter(table, "keys are not stored as LevelDB's databases store them");
  else if (in_database && !table->comparator[0])
    drop_order(table, "the database's MANIFEST cannot be read, so the order of keys is not known");
  else if (table->comparator[0] && !is_bytewise(table->comparator))
    drop_order(table, other_order);
  else if (order == ORDER_UNKNOWN)
    drop_order(table, "a data block is damaged or too large, so the order of keys is not known");
  else if (order == ORDER_OTHER)
    drop_order(table, "keys are not in bytewise order");
  else if (!is_sure) {
    set_range(table, ends, ends->first.size < SUFFIX_NBYTES ? 0 : SUFFIX_NBYTES,
              0); /* these bounds are right for both forms */
    drop_order(table, "it cannot be told whether keys have a database's suffix");
  } else {
    const size_t suffix = suffix_nbytes[may_be[INTERNAL_KEYS] ? INTERNAL_KEYS : USER_KEYS];
    set_range(table, ends, suffix, suffix);
    return prepare_index(loader, table, suffix);
  }
  return LANEBLOOM_OK;
}

/* ---- RocksDB and Pebble: properties name the comparator ---- */

static lanebloom_status decide_named(const struct loader *loader, lanebloom_table *table,
                                     const struct index *index, struct ends *ends)
{
  const size_t suffix = loader->properties.index_has_user_keys ? 0 : SUFFIX_NBYTES;
  if (table->kind == LANEBLOOM_TABLE_FILTER_BLOCK && !lanebloom_index_ascends(index, suffix))
    drop_order(table, "the index is not in bytewise order");
  if (ends->is_split)
    drop_comparer(table);
  else if (loader->reader.is_too_large)
    lanebloom_table_warn(table, large_block);
  else if (ends->has_values_apart)
    lanebloom_table_warn(table, values_apart);
  else
    set_range(table, ends, SUFFIX_NBYTES, SUFFIX_NBYTES);
  return prepare_index(loader, table, suffix);
}

/* ---- All engines ---- */

static lanebloom_status decide(struct loader *loader, lanebloom_table *table,
                               const struct index *index)
{
  struct ends ends;
  lanebloom_status status = lanebloom_ends_load(&loader->reader, table, index, &ends);
  if (loader->reader.is_too_large) { /* without a range, the filter may still be used */
    problem_clear(loader->problem);
    status = LANEBLOOM_OK;
  }
  if (!status && table->engine != LANEBLOOM_ENGINE_LEVELDB)
    status = decide_named(loader, table, index, &ends);
  else if (!status && loader->reader.is_too_large)
    drop_filter(table, large_block);
  else if (!status)
    status = decide_leveldb(loader, table, index, &ends);
  lanebloom_ends_free(&ends);
  return status;
}

/* May the table have no keys at all? If not, an index without data blocks is damaged. */
static bool may_lack_keys(const struct loader *loader, const lanebloom_table *table)
{
  const struct properties *properties = &loader->properties;
  if (table->engine == LANEBLOOM_ENGINE_LEVELDB)
    return true;
  return loader->metaindex.has_properties && properties->nentries <= properties->nrange_deletions;
}

/* Does the table have only one data block, which has no keys? Tables of Pebble that hold only
 * ranges have such a block. */
static bool has_one_empty_block(const struct loader *loader, const lanebloom_table *table,
                                const struct index *index)
{
  return table->engine == LANEBLOOM_ENGINE_PEBBLE && index->n == 1 && may_lack_keys(loader, table);
}

/* Returns why the order of keys cannot be used, or NULL if it can. */
static const char *find_obstacle(const struct loader *loader, const lanebloom_table *table)
{
  if (table->engine == LANEBLOOM_ENGINE_LEVELDB)
    return NULL;
  if (!is_bytewise(table->comparator))
    return table->comparator[0] ? other_order : "no properties name the order of keys";
  return has_unknown_columns(loader, table) ? unknown_columns : NULL;
}

lanebloom_status lanebloom_loader_load_range(struct loader *loader, lanebloom_table *table)
{
  const char *obstacle = find_obstacle(loader, table);
  const bool needs_all = table->kind == LANEBLOOM_TABLE_FILTER_BLOCK;
  if (obstacle)
    drop_order(table, obstacle);
  if (obstacle && !needs_all)
    return LANEBLOOM_OK;
  struct index temporary = {0}, *index = needs_all ? &table->index : &temporary;
  lanebloom_status status = load_index(loader, needs_all, index);
  if (!status && index->n > 0 && !has_one_empty_block(loader, table, index)) {
    status = obstacle ? LANEBLOOM_OK : decide(loader, table, index);
  } else if (!status) {
    table->is_empty = may_lack_keys(loader, table);
    if (!table->is_empty)
      drop_filter(table, "the index names no data blocks, but the table has keys");
  }
  lanebloom_index_free(&temporary);
  return status;
}
