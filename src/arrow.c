/* Screens, adds and hashes the rows of Arrow arrays. Rows are used as lanebloom_keys where they
 * are, if lanebloom_keys has a layout for them. The rows of other arrays, such as those with a
 * dictionary, are gathered in blocks.
 * SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <lanebloom_arrow.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "common/problem.h"
#include "filter.h"
#include "parts.h"

/* ---- Types ---- */

enum array_layout { FIXED, OFFSETS32, OFFSETS64, VIEWS };

/* The memory layout of a type's values, and the encoding of the keys that the values are. */
struct type {
  enum array_layout layout;
  size_t width; /* FIXED: the size of a value in bytes */
  lanebloom_encoding encoding;
  bool is_text; /* for BYTES: the values are text, which HEX and BASE64 do not accept as bytes */
  bool is_signed;
};

/* The types of keys, by their Arrow format strings. If a string here ends with a colon, anything
 * may follow the colon in an array's format string (the time zone). */
static const struct {
  const char *format;
  struct type type;
} TYPES[] = {
    {"u", {.layout = OFFSETS32, .is_text = true}},
    {"U", {.layout = OFFSETS64, .is_text = true}},
    {"vu", {.layout = VIEWS, .is_text = true}},
    {"z", {.layout = OFFSETS32}},
    {"Z", {.layout = OFFSETS64}},
    {"vz", {.layout = VIEWS}},
    {"c", {.width = 1, .encoding = LANEBLOOM_INT32, .is_signed = true}},
    {"s", {.width = 2, .encoding = LANEBLOOM_INT32, .is_signed = true}},
    {"i", {.width = 4, .encoding = LANEBLOOM_INT32, .is_signed = true}},
    {"l", {.width = 8, .encoding = LANEBLOOM_INT64, .is_signed = true}},
    {"C", {.width = 1, .encoding = LANEBLOOM_UINT32}},
    {"S", {.width = 2, .encoding = LANEBLOOM_UINT32}},
    {"I", {.width = 4, .encoding = LANEBLOOM_UINT32}},
    {"L", {.width = 8, .encoding = LANEBLOOM_UINT64}},
    {"f", {.width = 4, .encoding = LANEBLOOM_FLOAT32}},
    {"g", {.width = 8, .encoding = LANEBLOOM_FLOAT64}},
    {"tdD", {.width = 4, .encoding = LANEBLOOM_DATE32}},
    {"tdm", {.width = 8, .encoding = LANEBLOOM_TIMESTAMP_MS}},
    {"tss:", {.width = 8, .encoding = LANEBLOOM_TIMESTAMP_S}},
    {"tsm:", {.width = 8, .encoding = LANEBLOOM_TIMESTAMP_MS}},
    {"tsu:", {.width = 8, .encoding = LANEBLOOM_TIMESTAMP_US}},
    {"tsn:", {.width = 8, .encoding = LANEBLOOM_TIMESTAMP_NS}},
    {"tts", {.width = 4, .encoding = LANEBLOOM_INT32}},
    {"ttm", {.width = 4, .encoding = LANEBLOOM_INT32}},
    {"ttu", {.width = 8, .encoding = LANEBLOOM_INT64}},
    {"ttn", {.width = 8, .encoding = LANEBLOOM_INT64}},
    {"tDs", {.width = 8, .encoding = LANEBLOOM_INT64}},
    {"tDm", {.width = 8, .encoding = LANEBLOOM_INT64}},
    {"tDu", {.width = 8, .encoding = LANEBLOOM_INT64}},
    {"tDn", {.width = 8, .encoding = LANEBLOOM_INT64}},
};

/* The names of types whose values cannot be keys, by the beginnings of their format strings. */
static const struct {
  const char *begin, *name;
} OTHERS[] = {
    {"n", "null"},        {"b", "boolean"},
    {"e", "half float"},  {"d:", "decimal whose width is not 128 bits, or whose scale is not 0"},
    {"ti", "interval"},   {"+w", "fixed-size list"},
    {"+l", "list"},       {"+L", "large list"},
    {"+vl", "list view"}, {"+vL", "large list view"},
    {"+s", "struct"},     {"+m", "map"},
    {"+u", "union"},      {"+r", "run-end encoded"}};

static bool begins(const char *text, const char *begin)
{
  return strncmp(text, begin, strlen(begin)) == 0;
}

/* Parses the digits of a format string such as "w:16". Returns false if they are no number of at
 * most INT32_MAX. */
static bool parse_width(const char *digits, size_t *width)
{
  *width = 0;
  if (!*digits)
    return false;
  for (; *digits >= '0' && *digits <= '9' && *width <= INT32_MAX; digits++)
    *width = *width * 10 + (size_t)(*digits - '0');
  return !*digits && *width <= INT32_MAX;
}

/* Checks whether a format string is that of a decimal of 128 bits with scale 0: "d:P,0" or
 * "d:P,0,128". */
