/* Finds the form of a table's keys (see key_form.h): reads the first and the last data block, and
 * queries the filter for their keys.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "key_form.h"

/* Can the key end with the suffix of LevelDB's internal keys? The suffix is a little-endian number
 * of 8 bytes. Its lowest byte is the type: 0 for a deletion, 1 for a value. */
static bool has_suffix_of_leveldb(lanebloom_slice key)
{
  enum { LAST_TYPE = 1 };
  return key.size >= SUFFIX_NBYTES &&
         ((const uint8_t *)key.data)[key.size - SUFFIX_NBYTES] <= LAST_TYPE;
}

static bool may_be_in_filter(const lanebloom_table *table, uint64_t offset, lanebloom_slice key)
{
  for (size_t i = 0; i < 2 && table->filter_blocks[i]; i++)
    if (lanebloom_filter_block_may_contain(table->filter_blocks[i], offset, key.data, key.size))
      return true;
  return !table->filter_blocks[0];
}

/* Updates ends->forms with one more key. */
static void examine(struct ends *ends, const lanebloom_table *table, const struct entries *entries,
                    struct previous_key *previous)
{
  const lanebloom_slice stored = {entries->key, entries->key_nbytes},
                        before = {previous->bytes, previous->nbytes};
  if (!has_suffix_of_leveldb(stored))
    ends->forms[INTERNAL_KEYS].is_possible = false;
  for (size_t i = 0; i < NKEY_FORMS; i++) {
    if (!ends->forms[i].is_possible)
      continue;
    const lanebloom_slice key = user_key(stored, suffix_nbytes[i]);
    if (previous->is_there && lanebloom_key_compare(user_key(before, suffix_nbytes[i]), key) > 0)
      ends->forms[i].ascends = false;
    if (ends->forms[i].is_in_filter)
      ends->forms[i].is_in_filter = may_be_in_filter(table, entries->offset, key);
  }
  set_previous(previous, stored);
}

/* Does the filter of Pebble lack the key? It holds what the comparer extracts from keys. */
static bool is_lacking(const lanebloom_table *table, const struct entries *entries)
{
  const lanebloom_slice stored = {entries->key, entries->key_nbytes},
                        key = user_key(stored, SUFFIX_NBYTES);
  return table->engine == LANEBLOOM_ENGINE_PEBBLE && table->uses_filter &&
         table->kind == LANEBLOOM_TABLE_FILTER_FULL && table->filters[0] &&
         !lanebloom_filter_may_contain(table->filters[0], key.data, key.size);
}

static lanebloom_status copy_key(const struct entries *entries, const struct problem *problem,
                                 lanebloom_slice *key)
{
  void *copy = malloc(entries->key_nbytes + 1);
  if (!copy)
    return problem_memory(problem, entries->key_nbytes + 1);
  memcpy(copy, entries->key, entries->key_nbytes);
  *key = (lanebloom_slice){copy, entries->key_nbytes};
  return LANEBLOOM_OK;
}

/* The values that stay the same while the entries of one block are examined. */
struct walk {
  const lanebloom_table *table;
  const struct problem *problem;
  bool has_first, has_last; /* does the block have the table's first key? its last key? */
  struct ends *ends;
};

static lanebloom_status walk_entries(const struct walk *walk, struct entries *entries,
                                     size_t block_nbytes, struct previous_key *previous)
{
  enum { MAX_ASKED_NBYTES = 1 << 16 }; /* so many keys show whether the filter holds whole keys */
  struct ends *ends = walk->ends;
  lanebloom_status status = LANEBLOOM_OK;
  size_t n = 0, left = ends->is_form_known ? MAX_ASKED_NBYTES : max_examined_nbytes(block_nbytes);
  for (; !status && lanebloom_entries_next(entries); n++) {
    if (ends->is_form_known && entries->key_nbytes < SUFFIX_NBYTES)
      status =
          problem_set(walk->problem, LANEBLOOM_ERR_CORRUPT,
                      "damaged data block: expected keys of at least %d bytes, found one of %zu",
                      SUFFIX_NBYTES, entries->key_nbytes);
    if (!status && entries->key_nbytes <= left) {
      if (ends->is_form_known)
        ends->is_split |= is_lacking(walk->table, entries);
      else
        examine(ends, walk->table, entries, previous);
      left -= entries->key_nbytes;
    }
    if (!status && walk->has_first && n == 0)
      status = copy_key(entries, walk->problem, &ends->first);
  }
  ends->is_split |= entries->columns.has_suffixes;
  if (!status && !entries->damaged && n == 0)
    status = problem_set(walk->problem, LANEBLOOM_ERR_CORRUPT,
                         "damaged data block: expected keys, found none");
  if (!status && walk->has_last && !entries->damaged)
    status = copy_key(entries, walk->problem, &ends->last);
  return status;
}

static lanebloom_status walk_block(const struct walk *walk, const struct block *block,
                                   lanebloom_engine engine)
{
  if (lanebloom_block_has_values_apart(block, engine)) {
    walk->ends->has_values_apart = true;
    return LANEBLOOM_OK;
  }
  struct entries entries;
  lanebloom_status status =
      lanebloom_entries_begin(block, (struct entry_form){0}, engine, walk->problem, &entries);
  if (status)
    return status;
  struct previous_key previous = {0};
  if (!walk->ends->is_form_known)
    previous.bytes = malloc(block->nbytes); /* no key of the block is longer than the block */
  if (walk->ends->is_form_known || previous.bytes)
    status = walk_entries(walk, &entries, block->nbytes, &previous);
  else
    status = problem_memory(walk->problem, block->nbytes);
  free(previous.bytes);
  const lanebloom_status end = lanebloom_entries_end(&entries, "data block", walk->problem);
  return status ? status : end;
}

lanebloom_status lanebloom_ends_load(struct block_reader *reader, const lanebloom_table *table,
                                     const struct index *index, struct ends *ends)
{
  const size_t last = index->n - 1;
  lanebloom_status status = LANEBLOOM_OK;
  *ends = (struct ends){.is_form_known = table->engine != LANEBLOOM_ENGINE_LEVELDB};
  for (size_t i = 0; i < NKEY_FORMS; i++)
    ends->forms[i].is_possible = ends->forms[i].is_in_filter = ends->forms[i].ascends = true;
  for (size_t i = 0; !status && i <= last; i = i < last ? last : i + 1) {
    const struct walk walk = {table, reader->problem, i == 0, i == last, ends};
    struct block block;
    status = lanebloom_block_read(reader, index->handles[i], BLOCK_DATA, "data block", &block);
    if (status)
      break;
    status = walk_block(&walk, &block, reader->footer.engine);
    lanebloom_block_free(&block);
  }
  return status;
}

void lanebloom_ends_free(struct ends *ends)
{
  free((void *)(uintptr_t)ends->first.data);
  free((void *)(uintptr_t)ends->last.data);
  ends->first = ends->last = (lanebloom_slice){NULL, 0};
}
