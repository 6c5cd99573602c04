/* Loads a table: calls the steps of loading, and sets limits for the bytes that they may read.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "loader.h"

/* ---- Steps ---- */

/* Moves a text out of *text, or makes an empty one if *text is NULL. Returns NULL if memory ran
 * out. */
static char *move_text(char **text)
{
  char *moved = *text ? *text : strdup("");
  *text = NULL;
  return moved;
}

static lanebloom_status load_properties(struct loader *loader, lanebloom_table *table)
{
  struct footer *footer = &loader->reader.footer;
  struct properties *properties = &loader->properties;
  *properties = (struct properties){.nentries = LANEBLOOM_UNKNOWN};
  if (loader->metaindex.has_properties) {
    lanebloom_status status =
        lanebloom_properties_read(&loader->reader, loader->metaindex.properties, properties);
    if (status)
      return status;
    if (footer->engine == LANEBLOOM_ENGINE_LEVELDB) /* only RocksDB writes properties */
      footer->engine = LANEBLOOM_ENGINE_ROCKSDB;
  }
  if (lanebloom_block_layout(footer, BLOCK_INDEX)) /* a column of separators has no suffixes */
    properties->index_has_user_keys = true;
  table->engine = footer->engine;
  table->version = footer->version;
  table->checksum = footer->checksum;
  table->nentries = properties->nentries;
  table->comparator = move_text(&properties->comparator);
  table->prefix_extractor = move_text(&properties->prefix_extractor);
  if (!table->comparator || !table->prefix_extractor)
    return problem_memory(loader->problem, 1);
  if (strcmp(table->prefix_extractor, "nullptr") == 0) /* RocksDB's text for no extractor */
    table->prefix_extractor[0] = 0;
  return LANEBLOOM_OK;
}

/* Warns if more absent keys will be reported as present than users expect from the table's filters
 * and range. */
static void warn_of_absent_keys(lanebloom_table *table)
{
  if (table->uses_filter && table->asks_all_filters)
    lanebloom_table_warn(table, "every filter is probed for each key: the more filters the table "
                                "has, the more absent keys pass");
  else if (!table->uses_filter && !table->has_range && !table->is_empty)
    lanebloom_table_warn(table, "every key may be in the table");
}

static lanebloom_status load(struct loader *loader, lanebloom_table *table,
                             struct block *dictionary)
{
  struct block_reader *reader = &loader->reader;
  const struct metaindex *metaindex = &loader->metaindex;
  lanebloom_status status = lanebloom_footer_read(reader->input, &reader->footer, loader->problem);
  if (!status)
    status = lanebloom_metaindex_load(reader, &loader->metaindex);
  if (!status)
    status = load_properties(loader, table);
  if (!status && metaindex->has_dictionary)
    status = lanebloom_block_read(reader, metaindex->dictionary, BLOCK_META,
                                  "compression dictionary", dictionary);
  if (status)
    return status;
  reader->dictionary = (lanebloom_slice){dictionary->bytes, dictionary->nbytes};
  status = lanebloom_loader_load_filter(loader, table);
  if (!status)
    status = lanebloom_loader_load_range(loader, table);
  lanebloom_codec_list(reader->codecs, table->codecs);
  if (!status)
    warn_of_absent_keys(table);
  return status;
}

/* ---- Limits ---- */

enum {
  /* The most bytes that may be read, as a multiple of the file's size. Each block is read once. If
   * the order of keys must be found, the data blocks are read once more for each form of keys. */
  MAX_READS = 4,
  /* The most bytes that decompression may produce, as multiples of the file's size: of one block,
   * which takes memory; and of all blocks, for which it is the most that deflate can produce.
   * Blocks of Minecraft's worlds become up to 300 times as large. */
  MAX_GROWTH = 64,
  MAX_TOTAL_GROWTH = 1032,
  MIN_DECOMPRESSED_NBYTES = 64 << 20, /* more for both, so that small files are not refused */
};

static uint64_t multiply(uint64_t nbytes, uint64_t times)
{
  return nbytes < UINT64_MAX / (2 * times) ? nbytes * times : UINT64_MAX / 2;
}

static struct block_reader limited_reader(const struct input *input, const struct problem *problem)
{
  const uint64_t nbytes = input->nbytes;
  return (struct block_reader){
      .input = input,
      .nbytes_left = multiply(nbytes, MAX_READS),
      .decompressed_left = multiply(nbytes, MAX_TOTAL_GROWTH) + MIN_DECOMPRESSED_NBYTES,
      .max_block_nbytes = multiply(nbytes, MAX_GROWTH) + MIN_DECOMPRESSED_NBYTES,
      .problem = problem};
}

/* ---- Calls ---- */

static lanebloom_status check_call(lanebloom_writer writer, const struct problem *problem)
{
  if (!lanebloom_kernel_active())
    return problem_status(problem, LANEBLOOM_ERR_KERNEL);
  if (writer != LANEBLOOM_WRITER_UNKNOWN && writer != LANEBLOOM_WRITER_LEVELDB &&
      writer != LANEBLOOM_WRITER_GOLEVELDB)
    return problem_set(problem, LANEBLOOM_ERR_ARGUMENT,
                       "writer: expected a known one, found number %d", (int)writer);
  return LANEBLOOM_OK;
}

/* If the file grew while it was read, reports that the file is being written, and does not report
 * `status`. A table's footer is written last, so a file that is being written looks like no table,
 * or a damaged one. */
static lanebloom_status report_growth(const struct input *input, lanebloom_status status,
                                      const struct problem *problem)
{
  uint64_t nbytes;
  if ((status != LANEBLOOM_ERR_FORMAT && status != LANEBLOOM_ERR_CORRUPT) ||
      !lanebloom_input_has_grown(input, &nbytes))
    return status;
  return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                     "being written (try again): expected a file of %" PRIu64
                     " bytes, found that it grew to %" PRIu64,
                     input->nbytes, nbytes);
}

lanebloom_status lanebloom_table_load(const struct input *input, const char *path,
                                      lanebloom_writer writer, const struct problem *problem,
                                      lanebloom_table **table)
{
  lanebloom_status status = check_call(writer, problem);
  if (status)
    return status;
  lanebloom_table *made = calloc(1, sizeof *made);
  if (!made)
    return problem_memory(problem, sizeof *made);
  made->file_nbytes = input->nbytes;
  struct loader loader = {
      .reader = limited_reader(input, problem), .problem = problem, .path = path, .writer = writer};
  struct block dictionary = {0};
  status = load(&loader, made, &dictionary);
  lanebloom_metaindex_free(&loader.metaindex);
  lanebloom_properties_free(&loader.properties);
  lanebloom_block_free(&dictionary);
  if (status) {
    lanebloom_table_free(made);
    return report_growth(input, status, problem);
  }
  *table = made;
  return LANEBLOOM_OK;
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
  status = lanebloom_table_load(&input, path, writer, &problem, table);
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
  return lanebloom_table_load(&input, NULL, writer, &problem, table);
}
