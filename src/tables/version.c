/* Reads a MANIFEST: first lists the contents of all edits, then applies them. Whether a table is
 * live depends on the last edit that adds or deletes it. Incomplete edits at the end of the file,
 * and edits of an incomplete group, are ignored.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "../bytes.h"
#include "../cursor.h"
#include "log.h"
#include "version.h"

enum {
  TAG_COMPARATOR = 1,
  TAG_LOG = 2,
  TAG_NEXT_FILE = 3,
  TAG_SEQUENCE = 4,
  TAG_COMPACT_POINTER = 5,
  TAG_DELETED = 6,
  TAG_ADDED = 7,
  TAG_PREVIOUS_LOG = 9,
  TAG_MIN_LOG = 10,
  TAG_ADDED_2 = 100, /* also with sequence numbers */
  TAG_ADDED_3 = 102, /* also with a path */
  TAG_ADDED_4 = 103, /* also with a list of fields */
  TAG_FAMILY = 200,
  TAG_FAMILY_ADDED = 201,
  TAG_FAMILY_DROPPED = 202,
  TAG_MAX_FAMILY = 203,
  TAG_IN_GROUP = 300,
  TAG_BLOB_ADDED = 400,
  TAG_BLOB_GARBAGE = 401,
  TAG_MAY_SKIP = 1 << 13, /* unknown tags with this bit may be skipped: they have one string */
  TAG_BLOB_ADDED_2 = 8194,
  TAG_BLOB_GARBAGE_2 = 8195,
  TAG_LOG_ADDED = 8196,
  TAG_LOG_DELETED = 8197,
  TAG_LOG_ADDED_2 = 8199, /* like LOG_ADDED, within a string */
  TAG_LOG_DELETED_2 = 8200,

  /* Pebble */
  TAG_EXCISED = 10,
  TAG_EXCISED_LEVEL = 11,
  TAG_ADDED_5 = 104, /* like ADDED_4, for tables with range keys */
  TAG_BACKING_ADDED = 105,
  TAG_BACKING_DELETED = 106,
  TAG_PEBBLE_BLOB_ADDED = 107,
  TAG_PEBBLE_BLOB_DELETED = 108,

  LOG_SIZE = 2, /* a field of a log */

  FIELD_END = 1, /* FIELD_: of a table */
  FIELD_MIN_LOG = 3,
  FIELD_PATH = 65,
  FIELD_MUST_KNOW = 64, /* unknown fields with this bit must be refused */
  FIELD_BACKING = 66,   /* Pebble: the values of these three are numbers, not strings */
  FIELD_BLOBS = 69,
  FIELD_BLOBS_2 = 70,
};

/* The addition or the deletion of a table by an edit. */
struct event {
  struct live_table table; /* `family` is an id */
  uint64_t order;
  bool is_added;
};

/* The contents of an edit, except its tables and its new logs, which have lists of their own. */
struct edit {
  uint64_t order, offset; /* `offset` is that of its record */
  uint32_t family;
  bool has_log, has_next_file, has_sequence, has_previous_log, is_dropping, is_in_group;
  char *comparator, *added_family; /* NULL: none */
  uint64_t log, sequence, previous_log, min_log;
  uint64_t first_log;  /* lower logs need not exist */
  uint64_t nfollowing; /* how many edits of its group follow */
};

struct lengths {
  size_t nedits, nevents, nlogs;
};

/* The state of reading. */
struct version_reader {
  struct version *version;
  lanebloom_engine engine;
  const struct problem *problem;
  uint64_t offset; /* where the record begins */
  struct bytes {
    uint8_t *data;
    size_t n, room;
  } record;

  /* The contents of all edits, in the order of the MANIFEST. */
  struct edit *edits;
  struct event *events;
  uint64_t *logs;
  struct lengths n, room;

  struct lengths before_group; /* the lengths before the group of the last edit began */
  uint64_t nfollowing;         /* how many edits of that group are still missing */
};

