/* The keys of a table's ends, their order, and how they are stored.
 *
 * Databases store a key with 8 bytes behind it, which say when and how it was written. RocksDB's
 * and Pebble's tables always have them. LevelDB's have them too, unless a program wrote the table
 * and no database; the file does not say which, but its filter holds user keys: those of the first
 * and last data block are looked up in either reading.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "manifest.h"
#include "table.h"

static const char other_order[] = "keys are not in bytewise order, but in that of their comparator",
                  large_block[] =
                      "the first or last data block is very large, and the key range is not known";

enum { AS_USER_KEYS, WITH_SUFFIX, NREADINGS };
static const size_t suffix_nbytes[NREADINGS] = {0, SUFFIX_NBYTES};

struct reading {
  bool is_possible; /* can keys be stored so? */
  bool is_found;    /* and does the filter have them all? */
  bool ascends;
};

struct ends {
  struct reading readings[NREADINGS];
  bool is_judged;              /* is it unknown which reading is right? */
  lanebloom_slice first, last; /* as stored; for free() */
};

/* The key before the one that is looked at. */
struct previous {
  uint8_t *bytes; /* room for any */
  size_t nbytes;
  bool is_there;
};

static void remember(struct previous *previous, lanebloom_slice key)
{
  if (key.size > 0)
    memcpy(previous->bytes, key.data, key.size);
  previous->nbytes = key.size;
  previous->is_there = true;
}

static lanebloom_slice user_key(lanebloom_slice stored, size_t suffix)
{
  return (lanebloom_slice){stored.data, stored.size - suffix};
}

/* ---- The index ---- */

static lanebloom_status read_index(struct opening *opening, struct handle handle,
                                   struct index *index)
{
  const struct properties *properties = &opening->properties;
  const bool has_two_levels = properties->index_type == INDEX_TWO_LEVELS;
  const struct entry_form form = {.has_deltas = properties->index_has_deltas,
                                  .has_first_key = properties->index_type == INDEX_WITH_FIRST_KEYS};
  if (!has_two_levels)
    return lanebloom_index_read(&opening->reader, handle, form, "index", index);

  struct index top = {0};
  lanebloom_status status = lanebloom_index_read(&opening->reader, handle, form, "index", &top);
  const bool needs_all = opening->table->kind == LANEBLOOM_TABLE_FILTER_BLOCK;
  for (size_t i = 0; !status && i < top.n; i++)
    if (needs_all || i == 0 || i + 1 == top.n) {
      const size_t n = index->n;
      status =
          lanebloom_index_read(&opening->reader, top.handles[i], form, "part of the index", index);
      if (!status && index->n == n) /* else the table's ends would be looked for in other parts */
        status = problem_set(opening->problem, LANEBLOOM_ERR_CORRUPT,
                             "damaged part of the index: expected data blocks, found none");
    }
  lanebloom_index_free(&top);
  return status;
}

/* ---- Judging keys ---- */

/* The last byte of a sequence number's eight, stored first: LevelDB's databases know values and
 * deletions. */
static bool has_suffix_of_leveldb(const uint8_t *key, size_t nbytes)
{
  enum { LAST_KIND = 1 };
  return nbytes >= SUFFIX_NBYTES && key[nbytes - SUFFIX_NBYTES] <= LAST_KIND;
}

static bool has_filter(const lanebloom_table *table, uint64_t offset, lanebloom_slice key)
{
  for (size_t i = 0; i < 2 && table->of_offsets[i]; i++)
    if (lanebloom_filter_block_may_contain(table->of_offsets[i], offset, key.data, key.size))
      return true;
  return !table->of_offsets[0];
}

static void judge(struct ends *ends, const lanebloom_table *table, const struct entries *entries,
                  struct previous *previous)
{
  const lanebloom_slice stored = {entries->key, entries->key_nbytes},
                        before = {previous->bytes, previous->nbytes};
  if (!has_suffix_of_leveldb(entries->key, entries->key_nbytes))
    ends->readings[WITH_SUFFIX].is_possible = false;
  for (size_t i = 0; i < NREADINGS; i++) {
    struct reading *reading = &ends->readings[i];
    if (!reading->is_possible)
      continue;
    const lanebloom_slice key = user_key(stored, suffix_nbytes[i]);
    if (previous->is_there && lanebloom_key_compare(user_key(before, suffix_nbytes[i]), key) > 0)
      reading->ascends = false;
    if (reading->is_found)
      reading->is_found = has_filter(table, entries->offset, key);
  }
  remember(previous, stored);
}

static lanebloom_status keep(const struct opening *opening, const struct entries *entries,
                             lanebloom_slice *kept)
{
  void *copy = malloc(entries->key_nbytes + 1);
  if (!copy)
    return problem_memory(opening->problem, entries->key_nbytes + 1);
  memcpy(copy, entries->key, entries->key_nbytes);
  *kept = (lanebloom_slice){copy, entries->key_nbytes};
  return LANEBLOOM_OK;
}

