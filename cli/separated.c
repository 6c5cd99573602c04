/* Cuts records into fields. Separators, quotes and line ends are searched in blocks of 64 bytes;
 * then a small state machine steps from one to the next.
 * SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "separated.h"

/* A field, without quotes around it. */
struct span {
  const char *data;
  size_t nbytes;
  bool has_pairs; /* of quotes: each is one quote of the key */
};

/* The state of the machine: the record and the field that it is in. */
struct cursor {
  const char *record, *field;
  size_t nfields; /* that ended, of the record */
  size_t nfound;  /* of them, those that are part of the key */
  bool in_quotes;
  const char *closing; /* the last closing quote of the field; NULL: the field has none */
  bool has_pairs;
  uint64_t nlines;                /* before the record */
  struct span found[MAX_NFIELDS]; /* in the order of the key */
};

static void begin_field(struct cursor *cursor, const char *at)
{
  cursor->field = at;
  cursor->closing = NULL;
  cursor->has_pairs = false;
}

static void begin_record(struct cursor *cursor, const char *at, size_t bom_nbytes, uint64_t nlines)
{
  cursor->record = at;
  cursor->nlines = nlines;
  cursor->nfields = cursor->nfound = 0;
  cursor->in_quotes = false;
  begin_field(cursor, at + bom_nbytes);
}

static void set_fault(struct cutter *cutter, const struct cursor *cursor, enum fault_kind kind)
{
  cutter->fault =
      (struct fault){.kind = kind, .line = cursor->nlines + 1, .nfields = cursor->nfields};
}

/* ---- Keys ---- */

static char *append(char *to, const struct span *span)
{
  if (!span->has_pairs) {
    memcpy(to, span->data, span->nbytes);
    return to + span->nbytes;
  }
  for (size_t i = 0; i < span->nbytes; i++) {
    *to++ = span->data[i];
    i += span->data[i] == '"'; /* the second of a pair */
  }
  return to;
}

/* Makes a key of the spans in the memory of the batch. false: memory ran out. */
static bool join(struct cutter *cutter, const struct cursor *cursor, lanebloom_slice *key)
{
  if (cutter->njoined == 0 && cutter->capacity < cutter->needed_nbytes) { /* no key is in it yet */
    free(cutter->joined);
    cutter->joined = malloc(cutter->needed_nbytes);
    cutter->capacity = cutter->joined ? cutter->needed_nbytes : 0;
    if (!cutter->joined)
      return false;
  }
  char *begin = cutter->joined + cutter->njoined, *end = begin;
  for (size_t i = 0; i < cursor->nfound; i++) {
    if (i > 0)
      *end++ = '\t';
    end = append(end, &cursor->found[i]);
  }
  cutter->njoined = (size_t)(end - cutter->joined);
  *key = (lanebloom_slice){begin, (size_t)(end - begin)};
  return true;
}

/* Sets key n from the fields that were found. false: there is a fault. */
static bool set_key(struct cutter *cutter, const struct cursor *cursor, size_t n)
{
  lanebloom_slice *key = &cutter->keys[n];
  *key = (lanebloom_slice){cursor->record, 0};
  if (cursor->nfound < cutter->syntax.fields.n) {
    if (cutter->syntax.fields.missing == MISSING_FAIL) {
      set_fault(cutter, cursor, FAULT_MISSING);
      return false;
    }
    cutter->missing[n / 8] |= (uint8_t)(1 << n % 8);
    cutter->nmissing++;
  } else if (cursor->nfound == 1 && !cursor->found[0].has_pairs) {
    *key = (lanebloom_slice){cursor->found[0].data, cursor->found[0].nbytes};
  } else if (!join(cutter, cursor, key)) {
    set_fault(cutter, cursor, FAULT_MEMORY);
    return false;
  }
  return true;
}

/* ---- Fields ---- */

/* A quote at `at`, or another byte while in quotes. false: there is a fault. */
static bool step_quotes(struct cutter *cutter, struct cursor *cursor, const char *at)
{
  if (*at != '"') {
    cutter->nlines += *at == cutter->syntax.terminator;
  } else if (cursor->in_quotes) {
    cursor->in_quotes = false;
    cursor->closing = at;
  } else if (at == cursor->field) {
    cursor->in_quotes = true;
  } else if (cursor->closing && at == cursor->closing + 1) {
    cursor->in_quotes = cursor->has_pairs = true;
  } else {
    set_fault(cutter, cursor, cursor->closing ? FAULT_AFTER : FAULT_QUOTE);
    return false;
  }
  return true;
}

