/* Finds the types of Arrow arrays by their schemas, and checks whether the values of a type can be
 * keys of a filter.
 * SPDX-License-Identifier: MIT */
#include "type.h"

#include <string.h>

/* The types of keys, by their Arrow format strings. If a string here ends with a colon, any time
 * zone may follow the colon in an array's format string. */
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

/* Parses the digits of a format string such as "w:16". Returns false if the digits are not a number
 * of at most INT32_MAX. */
static bool parse_width(const char *digits, size_t *width)
{
  *width = 0;
  if (!*digits)
    return false;
  for (; *digits >= '0' && *digits <= '9' && *width <= INT32_MAX; digits++)
    *width = *width * 10 + (size_t)(*digits - '0');
  return !*digits && *width <= INT32_MAX;
}

/* Checks whether a format string means a decimal of 128 bits with scale 0: "d:P,0" or
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

/* Checks whether the metadata name this extension type. The metadata begin with the number of
 * pairs; the two strings of each pair follow. A string is stored as its length and its bytes.
 * Numbers have the host's byte order. */
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

static lanebloom_status check_schema(const struct ArrowSchema *schema,
                                     const struct problem *problem)
{
  if (schema->release && schema->format)
    return LANEBLOOM_OK;
  return problem_set(problem, LANEBLOOM_ERR_ARGUMENT,
                     "Arrow schema: expected one that is not released, found %s",
                     schema->release ? "none" : "a released one");
}

lanebloom_status lanebloom_arrow_find_types(const struct ArrowSchema *schema, struct type *rows,
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
  /* Times are integers, too, but are not allowed as indices. Only integers that are no times have
   * format strings of one character. */
  if (find_type(schema, rows, &no_problem) || !is_integer(rows) || schema->format[1] != 0)
    return problem_set(problem, LANEBLOOM_ERR_FORMAT,
                       "Arrow type: expected integers as indices of a dictionary, found \"%.32s\"",
                       schema->format);
  return find_type(schema->dictionary, values, problem);
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

lanebloom_status lanebloom_arrow_check_form(const struct type *type, lanebloom_key_form form,
                                            const char *owner, const struct problem *problem)
{
  if (fits(type, form))
    return LANEBLOOM_OK;
  const char *found = type->is_text ? "text" : lanebloom_encoding_name(type->encoding);
  char expected[LANEBLOOM_KEY_FORM_NBYTES];
  return problem_set(problem, LANEBLOOM_ERR_MISMATCH, "keys of the %s: %s%s; the array has %s",
                     owner, lanebloom_key_form_text(form, expected, sizeof expected),
                     form.flags ? ", but keys of arrays are not changed" : "", found);
}

lanebloom_status lanebloom_arrow_key_form(const struct ArrowSchema *schema,
                                          lanebloom_key_form *form, char *text, size_t text_size)
{
  const struct problem problem = problem_begin(text, text_size);
  struct type rows, values;
  const lanebloom_status status = lanebloom_arrow_find_types(schema, &rows, &values, &problem);
  if (!status)
    *form = (lanebloom_key_form){.encoding = values.encoding};
  return status;
}