static lanebloom_status corrupt(const struct version_reader *reader, const char *what)
{
  return problem_set(reader->problem, LANEBLOOM_ERR_CORRUPT,
                     "damaged: expected %s in the record at %" PRIu64 ", found none", what,
                     reader->offset);
}

/* Makes room for one more than n items, of nbytes each. Returns the list, which may have moved, or
 * NULL if memory ran out. */
static void *grow(void *list, size_t *room, size_t n, size_t nbytes)
{
  if (n < *room)
    return list;
  const size_t wanted = *room ? 2 * *room : 64;
  void *grown = realloc(list, wanted * nbytes);
  if (grown)
    *room = wanted;
  return grown;
}

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

/* ---- Fields ---- */

static bool take_string(struct cursor *rest, lanebloom_slice *string)
{
  uint64_t nbytes;
  const uint8_t *bytes;
  if (!cursor_varint(rest, &nbytes) || !cursor_bytes(rest, nbytes, &bytes))
    return false;
  *string = (lanebloom_slice){bytes, (size_t)nbytes};
  return true;
}

static bool skip_string(struct cursor *rest)
{
  lanebloom_slice skipped;
  return take_string(rest, &skipped);
}

static bool skip_two_strings(struct cursor *rest)
{
  const bool first = skip_string(rest);
  return first && skip_string(rest);
}

static bool skip_varints(struct cursor *rest, size_t n)
{
  uint64_t skipped;
  while (n > 0 && cursor_varint(rest, &skipped))
    n--;
  return n == 0;
}

/* Reads a string, and replaces *text by a copy of it. */
static lanebloom_status take_text(const struct version_reader *reader, struct cursor *rest,
                                  char **text)
{
  lanebloom_slice string;
  if (!take_string(rest, &string))
    return corrupt(reader, "a whole name");
  free(*text);
  *text = strndup(string.data, string.size);
  return *text ? LANEBLOOM_OK : problem_memory(reader->problem, string.size + 1);
}

static bool take_number(struct cursor *rest, uint32_t *number)
{
  uint64_t wide;
  if (!cursor_varint(rest, &wide) || wide > UINT32_MAX)
    return false;
  *number = (uint32_t)wide;
  return true;
}

/* Skips the fields of a list, whose values are strings, and the tag `end` after them. */
static bool skip_fields(struct cursor *rest, uint64_t end)
{
  for (uint64_t tag; cursor_varint(rest, &tag);) {
    if (tag == end)
      return true;
    if (!skip_string(rest))
      return false;
  }
  return false;
}

static void keep_highest(uint64_t *highest, uint64_t number)
{
  *highest = number > *highest ? number : *highest;
}

/* ---- Tables ---- */

static lanebloom_status add_event(struct version_reader *reader, const struct live_table *table,
                                  bool is_added)
{
  struct event *events =
      grow(reader->events, &reader->room.nevents, reader->n.nevents, sizeof *events);
  if (!events)
    return problem_memory(reader->problem, 2 * reader->n.nevents * sizeof *events);
  reader->events = events;
  /* Within an edit, deletions are applied before additions, because an edit that moves a table has
   * both. */
  events[reader->n.nevents++] = (struct event){
      .table = *table, .order = 2 * reader->n.nedits + is_added, .is_added = is_added};
  return LANEBLOOM_OK;
}

/* Reads one of Pebble's three fields of tables whose value is a list of numbers, not a string. */
static bool take_numbers(struct cursor *rest, uint64_t tag, struct live_table *table)
{
  uint64_t n;
  if (tag == FIELD_BACKING)
    return cursor_varint(rest, &table->backing);
  return skip_varints(rest, 1) && cursor_varint(rest, &n) && n <= cursor_left(rest) &&
         skip_varints(rest, (size_t)n * (tag == FIELD_BLOBS ? 2 : 3));
}