static bool is_whole_decimal(const char *format)
{
  const char *scale = begins(format, "d:") ? strchr(format, ',') : NULL;
  return scale && (strcmp(scale, ",0") == 0 || strcmp(scale, ",0,128") == 0);
}

static int32_t next_count(const char **at)
{
  int32_t count;
  memcpy(&count, *at, sizeof count);
  *at += sizeof count;
  return count;
}

/* Checks whether the metadata name this extension type. Metadata are the number of pairs, followed
 * by the two strings of each pair. A string is its length followed by its bytes. Numbers have the
 * host's byte order. */
static bool has_extension(const struct ArrowSchema *schema, const char *name)
{
  static const char KEY[] = "ARROW:extension:name";
  const char *at = schema->metadata;
  if (!at)
    return false;
  for (int32_t npairs = next_count(&at); npairs > 0; npairs--) {
    const int32_t nkey = next_count(&at);
    const char *key = at;
    if (nkey < 0)
      return false;
    at += nkey;
    const int32_t nvalue = next_count(&at);
    if (nvalue < 0)
      return false;
    if (nkey == sizeof KEY - 1 && memcmp(key, KEY, (size_t)nkey) == 0)
      return (size_t)nvalue == strlen(name) && memcmp(at, name, (size_t)nvalue) == 0;
    at += nvalue;
  }
  return false;
}

static lanebloom_status refuse_type(const char *format, const struct problem *problem)
{
  const char *name = "unknown";
  for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
    if (begins(format, OTHERS[i].begin))
      name = OTHERS[i].name;
  return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                     "Arrow type: expected strings, bytes, numbers, dates, times or a dictionary "
                     "of these, found %s (\"%.32s\")",
                     name, format);
}

/* Finds the type of a schema, without regard to a dictionary. */
static lanebloom_status find_type(const struct ArrowSchema *schema, struct type *type,
                                  const struct problem *problem)
{
  const char *format = schema->format;
  for (size_t i = 0; i < sizeof TYPES / sizeof *TYPES; i++) {
    const char *known = TYPES[i].format;
    if (known[strlen(known) - 1] == ':' ? begins(format, known) : strcmp(format, known) == 0) {
      *type = TYPES[i].type;
      return LANEBLOOM_OK;
    }
  }
  *type = (struct type){.layout = FIXED};
  if (begins(format, "w:") && parse_width(format + 2, &type->width)) {
    if (type->width == 16 && has_extension(schema, "arrow.uuid"))
      type->encoding = LANEBLOOM_UUID;
    return LANEBLOOM_OK;
  }
  if (is_whole_decimal(format)) {
    type->encoding = LANEBLOOM_DECIMAL128;
    type->width = 16;
    return LANEBLOOM_OK;
  }
  return refuse_type(format, problem);
}

static bool is_integer(const struct type *type)
{
  return type->encoding >= LANEBLOOM_INT32 && type->encoding <= LANEBLOOM_UINT64;
}

static lanebloom_status check_schema(const struct ArrowSchema *schema,
                                     const struct problem *problem)
{
  if (schema->release && schema->format)
    return LANEBLOOM_OK;
  return problem_set(problem, LANEBLOOM_ERR_ARGUMENT,
                     "Arrow schema: expected one that is not released, found %s",
                     schema->release ? "none" : "a released one");
}

/* Finds the types of rows and of values. If the array has a dictionary, rows are indices into it,
 * and the values have the dictionary's type. Otherwise rows and values are the same. */
static lanebloom_status find_types(const struct ArrowSchema *schema, struct type *rows,
                                   struct type *values, const struct problem *problem)
{
  lanebloom_status status = check_schema(schema, problem);
  *rows = *values = (struct type){.layout = FIXED};
  if (!status && schema->dictionary)
    status = check_schema(schema->dictionary, problem);
  if (status)
    return status;
  if (!schema->dictionary) {
    status = find_type(schema, values, problem);
    *rows = *values;
    return status;
  }
  if (schema->dictionary->dictionary)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "Arrow type: expected a dictionary of values, found one of dictionaries");
  /* Times are integers as well, but are not allowed as indices; their format strings are longer. */
  if (find_type(schema, rows, &no_problem) || !is_integer(rows) || schema->format[1] != 0)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "Arrow type: expected integers as indices of a dictionary, found \"%.32s\"",
                       schema->format);
  return find_type(schema->dictionary, values, problem);
}

/* Returns the size of a key in bytes. Integers of fewer than 4 bytes become integers of 4. */
static size_t key_nbytes(const struct type *type)
{
  return is_integer(type) && type->width < sizeof(uint32_t) ? sizeof(uint32_t) : type->width;
}

/* Checks whether the bytes of a value are its key. If not, keys are made by copying values as
 * little-endian numbers, integers with at least 4 bytes. */
