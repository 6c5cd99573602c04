/* Parses the edits of a MANIFEST: the tags that LevelDB, RocksDB and Pebble write, with their
 * values.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "../common/bytes.h"
#include "../common/text.h"
#include "../cursor.h"
#include "edits.h"

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
  TAG_ADDED_2 = 100, /* like ADDED, and has sequence numbers */
  TAG_ADDED_3 = 102, /* like ADDED_2, and has a path */
  TAG_ADDED_4 = 103, /* like ADDED_2, and has a list of fields */
  TAG_FAMILY = 200,
  TAG_FAMILY_ADDED = 201,
  TAG_FAMILY_DROPPED = 202,
  TAG_MAX_FAMILY = 203,
  TAG_IN_GROUP = 300,
  TAG_BLOB_ADDED = 400,
  TAG_BLOB_GARBAGE = 401,
  TAG_MAY_SKIP = 1 << 13, /* an unknown tag with this bit has one string, and may be skipped */
  TAG_BLOB_ADDED_2 = 8194,
  TAG_BLOB_GARBAGE_2 = 8195,
  TAG_LOG_ADDED = 8196,
  TAG_LOG_DELETED = 8197,
  TAG_LOG_ADDED_2 = 8199, /* like LOG_ADDED, but inside a string */
  TAG_LOG_DELETED_2 = 8200,

  /* Pebble */
  TAG_EXCISED = 10,
  TAG_MARKED = 11,
  TAG_ADDED_5 = 104, /* like ADDED_4, for tables with range keys */
  TAG_BACKING_ADDED = 105,
  TAG_BACKING_DELETED = 106,
  TAG_PEBBLE_BLOB_ADDED = 107,
  TAG_PEBBLE_BLOB_DELETED = 108,

  LOG_SIZE = 2, /* a field of a log */

  FIELD_END = 1, /* FIELD_...: the fields of a table */
  FIELD_MIN_LOG = 3,
  FIELD_PATH = 65,
  FIELD_MUST_KNOW = 64, /* unknown fields with this bit must be refused */
  FIELD_BACKING = 66,   /* Pebble: this field and the next two have numbers, not strings */
  FIELD_BLOBS = 69,
  FIELD_BLOBS_2 = 70,
};

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
  *text = text_copy(string.data, string.size);
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

/* Skips a list of fields, whose values are strings, and the tag `end` after the list. */
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

/* ---- Tables ---- */

static lanebloom_status add_event(struct version_reader *reader, const struct live_table *table,
                                  bool is_added)
{
  struct event *events =
      grow(reader->events, &reader->room.nevents, reader->n.nevents, sizeof *events);
  if (!events)
    return problem_memory(reader->problem, 2 * reader->n.nevents * sizeof *events);
  reader->events = events;
  /* Within an edit, deletions are applied before additions, because an edit that moves a table
   * deletes it and adds it again. */
  events[reader->n.nevents++] = (struct event){
      .table = *table, .order = 2 * reader->n.nedits + is_added, .is_added = is_added};
  return LANEBLOOM_OK;
}

/* Reads the value of one of the three fields that have numbers, not a string, in Pebble. */
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

/* Skips the smallest and the largest key of a table. With TAG_ADDED_5, a bit says whether the
 * smallest and the largest point key come before these two keys. */
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
  while (cursor_varint(rest, &field) && field == LOG_SIZE) /* the fields end at tag 1 */
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
  case TAG_MARKED:
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
      (tag == TAG_EXCISED || tag == TAG_MARKED || tag > TAG_ADDED_4))
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

/* If the group of the previous edit is incomplete, checks that this edit continues the group. */
static lanebloom_status check_group(struct version_reader *reader, const struct edit *edit)
{
  const uint64_t nexpected = reader->nfollowing;
  if (nexpected > 0 && (!edit->is_in_group || edit->nfollowing != nexpected - 1))
    return corrupt(reader, "the next edit of a group");
  reader->nfollowing = edit->nfollowing;
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_edit_parse(struct version_reader *reader)
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
