/* Makes keys from members of JSON values. Each line of the input is one value. Most keys are bytes
 * of their line and are not copied.
 * SPDX-License-Identifier: MIT */
#include "json_lines.h"

#include <stdio.h>
#include <string.h>

#include "inputs.h"
#include "json.h"
#include "key_form.h"
#include "records.h"

_Static_assert((int)CHUNK_PADDING_NBYTES >= (int)JSON_PADDING_NBYTES, "chunks have less padding");

static bool set_fault(struct cutter *cutter, enum fault_kind kind, const char *text)
{
  cutter->fault = (struct fault){.kind = kind};
  snprintf(cutter->fault.text, sizeof cutter->fault.text, "%s", text);
  return false;
}

/* Call this if record n is not a value or lacks a member. If record n is the first line, and begins
 * an array of all records or a value of many lines, returns advice how to convert the input.
 * Otherwise returns "". */
static const char *advise(const struct cutter *cutter, size_t n, bool is_value)
{
  const lanebloom_slice *record = &cutter->records[n];
  if (n > 0 || cutter->nlines > 0)
    return "";
  const lanebloom_slice text = trim_text((lanebloom_slice){
      (const char *)record->data + cutter->bom_nbytes, record->size - cutter->bom_nbytes});
  const char *bytes = text.data;
  if (text.size == 0 || (!is_value && !strchr("{[,", bytes[text.size - 1])))
    return "";
  return *bytes == '['                ? "; jq -c '.[]' FILE prints an array as lines"
         : *bytes == '{' && !is_value ? "; jq -c . FILE prints each value on one line"
                                      : "";
}

/* Handles record n, which has no key because it lacks this field. Depending on --missing, marks the
 * record or sets a fault. Returns false after a fault. */
static bool set_missing(struct cutter *cutter, size_t n, size_t field, const char *found)
{
  const struct field_syntax *fields = &cutter->syntax.fields;
  char text[sizeof cutter->fault.text];
  if (fields->missing == MISSING_FAIL) {
    snprintf(text, sizeof text,
             "member '%.60s': expected a string, a number, true or false, found %s%s",
             fields->fields[field].name, found, advise(cutter, n, true));
    return set_fault(cutter, FAULT_TEXT, text);
  }
  cutter->keys[n] = (lanebloom_slice){cutter->records[n].data, 0};
  cutter->missing[n / 8] |= (uint8_t)(1 << n % 8);
  cutter->nmissing++;
  return true;
}

static const char *describe_kind(enum json_kind kind)
{
  switch (kind) {
  case JSON_NULL:
    return "null";
  case JSON_OBJECT:
    return "an object";
  case JSON_ARRAY:
    return "an array";
  case JSON_SURROGATE:
    return "a lone surrogate";
  default:
    return "none";
  }
}

/* Is the text part of the line? If not, the text is in memory of the parser. */
static bool is_in_line(const lanebloom_slice *line, const lanebloom_slice *text)
{
  const uintptr_t begin = (uintptr_t)line->data, at = (uintptr_t)text->data;
  return at >= begin && at <= begin + line->size;
}

/* Joins the values to a key, in memory that is valid until the next batch. Returns false, with a
 * fault, if memory ran out. */
static bool join(struct cutter *cutter, const struct json_value *values, lanebloom_slice *key)
{
  if (!cutter_reserve(cutter))
    return set_fault(cutter, FAULT_MEMORY, "");
  char *begin = cutter->joined + cutter->njoined, *end = begin;
  for (size_t i = 0; i < cutter->syntax.fields.n; i++) {
    if (i > 0)
      *end++ = '\t';
    memcpy(end, values[i].text.data, values[i].text.size);
    end += values[i].text.size;
  }
  cutter->njoined = (size_t)(end - cutter->joined);
  *key = (lanebloom_slice){begin, (size_t)(end - begin)};
  return true;
}

/* Sets the key of record n. Returns false if the record has a fault. */
static bool take_key(struct cutter *cutter, size_t n, size_t bom_nbytes)
{
  struct json_value values[MAX_NFIELDS];
  const char *found;
  char text[200];
  const bool trims = cutter->syntax.form.flags & LANEBLOOM_KEY_TRIMMED;
  const lanebloom_slice *record = &cutter->records[n];
  const size_t nfields = cutter->syntax.fields.n;
  switch (json_parse(cutter->json, (const char *)record->data + bom_nbytes,
                     record->size - bom_nbytes, values, &found)) {
  case JSON_OUT_OF_MEMORY:
    return set_fault(cutter, FAULT_MEMORY, "");
  case JSON_INVALID:
    snprintf(text, sizeof text, "expected a JSON value, found %s%s", found,
             advise(cutter, n, false));
    return set_fault(cutter, FAULT_JSON, text);
  case JSON_EMPTY:
    return set_missing(cutter, n, 0, "an empty line");
  case JSON_OK:
    break;
  }
  for (size_t i = 0; i < nfields; i++) {
    if (values[i].kind != JSON_TEXT)
      return set_missing(cutter, n, i, describe_kind(values[i].kind));
    if (trims)
      values[i].text = trim_text(values[i].text);
  }
  if (nfields > 1 || !is_in_line(record, &values[0].text))
    return join(cutter, values, &cutter->keys[n]);
  cutter->keys[n] = values[0].text;
  return true;
}

void take_json_keys(struct cutter *cutter, struct batch *batch)
{
  const size_t nmissing = cutter->nmissing;
  size_t n = 0;
  cutter->njoined = 0;
  memset(cutter->missing, 0, sizeof cutter->missing);
  if (!cutter->json && !(cutter->json = json_parser_create(&cutter->syntax.fields)))
    set_fault(cutter, FAULT_MEMORY, "");
  while (n < batch->n && !cutter->fault.kind &&
         take_key(cutter, n, n == 0 ? cutter->bom_nbytes : 0))
    n++;
  batch->n = n;
  cutter->next = cutter->records[n].data;
  cutter->nlines += n;
  cutter->fault.line = cutter->nlines + 1;
  cutter->bom_nbytes = 0;
  batch->slices = cutter->keys;
  batch->keys = lanebloom_keys_slices(cutter->keys, n);
  if (cutter->nmissing > nmissing)
    batch->missing = cutter->missing;
}
