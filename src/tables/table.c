/* Tables: opening one by its footer, its metaindex and what that names; describing it.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter_block.h"
#include "table.h"

void lanebloom_table_warn(lanebloom_table *table, const char *text)
{
  const size_t n = strlen(table->warning);
  snprintf(table->warning + n, sizeof table->warning - n, "%s%s", n ? "; " : "", text);
}

/* ---- The metaindex ---- */

struct metaindex {
  struct handle properties, index, dictionary;
  bool has_properties, has_index, has_dictionary;
};

static lanebloom_status take(struct opening *opening, const struct entries *entries,
                             struct metaindex *metaindex)
{
  const lanebloom_slice name = {entries->key, entries->key_nbytes};
  const struct handle handle = entries->handle;
  if (slice_is(name, "rocksdb.properties") ||
      (slice_is(name, "rocksdb.stats") && !metaindex->has_properties))
    metaindex->properties = handle, metaindex->has_properties = true;
  else if (slice_is(name, "rocksdb.index"))
    metaindex->index = handle, metaindex->has_index = true;
  else if (slice_is(name, "rocksdb.compression_dict"))
    metaindex->dictionary = handle, metaindex->has_dictionary = true;
  else
    return lanebloom_opening_take_filter(opening, name, handle);
  return LANEBLOOM_OK;
}

static lanebloom_status read_metaindex(struct opening *opening, struct metaindex *metaindex)
{
  struct block_reader *reader = &opening->reader;
  *metaindex =
      (struct metaindex){.index = reader->footer.index, .has_index = reader->footer.has_index};
  struct block block;
  lanebloom_status status =
      lanebloom_block_read(reader, reader->footer.metaindex, BLOCK_META, "metaindex block", &block);
  if (status)
    return status;
  struct entries entries;
  const struct entry_form form = {.has_handles = true};
  status = lanebloom_entries_begin(&block, form, reader->footer.engine, reader->problem, &entries);
  if (!status) {
    while (!status && lanebloom_entries_next(&entries))
      status = take(opening, &entries, metaindex);
    lanebloom_status end = lanebloom_entries_end(&entries, "metaindex block", reader->problem);
    status = status ? status : end;
  }
  lanebloom_block_free(&block);
  if (!status && !metaindex->has_index)
    status = problem_set(reader->problem, LANEBLOOM_ERR_CORRUPT,
                         "damaged metaindex: expected it to name the index, found no such name");
  return status;
}

/* ---- Opening ---- */

static lanebloom_status take_properties(struct opening *opening, const struct metaindex *metaindex)
{
  lanebloom_table *table = opening->table;
  struct footer *footer = &opening->reader.footer;
  opening->properties.nentries = LANEBLOOM_UNKNOWN;
  opening->has_properties = metaindex->has_properties;
  if (metaindex->has_properties) {
    lanebloom_status status =
        lanebloom_properties_read(&opening->reader, metaindex->properties, &opening->properties);
    if (status)
      return status;
    if (footer->engine == LANEBLOOM_ENGINE_LEVELDB) /* RocksDB before it had a footer of its own */
      footer->engine = LANEBLOOM_ENGINE_ROCKSDB;
  }
  table->engine = footer->engine;
  table->version = footer->version;
  table->checksum = footer->checksum;
  table->nentries = opening->properties.nentries;
  table->comparator = opening->properties.comparator ? opening->properties.comparator : strdup("");
  table->prefix_extractor =
      opening->properties.prefix_extractor ? opening->properties.prefix_extractor : strdup("");
  opening->properties.comparator = opening->properties.prefix_extractor = NULL;
  if (table->prefix_extractor &&
      strcmp(table->prefix_extractor, "nullptr") == 0) /* RocksDB's word for none */
    table->prefix_extractor[0] = 0;
  if (!table->comparator || !table->prefix_extractor)
    return problem_memory(opening->problem,
                          1); /* both were empty, else properties would have them */
  return LANEBLOOM_OK;
}

static lanebloom_status open_blocks(struct opening *opening, struct block *dictionary)
{
  enum { FIRST_PEBBLE_WITH_COLUMNS = 5 };
  struct block_reader *reader = &opening->reader;
  struct metaindex metaindex;
  lanebloom_status status = lanebloom_footer_read(reader->input, &reader->footer, opening->problem);
  if (!status)
    status = read_metaindex(opening, &metaindex);
  if (!status)
    status = take_properties(opening, &metaindex);
  if (!status && metaindex.has_dictionary)
    status = lanebloom_block_read(reader, metaindex.dictionary, BLOCK_META,
                                  "compression dictionary", dictionary);
  if (status)
    return status;
  reader->dictionary = (lanebloom_slice){dictionary->bytes, dictionary->nbytes};
  opening->has_columns = reader->footer.engine == LANEBLOOM_ENGINE_PEBBLE &&
                         reader->footer.version >= FIRST_PEBBLE_WITH_COLUMNS;
  status = lanebloom_opening_read_filter(opening);
  return status ? status : lanebloom_opening_read_range(opening, metaindex.index);
}

