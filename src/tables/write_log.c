/* Reads write-ahead logs: passes their records to the parser of batches, and collects the keys of
 * the batches' entries.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#ifdef LANEBLOOM_WITH_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

#include "../common/bytes.h"
#include "../common/tree.h"
#include "../cursor.h"
#include "batch.h"
#include "log.h"
#include "write_log.h"

struct zstd; /* a ZSTD_DCtx if LANEBLOOM_WITH_ZSTD is defined */

/* The state of reading a log. */
struct log_reading {
  struct write_log *log;
  uint32_t place;
  const struct timestamps *timestamps; /* according to the MANIFEST */
  void *own_timestamps;                /* the log's own timestamps, as a tree of tsearch(3) */
  size_t nown_timestamps;
  struct key_collector *collector;
  struct log_reader reader;
  struct batch_parser parser;
  struct zstd *zstd; /* NULL: not needed yet */
  uint64_t record_offset;
  size_t ntables, tables_room; /* ntables includes tables of the current batch */
};

static void add_damage(struct write_log *log, uint64_t offset, const char *text)
{
  if (log->ndamages++ > 0)
    return;
  log->damage_offset = offset;
  snprintf(log->damage, sizeof log->damage, "%s", text);
}

/* ---- Timestamps ---- */

static int compare_timestamps(const void *a, const void *b)
{
  const struct timestamp *left = a, *right = b;
  return (left->family > right->family) - (left->family < right->family);
}

static uint32_t timestamp_nbytes(const struct log_reading *reading, uint32_t family)
{
  const struct timestamps *timestamps = reading->timestamps;
  const struct timestamp wanted = {.family = family}, *found = NULL;
  struct timestamp *const *own = tfind(&wanted, &reading->own_timestamps, compare_timestamps);
  if (own)
    found = *own;
  else if (timestamps->n > 0)
    found = bsearch(&wanted, timestamps->list, timestamps->n, sizeof wanted, compare_timestamps);
  return found ? found->nbytes : 0;
}

/* Sets the size of a family's timestamps, as the log itself states it. */
static lanebloom_status set_timestamp(struct log_reading *reading, struct timestamp timestamp)
{
  struct timestamp *made = malloc(sizeof *made);
  if (!made)
    return LANEBLOOM_ERR_MEMORY;
  *made = timestamp;
  struct timestamp **found = tsearch(made, &reading->own_timestamps, compare_timestamps);
  if (found && *found == made) {
    reading->nown_timestamps++;
    return LANEBLOOM_OK;
  }
  free(made);
  if (!found)
    return LANEBLOOM_ERR_MEMORY;
  **found = timestamp;
  return LANEBLOOM_OK;
}

/* Reads the log's own list of timestamps. The list consists of items: column family, 4 bytes | size
 * of its timestamps, 2 bytes. */
static lanebloom_status take_timestamps(struct log_reading *reading, lanebloom_slice bytes,
                                        uint64_t offset)
{
  enum { ITEM_NBYTES = 6, AT_NBYTES = 4, MAX_FAMILIES = 1 << 16 };
  const uint8_t *item = bytes.data;
  lanebloom_status status = LANEBLOOM_OK;
  size_t n = bytes.size / ITEM_NBYTES;
  for (; !status && n > 0 && reading->nown_timestamps < MAX_FAMILIES; n--, item += ITEM_NBYTES)
    status = set_timestamp(
        reading,
        (struct timestamp){load_le32(item), item[AT_NBYTES] | (uint32_t)item[AT_NBYTES + 1] << 8});
  if (!status && n > 0) /* each item takes memory, so their number is limited */
    add_damage(reading->log, offset, "expected at most 65,536 column families, found more");
  return status;
}

/* ---- Compressed records ---- */

#ifdef LANEBLOOM_WITH_ZSTD
static void zstd_free(struct zstd *zstd)
{
  ZSTD_freeDCtx((ZSTD_DCtx *)zstd);
}

static lanebloom_status feed_compressed(struct log_reading *reading, lanebloom_slice bytes,
                                        bool is_first)
{
  uint8_t made[LOG_BLOCK_NBYTES];
  if (!reading->zstd)
    reading->zstd = (struct zstd *)ZSTD_createDCtx();
  ZSTD_DCtx *zstd = (ZSTD_DCtx *)reading->zstd;
  if (!zstd)
    return LANEBLOOM_ERR_MEMORY;
  if (is_first)
    ZSTD_DCtx_reset(zstd, ZSTD_reset_session_only);
  ZSTD_inBuffer input = {bytes.data, bytes.size, 0};
  lanebloom_status status = LANEBLOOM_OK;
  for (bool is_full = false; !status && (input.pos < input.size || is_full);) {
    ZSTD_outBuffer output = {made, sizeof made, 0};
    const size_t result = ZSTD_decompressStream(zstd, &output, &input);
    if (ZSTD_isError(result)) {
      if (ZSTD_getErrorCode(result) == ZSTD_error_memory_allocation)
        return LANEBLOOM_ERR_MEMORY;
      reading->parser.problem = "expected a frame of Zstandard, found other bytes";
      return LANEBLOOM_OK;
    }
    is_full = output.pos == output.size;
    status = lanebloom_batch_feed(&reading->parser, made, output.pos);
  }
  return status;
}
#else
static void zstd_free(struct zstd *zstd)
{
  (void)zstd;
}

