/* Reads a MANIFEST: first lists the contents of all edits, then applies them. Whether a table is
 * live depends on the last edit that adds or deletes it. Incomplete edits at the end of the file,
 * and edits of an incomplete group, are ignored.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "edits.h"
#include "log.h"
#include "version.h"

/* ---- Families ---- */

static struct family *family_of(const struct version *version, uint32_t id)
{
  size_t first = 0, end = version->nfamilies;
  while (first < end) {
    const size_t middle = first + (end - first) / 2;
    if (version->families[middle].id < id)
      first = middle + 1;
    else
      end = middle;
  }
  struct family *family = &version->families[first];
  return first < version->nfamilies && family->id == id && !family->is_dropped ? family : NULL;
}

const struct family *lanebloom_version_family(const struct version *version, uint32_t id)
{
  return family_of(version, id);
}

/* Applies an edit to its family. Edits come sorted by family, so the family is either the last one
 * in the list, or not yet in the list. The id of a dropped family is never used again. */
static lanebloom_status apply_to_family(struct version_reader *reader, struct edit *edit,
                                        size_t *room)
{
  struct version *version = reader->version;
  const size_t n = version->nfamilies;
  const bool is_known = n > 0 && version->families[n - 1].id == edit->family;
  reader->offset = edit->offset;
  if (edit->added_family) {
    if (is_known)
      return corrupt(reader, "a new column family");
    struct family *families = grow(version->families, room, n, sizeof *families);
    if (!families)
      return problem_memory(reader->problem, 2 * n * sizeof *families);
    version->families = families;
    families[version->nfamilies++] =
        (struct family){.id = edit->family, .name = edit->added_family};
    edit->added_family = NULL;
  } else if (!is_known || version->families[n - 1].is_dropped) {
    return corrupt(reader, "a column family that exists");
  }
  struct family *family = &version->families[version->nfamilies - 1];
  if (edit->comparator) {
    char *earlier = family->comparator;
    family->comparator = edit->comparator;
    edit->comparator = earlier;
  }
  if (edit->has_log)
    keep_highest(&family->log_number, edit->log); /* RocksDB ignores lower numbers */
  family->is_dropped = edit->is_dropping;
  return LANEBLOOM_OK;
}

static int compare_edits(const void *a, const void *b)
{
  const struct edit *left = a, *right = b;
  if (left->family != right->family)
    return left->family < right->family ? -1 : 1;
  return (left->order > right->order) - (left->order < right->order);
}

/* Sorts the edits by family, and applies each one to its family. */
static lanebloom_status list_families(struct version_reader *reader)
{
  size_t room = 0;
  lanebloom_status status = LANEBLOOM_OK;
  qsort(reader->edits, reader->n.nedits, sizeof *reader->edits, compare_edits);
  for (size_t i = 0; !status && i < reader->n.nedits; i++)
    status = apply_to_family(reader, &reader->edits[i], &room);
  return status;
}

/* ---- Tables, logs and numbers ---- */

static void drop_edits(struct version_reader *reader, struct lengths n)
{
  for (size_t i = n.nedits; i < reader->n.nedits; i++) {
    free(reader->edits[i].comparator);
    free(reader->edits[i].added_family);
  }
  reader->n = n;
}

static int compare_events(const void *a, const void *b)
{
  const struct event *left = a, *right = b;
  const struct live_table *l = &left->table, *r = &right->table;
  if (l->number != r->number)
    return l->number < r->number ? -1 : 1;
  if (l->family != r->family)
    return l->family < r->family ? -1 : 1;
  if (l->level != r->level)
    return l->level < r->level ? -1 : 1;
  return (left->order > right->order) - (left->order < right->order);
}

/* Lists the live tables. A table is live if the last event about it, an addition or a deletion, is
 * an addition. */