/* Keys are compared and looked up until they come to so many bytes: they can share what they begin
 * with, and be many times their block. */
static size_t judged_nbytes(size_t block_nbytes)
{
  enum { MAX_GROWTH = 16, SMALL_NBYTES = 1 << 16 };
  return block_nbytes < SIZE_MAX / MAX_GROWTH - SMALL_NBYTES
             ? block_nbytes * MAX_GROWTH + SMALL_NBYTES
             : SIZE_MAX;
}

/* Walks one data block: that of the first key, of the last one, or of both. */
static lanebloom_status walk(struct opening *opening, const struct block *block, bool has_first,
                             bool has_last, struct ends *ends)
{
  struct entries entries;
  lanebloom_status status = lanebloom_entries_begin(
      block, (struct entry_form){0}, opening->reader.footer.engine, opening->problem, &entries);
  if (status)
    return status;
  size_t n = 0, left = judged_nbytes(block->nbytes);
  struct previous previous = {.bytes = ends->is_judged ? malloc(block->nbytes)
                                                       : NULL}; /* no key has more */
  if (ends->is_judged && !previous.bytes)
    status = problem_memory(opening->problem, block->nbytes);
  for (; !status && lanebloom_entries_next(&entries); n++) {
    if (!ends->is_judged && entries.key_nbytes < SUFFIX_NBYTES)
      status =
          problem_set(opening->problem, LANEBLOOM_ERR_CORRUPT,
                      "damaged data block: expected keys of at least %d bytes, found one of %zu",
                      SUFFIX_NBYTES, entries.key_nbytes);
    if (ends->is_judged && entries.key_nbytes <= left) {
      judge(ends, opening->table, &entries, &previous);
      left -= entries.key_nbytes;
    }
    if (!status && has_first && n == 0)
      status = keep(opening, &entries, &ends->first);
  }
  free(previous.bytes);
  if (!status && !entries.damaged && n == 0)
    status = problem_set(opening->problem, LANEBLOOM_ERR_CORRUPT,
                         "damaged data block: expected keys, found none");
  if (!status && has_last && !entries.damaged)
    status = keep(opening, &entries, &ends->last);
  lanebloom_status end = lanebloom_entries_end(&entries, "data block", opening->problem);
  return status ? status : end;
}

static lanebloom_status read_ends(struct opening *opening, const struct index *index,
                                  struct ends *ends)
{
  const size_t last = index->n - 1;
  lanebloom_status status = LANEBLOOM_OK;
  for (size_t i = 0; !status && i <= last; i = i < last ? last : i + 1) {
    struct block block;
    status =
        lanebloom_block_read(&opening->reader, index->handles[i], BLOCK_DATA, "data block", &block);
    if (status)
      break;
    status = walk(opening, &block, i == 0, i == last, ends);
    lanebloom_block_free(&block);
  }
  return status;
}

/* ---- What follows ---- */

/* A table whose order is not known has neither range nor places to look: a filter for the whole
 * table still serves. */
static void give_up_order(lanebloom_table *table, const char *why)
{
  lanebloom_table_warn(table, why);
  if (table->kind == LANEBLOOM_TABLE_FILTER_BLOCK ||
      table->kind == LANEBLOOM_TABLE_FILTER_PARTITIONED)
    table->is_asked = false;
}

static void set_range(lanebloom_table *table, struct ends *ends, size_t first_suffix,
                      size_t last_suffix)
{
  if (ends->first.size < first_suffix ||
      ends->last.size < last_suffix) { /* a key that was not judged any more */
    give_up_order(table, "first or last key has no suffix, others have");
    return;
  }
  const lanebloom_slice smallest = {ends->first.data, ends->first.size - first_suffix};
  const lanebloom_slice largest = {ends->last.data, ends->last.size - last_suffix};
  if (lanebloom_key_compare(smallest, largest) > 0) {
    give_up_order(table, "first and last key are not in bytewise order");
    return;
  }
  table->smallest = smallest;
  table->largest = largest;
  table->has_range = true;
  ends->first = ends->last = (lanebloom_slice){NULL, 0}; /* the table's now */
}

/* For finding a key's data block. */
static lanebloom_status prepare(const struct opening *opening, size_t suffix)
{
  lanebloom_table *table = opening->table;
  if (table->kind != LANEBLOOM_TABLE_FILTER_BLOCK || !table->is_asked)
    return LANEBLOOM_OK;
  return lanebloom_index_prepare(&table->index, suffix)
             ? LANEBLOOM_OK
             : problem_memory(opening->problem, table->index.n * sizeof *table->index.windows);
}

