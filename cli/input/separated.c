/* Cuts records into fields. Searches for separators, quotes and line ends in blocks of 64 bytes.
 * The result for a block is a mask, which has one bit for each byte. In the mask of the quotes, the
 * parity of all bits up to a byte tells whether this byte is inside quotes, as in simdjson (G.
 * Langdale, D. Lemire, Parsing Gigabytes of JSON per Second, VLDB Journal 28, 2019, section 3.1.1).
 * If a quote is misplaced, a slower loop finds the fault.
 * SPDX-License-Identifier: MIT */
#include "separated.h"

#include <string.h>

#include "key_form.h"
#include "records.h"

/* A field, without the quotes around it. */
struct span {
  const char *data;
  size_t nbytes;
  bool has_pairs; /* the field contains pairs of quotes, each of which means one quote in the key */
};

/* The position of the cutter in a record. */
struct cursor {
  const char *record, *field;
  size_t nfields;                 /* the number of fields of the record that have ended */
  size_t nfound;                  /* how many of these fields are part of the key */
  struct span found[MAX_NFIELDS]; /* the fields of the key, in the order of the key */
};

static void begin_record(struct cursor *cursor, const char *at, size_t bom_nbytes)
{
  cursor->record = at;
  cursor->field = at + bom_nbytes;
  cursor->nfields = cursor->nfound = 0;
}

/* Stores a fault of the record that is being cut. */
static void set_fault(struct cutter *cutter, const struct cursor *cursor, enum fault_kind kind)
{
  cutter->fault = (struct fault){.kind = kind, .nfields = cursor->nfields};
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
    i += span->data[i] == '"'; /* skip the second quote of a pair */
  }
  return to;
}

/* Joins the found fields to a key, in memory that is valid until the next batch. Returns false if
 * memory ran out. */
static bool join(struct cutter *cutter, const struct cursor *cursor, lanebloom_slice *key)
{
  if (!cutter_reserve(cutter))
    return false;
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

/* Trims each field. This must be done before the fields are joined. */
static void trim_fields(struct cursor *cursor)
{
  for (size_t i = 0; i < cursor->nfound; i++) {
    struct span *span = &cursor->found[i];
    const lanebloom_slice text = trim_text((lanebloom_slice){span->data, span->nbytes});
    span->data = text.data;
    span->nbytes = text.size;
  }
}

/* Sets key n of the batch from the fields that were found. Returns false if the record has a
 * fault. */
static bool set_key(struct cutter *cutter, struct cursor *cursor, size_t n)
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
    return true;
  }
  if (cutter->syntax.form.flags & LANEBLOOM_KEY_TRIMMED)
    trim_fields(cursor);
  if (cursor->nfound == 1 && !cursor->found[0].has_pairs) {
    *key = (lanebloom_slice){cursor->found[0].data, cursor->found[0].nbytes};
  } else if (!join(cutter, cursor, key)) {
    set_fault(cutter, cursor, FAULT_MEMORY);
    return false;
  }
  return true;
}

/* ---- Records ---- */

/* Ends the current field before the byte at `at`, which is a separator or a terminator. If the
 * field is part of the key, stores it. */
__attribute__((always_inline)) static inline void end_field(const struct cutter *cutter,
                                                            struct cursor *cursor, const char *at,
                                                            bool ends_record, bool quotes)
{
  const char *begin = cursor->field, *end = at;
  cursor->field = at + 1;
  if (cutter->order.fields[cursor->nfound].number != cursor->nfields++)
    return;
  if (ends_record && cutter->syntax.crlf && end > begin && end[-1] == '\r')
    end--;
  const bool is_quoted = quotes && *begin == '"';
  if (is_quoted) {
    begin++;
    end--;
  }
  const size_t nbytes = (size_t)(end - begin);
  cursor->found[cutter->order.fields[cursor->nfound++].key_index] =
      (struct span){begin, nbytes, is_quoted && memchr(begin, '"', nbytes)};
}

/* Ends the current record before its terminator at `at`. The record becomes record n of the batch.
 * Returns false if it has a fault. */
__attribute__((always_inline)) static inline bool
end_record(struct cutter *cutter, struct cursor *cursor, const char *at, size_t n)
{
  if (!set_key(cutter, cursor, n))
    return false;
  cutter->records[n] = (lanebloom_slice){cursor->record, (size_t)(at - cursor->record)};
  cutter->next = at + 1;
  begin_record(cursor, at + 1, 0);
  return true;
}

/* ---- Blocks ---- */