static lanebloom_status open_table(const struct input *input, const char *path,
                                   lanebloom_writer writer, const struct problem *problem,
                                   lanebloom_table **table)
{
  enum {
    MAX_READS = 4
  }; /* each block once, and data once more where all keys must tell their order */
  enum { MAX_GROWTH = 64, LEAST_UNPACKED = 64 << 20 }; /* a small file must not take all memory */
  if (!lanebloom_kernel_active())
    return problem_status(problem, LANEBLOOM_ERR_KERNEL);
  if (writer != LANEBLOOM_WRITER_UNKNOWN && writer != LANEBLOOM_WRITER_LEVELDB &&
      writer != LANEBLOOM_WRITER_GOLEVELDB)
    return problem_set(problem, LANEBLOOM_ERR_ARGUMENT,
                       "writer: expected one that is known, found number %d", (int)writer);
  lanebloom_table *made = calloc(1, sizeof *made);
  if (!made)
    return problem_memory(problem, sizeof *made);
  made->filter_name = "";
  made->file_nbytes = input->nbytes;
  struct opening opening = {.table = made, .path = path, .writer = writer, .problem = problem};
  opening.reader = (struct block_reader){
      .input = input,
      .nbytes_left =
          input->nbytes < UINT64_MAX / MAX_READS ? input->nbytes * MAX_READS : UINT64_MAX,
      .unpacked_left = input->nbytes < UINT64_MAX / (2 * MAX_GROWTH)
                           ? input->nbytes * MAX_GROWTH + LEAST_UNPACKED
                           : UINT64_MAX,
      .problem = problem};
  struct block dictionary = {0};
  lanebloom_status status = open_blocks(&opening, &dictionary);
  lanebloom_properties_free(&opening.properties);
  lanebloom_block_free(&dictionary);
  if (status)
    lanebloom_table_close(made);
  else
    *table = made;
  return status;
}

lanebloom_status lanebloom_table_open(const char *path, lanebloom_writer writer,
                                      lanebloom_table **table, char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  struct input input;
  *table = NULL;
  lanebloom_status status = lanebloom_input_open(path, &input, &problem);
  if (status)
    return status;
  status = open_table(&input, path, writer, &problem, table);
  lanebloom_input_close(&input);
  return status;
}

lanebloom_status lanebloom_table_parse(const void *bytes, size_t size, lanebloom_writer writer,
                                       lanebloom_table **table, char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  const struct input input = {
      .file = -1, .bytes = bytes ? bytes : (const void *)"", .nbytes = size};
  *table = NULL;
  if (!bytes && size > 0)
    return problem_status(&problem, LANEBLOOM_ERR_ARGUMENT);
  return open_table(&input, NULL, writer, &problem, table);
}

void lanebloom_table_close(lanebloom_table *table)
{
  if (!table)
    return;
  for (size_t i = 0; i < table->nfilter_blocks; i++) {
    if (table->filters)
      lanebloom_filter_close(table->filters[i]);
    if (table->filter_blocks)
      lanebloom_block_free(&table->filter_blocks[i]);
  }
  free(table->filters);
  free(table->filter_blocks);
  for (size_t i = 0; i < 2; i++)
    lanebloom_filter_block_close(table->of_offsets[i]);
  lanebloom_index_free(&table->index);
  free((void *)(uintptr_t)table->smallest.data);
  free((void *)(uintptr_t)table->largest.data);
  free(table->comparator);
  free(table->prefix_extractor);
  free(table->named);
  free(table);
}

/* ---- Describing ---- */

/* What is added up over a table's filters. An absent key meets each of them about as often as keys
 * are in it, and so as often as it has bytes. */
struct sum {
  uint64_t nfilters, nbits;
  bool is_short_of_memory;
  double weight, passing;
};

static void add_filter(struct sum *sum, const lanebloom_filter *filter, lanebloom_table_info *info)
{
  lanebloom_filter_info one;
  size_t nbytes;
  lanebloom_filter_bytes(filter, &nbytes);
  lanebloom_filter_describe(filter, &one, sizeof one);
  sum->weight += (double)nbytes;
  sum->passing += (double)nbytes * one.model_rate;
  if (one.nbits == 0 && one.model_rate == 0) /* no keys */
    return;
  if (sum->nfilters++ == 0) {
    info->filter_format = one.format;
    info->nprobes = one.nprobes;
  }
  sum->nbits += one.nbits;
}

/* Those of a filter block; what is damaged is passed over. */
static void add_filter_block(struct sum *sum, const lanebloom_table *table,
                             lanebloom_table_info *info)
{
  const lanebloom_filter_block *block = table->of_offsets[0];
  const uint64_t n = lanebloom_filter_block_size(block);
  const uint8_t *counted = table->filter_blocks->bytes;
  for (uint64_t i = 0; i < n; i++) {
    lanebloom_slice bytes;
    lanebloom_filter *filter;
    /* In a damaged block filters overlap: of each byte once, or this would take forever. */
    if (!lanebloom_filter_block_filter(block, i, &bytes) || bytes.size == 0 ||
        (const uint8_t *)bytes.data < counted)
      continue;
    lanebloom_status status =
        lanebloom_filter_parse_raw(table->hash, bytes.data, bytes.size, &filter);
    sum->is_short_of_memory |= status == LANEBLOOM_ERR_MEMORY;
    if (status)
      continue;
    counted = (const uint8_t *)bytes.data + bytes.size;
    add_filter(sum, filter, info);
    lanebloom_filter_close(filter);
  }
}