static lanebloom_status feed_compressed(struct log_reading *reading, lanebloom_slice bytes,
                                        bool is_first)
{
  (void)bytes;
  (void)is_first;
  reading->parser.problem = "expected no compression, found zstd, which this build does not read";
  return LANEBLOOM_OK;
}
#endif

/* ---- Records ---- */

static lanebloom_status take_table(struct log_reading *reading, lanebloom_slice key)
{
  enum { MAX_TABLES = 1 << 16 };
  struct write_log *log = reading->log;
  struct cursor rest = {key.data, (const uint8_t *)key.data + key.size};
  uint64_t number;
  if (!cursor_varint(&rest, &number) || reading->ntables == MAX_TABLES) {
    reading->parser.problem = "expected the numbers of at most 65,536 tables, found others";
    return LANEBLOOM_OK;
  }
  if (reading->ntables == reading->tables_room) {
    const size_t room = reading->tables_room ? 2 * reading->tables_room : 16;
    uint64_t *tables = realloc(log->tables, room * sizeof *tables);
    if (!tables)
      return LANEBLOOM_ERR_MEMORY;
    log->tables = tables;
    reading->tables_room = room;
  }
  log->tables[reading->ntables++] = number;
  return LANEBLOOM_OK;
}

static lanebloom_status take_entry(void *context, const struct batch_entry *entry)
{
  struct log_reading *reading = context;
  reading->log->nentries++;
  if (entry->kind == BATCH_INGESTS)
    return take_table(reading, entry->key);
  if (entry->kind != BATCH_GIVES)
    return LANEBLOOM_OK;
  lanebloom_slice key = entry->key;
  const uint32_t nbytes = timestamp_nbytes(reading, entry->family);
  key.size -= nbytes < key.size ? nbytes : key.size;
  return lanebloom_collector_add(reading->collector, key,
                                 (struct hashed_entry){.family = entry->family,
                                                       .log = reading->place & INT32_MAX,
                                                       .is_prepared = entry->is_prepared});
}

static void end_batch(struct log_reading *reading)
{
  struct write_log *log = reading->log;
  if (!lanebloom_batch_end(&reading->parser)) {
    add_damage(log, reading->record_offset, reading->parser.problem);
    return;
  }
  log->ntables = reading->ntables;
  const uint64_t n = lanebloom_batch_count(&reading->parser), first = reading->parser.sequence;
  const uint64_t last = n > 0 ? first + n - 1 : first;
  log->sequence = last > log->sequence ? last : log->sequence;
}

static lanebloom_status take_fragment(struct log_reading *reading, const struct log_found *found)
{
  lanebloom_status status = LANEBLOOM_OK;
  if (found->is_first) {
    lanebloom_batch_begin(&reading->parser);
    reading->record_offset = found->offset;
    reading->ntables = reading->log->ntables;
  }
  if (!reading->reader.is_compressed)
    status = lanebloom_batch_feed(&reading->parser, found->bytes.data, found->bytes.size);
  else if (!reading->parser.problem)
    status = feed_compressed(reading, found->bytes, found->is_first);
  if (!status && found->is_last)
    end_batch(reading);
  return status;
}

static void take_bad(struct log_reading *reading, const struct log_found *found)
{
  char text[DAMAGE_NBYTES];
  snprintf(text, sizeof text, "expected %s %" PRIu64, found->expected, found->found);
  add_damage(reading->log, found->offset, text);
}

static lanebloom_status read_all(struct log_reading *reading, const struct problem *problem)
{
  struct log_found found;
  for (;;) {
    lanebloom_status status = lanebloom_log_next(&reading->reader, &found, problem);
    if (status)
      return status;
    if (found.what == LOG_FRAGMENT)
      status = take_fragment(reading, &found);
    else if (found.what == LOG_TIMESTAMPS)
      status = take_timestamps(reading, found.bytes, found.offset);
    else if (found.what == LOG_BAD)
      take_bad(reading, &found);
    else
      break;
    if (status)
      return problem_status(problem, status);
  }
  reading->log->is_torn = found.what == LOG_TORN;
  if (reading->parser.has_large_key)
    add_damage(reading->log, 0, "expected keys of at most 64 MiB, found a larger one");
  lanebloom_status status = lanebloom_collector_flush(reading->collector);
  return status ? problem_status(problem, status) : LANEBLOOM_OK;
}

lanebloom_status lanebloom_write_log_read(struct write_log *log, const struct input *input,
                                          lanebloom_engine engine, uint32_t place,
                                          const struct timestamps *timestamps,
                                          struct key_collector *collector,
                                          const struct problem *problem)
{
  *log = (struct write_log){.number = log->number, .index = log->index, .nbytes = input->nbytes};
  struct log_reading *reading = calloc(1, sizeof *reading);
  if (!reading)
    return problem_memory(problem, sizeof *reading);
  reading->log = log;
  reading->place = place;
  reading->timestamps = timestamps;
  reading->collector = collector;
  lanebloom_log_begin(&reading->reader, input, engine, log->number);
  lanebloom_batch_init(&reading->parser, engine, take_entry, reading);
  const lanebloom_status status = read_all(reading, problem);
  lanebloom_batch_free(&reading->parser);
  zstd_free(reading->zstd);
  tree_free(&reading->own_timestamps, free);
  free(reading);
  return status;
}

void lanebloom_write_log_free(struct write_log *log)
{
  free(log->tables);
  log->tables = NULL;
}