enum order { ORDER_BYTEWISE, ORDER_OTHER, ORDER_UNKNOWN };

/* Does the key come after the one before, and do separators lead to its block, or at least to that
 * of an equal one? */
static bool is_in_order(const struct previous *previous, const struct index *index, size_t block,
                        size_t suffix, lanebloom_slice key)
{
  const int step =
      previous->is_there
          ? lanebloom_key_compare((lanebloom_slice){previous->bytes, previous->nbytes}, key)
          : -1;
  if (step > 0 ||
      lanebloom_key_compare(key, user_key(lanebloom_index_separator(index, block), suffix)) > 0)
    return false;
  return step == 0 || block == 0 ||
         lanebloom_key_compare(user_key(lanebloom_index_separator(index, block - 1), suffix), key) <
             0;
}

static enum order order_of_entries(struct entries *entries, size_t left, const struct index *index,
                                   size_t block, size_t suffix, struct previous *previous)
{
  while (lanebloom_entries_next(entries)) {
    if (entries->key_nbytes < suffix)
      return ORDER_OTHER;
    if (entries->key_nbytes > left)
      return ORDER_UNKNOWN;
    left -= entries->key_nbytes;
    const lanebloom_slice key = {entries->key, entries->key_nbytes - suffix};
    if (!is_in_order(previous, index, block, suffix, key))
      return ORDER_OTHER;
    remember(previous, key);
  }
  return ORDER_BYTEWISE;
}

static lanebloom_status find_order_of_block(struct block_reader *reader, const struct index *index,
                                            size_t i, size_t suffix, struct previous *previous,
                                            enum order *order)
{
  struct block block;
  struct entries entries;
  lanebloom_status status =
      lanebloom_block_read(reader, index->handles[i], BLOCK_DATA, "data block", &block);
  if (status)
    return status;
  uint8_t *room =
      realloc(previous->bytes, previous->nbytes + block.nbytes + 1); /* no key is longer */
  if (room) {
    previous->bytes = room;
    status = lanebloom_entries_begin(&block, (struct entry_form){0}, reader->footer.engine,
                                     reader->problem, &entries);
  } else {
    status = LANEBLOOM_ERR_MEMORY;
  }
  if (!status) {
    *order = order_of_entries(&entries, judged_nbytes(block.nbytes), index, i, suffix, previous);
    status = lanebloom_entries_end(&entries, "data block", reader->problem);
  }
  lanebloom_block_free(&block);
  return status;
}

/* Is every key in bytewise order, and in the block where separators lead? Reads all data blocks. A
 * damaged one is no error here: then the order is not known. */
static lanebloom_status find_order(struct opening *opening, const struct index *index,
                                   size_t suffix, enum order *order)
{
  struct block_reader *reader = &opening->reader;
  reader->problem = &no_problem;
  struct previous previous = {0};
  lanebloom_status status = LANEBLOOM_OK;
  *order = ORDER_BYTEWISE;
  for (size_t i = 0; !status && *order == ORDER_BYTEWISE && i < index->n; i++)
    status = find_order_of_block(reader, index, i, suffix, &previous, order);
  free(previous.bytes);
  reader->problem = opening->problem;
  if (status == LANEBLOOM_ERR_IO)
    return problem_io(opening->problem);
  if (status == LANEBLOOM_ERR_MEMORY)
    return problem_status(opening->problem, status);
  if (status)
    *order = ORDER_UNKNOWN;
  return LANEBLOOM_OK;
}

/* LevelDB's tables do not name their comparator. A MANIFEST beside them does, and is believed; else
 * all keys speak. */
static bool find_comparator(const struct opening *opening)
{
  lanebloom_table *table = opening->table;
  char *comparator = NULL;
  const bool in_database = opening->path && lanebloom_manifest_find(opening->path, &comparator);
  if (comparator) {
    free(table->comparator);
    table->comparator = comparator;
  }
  return in_database;
}

static lanebloom_status decide_leveldb(struct opening *opening, const struct index *index,
                                       struct ends *ends)
{
  lanebloom_table *table = opening->table;
  const bool in_database = find_comparator(opening);
  bool may_be[NREADINGS];
  for (size_t i = 0; i < NREADINGS; i++)
    may_be[i] = ends->readings[i].is_possible && ends->readings[i].is_found;
  if (!may_be[AS_USER_KEYS] && !may_be[WITH_SUFFIX]) {
    table->is_asked = false;
    give_up_order(table, "the filter lacks keys of the table, and is not asked");
    return LANEBLOOM_OK;
  }
  if (in_database)
    may_be[AS_USER_KEYS] = false;