static lanebloom_status list_tables(struct version_reader *reader)
{
  struct version *version = reader->version;
  const size_t n = reader->n.nevents;
  if (n > 1)
    qsort(reader->events, n, sizeof *reader->events, compare_events);
  version->tables = malloc((n + 1) * sizeof *version->tables);
  if (!version->tables)
    return problem_memory(reader->problem, (n + 1) * sizeof *version->tables);
  for (size_t i = 0; i < n; i++) {
    const struct live_table *table = &reader->events[i].table, *next = &reader->events[i + 1].table;
    const bool is_last = i + 1 == n || next->number != table->number ||
                         next->family != table->family || next->level != table->level;
    if (is_last && reader->events[i].is_added && family_of(version, table->family))
      version->tables[version->ntables++] = *table;
  }
  return LANEBLOOM_OK;
}

static int compare_tables(const void *a, const void *b)
{
  const struct live_table *left = a, *right = b;
  return (left->number > right->number) - (left->number < right->number);
}

/* If the keys of a table of Pebble are in the file of another table, replaces the table by that
 * other table. If the list then has the same table several times, only one entry of it stays. */
static void list_backings(struct version *version)
{
  struct live_table *tables = version->tables;
  size_t n = 0;
  for (size_t i = 0; i < version->ntables; i++)
    if (tables[i].backing > 0)
      tables[i].number = tables[i].backing;
  if (version->ntables > 1)
    qsort(tables, version->ntables, sizeof *tables, compare_tables);
  for (size_t i = 0; i < version->ntables; i++)
    if (n == 0 || tables[n - 1].number != tables[i].number)
      tables[n++] = tables[i];
  version->ntables = n;
}

static int compare_numbers(const void *a, const void *b)
{
  const uint64_t *left = a, *right = b;
  return (*left > *right) - (*left < *right);
}

/* Lists the logs that must exist, each of them once. Logs with numbers below `first` need not
 * exist. */
static void list_logs(struct version_reader *reader, uint64_t first)
{
  struct version *version = reader->version;
  uint64_t *logs = version->logs = reader->logs;
  reader->logs = NULL;
  if (reader->n.nlogs > 1)
    qsort(logs, reader->n.nlogs, sizeof *logs, compare_numbers);
  for (size_t i = 0; i < reader->n.nlogs; i++)
    if (logs[i] >= first && (version->nlogs == 0 || logs[version->nlogs - 1] != logs[i]))
      logs[version->nlogs++] = logs[i];
}

/* Applies the numbers that edits set for the whole database. Returns a text for the first required
 * number that no edit has, or NULL if all are there. */
static const char *apply_scalars(struct version_reader *reader)
{
  struct version *version = reader->version;
  /* Databases of Pebble have no log number before the first flush. */
  bool has_log = reader->engine == LANEBLOOM_ENGINE_PEBBLE, has_next_file = false,
       has_sequence = false;
  uint64_t first_log = 0;
  for (size_t i = 0; i < reader->n.nedits; i++) {
    const struct edit *edit = &reader->edits[i];
    version->sequence = edit->has_sequence ? edit->sequence : version->sequence;
    version->previous_log = edit->has_previous_log ? edit->previous_log : version->previous_log;
    keep_highest(&version->min_log, edit->min_log);
    keep_highest(&first_log, edit->first_log);
    has_log |= edit->has_log;
    has_next_file |= edit->has_next_file;
    has_sequence |= edit->has_sequence;
  }
  list_logs(reader, first_log);
  return !has_log ? "log" : !has_next_file ? "next file" : !has_sequence ? "last write" : NULL;
}

/* Finds the number of the lowest log that is needed. If no edit states the number, it is the lowest
 * log number of all families. */
static void find_min_log(struct version *version)
{
  if (version->min_log > 0)
    return;
  version->min_log = UINT64_MAX;
  for (size_t i = 0; i < version->nfamilies; i++)
    if (!version->families[i].is_dropped && version->families[i].log_number < version->min_log)
      version->min_log = version->families[i].log_number;
}

static lanebloom_status finish(struct version_reader *reader)
{
  if (reader->nfollowing > 0)
    drop_edits(reader, reader->before_group);
  const char *missing = apply_scalars(reader);
  lanebloom_status status = list_families(reader);
  if (!status && missing)
    status = problem_set(reader->problem, LANEBLOOM_ERR_CORRUPT,
                         "damaged: expected the numbers of the log, of the next file and of the "
                         "last write, found no %s",
                         missing);
  if (status)
    return status;
  find_min_log(reader->version);
  status = list_tables(reader);
  if (!status && reader->engine == LANEBLOOM_ENGINE_PEBBLE)
    list_backings(reader->version);
  return status;
}

