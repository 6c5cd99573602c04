/* Makes the partition keys of Cassandra and ScyllaDB. A key of one column is the bytes of its
 * value. A key of several columns has three parts for each: the size of the value in 2 bytes,
 * big-endian; the value; and a byte that is 0.
 * SPDX-License-Identifier: MIT */
#include "partition_key.h"

#include <stdio.h>
#include <string.h>

#include "encoded_bytes.h"
#include "key_form.h"

struct column_type {
  const char *name;
  lanebloom_encoding encoding;
  bool is_number; /* Cassandra stores it big-endian, and the encoding is little-endian */
};

static const struct column_type column_types[] = {{"text", LANEBLOOM_BYTES, false},
                                                  {"int", LANEBLOOM_INT32, true},
                                                  {"bigint", LANEBLOOM_INT64, true},
                                                  {"uuid", LANEBLOOM_UUID, false},
                                                  {"blob", LANEBLOOM_HEX, false}};

enum { OTHER_NBYTES = 3 }; /* the bytes of a column beside its value */

bool parse_partition_key(const char *list, struct partition_key *key, char *problem,
                         size_t problem_size)
{
  *key = (struct partition_key){.n = 0};
  for (const char *at = list;; at++) {
    const size_t nbytes = strcspn(at, ",");
    const struct column_type *found = NULL;
    for (size_t i = 0; i < sizeof column_types / sizeof *column_types; i++)
      if (strlen(column_types[i].name) == nbytes && memcmp(column_types[i].name, at, nbytes) == 0)
        found = &column_types[i];
    if (!found) {
      snprintf(problem, problem_size,
               "expected a list of the types " COLUMN_TYPES_TEXT ", found '%s'", list);
      return false;
    }
    if (key->n == MAX_NCOLUMNS) {
      snprintf(problem, problem_size, "expected at most %d columns, found more", MAX_NCOLUMNS);
      return false;
    }
    key->types[key->n++] = found;
    at += nbytes;
    if (!*at)
      return true;
  }
}

size_t max_partition_key_nbytes(const struct partition_key *key, size_t nbytes)
{
  return nbytes + key->n * (TYPED_NBYTES + OTHER_NBYTES);
}

/* Returns the text of column i, which begins at `at`. The last column ends with the text. Returns
 * false if there is no such column, or if more follow the last one. */
static bool take_column(const struct partition_key *key, size_t i, const char *at, const char *end,
                        lanebloom_slice *column)
{
  const char *tab = key->n > 1 && at < end ? memchr(at, '\t', (size_t)(end - at)) : NULL;
  *column = (lanebloom_slice){at, (size_t)((tab ? tab : end) - at)};
  return (i + 1 < key->n) == (tab != NULL);
}

/* Blobs may be written with 0x before their digits, as cqlsh prints them. */
static lanebloom_slice skip_0x(const struct column_type *type, lanebloom_slice text)
{
  const char *bytes = text.data;
  const bool has_0x =
      type->encoding == LANEBLOOM_HEX && text.size >= 2 && bytes[0] == '0' && bytes[1] == 'x';
  return has_0x ? (lanebloom_slice){bytes + 2, text.size - 2} : text;
}

static uint8_t *encode_value(const struct column_type *type, lanebloom_slice text, uint8_t *to)
{
  static const struct text_units no_units;
  const lanebloom_key_form form = {.encoding = type->encoding};
  uint8_t *end = convert_text(form, &no_units, skip_0x(type, text), to);
  for (uint8_t *low = to, *high = end; end && type->is_number && low < --high; low++) {
    const uint8_t byte = *low;
    *low = *high;
    *high = byte;
  }
  return end;
}

uint8_t *encode_partition_key(const struct partition_key *key, lanebloom_slice text, uint8_t *to)
{
  const char *at = text.data, *end = at + text.size;
  for (size_t i = 0; i < key->n; i++) {
    lanebloom_slice column;
    if (!take_column(key, i, at, end, &column))
      return NULL;
    uint8_t *value = key->n > 1 ? to + 2 : to;
    uint8_t *value_end = encode_value(key->types[i], column, value);
    const size_t nbytes = value_end ? (size_t)(value_end - value) : 0;
    if (!value_end || key->n == 1)
      return value_end;
    if (nbytes > UINT16_MAX)
      return NULL;
    to[0] = (uint8_t)(nbytes >> 8);
    to[1] = (uint8_t)nbytes;
    *value_end = 0;
    to = value_end + 1;
    at += column.size + 1;
  }
  return to;
}

size_t explain_partition_key(const struct partition_key *key, lanebloom_slice text, char *problem,
                             size_t problem_size)
{
  static const struct text_units no_units;
  const char *at = text.data, *end = at + text.size;
  for (size_t i = 0; i < key->n; i++) {
    uint8_t value[TYPED_NBYTES];
    lanebloom_slice column;
    if (!take_column(key, i, at, end, &column))
      break;
    const struct column_type *type = key->types[i];
    const lanebloom_key_form form = {.encoding = type->encoding};
    const lanebloom_slice digits = skip_0x(type, column);
    const bool is_blob = type->encoding == LANEBLOOM_HEX;
    const bool is_good = type->encoding == LANEBLOOM_BYTES ? true
                         : is_blob ? digits.size % 2 == 0 && count_hex_digits(digits) == digits.size
                                   : convert_text(form, &no_units, digits, value) != NULL;
    if (!is_good)
      return (size_t)((const char *)digits.data - (const char *)text.data) +
             explain_text(form, &no_units, digits, problem, problem_size);
    const size_t nbytes = is_blob ? digits.size / 2 : column.size;
    if (nbytes > UINT16_MAX && key->n > 1) {
      snprintf(problem, problem_size, "expected columns of at most 65535 bytes, found %zu", nbytes);
      return (size_t)(at - (const char *)text.data);
    }
    at += column.size + 1;
  }
  size_t ntabs = 0;
  for (const char *byte = text.data; byte < end; byte++)
    ntabs += *byte == '\t';
  snprintf(problem, problem_size, "expected %zu columns with tabs between them, found %zu", key->n,
           ntabs + 1);
  return 0;
}