/* Reads the fields that newer versions of RocksDB and Pebble write for a table. */
static lanebloom_status take_fields(struct version_reader *reader, struct cursor *rest,
                                    struct edit *edit, struct live_table *table)
{
  for (uint64_t tag; cursor_varint(rest, &tag);) {
    lanebloom_slice value;
    if (tag == FIELD_END)
      return LANEBLOOM_OK;
    const bool is_numbers = reader->engine == LANEBLOOM_ENGINE_PEBBLE &&
                            (tag == FIELD_BACKING || tag == FIELD_BLOBS || tag == FIELD_BLOBS_2);
    if (is_numbers ? !take_numbers(rest, tag, table) : !take_string(rest, &value))
      break;
    if (is_numbers)
      continue;
    if (tag == FIELD_PATH && value.size == 1)
      table->path = *(const uint8_t *)value.data;
    else if (tag == FIELD_MIN_LOG && value.size == sizeof(uint64_t))
      keep_highest(&edit->min_log, load_le64(value.data));
    else if (tag & FIELD_MUST_KNOW)
      return problem_set(reader->problem, LANEBLOOM_ERR_LIMIT,
                         "expected fields of tables that this version knows, found %" PRIu64
                         " in the record at %" PRIu64,
                         tag, reader->offset);
  }
  return corrupt(reader, "all fields of a table");
}

/* Skips the smallest and the largest key of a table. A table of TAG_ADDED_5 always has bounds of
 * all its keys; a bit says whether bounds of its point keys come before them. */
static bool skip_bounds(struct cursor *rest, uint64_t tag)
{
  enum { HAS_POINTS = 1 };
  const uint8_t *flags;
  if (tag != TAG_ADDED_5)
    return skip_two_strings(rest);
  return cursor_bytes(rest, 1, &flags) && (!(*flags & HAS_POINTS) || skip_two_strings(rest)) &&
         skip_two_strings(rest);
}

static lanebloom_status take_added(struct version_reader *reader, uint64_t tag, struct cursor *rest,
                                   struct edit *edit)
{
  struct live_table table = {0};
  bool is_whole = take_number(rest, &table.level) && cursor_varint(rest, &table.number) &&
                  (tag != TAG_ADDED_3 || take_number(rest, &table.path)) &&
                  cursor_varint(rest, &table.nbytes) && skip_bounds(rest, tag) &&
                  (tag == TAG_ADDED || skip_varints(rest, 2));
  if (!is_whole)
    return corrupt(reader, "a whole table");
  lanebloom_status status = tag == TAG_ADDED_4 || tag == TAG_ADDED_5
                                ? take_fields(reader, rest, edit, &table)
                                : LANEBLOOM_OK;
  return status ? status : add_event(reader, &table, true);
}

static lanebloom_status take_deleted(struct version_reader *reader, struct cursor *rest)
{
  struct live_table table = {0};
  if (!take_number(rest, &table.level) || !cursor_varint(rest, &table.number))
    return corrupt(reader, "a whole deleted table");
  return add_event(reader, &table, false);
}

/* ---- Logs that must exist ---- */

static lanebloom_status add_log(struct version_reader *reader, uint64_t number)
{
  uint64_t *logs = grow(reader->logs, &reader->room.nlogs, reader->n.nlogs, sizeof *logs);
  if (!logs)
    return problem_memory(reader->problem, 2 * reader->n.nlogs * sizeof *logs);
  reader->logs = logs;
  logs[reader->n.nlogs++] = number;
  return LANEBLOOM_OK;
}

static lanebloom_status take_log(struct version_reader *reader, uint64_t tag, struct cursor *rest,
                                 struct edit *edit)
{
  lanebloom_slice string;
  struct cursor inner;
  uint64_t number, field;
  const bool is_added = tag == TAG_LOG_ADDED || tag == TAG_LOG_ADDED_2;
  if (tag == TAG_LOG_ADDED_2 || tag == TAG_LOG_DELETED_2) {
    if (!take_string(rest, &string))
      return corrupt(reader, "a whole log");
    inner = (struct cursor){string.data, (const uint8_t *)string.data + string.size};
    rest = &inner;
  }
  if (!cursor_varint(rest, &number))
    return corrupt(reader, "the number of a log");
  if (!is_added) {
    keep_highest(&edit->first_log, number);
    return LANEBLOOM_OK;
  }
  while (cursor_varint(rest, &field) && field == LOG_SIZE) /* ends at the tag 1 */
    if (!skip_varints(rest, 1))
      return corrupt(reader, "the size of a log");
  return add_log(reader, number);
}

