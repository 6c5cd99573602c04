/* Parses the properties block of a table.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "../common/bytes.h"
#include "properties.h"

static uint64_t number(const struct entries *entries, uint64_t otherwise)
{
  struct cursor value = entries->value;
  uint64_t n;
  return cursor_varint(&value, &n) ? n : otherwise;
}

static bool is_one(const struct entries *entries)
{
  return cursor_left(&entries->value) == 1 && *entries->value.at == '1';
}

/* Returns a copy of the entry's value, or NULL if memory ran out. The caller frees the copy. In the
 * copy, '?' replaces zero bytes, which would make a name end too early. */
static char *text(const struct entries *entries)
{
  const size_t n = cursor_left(&entries->value);
  char *copy = malloc(n + 1);
  if (!copy)
    return NULL;
  for (size_t i = 0; i < n; i++)
    copy[i] = (char)(entries->value.at[i] ? entries->value.at[i] : '?');
  copy[n] = 0;
  return copy;
}

/* Replaces *stored by a copy of the entry's value. Returns false if memory ran out. */
static bool store_text(const struct entries *entries, char **stored)
{
  free(*stored);
  *stored = text(entries);
  return *stored;
}

/* Stores one property, or ignores it if it is unknown. Returns false if memory ran out. */
static bool store(const struct entries *entries, struct properties *properties)
{
  const lanebloom_slice name = {entries->key, entries->key_nbytes};
  if (slice_is(name, "rocksdb.num.entries"))
    properties->nentries = number(entries, LANEBLOOM_UNKNOWN);
  else if (slice_is(name, "rocksdb.num.range-deletions"))
    properties->nrange_deletions = number(entries, 0);
  else if (slice_is(name, "rocksdb.block.based.table.index.type"))
    properties->index_type = cursor_left(&entries->value) == 4 ? load_le32(entries->value.at) : 0;
  else if (slice_is(name, "rocksdb.index.key.is.user.key"))
    properties->index_has_user_keys = number(entries, 0) != 0;
  else if (slice_is(name, "rocksdb.index.value.is.delta.encoded"))
    properties->index_has_deltas = number(entries, 0) != 0;
  else if (slice_is(name, "rocksdb.block.based.table.whole.key.filtering"))
    properties->says_whole_keys = true, properties->has_whole_keys = is_one(entries);
  else if (slice_is(name, "rocksdb.block.based.table.prefix.filtering"))
    properties->has_prefixes = is_one(entries);
  else if (slice_is(name, "rocksdb.comparator"))
    return store_text(entries, &properties->comparator);
  else if (slice_is(name, "rocksdb.prefix.extractor.name"))
    return store_text(entries, &properties->prefix_extractor);
  else if (slice_is(name, "pebble.colblk.schema"))
    return store_text(entries, &properties->key_schema);
  return true;
}

lanebloom_status lanebloom_properties_read(struct block_reader *reader, struct handle handle,
                                           struct properties *properties)
{
  *properties = (struct properties){.nentries = LANEBLOOM_UNKNOWN};
  struct block block;
  lanebloom_status status =
      lanebloom_block_read(reader, handle, BLOCK_PROPERTIES, "properties block", &block);
  if (status)
    return status;
  struct entries entries;
  status = lanebloom_entries_begin(&block, (struct entry_form){0}, reader->footer.engine,
                                   reader->problem, &entries);
  if (!status) {
    bool has_memory = true;
    while (has_memory && lanebloom_entries_next(&entries))
      has_memory = store(&entries, properties);
    status = lanebloom_entries_end(&entries, "properties block", reader->problem);
    if (!has_memory)
      status = problem_memory(reader->problem, cursor_left(&entries.value) + 1);
  }
  lanebloom_block_free(&block);
  if (status)
    lanebloom_properties_free(properties);
  return status;
}

void lanebloom_properties_free(struct properties *properties)
{
  free(properties->comparator);
  free(properties->prefix_extractor);
  free(properties->key_schema);
  properties->comparator = properties->prefix_extractor = properties->key_schema = NULL;
}

bool lanebloom_properties_have_default_schema(const struct properties *properties,
                                              const char *comparer)
{
  static const char default_schema[] = "DefaultKeySchema(";
  enum { BEGINNING_NBYTES = sizeof default_schema - 1 };
  const char *schema = properties->key_schema ? properties->key_schema : "";
  const size_t n = strlen(comparer);
  return strncmp(schema, default_schema, BEGINNING_NBYTES) == 0 &&
         strncmp(schema + BEGINNING_NBYTES, comparer, n) == 0 &&
         schema[BEGINNING_NBYTES + n] == ',';
}
