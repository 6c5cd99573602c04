/* Converts values of DuckDB's vectors to keys of filters.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "extension.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "keys are little-endian, as DuckDB is");

/* ---- Types ---- */

/* TIMESTAMPTZ is left out. A TIMESTAMPTZ is a point in time, and a TIMESTAMP is the time that a
 * clock shows. Whether one equals the other depends on the setting TimeZone, so users must cast
 * between them.
 *
 * Integers of fewer than 4 bytes become keys of 4 bytes. So if the type of a column becomes wider,
 * but not wider than 4 bytes, filters of the column can still be queried. A UHUGEINT and a HUGEINT
 * of the same value become the same key. If several types have the same keys, messages advise a
 * cast to the type that is listed first. */
const struct key_type key_types[] = {
    {DUCKDB_TYPE_VARCHAR, "VARCHAR", LANEBLOOM_BYTES, 16},
    {DUCKDB_TYPE_BLOB, "BLOB", LANEBLOOM_BYTES, 16},
    {DUCKDB_TYPE_INTEGER, "INTEGER", LANEBLOOM_INT32, 4},
    {DUCKDB_TYPE_SMALLINT, "SMALLINT", LANEBLOOM_INT32, 2},
    {DUCKDB_TYPE_TINYINT, "TINYINT", LANEBLOOM_INT32, 1},
    {DUCKDB_TYPE_BIGINT, "BIGINT", LANEBLOOM_INT64, 8},
    {DUCKDB_TYPE_UINTEGER, "UINTEGER", LANEBLOOM_UINT32, 4},
    {DUCKDB_TYPE_USMALLINT, "USMALLINT", LANEBLOOM_UINT32, 2},
    {DUCKDB_TYPE_UTINYINT, "UTINYINT", LANEBLOOM_UINT32, 1},
    {DUCKDB_TYPE_UBIGINT, "UBIGINT", LANEBLOOM_UINT64, 8},
    {DUCKDB_TYPE_HUGEINT, "HUGEINT", LANEBLOOM_DECIMAL128, 16},
    {DUCKDB_TYPE_UHUGEINT, "UHUGEINT", LANEBLOOM_DECIMAL128, 16},
    {DUCKDB_TYPE_UUID, "UUID", LANEBLOOM_UUID, 16},
    {DUCKDB_TYPE_DATE, "DATE", LANEBLOOM_DATE32, 4},
    {DUCKDB_TYPE_TIMESTAMP, "TIMESTAMP", LANEBLOOM_TIMESTAMP_US, 8},
    {DUCKDB_TYPE_TIMESTAMP_S, "TIMESTAMP_S", LANEBLOOM_TIMESTAMP_S, 8},
    {DUCKDB_TYPE_TIMESTAMP_MS, "TIMESTAMP_MS", LANEBLOOM_TIMESTAMP_MS, 8},
    {DUCKDB_TYPE_TIMESTAMP_NS, "TIMESTAMP_NS", LANEBLOOM_TIMESTAMP_NS, 8},
};
const size_t nkey_types = sizeof key_types / sizeof *key_types;

static bool is_string(const struct key_type *type)
{
  return type->type == DUCKDB_TYPE_VARCHAR || type->type == DUCKDB_TYPE_BLOB;
}

/* Returns true if the bytes of values, as DuckDB stores them, are the keys. */
static bool is_as_stored(const struct key_type *type)
{
  return type->nbytes >= 4 && type->type != DUCKDB_TYPE_UUID;
}

static size_t key_nbytes(const struct key_type *type)
{
  return type->nbytes < 4 ? 4 : type->nbytes;
}

/* Returns the name of the first type whose keys have this encoding, or NULL if there is none. */
static const char *type_name_of(lanebloom_encoding encoding)
{
  for (size_t i = 0; i < nkey_types; i++)
    if (key_types[i].encoding == encoding)
      return key_types[i].name;
  return NULL;
}

static bool is_whole(lanebloom_encoding encoding)
{
  return (encoding >= LANEBLOOM_INT32 && encoding <= LANEBLOOM_UINT64) ||
         encoding == LANEBLOOM_DECIMAL128;
}