static bool is_as_stored(const struct type *type)
{
  const bool is_number = type->encoding != LANEBLOOM_BYTES && type->encoding != LANEBLOOM_UUID;
  return key_nbytes(type) == type->width &&
         (!is_number || __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
}

/* Checks whether values of the type can be keys of a filter with this key form. Bytes that are not
 * text also fit the encodings in which users write bytes as text, such as HEX. */
static bool fits(const struct type *type, lanebloom_key_form form)
{
  if (form.flags)
    return false;
  if (type->encoding == form.encoding)
    return true;
  return type->encoding == LANEBLOOM_BYTES && !type->is_text &&
         (form.encoding == LANEBLOOM_HEX || form.encoding == LANEBLOOM_BASE64 ||
          form.encoding == LANEBLOOM_UUID);
}

/* Reports an error if the type does not fit the key form. owner, "filter" or "builder", goes into
 * the message. */
static lanebloom_status check_form(const struct type *type, lanebloom_key_form form,
                                   const char *owner, const struct problem *problem)
{
  if (fits(type, form))
    return LANEBLOOM_OK;
  const char *found = type->is_text ? "text" : lanebloom_encoding_name(type->encoding);
  if (form.flags)
    return problem_set(
        problem, LANEBLOOM_ERR_MISMATCH,
        "keys of the %s: %s%s%s%s, but keys of arrays are not changed; the array has %s", owner,
        lanebloom_encoding_name(form.encoding),
        form.flags & LANEBLOOM_KEY_TRIMMED ? ", trimmed" : "",
        form.flags & LANEBLOOM_KEY_LOWERED ? ", lower-cased" : "",
        form.flags & LANEBLOOM_KEY_JOINED ? ", joined fields" : "", found);
  return problem_set(problem, LANEBLOOM_ERR_MISMATCH, "keys of the %s: %s; the array has %s", owner,
                     lanebloom_encoding_name(form.encoding), found);
}

/* ---- Arrays ---- */

struct column {
  struct type type;
  size_t first;         /* the array's offset, in rows */
  size_t n;             /* rows */
  const uint8_t *valid; /* one bit per row, from `first` on; NULL if there are no nulls */
  /* FIXED: values; VIEWS: views; otherwise bytes. NULL if there are no bytes */
  const uint8_t *values;
  const void *offsets; /* OFFSETS32 and OFFSETS64 */

  const void *const *buffers; /* VIEWS: the buffers of long strings */
  const int64_t *buffer_nbytes;
  size_t nbuffers;
};

/* Without a dictionary, `rows` are the values. With a dictionary, `rows` are indices into
 * `values`. */
struct array {
  struct column rows;   /* with the validity bits of rows */
  struct column values; /* only if has_dictionary is set */
  bool has_dictionary;
};

static lanebloom_status refuse(const struct problem *problem, const char *text)
{
  return problem_set(problem, LANEBLOOM_ERR_ARGUMENT, "Arrow array: %s", text);
}

/* The highest number of rows, and of bytes of strings, that is accepted. No memory holds more, and
 * sizes that are computed from these numbers do not overflow. */
static const int64_t MAX_COUNT = PTRDIFF_MAX / 64;

static bool rows_fit(const struct type *type, const struct ArrowArray *array)
{
  int64_t end, nbytes;
  return array->length >= 0 && array->offset >= 0 &&
         !__builtin_add_overflow(array->length, array->offset, &end) && end <= MAX_COUNT &&
         !__builtin_mul_overflow(end, (int64_t)type->width, &nbytes);
}

static lanebloom_status open_column(const struct type *type, const struct ArrowArray *array,
                                    struct column *column, const struct problem *problem)
{
  static const int64_t NBUFFERS[] = {[FIXED] = 2, [OFFSETS32] = 3, [OFFSETS64] = 3, [VIEWS] = 3};
  const enum array_layout layout = type->layout;
  if (!array->release)
    return refuse(problem, "it is released");
  if (!rows_fit(type, array))
    return refuse(problem, "its length or offset is negative or too large");
  *column =
      (struct column){.type = *type, .first = (size_t)array->offset, .n = (size_t)array->length};
  if (array->length == 0)
    return LANEBLOOM_OK;
  if (array->n_buffers < NBUFFERS[layout] || !array->buffers)
    return refuse(problem, "it has fewer buffers than its type needs");
  if (array->null_count != 0)
    column->valid = array->buffers[0];
  column->values = array->buffers[layout == OFFSETS32 || layout == OFFSETS64 ? 2 : 1];
  if (layout == VIEWS) {
    column->nbuffers = (size_t)array->n_buffers - 3;
    column->buffers = array->buffers + 2;
    column->buffer_nbytes = array->buffers[array->n_buffers - 1];
    if (column->nbuffers > 0 &&
        (!column->buffer_nbytes || (uintptr_t)column->buffer_nbytes % sizeof(int64_t) != 0))
      return refuse(problem, "the sizes of its buffers are missing or not aligned");
  } else if (layout != FIXED) {
    column->offsets = array->buffers[1];
    if (!column->offsets || (uintptr_t)column->offsets % (layout == OFFSETS32 ? 4 : 8) != 0)
      return refuse(problem, "its offsets are missing or not aligned");
  }
  if (!column->values && (layout == VIEWS || (layout == FIXED && type->width > 0)))
    return refuse(problem, "its values are missing");
  return LANEBLOOM_OK;
}

static bool is_valid(const struct column *column, size_t row)
{
  return !column->valid || hits_has_bit(column->valid, column->first + row);
}

/* ---- Checks of the arrays' contents ---- */

static lanebloom_status corrupt(const struct problem *problem, const char *what, size_t row)
{
  return problem_set(problem, LANEBLOOM_ERR_CORRUPT, "Arrow array: row %zu has %s", row, what);
}

/* Checks that offsets never descend, are not negative and not too large, and are all equal if there
 * are no bytes. The loops have no branches, so that compilers turn them into vectors. */
static bool offsets_ascend(const struct column *column)
{
  bool ascend = true;
  if (column->type.layout == OFFSETS32) {
    const int32_t *offsets = (const int32_t *)column->offsets + column->first;
    for (size_t i = 0; i < column->n; i++)
      ascend &= offsets[i] <= offsets[i + 1];
    return ascend && offsets[0] >= 0 && (column->values || offsets[column->n] == offsets[0]);
  }
  const int64_t *offsets = (const int64_t *)column->offsets + column->first;
  for (size_t i = 0; i < column->n; i++)
    ascend &= offsets[i] <= offsets[i + 1];
  return ascend && offsets[0] >= 0 && offsets[column->n] <= MAX_COUNT &&
         (column->values || offsets[column->n] == offsets[0]);
}

/* Arrow's string view begins with the size of the string. If the string has at most 12 bytes, it
 * follows; otherwise 4 bytes of prefix, the number of a buffer, and the string's offset in this
 * buffer follow. */
enum { ARROW_VIEW_NBYTES = 16, AT_INLINE = 4, MAX_INLINE = 12, AT_BUFFER = 8, AT_OFFSET = 12 };

static int32_t int32_at(const uint8_t *bytes)
{
  int32_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

static const uint8_t *view_at(const struct column *column, size_t row)
{
  return column->values + (column->first + row) * ARROW_VIEW_NBYTES;
}

static bool view_is_right(const struct column *column, const uint8_t *view)
{
  const int64_t size = int32_at(view), buffer = int32_at(view + AT_BUFFER),
                offset = int32_at(view + AT_OFFSET);
  if (size <= MAX_INLINE)
    return size >= 0;
  return buffer >= 0 && (size_t)buffer < column->nbuffers && column->buffers[buffer] &&
         offset >= 0 && offset + size <= column->buffer_nbytes[buffer];
}

static lanebloom_status check_column(const struct column *column, const struct problem *problem)
{
  const enum array_layout layout = column->type.layout;
  if (layout == FIXED || column->n == 0)
    return LANEBLOOM_OK;
  if (layout != VIEWS)
    return offsets_ascend(column) ? LANEBLOOM_OK
                                  : problem_set(problem, LANEBLOOM_ERR_CORRUPT,
                                                "Arrow array: its offsets fall, or are negative or "
                                                "too large");
  for (size_t row = 0; row < column->n; row++)
    if (is_valid(column, row) && !view_is_right(column, view_at(column, row)))
      return corrupt(problem, "a view that points outside its buffers", row);
  return LANEBLOOM_OK;
}

/* ---- Dictionaries ---- */

/* Returns the integer of a row, as two's complement of 64 bits. */
static uint64_t integer_at(const struct column *column, size_t row)
{
  const uint8_t *at = column->values + (column->first + row) * column->type.width;
  const bool is_signed = column->type.is_signed;
  uint8_t value8;
  uint16_t value16;
  uint32_t value32;
  uint64_t value64;
  switch (column->type.width) {
  case sizeof value8:
    value8 = *at;
    return is_signed ? (uint64_t)(int8_t)value8 : value8;
  case sizeof value16:
    memcpy(&value16, at, sizeof value16);
    return is_signed ? (uint64_t)(int16_t)value16 : value16;
  case sizeof value32:
    memcpy(&value32, at, sizeof value32);
    return is_signed ? (uint64_t)(int32_t)value32 : value32;
  default:
    memcpy(&value64, at, sizeof value64);
    return value64;
  }
}

static lanebloom_status check_indices(const struct array *array, const struct problem *problem)
{
  for (size_t row = 0; row < array->rows.n; row++)
    if (is_valid(&array->rows, row) && integer_at(&array->rows, row) >= array->values.n)
      return corrupt(problem, "an index that is not in the dictionary", row);
  return LANEBLOOM_OK;
}

/* Opens and checks an array. */
static lanebloom_status open_array(const struct ArrowSchema *schema, const struct ArrowArray *arrow,
                                   struct array *array, const struct problem *problem)
{
  struct type rows, values;
  lanebloom_status status = find_types(schema, &rows, &values, problem);
  if (status)
    return status;
  *array = (struct array){.has_dictionary = schema->dictionary};
  status = open_column(&rows, arrow, &array->rows, problem);
  if (status)
    return status;
  if (!array->has_dictionary)
    return check_column(&array->rows, problem);
  if (!arrow->dictionary)
    return refuse(problem, "its dictionary is missing");
  status = open_column(&values, arrow->dictionary, &array->values, problem);
  if (!status)
    status = check_column(&array->values, problem);
  return status ? status : check_indices(array, problem);
}

static const struct column *values_of(const struct array *array)
{
  return array->has_dictionary ? &array->values : &array->rows;
}

/* ---- Keys ---- */

/* BLOCK_NROWS is the number of rows that are gathered at once. Blocks are on the stack, whose use
 * lanebloom.h documents under "Stack". */
enum { BLOCK_NROWS = 512, MAX_NUMBER_NBYTES = 16 };

/* Stands for a row that has no value, because it is null. Its key is empty, or 0. */
static const size_t NO_ROW = SIZE_MAX;

struct block {
  size_t rows[BLOCK_NROWS];
  union {
    lanebloom_slice slices[BLOCK_NROWS];
    uint8_t numbers[BLOCK_NROWS * MAX_NUMBER_NBYTES];
  };
};

/* The address of values if a column has no bytes, because arithmetic on NULL would be undefined. */
static const uint8_t EMPTY[1];

static lanebloom_slice value_at(const struct column *column, size_t row)
{
  const size_t at = column->first + row;
  switch (column->type.layout) {
  case OFFSETS32: {
    const uint32_t *offsets = column->offsets;
    return (lanebloom_slice){column->values ? column->values + offsets[at] : EMPTY,
                             offsets[at + 1] - offsets[at]};
  }
  case OFFSETS64: {
    const uint64_t *offsets = column->offsets;
    return (lanebloom_slice){column->values ? column->values + offsets[at] : EMPTY,
                             offsets[at + 1] - offsets[at]};
  }
  case VIEWS: {
    const uint8_t *view = view_at(column, row);
    const int32_t size = int32_at(view);
    const uint8_t *bytes = view + AT_INLINE;
    if (size > MAX_INLINE)
      bytes =
          (const uint8_t *)column->buffers[int32_at(view + AT_BUFFER)] + int32_at(view + AT_OFFSET);
    return (lanebloom_slice){bytes, (size_t)size};
  }
  case FIXED:
    break;
  }
  return (lanebloom_slice){column->values ? column->values + at * column->type.width : EMPTY,
                           column->type.width};
}

/* Writes the key of a fixed-size value of at most MAX_NUMBER_NBYTES bytes. Numbers become
 * little-endian, and integers get at least 4 bytes. */
static inline void write_number(const struct column *column, size_t row, uint8_t *to)
{
  const struct type *type = &column->type;
  if (is_integer(type) && type->width < sizeof(uint32_t)) {
    store_le32(to, (uint32_t)integer_at(column, row));
    return;
  }
  const uint8_t *from = value_at(column, row).data;
  if (is_as_stored(type)) {
    memcpy(to, from, type->width);
    return;
  }
  for (size_t i = 0; i < type->width; i++)
    to[i] = from[__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? i : type->width - 1 - i];
}

/* Returns the keys of the first n rows of block->rows. Short values of fixed size are copied to the
 * block; other values become slices. */
static lanebloom_keys gather(const struct column *column, struct block *block, size_t n)
{
  const size_t nbytes = key_nbytes(&column->type);
  if (column->type.layout != FIXED || nbytes > MAX_NUMBER_NBYTES) {
    for (size_t i = 0; i < n; i++)
      block->slices[i] =
          block->rows[i] == NO_ROW ? (lanebloom_slice){EMPTY, 0} : value_at(column, block->rows[i]);
    return lanebloom_keys_slices(block->slices, n);
  }
  memset(block->numbers, 0, n * nbytes);
  for (size_t i = 0; i < n && nbytes > 0; i++) /* values without bytes may have no memory */
    if (block->rows[i] != NO_ROW)
      write_number(column, block->rows[i], block->numbers + i * nbytes);
  return lanebloom_keys_fixed(block->numbers, nbytes, n);
}

/* Checks whether rows can be used as lanebloom_keys without copying. Rows that are null are used as
 * well, whatever their values are. Offsets cannot be used if there are no bytes, because they may
 * point anywhere. */
static bool is_direct(const struct array *array)
{
  const struct column *rows = &array->rows;
  return !array->has_dictionary && rows->type.layout != VIEWS && is_as_stored(&rows->type) &&
         (rows->type.layout == FIXED || rows->values);
}

/* Returns the keys of rows [first, first + n), without copying. is_direct() must be true. */
static lanebloom_keys direct_keys(const struct column *column, size_t first, size_t n)
{
  const size_t at = column->first + first;
  if (column->type.layout == OFFSETS32)
    return lanebloom_keys_offsets32(column->values, (const uint32_t *)column->offsets + at, n);
  if (column->type.layout == OFFSETS64)
    return lanebloom_keys_offsets64(column->values, (const uint64_t *)column->offsets + at, n);
  return lanebloom_keys_fixed(value_at(column, first).data, column->type.width, n);
}

/* Returns the keys of rows [first, first + n) of any array; n is at most BLOCK_NROWS. Rows that are
 * null get a key, too, which the caller must ignore. */
static lanebloom_keys block_keys(const struct array *array, size_t first, size_t n,
                                 struct block *block)
{
  if (is_direct(array))
    return direct_keys(&array->rows, first, n);
  for (size_t i = 0; i < n; i++) {
    const size_t row = first + i;
    size_t value = is_valid(&array->rows, row) ? row : NO_ROW;
    if (array->has_dictionary && value != NO_ROW) {
      value = (size_t)integer_at(&array->rows, row);
      value = is_valid(&array->values, value) ? value : NO_ROW;
    }
    block->rows[i] = value;
  }
  return gather(values_of(array), block, n);
}

static bool is_null(const struct array *array, size_t row)
{
  return !is_valid(&array->rows, row) ||
         (array->has_dictionary &&
          !is_valid(&array->values, (size_t)integer_at(&array->rows, row)));
}

static bool may_have_nulls(const struct array *array)
{
  return array->rows.valid || (array->has_dictionary && array->values.valid);
}

static size_t min(size_t a, size_t b)
{
  return a < b ? a : b;
}

/* ---- Screening ---- */

struct query {
  const lanebloom_filter *filter;
  struct array array;
  uint8_t *hits_of_values; /* one bit per value of the dictionary; NULL if rows are screened */
};

/* Clears the hits of rows that are null in this column. */
static void clear_nulls(const struct column *column, size_t first, size_t n, uint8_t *hits)
{
  const size_t at = column->first + first, shift = at % 8;
  const uint8_t *valid = column->valid + at / 8;
  const size_t nvalid = hits_nbytes(shift + n);
  for (size_t i = 0; i < hits_nbytes(n); i++) {
    const unsigned next = shift > 0 && i + 1 < nvalid ? valid[i + 1] : 0;
    hits[i] &= (uint8_t)(valid[i] >> shift | next << (8 - shift));
  }
}

static void screen_blocks(const lanebloom_filter *filter, const struct array *array, size_t first,
                          size_t n, uint8_t *hits)
{
  struct block block;
  for (size_t done = 0; done < n; done += BLOCK_NROWS) {
    const lanebloom_keys keys = block_keys(array, first + done, min(n - done, BLOCK_NROWS), &block);
    lanebloom_filter_screen(filter, &keys, hits + done / 8);
  }
}

static void look_up(const struct query *query, size_t first, size_t n, uint8_t *hits)
{
  const struct column *rows = &query->array.rows;
  memset(hits, 0, hits_nbytes(n));
  for (size_t i = 0; i < n; i++) {
    const uint64_t value = integer_at(rows, first + i); /* may be any number if the row is null */
    if (value < query->array.values.n && hits_has_bit(query->hits_of_values, value))
      hits_set_bit(hits, i);
  }
}

static void screen_rows(const void *of, size_t first, size_t n, uint8_t *hits)
{
  const struct query *query = of;
  const struct array *array = &query->array;
  if (query->hits_of_values) {
    look_up(query, first, n, hits);
  } else if (is_direct(array)) {
    const lanebloom_keys keys = direct_keys(&array->rows, first, n);
    lanebloom_filter_screen(query->filter, &keys, hits);
  } else {
    screen_blocks(query->filter, array, first, n, hits);
  }
  if (array->rows.valid)
    clear_nulls(&array->rows, first, n, hits);
  for (size_t i = 0; !query->hits_of_values && array->values.valid && i < n; i++)
    if (hits_has_bit(hits, i) && is_null(array, first + i))
      hits_clear_bit(hits, i);
}

/* Screens all rows of the array, and returns how many may be in the filter. The function is not
 * inlined, because each copy of it would need stack for the hits of a part. */
static __attribute__((noinline)) size_t run_query(const struct query *query, enum answer_form form,
                                                  void *to)
{
  return screen_in_parts(screen_rows, query, query->array.rows.n, form, to);
}

/* Screens each value of a dictionary once, so that screening a row is a look-up. */
static lanebloom_status screen_values(struct query *query, const struct problem *problem)
{
  struct query values = {.filter = query->filter, .array = {.rows = query->array.values}};
  const size_t n = values.array.rows.n;
  query->hits_of_values = malloc(hits_nbytes(n) + 1);
  if (!query->hits_of_values)
    return problem_memory(problem, hits_nbytes(n) + 1);
  run_query(&values, AS_BITMAP, query->hits_of_values);
  return LANEBLOOM_OK;
}

/* Begins a query. On success the caller must call end_query(). */
static lanebloom_status begin_query(const lanebloom_filter *filter,
                                    const struct ArrowSchema *schema,
                                    const struct ArrowArray *arrow, struct query *query,
                                    const struct problem *problem)
{
  *query = (struct query){.filter = filter};
  struct array *array = &query->array;
  lanebloom_status status = open_array(schema, arrow, array, problem);
  if (!status)
    status = check_form(&values_of(array)->type, filter->key_form, "filter", problem);
  if (!status && array->has_dictionary && array->values.n <= array->rows.n)
    status = screen_values(query, problem);
  return status;
}

static void end_query(struct query *query)
{
  free(query->hits_of_values);
}

static lanebloom_status screen_arrow(const lanebloom_filter *filter,
                                     const struct ArrowSchema *schema,
                                     const struct ArrowArray *arrow, size_t max_nrows,
                                     enum answer_form form, void *to, size_t *count,
                                     const struct problem *problem)
{
  struct query query;
  lanebloom_status status = begin_query(filter, schema, arrow, &query, problem);
  if (status)
    return status;
  if (query.array.rows.n > max_nrows)
    status = problem_set(problem, LANEBLOOM_ERR_LIMIT,
                         "Arrow array: expected at most %zu rows, found %zu", max_nrows,
                         query.array.rows.n);
  else
    *count = run_query(&query, form, to);
  end_query(&query);
  return status;
}

lanebloom_status lanebloom_filter_screen_arrow(const lanebloom_filter *filter,
                                               const struct ArrowSchema *schema,
                                               const struct ArrowArray *array, uint8_t *bitmap,
                                               size_t *count, char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  return screen_arrow(filter, schema, array, SIZE_MAX, AS_BITMAP, bitmap, count, &problem);
}

lanebloom_status lanebloom_filter_mask_arrow(const lanebloom_filter *filter,
                                             const struct ArrowSchema *schema,
                                             const struct ArrowArray *array, uint8_t *mask,
                                             size_t *count, char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  return screen_arrow(filter, schema, array, SIZE_MAX, AS_MASK, mask, count, &problem);
}

lanebloom_status lanebloom_filter_select_arrow(const lanebloom_filter *filter,
                                               const struct ArrowSchema *schema,
                                               const struct ArrowArray *array, uint32_t *indices,
                                               size_t *count, char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  return screen_arrow(filter, schema, array, UINT32_MAX, AS_INDICES, indices, count, &problem);
}

/* ---- Results as an array ---- */

/* The memory that the array of results owns: its list of buffers, followed by the bits. */
struct booleans {
  const void *buffers[2];
  uint8_t bits[];
};

static void release_booleans(struct ArrowArray *array)
{
  free(array->private_data);
  array->release = NULL;
}

static void release_schema(struct ArrowSchema *schema)
{
  free(schema->private_data); /* the name */
  schema->release = NULL;
}

lanebloom_status
lanebloom_filter_booleans_arrow(const lanebloom_filter *filter, const struct ArrowSchema *schema,
                                const struct ArrowArray *array, struct ArrowSchema *booleans_schema,
                                struct ArrowArray *booleans, char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  *booleans_schema = (struct ArrowSchema){0};
  *booleans = (struct ArrowArray){0};
  struct query query;
  const lanebloom_status status = begin_query(filter, schema, array, &query, &problem);
  if (status)
    return status;
  const size_t nbytes = sizeof(struct booleans) + hits_nbytes(query.array.rows.n) + 1;
  struct booleans *made = malloc(nbytes);
  char *name = strdup(schema->name ? schema->name : "");
  if (made && name)
    run_query(&query, AS_BITMAP, made->bits);
  end_query(&query);
  if (!made || !name) {
    free(made);
    free(name);
    return problem_memory(&problem, nbytes);
  }
  made->buffers[0] = NULL;
  made->buffers[1] = made->bits;
  *booleans = (struct ArrowArray){.length = array->length,
                                  .n_buffers = 2,
                                  .buffers = made->buffers,
                                  .release = release_booleans,
                                  .private_data = made};
  *booleans_schema = (struct ArrowSchema){
      .format = "b", .name = name, .release = release_schema, .private_data = name};
  return LANEBLOOM_OK;
}

/* ---- Adding ---- */

static lanebloom_status add_block(lanebloom_builder *builder, const struct column *column,
                                  struct block *block, size_t *n)
{
  const lanebloom_keys keys = gather(column, block, *n);
  *n = 0;
  return lanebloom_builder_add(builder, &keys);
}

/* Adds the valid rows of a column. If `used` is not NULL, only rows whose bit is set in it are
 * added. */
static lanebloom_status add_rows(lanebloom_builder *builder, const struct column *column,
                                 const uint8_t *used)
{
  struct block block;
  size_t n = 0;
  lanebloom_status status = LANEBLOOM_OK;
  for (size_t row = 0; row < column->n && !status; row++) {
    if (!is_valid(column, row) || (used && !hits_has_bit(used, row)))
      continue;
    block.rows[n++] = row;
    if (n == BLOCK_NROWS)
      status = add_block(builder, column, &block, &n);
  }
  return status || n == 0 ? status : add_block(builder, column, &block, &n);
}

/* Adds each value of a dictionary that at least one row has. Each is added once. */
static lanebloom_status add_used(lanebloom_builder *builder, const struct array *array,
                                 const struct problem *problem)
{
  uint8_t *used = calloc(hits_nbytes(array->values.n) + 1, 1);
  if (!used)
    return problem_memory(problem, hits_nbytes(array->values.n) + 1);
  for (size_t row = 0; row < array->rows.n; row++)
    if (is_valid(&array->rows, row))
      hits_set_bit(used, (size_t)integer_at(&array->rows, row));
  const lanebloom_status status = add_rows(builder, &array->values, used);
  free(used);
  return status;
}

lanebloom_status lanebloom_builder_add_arrow(lanebloom_builder *builder,
                                             const struct ArrowSchema *schema,
                                             const struct ArrowArray *arrow, char *text,
                                             size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  struct array array;
  lanebloom_status status = open_array(schema, arrow, &array, &problem);
  if (!status)
    status = check_form(&values_of(&array)->type, lanebloom_builder_key_form(builder), "builder",
                        &problem);
  if (status)
    return status;
  /* Rows are added block by block. If memory ran out between two blocks, a part of the array would
   * be added. So room for all keys is made first, and then either all of them are added or none. */
  status = lanebloom_builder_reserve(builder, min(array.rows.n, values_of(&array)->n));
  if (!status && is_direct(&array) && !may_have_nulls(&array)) {
    const lanebloom_keys keys = direct_keys(&array.rows, 0, array.rows.n);
    status = lanebloom_builder_add(builder, &keys);
  } else if (!status) {
    status = array.has_dictionary ? add_used(builder, &array, &problem)
                                  : add_rows(builder, &array.rows, NULL);
  }
  return status ? problem_status(&problem, status) : LANEBLOOM_OK;
}

/* ---- Slices, hashes, types ---- */

lanebloom_status lanebloom_arrow_slices(const struct ArrowSchema *schema,
                                        const struct ArrowArray *arrow, lanebloom_slice *slices,
                                        void *numbers, char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  struct array array;
  const lanebloom_status status = open_array(schema, arrow, &array, &problem);
  if (status)
    return status;
  const struct column *values = values_of(&array);
  for (size_t row = 0; row < array.rows.n; row++) {
    slices[row] = (lanebloom_slice){NULL, 0};
    if (is_null(&array, row))
      continue;
    const size_t value = array.has_dictionary ? (size_t)integer_at(&array.rows, row) : row;
    if (values->type.layout != FIXED || is_as_stored(&values->type)) {
      slices[row] = value_at(values, value);
      continue;
    }
    uint8_t *number = (uint8_t *)numbers + row * MAX_NUMBER_NBYTES;
    write_number(values, value, number);
    slices[row] = (lanebloom_slice){number, key_nbytes(&values->type)};
  }
  return LANEBLOOM_OK;
}

lanebloom_status lanebloom_hash_arrow(lanebloom_format format, const struct ArrowSchema *schema,
                                      const struct ArrowArray *arrow, void *hashes, char *text,
                                      size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  const size_t hash_nbytes = lanebloom_format_hash_size(format);
  struct array array;
  struct block block;
  lanebloom_status status = open_array(schema, arrow, &array, &problem);
  if (status)
    return status;
  const lanebloom_keys none = lanebloom_keys_fixed(NULL, 0, 0);
  status = lanebloom_hash(format, &none, hashes); /* finds errors of `format` even without rows */
  for (size_t first = 0, n; first < array.rows.n && !status; first += n) {
    n = min(array.rows.n - first, BLOCK_NROWS);
    uint8_t *to = (uint8_t *)hashes + first * hash_nbytes;
    const lanebloom_keys keys = block_keys(&array, first, n, &block);
    status = lanebloom_hash(format, &keys, to);
    for (size_t i = 0; !status && may_have_nulls(&array) && i < n; i++)
      if (is_null(&array, first + i))
        memset(to + i * hash_nbytes, 0, hash_nbytes);
  }
  return status ? problem_status(&problem, status) : LANEBLOOM_OK;
}

lanebloom_status lanebloom_arrow_key_form(const struct ArrowSchema *schema,
                                          lanebloom_key_form *form, char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  struct type rows, values;
  const lanebloom_status status = find_types(schema, &rows, &values, &problem);
  if (!status)
    *form = (lanebloom_key_form){.encoding = values.encoding};
  return status;
}