/* ---- Edits ---- */

static lanebloom_status take_blob(struct version_reader *reader, uint64_t tag, struct cursor *rest)
{
  const bool is_added = tag == TAG_BLOB_ADDED || tag == TAG_BLOB_ADDED_2;
  const bool is_whole =
      skip_varints(rest, 3) && (!is_added || skip_two_strings(rest)) && skip_fields(rest, 0);
  return is_whole ? LANEBLOOM_OK : corrupt(reader, "a whole blob file");
}

static lanebloom_status refuse_tag(const struct version_reader *reader, uint64_t tag)
{
  return problem_set(reader->problem, LANEBLOOM_ERR_LIMIT,
                     "expected tags that this version knows, found %" PRIu64
                     " in the record at %" PRIu64,
                     tag, reader->offset);
}

/* Reads the values of a tag that only Pebble has, or that has another meaning in Pebble. */
static lanebloom_status take_pebble_tag(struct version_reader *reader, uint64_t tag,
                                        struct cursor *rest, struct edit *edit)
{
  bool is_whole;
  switch (tag) {
  case TAG_EXCISED:
    is_whole = skip_two_strings(rest) && skip_varints(rest, 2);
    break;
  case TAG_EXCISED_LEVEL:
  case TAG_BACKING_ADDED:
  case TAG_PEBBLE_BLOB_DELETED:
    is_whole = skip_varints(rest, 2);
    break;
  case TAG_ADDED_5:
    return take_added(reader, tag, rest, edit);
  case TAG_BACKING_DELETED:
    is_whole = skip_varints(rest, 1);
    break;
  case TAG_PEBBLE_BLOB_ADDED:
    is_whole = skip_varints(rest, 5);
    break;
  default:
    return refuse_tag(reader, tag);
  }
  return is_whole ? LANEBLOOM_OK : corrupt(reader, "all values of a tag");
}

/* Reads the value of a tag that has one number, for the database or for a family. */
static lanebloom_status take_scalar(struct version_reader *reader, uint64_t tag,
                                    struct cursor *rest, struct edit *edit)
{
  uint64_t number;
  if (!cursor_varint(rest, &number))
    return corrupt(reader, "a whole number");
  switch (tag) {
  case TAG_LOG:
    edit->has_log = true;
    edit->log = number;
    break;
  case TAG_NEXT_FILE:
    edit->has_next_file = true;
    break;
  case TAG_SEQUENCE:
    edit->has_sequence = true;
    edit->sequence = number;
    break;
  case TAG_PREVIOUS_LOG:
    edit->has_previous_log = true;
    edit->previous_log = number;
    break;
  case TAG_MIN_LOG:
    keep_highest(&edit->min_log, number);
    break;
  case TAG_IN_GROUP:
    edit->is_in_group = true;
    edit->nfollowing = number;
    break;
  default: /* TAG_MAX_FAMILY */
    break;
  }
  return LANEBLOOM_OK;
}

