/* Makes keys from ranges of the bytes of records. A key of one range is not copied.
 * SPDX-License-Identifier: MIT */
#include "byte_ranges.h"

#include <stdio.h>
#include <string.h>

#include "key_form.h"

/* Returns the bytes of the range that the record has, which must have the first one. */
static lanebloom_slice take_range(lanebloom_slice record, const struct field *range, bool trims)
{
  const size_t end = range->last < record.size ? range->last + 1 : record.size;
  const lanebloom_slice bytes = {(const char *)record.data + range->number, end - range->number};
  return trims ? trim_text(bytes) : bytes;
}

/* Handles record i, which lacks the first byte of the range. Depending on --missing, marks the
 * record or sets a fault. Returns false after a fault. */
static bool set_missing(struct cutter *cutter, size_t i, lanebloom_slice record,
                        const struct field *range)
{
  if (cutter->syntax.fields.missing == MISSING_FAIL) {
    cutter->fault = (struct fault){.kind = FAULT_TEXT};
    snprintf(cutter->fault.text, sizeof cutter->fault.text, "expected byte %zu, found %zu byte%s",
             range->number + 1, record.size, record.size == 1 ? "" : "s");
    return false;
  }
  cutter->keys[i] = (lanebloom_slice){record.data, 0};
  cutter->missing[i / 8] |= (uint8_t)(1 << i % 8);
  cutter->nmissing++;
  return true;
}

/* Joins the ranges of a record to a key, in memory that is valid until the next batch. Returns
 * false, with a fault, if memory ran out. */
static bool join(struct cutter *cutter, lanebloom_slice record, bool trims, lanebloom_slice *key)
{
  if (!cutter_reserve(cutter)) {
    cutter->fault = (struct fault){.kind = FAULT_MEMORY};
    return false;
  }
  char *begin = cutter->joined + cutter->njoined, *end = begin;
  for (size_t i = 0; i < cutter->syntax.fields.n; i++) {
    const lanebloom_slice bytes = take_range(record, &cutter->syntax.fields.fields[i], trims);
    if (i > 0)
      *end++ = '\t';
    memcpy(end, bytes.data, bytes.size);
    end += bytes.size;
  }
  cutter->njoined = (size_t)(end - cutter->joined);
  *key = (lanebloom_slice){begin, (size_t)(end - begin)};
  return true;
}

/* Sets the key of record i. Returns false if the record has a fault. */
static bool take_key(struct cutter *cutter, size_t i, lanebloom_slice record)
{
  const struct field_syntax *ranges = &cutter->syntax.fields;
  const bool trims = cutter->syntax.form.flags & LANEBLOOM_KEY_TRIMMED;
  for (size_t j = 0; j < ranges->n; j++)
    if (ranges->fields[j].number >= record.size)
      return set_missing(cutter, i, record, &ranges->fields[j]);
  if (ranges->n > 1)
    return join(cutter, record, trims, &cutter->keys[i]);
  cutter->keys[i] = take_range(record, ranges->fields, trims);
  return true;
}

void take_byte_ranges(struct cutter *cutter, struct batch *batch)
{
  const size_t nmissing = cutter->nmissing;
  size_t n = 0;
  cutter->njoined = 0;
  memset(cutter->missing, 0, sizeof cutter->missing);
  while (n < batch->n && take_key(cutter, n, batch_key(batch, n)))
    n++;
  cutter->next = batch_record(batch, n);
  cutter->nlines += n;
  cutter->fault.line = cutter->nlines + 1;
  batch->n = n;
  batch->slices = cutter->keys;
  batch->keys = lanebloom_keys_slices(cutter->keys, n);
  if (cutter->nmissing > nmissing)
    batch->missing = cutter->missing;
}