/* The facts about the bytes before a block that decide what the block's bytes mean. */
struct quoting {
  uint64_t in_quotes;     /* all bits are set if the block begins inside quotes; otherwise none */
  uint64_t may_open;      /* 1: the first byte of the block may be an opening quote */
  uint64_t after_closing; /* 1: the previous byte was a closing quote */
  uint64_t after_return;  /* 1: the previous two bytes were a closing quote and a carriage return */
  bool has_ends_inside;   /* some block had separators or line ends inside quotes */
};

/* Returns a mask of the next 64 bytes, or of all bytes that are left if these are fewer. A bit is
 * set if its byte is one of the n bytes. n is 1 or 2. */
__attribute__((always_inline)) static inline uint64_t find_marks(const char *block, const char *end,
                                                                 const char *bytes, size_t n)
{
  const size_t nleft = (size_t)(end - block);
  if (nleft >= MARKED_NBYTES)
    return find_bytes(block, bytes, n);
  char last[MARKED_NBYTES] = {0};
  memcpy(last, block, nleft);
  return find_bytes(last, bytes, n) & (((uint64_t)1 << nleft) - 1);
}

/* Returns a mask in which bit i is set if the number of set bits among bits 0 to i of `bits' is
 * odd. */
static inline uint64_t prefix_parity(uint64_t bits)
{
  for (unsigned distance = 1; distance < 64; distance *= 2)
    bits ^= bits << distance;
  return bits;
}

/* Returns a mask of the bytes that must not follow a closing quote, but do. A carriage return may
 * follow a closing quote if a line end follows the carriage return. `outside` marks the bytes
 * outside quotes, and `after` marks the bytes that follow a closing quote but do not end a
 * field. */
static uint64_t find_text_after(const char *block, const char *end, char terminator,
                                uint64_t outside, uint64_t after, struct quoting *quoting)
{
  const uint64_t line_ends = find_marks(block, end, &terminator, 1) & outside;
  const uint64_t returns = find_marks(block, end, "\r", 1) & after;
  const uint64_t expected = returns << 1 | quoting->after_return;
  quoting->after_return = returns >> 63;
  return (after & ~returns) | (expected & ~line_ends);
}

/* `ends` marks the separators and line ends. Removes the marks inside quotes, because these bytes
 * do not end fields. Returns false if a quote is misplaced. */
__attribute__((always_inline)) static inline bool apply_quotes(const struct cutter *cutter,
                                                               const char *block,
                                                               struct quoting *quoting,
                                                               uint64_t *ends)
{
  const uint64_t quotes = find_marks(block, cutter->end, "\"", 1);
  const uint64_t inside = prefix_parity(quotes) ^ quoting->in_quotes;
  const uint64_t opening = quotes & inside, closing = quotes & ~inside;
  quoting->has_ends_inside |= (*ends & inside) != 0;
  *ends &= ~inside;

  /* A quote that directly follows a closing quote forms a pair with it. In the masks, the first
   * quote of the pair closes the field and the second opens it again. */
  const uint64_t after = closing << 1 | quoting->after_closing;
  uint64_t faults = opening & ~(*ends << 1 | quoting->may_open | after);
  uint64_t text = after & ~(*ends | opening);
  if ((text || quoting->after_return) && cutter->syntax.crlf)
    text = find_text_after(block, cutter->end, cutter->syntax.terminator, ~inside, text, quoting);
  faults |= text;
  quoting->in_quotes = 0 - (inside >> 63);
  quoting->may_open = *ends >> 63;
  quoting->after_closing = closing >> 63;
  return faults == 0;
}

/* Cuts records until the batch is full, a record has a fault, or a quote is misplaced. Returns the
 * number of records. Sets *has_ends_inside unless a record has a fault. */
__attribute__((always_inline)) static inline size_t cut(struct cutter *cutter, bool quotes,
                                                        bool *has_ends_inside)
{
  const char terminator = cutter->syntax.terminator;
  const char ends_of_fields[2] = {terminator, cutter->syntax.fields.separator};
  const char *end = cutter->end;
  struct quoting quoting = {.may_open = 1};
  struct cursor cursor;
  size_t n = 0;
  begin_record(&cursor, cutter->next, cutter->bom_nbytes);
  for (const char *block = cursor.field; block < end && n < BATCH_NRECORDS;
       block += MARKED_NBYTES) {
    uint64_t ends = find_marks(block, end, ends_of_fields, 2);
    if (quotes && !apply_quotes(cutter, block, &quoting, &ends))
      break;
    for (; ends && n < BATCH_NRECORDS; ends &= ends - 1) {
      const char *at = block + __builtin_ctzll(ends);
      const bool ends_record = *at == terminator;
      if (cursor.nfound < cutter->syntax.fields.n)
        end_field(cutter, &cursor, at, ends_record, quotes);
      if (!ends_record)
        continue;
      if (!end_record(cutter, &cursor, at, n))
        return n;
      n++;
    }
  }
  *has_ends_inside = quoting.has_ends_inside;
  return n;
}