static void describe_filter(const lanebloom_table *table, lanebloom_table_info *info)
{
  struct sum sum = {0};
  for (size_t i = 0; i < table->nfilter_blocks; i++) {
    const size_t nbytes = table->filter_blocks[i].nbytes;
    info->filter_nbytes += nbytes;
    if (table->filters[i]) {
      add_filter(&sum, table->filters[i], info);
    } else if (table->kind != LANEBLOOM_TABLE_FILTER_BLOCK) { /* one that is not asked */
      sum.weight += (double)nbytes;
      sum.passing += (double)nbytes;
    }
  }
  if (table->kind == LANEBLOOM_TABLE_FILTER_BLOCK)
    add_filter_block(&sum, table, info);
  info->nfilters = sum.nfilters;
  if (sum.nbits > 0 && table->nentries != LANEBLOOM_UNKNOWN && table->nentries > 0)
    info->bits_per_key = (double)sum.nbits / (double)table->nentries;
  if (table->is_asked)
    info->model_rate =
        sum.weight > 0 ? sum.passing / sum.weight : table->kind == LANEBLOOM_TABLE_FILTER_BLOCK;
  if (table->is_asked && !table->has_whole_keys && table->extractor.kind != EXTRACT_KEY)
    info->model_rate = NAN; /* keys share prefixes, and more of them pass than prefixes do */
  if (sum.is_short_of_memory) {
    info->nfilters = LANEBLOOM_UNKNOWN;
    info->bits_per_key = info->model_rate = NAN;
  }
}

void lanebloom_table_describe(const lanebloom_table *table, lanebloom_table_info *info,
                              size_t info_size)
{
  lanebloom_table_info full = {
      .engine = table->engine,
      .version = table->version,
      .checksum = table->checksum,
      .filter = table->kind,
      .file_nbytes = table->file_nbytes,
      .nentries = table->nentries,
      .bits_per_key = NAN,
      .model_rate = 1,
      .has_whole_keys = table->has_whole_keys,
      .has_prefixes = table->has_prefixes,
      .has_range = table->has_range,
      .smallest = table->smallest,
      .largest = table->largest,
      .filter_name = table->filter_name,
      .comparator = table->comparator,
      .prefix_extractor = table->prefix_extractor,
      .warning = table->warning,
  };
  describe_filter(table, &full);
  const size_t known_size = info_size < sizeof full ? info_size : sizeof full;
  memcpy(info, &full, known_size);
  memset((uint8_t *)info + known_size, 0, info_size - known_size);
}

static const char *name_at(const char *const *names, size_t n, size_t i)
{
  return i < n && names[i] ? names[i] : "unknown";
}

const char *lanebloom_engine_name(lanebloom_engine engine)
{
  static const char *const names[] = {[LANEBLOOM_ENGINE_LEVELDB] = "leveldb",
                                      [LANEBLOOM_ENGINE_ROCKSDB] = "rocksdb",
                                      [LANEBLOOM_ENGINE_PEBBLE] = "pebble"};
  return name_at(names, sizeof names / sizeof *names, (size_t)engine);
}

const char *lanebloom_table_filter_name(lanebloom_table_filter filter)
{
  static const char *const names[] = {[LANEBLOOM_TABLE_FILTER_NONE] = "none",
                                      [LANEBLOOM_TABLE_FILTER_BLOCK] = "block",
                                      [LANEBLOOM_TABLE_FILTER_FULL] = "full",
                                      [LANEBLOOM_TABLE_FILTER_PARTITIONED] = "partitioned",
                                      [LANEBLOOM_TABLE_FILTER_OTHER] = "other"};
  return name_at(names, sizeof names / sizeof *names, (size_t)filter);
}

static const char *const writer_names[] = {
    [LANEBLOOM_WRITER_LEVELDB] = "leveldb", [LANEBLOOM_WRITER_GOLEVELDB] = "goleveldb"};
enum { NWRITERS = sizeof writer_names / sizeof *writer_names };

const char *lanebloom_writer_name(lanebloom_writer writer)
{
  return name_at(writer_names, NWRITERS, (size_t)writer);
}

lanebloom_writer lanebloom_writer_find(const char *name)
{
  for (size_t i = 0; i < NWRITERS; i++)
    if (writer_names[i] && strcmp(writer_names[i], name) == 0)
      return (lanebloom_writer)i;
  return LANEBLOOM_WRITER_UNKNOWN;
}

const char *lanebloom_table_warning(const lanebloom_table *table)
{
  return table->warning;
}

const lanebloom_filter *lanebloom_table_full_filter(const lanebloom_table *table)
{
  return table->kind == LANEBLOOM_TABLE_FILTER_FULL ? table->filters[0] : NULL;
}