bool check_form(const struct key_type *type, lanebloom_key_form form, problem_text problem)
{
  const bool is_decoded = form.encoding == LANEBLOOM_HEX || form.encoding == LANEBLOOM_BASE64;
  if (!form.flags &&
      (form.encoding == type->encoding || (is_decoded && type->type == DUCKDB_TYPE_BLOB)))
    return true;
  const char *wanted = type_name_of(form.encoding);
  char text[LANEBLOOM_KEY_FORM_NBYTES];
  int n = snprintf(problem, PROBLEM_NBYTES,
                   "keys of the filter: %s; the column is %s, whose keys are %s",
                   lanebloom_key_form_text(form, text, sizeof text), type->name,
                   lanebloom_encoding_name(type->encoding));
  if (!form.flags && is_decoded && is_string(type))
    snprintf(problem + n, PROBLEM_NBYTES - (size_t)n, ": decode it with %s",
             form.encoding == LANEBLOOM_HEX ? "unhex()" : "from_base64()");
  else if (!form.flags && wanted &&
           (is_string(type) || (is_whole(type->encoding) && is_whole(form.encoding))))
    snprintf(problem + n, PROBLEM_NBYTES - (size_t)n, ": cast it to %s", wanted);
  return false;
}

/* ---- Keys ---- */

static void write_uuid(const duckdb_hugeint *value, uint8_t *key)
{
  /* DuckDB stores UUIDs with the top bit flipped, so that they order as signed numbers. */
  const uint64_t upper = (uint64_t)value->upper ^ UINT64_C(1) << 63;
  for (int i = 0; i < 8; i++) {
    key[i] = (uint8_t)(upper >> (56 - 8 * i));
    key[8 + i] = (uint8_t)(value->lower >> (56 - 8 * i));
  }
}

static int32_t small_integer(const struct key_type *type, const void *values, idx_t row)
{
  switch (type->type) {
  case DUCKDB_TYPE_TINYINT:
    return ((const int8_t *)values)[row];
  case DUCKDB_TYPE_SMALLINT:
    return ((const int16_t *)values)[row];
  case DUCKDB_TYPE_UTINYINT:
    return ((const uint8_t *)values)[row];
  default:
    return ((const uint16_t *)values)[row];
  }
}

static void write_key(const struct key_type *type, const void *values, idx_t row, uint8_t *key)
{
  if (type->nbytes < 4) {
    const int32_t number = small_integer(type, values, row);
    memcpy(key, &number, sizeof number);
  } else if (type->type == DUCKDB_TYPE_UUID) {
    write_uuid((const duckdb_hugeint *)values + row, key);
  } else {
    memcpy(key, (const uint8_t *)values + row * type->nbytes, type->nbytes);
  }
}

static lanebloom_keys keys_in(const struct key_type *type, const void *bytes, size_t n)
{
  return is_string(type) ? lanebloom_keys_strings(bytes, n)
                         : lanebloom_keys_fixed(bytes, key_nbytes(type), n);
}

lanebloom_keys keys_of(const struct key_type *type, const struct vector *values, idx_t first,
                       size_t n, struct key_room *room)
{
  /* The pointers in strings that are NULL are arbitrary, so such strings are not hashed in
   * place. */
  if (is_as_stored(type) && !(is_string(type) && values->valid))
    return keys_in(type, (const uint8_t *)values->data + first * type->nbytes, n);
  for (size_t i = 0; i < n; i++) {
    uint8_t *key = room->bytes + i * key_nbytes(type);
    if (vector_has(values, first + i))
      write_key(type, values->data, first + i, key);
    else
      memset(key, 0, key_nbytes(type));
  }
  return keys_in(type, room->bytes, n);
}

lanebloom_keys keys_of_rows(const struct key_type *type, const struct vector *values,
                            const uint16_t *rows, size_t n, struct key_room *room)
{
  for (size_t i = 0; i < n; i++)
    write_key(type, values->data, rows[i], room->bytes + i * key_nbytes(type));
  return keys_in(type, room->bytes, n);
}