static lanebloom_status take_tag(struct version_reader *reader, uint64_t tag, struct cursor *rest,
                                 struct edit *edit)
{
  bool is_whole = true;
  if (reader->engine == LANEBLOOM_ENGINE_PEBBLE &&
      (tag == TAG_EXCISED || tag == TAG_EXCISED_LEVEL || tag > TAG_ADDED_4))
    return take_pebble_tag(reader, tag, rest, edit);
  switch (tag) {
  case TAG_COMPARATOR:
    return take_text(reader, rest, &edit->comparator);
  case TAG_LOG:
  case TAG_NEXT_FILE:
  case TAG_SEQUENCE:
  case TAG_PREVIOUS_LOG:
  case TAG_MIN_LOG:
  case TAG_MAX_FAMILY:
  case TAG_IN_GROUP:
    return take_scalar(reader, tag, rest, edit);
  case TAG_COMPACT_POINTER:
    is_whole = skip_varints(rest, 1) && skip_string(rest);
    break;
  case TAG_DELETED:
    return take_deleted(reader, rest);
  case TAG_ADDED:
  case TAG_ADDED_2:
  case TAG_ADDED_3:
  case TAG_ADDED_4:
    return take_added(reader, tag, rest, edit);
  case TAG_FAMILY:
    is_whole = take_number(rest, &edit->family);
    break;
  case TAG_FAMILY_ADDED:
    return take_text(reader, rest, &edit->added_family);
  case TAG_FAMILY_DROPPED:
    edit->is_dropping = true;
    break;
  case TAG_BLOB_ADDED:
  case TAG_BLOB_GARBAGE:
  case TAG_BLOB_ADDED_2:
  case TAG_BLOB_GARBAGE_2:
    return take_blob(reader, tag, rest);
  case TAG_LOG_ADDED:
  case TAG_LOG_DELETED:
  case TAG_LOG_ADDED_2:
  case TAG_LOG_DELETED_2:
    return take_log(reader, tag, rest, edit);
  default:
    if (!(tag & TAG_MAY_SKIP))
      return refuse_tag(reader, tag);
    is_whole = skip_string(rest);
  }
  return is_whole ? LANEBLOOM_OK : corrupt(reader, "all values of a tag");
}

/* Checks that an edit continues the group of the edit before it, if that group is incomplete. */
static lanebloom_status check_group(struct version_reader *reader, const struct edit *edit)
{
  const uint64_t nexpected = reader->nfollowing;
  if (nexpected > 0 && (!edit->is_in_group || edit->nfollowing != nexpected - 1))
    return corrupt(reader, "the next edit of a group");
  reader->nfollowing = edit->nfollowing;
  return LANEBLOOM_OK;
}

/* Parses an edit, and adds its contents to the reader's lists. */
static lanebloom_status take_edit(struct version_reader *reader)
{
  const size_t first_event = reader->n.nevents;
  if (reader->nfollowing == 0)
    reader->before_group = reader->n;
  struct edit *edits = grow(reader->edits, &reader->room.nedits, reader->n.nedits, sizeof *edits);
  if (!edits)
    return problem_memory(reader->problem, 2 * reader->n.nedits * sizeof *edits);
  reader->edits = edits;
  struct edit *edit = &edits[reader->n.nedits];
  *edit = (struct edit){.order = reader->n.nedits, .offset = reader->offset};
  struct cursor rest = {reader->record.data, reader->record.data + reader->record.n};
  lanebloom_status status = LANEBLOOM_OK;
  while (!status && cursor_left(&rest) > 0) {
    uint64_t tag;
    status = cursor_varint(&rest, &tag) ? take_tag(reader, tag, &rest, edit)
                                        : corrupt(reader, "a whole tag");
  }
  for (size_t i = first_event; i < reader->n.nevents; i++) /* the family's tag may come last */
    reader->events[i].table.family = edit->family;
  reader->n.nedits++;
  return status ? status : check_group(reader, edit);
}

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
 * in the list or not in it yet. The id of a dropped family is never used again. */
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

/* ---- The whole MANIFEST ---- */

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

/* Replaces each table of Pebble whose keys are in the file of another table by that other table. If
 * several tables are then the same, only one of them stays. */
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

/* Lists the logs that must exist, each of them once. first: lower logs need not exist. */
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

/* Finds the lowest log that is needed. If no edit states it, it is the lowest log number of all
 * families. */
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
  return found->is_last ? take_edit(reader) : LANEBLOOM_OK;
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

/* ---- Logs ---- */

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
