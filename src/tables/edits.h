/* The contents of a MANIFEST's edits, as lists. edits.c parses the edits into these lists, and
 * version.c applies the lists.
 * SPDX-License-Identifier: MIT */
#ifndef LANEBLOOM_TABLES_EDITS_H
#define LANEBLOOM_TABLES_EDITS_H

#include <stdlib.h>

#include "../common/problem.h"
#include "version.h"

/* The addition or the deletion of a table by an edit. */
struct event {
  struct live_table table; /* `family` is an id */
  uint64_t order;
  bool is_added;
};

/* The contents of an edit, except its tables and its new logs, which have lists of their own. */
struct edit {
  uint64_t order, offset; /* `offset`: where its record begins in the MANIFEST */
  uint32_t family;
  bool has_log, has_next_file, has_sequence, has_previous_log, is_dropping, is_in_group;
  char *comparator, *added_family; /* NULL: none */
  uint64_t log, sequence, previous_log, min_log;
  uint64_t first_log;  /* logs with lower numbers need not exist */
  uint64_t nfollowing; /* how many edits of its group come after it */
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

static inline lanebloom_status corrupt(const struct version_reader *reader, const char *what)
{
  return problem_set(reader->problem, LANEBLOOM_ERR_CORRUPT,
                     "damaged: expected %s in the record at %" PRIu64 ", found none", what,
                     reader->offset);
}

/* Makes room for one more than n items, of nbytes each. Returns the list, which may have moved, or
 * NULL if memory ran out. */
static inline void *grow(void *list, size_t *room, size_t n, size_t nbytes)
{
  if (n < *room)
    return list;
  const size_t wanted = *room ? 2 * *room : 64;
  void *grown = realloc(list, wanted * nbytes);
  if (grown)
    *room = wanted;
  return grown;
}

static inline void keep_highest(uint64_t *highest, uint64_t number)
{
  *highest = number > *highest ? number : *highest;
}

/* Parses the edit in reader->record, and adds its contents to the reader's lists. Errors: CORRUPT,
 * MEMORY; LIMIT if it has an unknown tag or field. */
lanebloom_status lanebloom_edit_parse(struct version_reader *reader);

#endif