/* The field ends at `at`; if it is part of the key, keeps it. false: there is a fault. */
static bool end_field(struct cutter *cutter, struct cursor *cursor, const char *at,
                      bool ends_record)
{
  const char *end = at, *begin = cursor->field;
  if (ends_record && cutter->syntax.crlf && end > begin && end[-1] == '\r')
    end--;
  if (cursor->closing) {
    if (end != cursor->closing + 1) {
      set_fault(cutter, cursor, FAULT_AFTER);
      return false;
    }
    begin++;
    end--;
  }
  if (cutter->order.fields[cursor->nfound].number == cursor->nfields)
    cursor->found[cutter->order.fields[cursor->nfound++].key_index] =
        (struct span){begin, (size_t)(end - begin), cursor->has_pairs};
  cursor->nfields++;
  return true;
}

/* Which of the next 64 bytes, or of those that are left, end a field or are quotes. */
__attribute__((always_inline)) static inline uint64_t find_marks(const char *block, const char *end,
                                                                 const char bytes[3], bool quotes)
{
  const size_t nleft = (size_t)(end - block);
  if (nleft >= BLOCK_NBYTES)
    return find_bytes(block, bytes, quotes ? 3 : 2);
  char last[BLOCK_NBYTES] = {0};
  memcpy(last, block, nleft);
  return find_bytes(last, bytes, quotes ? 3 : 2) & (((uint64_t)1 << nleft) - 1);
}

/* Cuts until the batch is full or there is a fault; returns the number of records. */
__attribute__((always_inline)) static inline size_t cut(struct cutter *cutter, bool quotes)
{
  const char terminator = cutter->syntax.terminator;
  const char bytes[3] = {terminator, cutter->syntax.fields.separator, '"'};
  const char *end = cutter->end;
  struct cursor cursor;
  size_t n = 0;
  begin_record(&cursor, cutter->next, cutter->bom_nbytes, cutter->nlines);
  for (const char *block = cursor.field; block < end && n < BATCH_NRECORDS; block += BLOCK_NBYTES) {
    uint64_t marks = find_marks(block, end, bytes, quotes);
    for (; marks && n < BATCH_NRECORDS; marks &= marks - 1) {
      const char *at = block + __builtin_ctzll(marks);
      if (quotes && (cursor.in_quotes || *at == '"')) {
        if (!step_quotes(cutter, &cursor, at))
          return n;
        continue;
      }
      const bool ends_record = *at == terminator;
      if (!end_field(cutter, &cursor, at, ends_record))
        return n;
      if (!ends_record) {
        begin_field(&cursor, at + 1);
        continue;
      }
      if (!set_key(cutter, &cursor, n))
        return n;
      cutter->nlines++;
      cutter->records[n++] = (lanebloom_slice){cursor.record, (size_t)(at - cursor.record)};
      cutter->next = at + 1;
      begin_record(&cursor, at + 1, 0, cutter->nlines);
    }
  }
  if (n < BATCH_NRECORDS && cutter->next < end)
    set_fault(cutter, &cursor, FAULT_UNCLOSED);
  return n;
}

static size_t cut_with_quotes(struct cutter *cutter)
{
  return cut(cutter, true);
}

static size_t cut_without_quotes(struct cutter *cutter)
{
  return cut(cutter, false);
}

void cut_separated(struct cutter *cutter, struct batch *batch)
{
  const size_t nmissing = cutter->nmissing;
  cutter->njoined = 0;
  memset(cutter->missing, 0, sizeof cutter->missing);
  batch->n = (has_quotes(&cutter->syntax.fields) ? cut_with_quotes : cut_without_quotes)(cutter);
  cutter->records[batch->n].data = cutter->next;
  cutter->bom_nbytes = 0;
  batch->records = cutter->records;
  batch->slices = cutter->keys;
  batch->keys = lanebloom_keys_slices(cutter->keys, batch->n);
  if (cutter->nmissing > nmissing)
    batch->missing = cutter->missing;
}
