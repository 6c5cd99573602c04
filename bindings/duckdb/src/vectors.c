/* Reads and writes vectors of DuckDB, which are columns of a chunk, and makes error messages.
 * SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "extension.h"

/* ---- Errors ---- */

/* Returns the number of bytes of the UTF-8 character at `text`, or 0 if these bytes are no valid
 * character. */
static size_t character_nbytes(const char *text)
{
  const uint8_t first = (uint8_t)*text;
  const size_t n = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  for (size_t i = 1; i < n; i++)
    if (((uint8_t)text[i] & 0xc0) != 0x80)
      return 0;
  /* Refuse an overlong encoding, a surrogate of UTF-16, and a number beyond Unicode. */
  const uint8_t second = n > 1 ? (uint8_t)text[1] : 0;
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
      (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f))
    return 0;
  return first < 0xf5 ? n : 0;
}

static bool is_utf8(const char *text)
{
  for (size_t n; *text; text += n)
    if ((n = character_nbytes(text)) == 0)
      return false;
  return true;
}

/* Makes a text valid UTF-8: each invalid byte becomes '?'. A text may be invalid because messages
 * cut names anywhere, and because names in files may have any bytes. Clients drop invalid texts,
 * and functions of DuckDB may loop for ever on them. */
static void make_utf8(char *text)
{
  for (char *at = text; *at;) {
    const size_t n = character_nbytes(at);
    if (n == 0)
      *at = '?';
    at += n ? n : 1;
  }
}

void explain(problem_text problem, const char *where, lanebloom_status status, const char *why)
{
  snprintf(problem, PROBLEM_NBYTES, "%s: %s", where,
           why && *why ? why : lanebloom_status_text(status));
  make_utf8(problem);
}

bool refuse(duckdb_function_info info, const char *where, lanebloom_status status, const char *why)
{
  problem_text text;
  explain(text, where, status, why);
  duckdb_scalar_function_set_error(info, text);
  return false;
}

void explain_blob(problem_text problem, lanebloom_status status, const char *why)
{
  const bool is_other = status == LANEBLOOM_ERR_FORMAT || status == LANEBLOOM_ERR_CORRUPT;
  explain(problem,
          is_other ? "expected a BLOB from lanebloom_build(), or the bytes of a lanebloom file"
                   : "BLOB",
          status, why);
}

/* ---- Vectors ---- */

struct vector vector_of(duckdb_data_chunk chunk, idx_t column)
{
  duckdb_vector vector = duckdb_data_chunk_get_vector(chunk, column);
  return (struct vector){duckdb_vector_get_data(vector), duckdb_vector_get_validity(vector)};
}

bool vector_has(const struct vector *vector, idx_t row)
{
  return !vector->valid || (vector->valid[row / 64] >> (row % 64) & 1);
}

lanebloom_slice vector_slice(const struct vector *vector, idx_t row)
{
  const duckdb_string_t *string = (const duckdb_string_t *)vector->data + row;
  const uint32_t nbytes = string->value.inlined.length;
  return (lanebloom_slice){nbytes <= sizeof string->value.inlined.inlined
                               ? string->value.inlined.inlined
                               : string->value.pointer.ptr,
                           nbytes};
}

char *text_of(lanebloom_slice slice)
{
  return memchr(slice.data, 0, slice.size) ? NULL : strndup(slice.data, slice.size);
}

/* ---- Results ---- */

void vector_set_null(duckdb_vector vector, idx_t row)
{
  duckdb_vector_ensure_validity_writable(vector);
  duckdb_validity_set_row_invalid(duckdb_vector_get_validity(vector), row);
}

void vector_set_bool(duckdb_vector vector, idx_t row, bool value)
{
  ((bool *)duckdb_vector_get_data(vector))[row] = value;
}

void vector_set_count(duckdb_vector vector, idx_t row, uint64_t value)
{
  if (value == LANEBLOOM_UNKNOWN)
    vector_set_null(vector, row);
  else
    ((uint64_t *)duckdb_vector_get_data(vector))[row] = value;
}

void vector_set_double(duckdb_vector vector, idx_t row, double value)
{
  if (isnan(value))
    vector_set_null(vector, row);
  else
    ((double *)duckdb_vector_get_data(vector))[row] = value;
}

void vector_set_text(duckdb_vector vector, idx_t row, const char *text)
{
  if (!text) {
    vector_set_null(vector, row);
  } else if (is_utf8(text)) {
    duckdb_vector_assign_string_element(vector, row, text);
  } else {
    char *copy = strdup(text);
    if (copy)
      make_utf8(copy);
    duckdb_vector_assign_string_element(vector, row, copy ? copy : "?");
    free(copy);
  }
}

void vector_set_bytes(duckdb_vector vector, idx_t row, lanebloom_slice bytes)
{
  duckdb_vector_assign_string_element_len(vector, row, bytes.data, bytes.size);
}