static size_t cut_with_quotes(struct cutter *cutter, bool *has_ends_inside)
{
  return cut(cutter, true, has_ends_inside);
}

static size_t cut_without_quotes(struct cutter *cutter, bool *has_ends_inside)
{
  return cut(cutter, false, has_ends_inside);
}

/* ---- Misplaced quotes: the slower loop ---- */

/* Handles a quote at `at`. `closing` is the last closing quote of the current field, or NULL.
 * Returns false, with a fault, if the quote is misplaced. */
static bool step_quote(struct cutter *cutter, const struct cursor *cursor, const char *at,
                       bool *in_quotes, const char **closing)
{
  const bool may_open = at == cursor->field || (*closing && at == *closing + 1);
  if (*in_quotes)
    *closing = at;
  else if (!may_open)
    set_fault(cutter, cursor, *closing ? FAULT_AFTER : FAULT_QUOTE);
  *in_quotes = !*in_quotes;
  return cutter->fault.kind == FAULT_NONE;
}

/* Checks a field that ends at `at`. If the field has a closing quote, only a carriage return before
 * a line end may be between this quote and `at`. Returns false, with a fault, if another byte is
 * there. */
static bool check_closing(struct cutter *cutter, const struct cursor *cursor, const char *closing,
                          const char *at)
{
  if (!closing)
    return true;
  const bool has_return = *at == cutter->syntax.terminator && cutter->syntax.crlf && at[-1] == '\r';
  if (closing + 1 != at - has_return)
    set_fault(cutter, cursor, FAULT_AFTER);
  return cutter->fault.kind == FAULT_NONE;
}

/* Cuts records byte by byte, from record n of the batch up to the fault. Returns the number of
 * records in the batch. */
static size_t cut_to_fault(struct cutter *cutter, size_t n)
{
  const char *closing = NULL;
  bool in_quotes = false;
  struct cursor cursor;
  begin_record(&cursor, cutter->next, n == 0 ? cutter->bom_nbytes : 0);
  for (const char *at = cursor.field; at < cutter->end && n < BATCH_NRECORDS; at++) {
    const bool ends_record = *at == cutter->syntax.terminator;
    if (*at == '"' && !step_quote(cutter, &cursor, at, &in_quotes, &closing))
      return n;
    if (in_quotes || (!ends_record && *at != cutter->syntax.fields.separator))
      continue;
    if (!check_closing(cutter, &cursor, closing, at))
      return n;
    end_field(cutter, &cursor, at, ends_record, true);
    closing = NULL;
    if (ends_record && !end_record(cutter, &cursor, at, n))
      return n;
    n += ends_record;
  }
  if (n < BATCH_NRECORDS)
    set_fault(cutter, &cursor, FAULT_UNCLOSED);
  return n;
}

/* ---- Batches ---- */

static uint64_t count_terminators(const struct cutter *cutter, const char *data, const char *end)
{
  uint64_t n = 0;
  for (; data < end; data++)
    n += *data == cutter->syntax.terminator;
  return n;
}

void cut_separated(struct cutter *cutter, struct batch *batch)
{
  const size_t nmissing = cutter->nmissing;
  const char *begin = cutter->next;
  bool has_ends_inside = false;
  cutter->njoined = 0;
  memset(cutter->missing, 0, sizeof cutter->missing);
  batch->n = (has_quotes(&cutter->syntax.fields) ? cut_with_quotes
                                                 : cut_without_quotes)(cutter, &has_ends_inside);
  if (batch->n < BATCH_NRECORDS && cutter->next < cutter->end && !cutter->fault.kind) {
    batch->n = cut_to_fault(cutter, batch->n);
    has_ends_inside = true;
  }
  has_ends_inside |= cutter->fault.kind != FAULT_NONE;
  cutter->nlines += has_ends_inside ? count_terminators(cutter, begin, cutter->next) : batch->n;
  cutter->fault.line = cutter->nlines + 1;
  cutter->records[batch->n].data = cutter->next;
  cutter->bom_nbytes = 0;
  batch->records = cutter->records;
  batch->slices = cutter->keys;
  batch->keys = lanebloom_keys_slices(cutter->keys, batch->n);
  if (cutter->nmissing > nmissing)
    batch->missing = cutter->missing;
}