/* ---- The records of the MANIFEST ---- */

static bool add_bytes(struct bytes *bytes, const void *from, size_t nbytes)
{
  if (nbytes > bytes->room - bytes->n || bytes->room == 0) { /* so data is never NULL */
    const size_t room = 2 * (bytes->n + nbytes) + 1;
    uint8_t *data = realloc(bytes->data, room);
    if (!data)
      return false;
    bytes->data = data;
    bytes->room = room;
  }
  if (nbytes > 0)
    memcpy(bytes->data + bytes->n, from, nbytes);
  bytes->n += nbytes;
  return true;
}

static lanebloom_status take_found(struct version_reader *reader, const struct log_found *found)
{
  if (found->what == LOG_BAD)
    return problem_set(reader->problem, LANEBLOOM_ERR_CORRUPT,
                       "damaged at %" PRIu64 ": expected %s %" PRIu64, found->offset,
                       found->expected, found->found);
  if (found->what != LOG_FRAGMENT)
    return LANEBLOOM_OK;
  if (found->is_first) {
    reader->record.n = 0;
    reader->offset = found->offset;
  }
  if (!add_bytes(&reader->record, found->bytes.data, found->bytes.size))
    return problem_memory(reader->problem, found->bytes.size);
  return found->is_last ? lanebloom_edit_parse(reader) : LANEBLOOM_OK;
}

static lanebloom_status read_records(struct version_reader *reader, const struct input *input)
{
  struct log_reader *log = malloc(sizeof *log);
  if (!log)
    return problem_memory(reader->problem, sizeof *log);
  struct log_found found;
  lanebloom_status status;
  lanebloom_log_begin(log, input, reader->engine, 0);
  do {
    status = lanebloom_log_next(log, &found, reader->problem);
    if (!status)
      status = take_found(reader, &found);
  } while (!status && found.what != LOG_END && found.what != LOG_TORN);
  free(log);
  return status;
}

/* Adds an edit for the family "default", which exists although no edit of the MANIFEST adds it. */
static lanebloom_status add_default(struct version_reader *reader)
{
  struct edit *edits = grow(NULL, &reader->room.nedits, 0, sizeof *edits);
  if (!edits)
    return problem_memory(reader->problem, sizeof *edits);
  reader->edits = edits;
  edits[reader->n.nedits++] = (struct edit){.added_family = strdup("default")};
  return edits[0].added_family ? LANEBLOOM_OK : problem_memory(reader->problem, 1);
}

lanebloom_status lanebloom_version_read(struct version *version, const struct input *input,
                                        lanebloom_engine engine, const struct problem *problem)
{
  struct version_reader reader = {.version = version, .engine = engine, .problem = problem};
  *version = (struct version){0};
  lanebloom_status status = add_default(&reader);
  if (!status)
    status = read_records(&reader, input);
  if (!status)
    status = finish(&reader);
  drop_edits(&reader, (struct lengths){0});
  free(reader.edits);
  free(reader.events);
  free(reader.logs);
  free(reader.record.data);
  if (status)
    lanebloom_version_free(version);
  return status;
}

void lanebloom_version_free(struct version *version)
{
  for (size_t i = 0; i < version->nfamilies; i++) {
    free(version->families[i].name);
    free(version->families[i].comparator);
  }
  free(version->families);
  free(version->tables);
  free(version->logs);
  *version = (struct version){0};
}

/* ---- Entries of logs ---- */

bool lanebloom_version_needs_log(const struct version *version, uint64_t number)
{
  return number >= version->min_log ||
         (version->previous_log > 0 && number == version->previous_log);
}

bool lanebloom_version_counts(const struct version *version, uint64_t log, uint32_t family,
                              bool is_prepared)
{
  const struct family *found = family_of(version, family);
  return found && lanebloom_version_needs_log(version, log) &&
         (is_prepared || log >= found->log_number || log == version->previous_log);
}