  enum order order = ORDER_BYTEWISE;
  for (size_t i = 0; i < NREADINGS; i++)
    if (may_be[i] &&
        (!ends->readings[i].ascends || !lanebloom_index_ascends(index, suffix_nbytes[i])))
      order = ORDER_OTHER;
  for (size_t i = 0; order == ORDER_BYTEWISE && !table->comparator[0] && i < NREADINGS; i++) {
    lanebloom_status status =
        may_be[i] ? find_order(opening, index, suffix_nbytes[i], &order) : LANEBLOOM_OK;
    if (status)
      return status;
  }
  const bool is_sure =
      may_be[WITH_SUFFIX] != may_be[AS_USER_KEYS] && (in_database || table->of_offsets[0]);
  if (in_database && !may_be[WITH_SUFFIX])
    give_up_order(table, "keys are not stored as LevelDB's databases do");
  else if (in_database && !table->comparator[0])
    give_up_order(table, "the database's MANIFEST cannot be read, and its order is not known");
  else if (table->comparator[0] && !is_bytewise(table->comparator))
    give_up_order(table, other_order);
  else if (order == ORDER_UNKNOWN)
    give_up_order(table,
                  "a data block is damaged or too large, and the order of keys is not known");
  else if (order == ORDER_OTHER)
    give_up_order(table, "keys are not in bytewise order");
  else if (!is_sure) {
    set_range(table, ends, ends->first.size < SUFFIX_NBYTES ? 0 : SUFFIX_NBYTES,
              0); /* what both readings allow */
    give_up_order(table, "it cannot be told whether keys have a database's suffix");
  } else {
    const size_t suffix = may_be[WITH_SUFFIX] ? SUFFIX_NBYTES : 0;
    set_range(table, ends, suffix, suffix);
    return prepare(opening, suffix);
  }
  return LANEBLOOM_OK;
}

static lanebloom_status decide_named(const struct opening *opening, const struct index *index,
                                     struct ends *ends)
{
  lanebloom_table *table = opening->table;
  const size_t suffix = opening->properties.index_has_user_keys ? 0 : SUFFIX_NBYTES;
  if (table->kind == LANEBLOOM_TABLE_FILTER_BLOCK && !lanebloom_index_ascends(index, suffix))
    give_up_order(table, "the index is not in bytewise order");
  if (opening->reader.is_too_large)
    lanebloom_table_warn(table, large_block);
  else
    set_range(table, ends, SUFFIX_NBYTES, SUFFIX_NBYTES);
  return prepare(opening, suffix);
}

static lanebloom_status decide(struct opening *opening, const struct index *index)
{
  lanebloom_table *table = opening->table;
  struct ends ends = {.is_judged = table->engine == LANEBLOOM_ENGINE_LEVELDB};
  for (size_t i = 0; i < NREADINGS; i++)
    ends.readings[i] = (struct reading){true, true, true};
  lanebloom_status status = read_ends(opening, index, &ends);
  if (opening->reader.is_too_large) { /* less is known, but the filter still serves */
    problem_clear(opening->problem);
    status = LANEBLOOM_OK;
  }
  if (!status && !ends.is_judged)
    status = decide_named(opening, index, &ends);
  else if (!status && opening->reader.is_too_large)
    give_up_order(table, large_block);
  else if (!status)
    status = decide_leveldb(opening, index, &ends);
  free((void *)(uintptr_t)ends.first.data);
  free((void *)(uintptr_t)ends.last.data);
  return status;
}

/* Has the table no keys because its properties say so, and not because its index is damaged? */
static bool has_no_keys(const struct opening *opening)
{
  const struct properties *properties = &opening->properties;
  if (opening->table->engine == LANEBLOOM_ENGINE_LEVELDB)
    return true;
  return opening->has_properties && properties->nentries <= properties->nrange_deletions;
}

lanebloom_status lanebloom_opening_read_range(struct opening *opening, struct handle index_handle)
{
  lanebloom_table *table = opening->table;
  if (opening->has_columns) {
    give_up_order(table, "data blocks of columns, which are not read: the key range is not known");
    return LANEBLOOM_OK;
  }
  if (table->engine != LANEBLOOM_ENGINE_LEVELDB && !is_bytewise(table->comparator)) {
    give_up_order(table,
                  table->comparator[0] ? other_order : "no properties say in which order keys are");
    return LANEBLOOM_OK;
  }
  struct index unkept = {0},
               *index = table->kind == LANEBLOOM_TABLE_FILTER_BLOCK ? &table->index : &unkept;
  lanebloom_status status = read_index(opening, index_handle, index);
  if (!status && index->n > 0) {
    status = decide(opening, index);
  } else if (!status) {
    table->is_empty = has_no_keys(opening);
    if (!table->is_empty)
      give_up_order(table, "the index has no data blocks, but the table has keys");
  }
  lanebloom_index_free(&unkept);
  return status;
}
