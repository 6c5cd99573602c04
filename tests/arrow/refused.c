/* Arrays that are refused: each call reports it in the same words, writes nothing, and adds
 * nothing.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "made.h"

static struct ArrowSchema schema_of(const char *format)
{
  return (struct ArrowSchema){.format = format, .name = "made", .release = made_release_schema};
}

static struct ArrowArray array_of(int64_t length, const void **buffers, int64_t nbuffers)
{
  return (struct ArrowArray){
      .length = length, .n_buffers = nbuffers, .buffers = buffers, .release = made_release_array};
}

/* ---- Every call ---- */

static lanebloom_keys three_keys(void)
{
  return lanebloom_keys_fixed("abc", 1, 3);
}

static lanebloom_filter *filter_with(lanebloom_key_form form)
{
  const lanebloom_keys keys = three_keys();
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_build(LANEBLOOM_LEVELDB, 10, &keys, &filter) == LANEBLOOM_OK);
  cr_assert(lanebloom_filter_set_key_form(filter, form) == LANEBLOOM_OK);
  return filter;
}

struct refusal {
  lanebloom_status status;
  char text[256], old[256]; /* the expected problem, and the one before it */
  char problem[256];
};

static void begin(struct refusal *refusal)
{
  memset(refusal->problem, 'x', sizeof refusal->problem - 1);
}

static void is_refused(struct refusal *refusal, const char *call, lanebloom_status status)
{
  if (status != refusal->status || strcmp(refusal->problem, refusal->text) != 0)
    test_fatal("%s: %s: %s; expected %s: %s", call, lanebloom_status_text(status), refusal->problem,
               lanebloom_status_text(refusal->status), refusal->text);
  begin(refusal);
}

/* owner: replaces %s in the text. */
static struct refusal refusal_of(lanebloom_status status, const char *text, const char *owner)
{
  struct refusal refusal = {.status = status};
  const char *at = strstr(text, "%s");
  snprintf(refusal.text, sizeof refusal.text, "%.*s%s%s", at ? (int)(at - text) : (int)strlen(text),
           text, at ? owner : "", at ? at + 2 : "");
  begin(&refusal);
  return refusal;
}

static void filters_refuse(const struct ArrowSchema *schema, const struct ArrowArray *array,
                           lanebloom_key_form form, lanebloom_status status, const char *text)
{
  struct refusal refusal = refusal_of(status, text, "filter");
  lanebloom_filter *filter = filter_with(form);
  uint8_t bytes[8] = "oldbyte";
  uint32_t index = 77;
  size_t count = 99;
  char *problem = refusal.problem;
  const size_t size = sizeof refusal.problem;
  is_refused(&refusal, "screen",
             lanebloom_filter_screen_arrow(filter, schema, array, bytes, &count, problem, size));
  is_refused(&refusal, "count",
             lanebloom_filter_screen_arrow(filter, schema, array, NULL, &count, problem, size));
  is_refused(&refusal, "mask",
             lanebloom_filter_mask_arrow(filter, schema, array, bytes, &count, problem, size));
  is_refused(&refusal, "select",
             lanebloom_filter_select_arrow(filter, schema, array, &index, &count, problem, size));
  struct ArrowSchema booleans_schema = schema_of("b");
  struct ArrowArray booleans = array_of(1, NULL, 0);
  is_refused(&refusal, "booleans",
             lanebloom_filter_booleans_arrow(filter, schema, array, &booleans_schema, &booleans,
                                             problem, size));
  cr_assert(!booleans_schema.release && !booleans.release);
  cr_assert(strcmp((char *)bytes, "oldbyte") == 0 && index == 77 && count == 99);

  char cut[10] = "old";
  cr_assert(lanebloom_filter_screen_arrow(filter, schema, array, NULL, &count, cut, sizeof cut) ==
            status);
  cr_assert(strncmp(cut, refusal.text, sizeof cut - 1) == 0 && strlen(cut) == sizeof cut - 1);
  cr_assert(lanebloom_filter_screen_arrow(filter, schema, array, NULL, &count, NULL, 0) == status);
  lanebloom_filter_close(filter);
}

/* After the refused call the builder finishes as if it had not been made, sized or not. */
static void builders_refuse(const struct ArrowSchema *schema, const struct ArrowArray *array,
                            lanebloom_key_form form, lanebloom_status status, const char *text)
{
  struct refusal refusal = refusal_of(status, text, "builder");
  const lanebloom_keys keys = three_keys();
  for (uint64_t expected_keys = 0; expected_keys <= 3; expected_keys += 3) {
    lanebloom_builder *builder;
    lanebloom_filter *filter, *expected = filter_with(form);
    lanebloom_filter_info info;
    size_t nbytes;
    const void *bytes = lanebloom_filter_bytes(expected, &nbytes);
    cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, 10, expected_keys, &builder) ==
              LANEBLOOM_OK);
    cr_assert(lanebloom_builder_set_key_form(builder, form) == LANEBLOOM_OK);
    cr_assert(lanebloom_builder_add(builder, &keys) == LANEBLOOM_OK);
    is_refused(&refusal, "add",
               lanebloom_builder_add_arrow(builder, schema, array, refusal.problem,
                                           sizeof refusal.problem));
    cr_assert(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK);
    lanebloom_filter_describe(filter, &info, sizeof info);
    cr_assert(info.nkeys == 3);
    test_filter_bytes("after an error", filter, bytes, nbytes);
    lanebloom_builder_destroy(builder);
    lanebloom_filter_close(expected);
  }
}

/* No call accepts the array, whatever the key form. */
static void all_refuse(const struct ArrowSchema *schema, const struct ArrowArray *array,
                       lanebloom_status status, const char *text)
{
  struct refusal refusal = refusal_of(status, text, "");
  uint64_t hash = 5;
  lanebloom_slice slice = {&hash, 5};
  uint8_t number[16] = "oldnumber";
  const lanebloom_key_form form = {.encoding = LANEBLOOM_BYTES};
  filters_refuse(schema, array, form, status, text);
  builders_refuse(schema, array, form, status, text);
  is_refused(&refusal, "hash",
             lanebloom_hash_arrow(LANEBLOOM_ROCKSDB_LOCAL, schema, array, &hash, refusal.problem,
                                  sizeof refusal.problem));
  is_refused(&refusal, "slices",
             lanebloom_arrow_slices(schema, array, &slice, number, refusal.problem,
                                    sizeof refusal.problem));
  cr_assert(hash == 5 && slice.data == &hash && slice.size == 5);
  cr_assert(strcmp((char *)number, "oldnumber") == 0);
}

static void form_is_refused(const struct ArrowSchema *schema, lanebloom_status status,
                            const char *text)
{
  struct refusal refusal = refusal_of(status, text, "");
  lanebloom_key_form form = {LANEBLOOM_HEX, 7};
  is_refused(&refusal, "key form",
             lanebloom_arrow_key_form(schema, &form, refusal.problem, sizeof refusal.problem));
  cr_assert(form.encoding == LANEBLOOM_HEX && form.flags == 7);
}

/* ---- Types ---- */

#define EXPECTED_TYPES                                                                             \
  "Arrow type: expected strings, bytes, numbers, dates, times or a dictionary of these, found "
#define DECIMAL "decimal whose width is not 128 bits, or whose scale is not 0"

static const struct {
  const char *format, *found;
} UNKNOWN[] = {
    {"n", "null (\"n\")"},
    {"b", "boolean (\"b\")"},
    {"e", "half float (\"e\")"},
    {"d:39,0,256", DECIMAL " (\"d:39,0,256\")"},
    {"d:9,0,32", DECIMAL " (\"d:9,0,32\")"},
    {"d:9,0,64", DECIMAL " (\"d:9,0,64\")"},
    {"d:10,2", DECIMAL " (\"d:10,2\")"},
    {"d:10,2,128", DECIMAL " (\"d:10,2,128\")"},
    {"d:10,-2", DECIMAL " (\"d:10,-2\")"},
    {"d:10,00", DECIMAL " (\"d:10,00\")"},
    {"d:10", DECIMAL " (\"d:10\")"},
    {"tiM", "interval (\"tiM\")"},
    {"tiD", "interval (\"tiD\")"},
    {"tin", "interval (\"tin\")"},
    {"+w:3", "fixed-size list (\"+w:3\")"},
    {"+l", "list (\"+l\")"},
    {"+L", "large list (\"+L\")"},
    {"+vl", "list view (\"+vl\")"},
    {"+vL", "large list view (\"+vL\")"},
    {"+s", "struct (\"+s\")"},
    {"+m", "map (\"+m\")"},
    {"+ud:0,1", "union (\"+ud:0,1\")"},
    {"+us:0,1", "union (\"+us:0,1\")"},
    {"+r", "run-end encoded (\"+r\")"},
    {"", "unknown (\"\")"},
    {"x", "unknown (\"x\")"},
    {"ii", "unknown (\"ii\")"},
    {"v", "unknown (\"v\")"},
    {"td", "unknown (\"td\")"},
    {"tss", "unknown (\"tss\")"},
    {"tDx", "unknown (\"tDx\")"},
    {"w", "unknown (\"w\")"},
    {"w:", "unknown (\"w:\")"},
    {"w:-1", "unknown (\"w:-1\")"},
    {"w:1x", "unknown (\"w:1x\")"},
    {"w:2147483648", "unknown (\"w:2147483648\")"},
    {"w:18446744073709551617", "unknown (\"w:18446744073709551617\")"},
    {"0123456789012345678901234567890123456789", "unknown (\"01234567890123456789012345678901\")"},
};

Test(refused, types_without_keys)
{
  const uint64_t zeros[8] = {0};
  const void *buffers[] = {NULL, zeros, zeros};
  for (size_t i = 0; i < COUNT(UNKNOWN); i++) {
    char text[256];
    snprintf(text, sizeof text, EXPECTED_TYPES "%s", UNKNOWN[i].found);
    test_context("\"%s\"", UNKNOWN[i].format);
    struct ArrowSchema schema = schema_of(UNKNOWN[i].format), indices = schema_of("i");
    struct ArrowArray array = array_of(1, buffers, 3), rows = array_of(1, buffers, 3);
    form_is_refused(&schema, LANEBLOOM_ERR_FORMAT, text);
    all_refuse(&schema, &array, LANEBLOOM_ERR_FORMAT, text);
    indices.dictionary = &schema;
    rows.dictionary = &array;
    form_is_refused(&indices, LANEBLOOM_ERR_FORMAT, text);
    all_refuse(&indices, &rows, LANEBLOOM_ERR_FORMAT, text);
  }
}

Test(refused, dictionaries_of_dictionaries)
{
  const uint64_t zeros[8] = {0};
  const void *buffers[] = {NULL, zeros, zeros};
  struct ArrowSchema strings = schema_of("u"), inner = schema_of("i"), outer = schema_of("i");
  struct ArrowArray values = array_of(1, buffers, 3), rows = array_of(1, buffers, 2), //
      outer_rows = rows;
  static const char text[] =
      "Arrow type: expected a dictionary of values, found one of dictionaries";
  inner.dictionary = &strings;
  outer.dictionary = &inner;
  rows.dictionary = &values;
  outer_rows.dictionary = &rows;
  form_is_refused(&outer, LANEBLOOM_ERR_FORMAT, text);
  all_refuse(&outer, &outer_rows, LANEBLOOM_ERR_FORMAT, text);
}

Test(refused, indices_that_are_no_integers)
{
  static const char *const formats[] = {"u", "f", "tdD", "tts", "ttu", "tDs", "w:4", "d:3,0"};
  static const char *const others[] = {"b", "x"};
  const uint64_t zeros[8] = {0};
  const void *buffers[] = {NULL, zeros, zeros};
  struct ArrowSchema strings = schema_of("u");
  struct ArrowArray values = array_of(1, buffers, 3), rows = array_of(1, buffers, 3);
  rows.dictionary = &values;
  for (size_t i = 0; i < COUNT(formats) + COUNT(others); i++) {
    const bool is_known = i < COUNT(formats);
    const char *format = is_known ? formats[i] : others[i - COUNT(formats)];
    char text[256];
    snprintf(text, sizeof text,
             "Arrow type: expected integers as indices of a dictionary, found \"%s\"", format);
    struct ArrowSchema schema = schema_of(format);
    schema.dictionary = &strings;
    test_context("indices \"%s\"", format);
    form_is_refused(&schema, LANEBLOOM_ERR_FORMAT, text);
    all_refuse(&schema, &rows, LANEBLOOM_ERR_FORMAT, text);
  }
}

/* ---- Key forms ---- */

enum { NENCODINGS = LANEBLOOM_UUID + 1 };

/* Tries every type with every form. A form of the type's own encoding is accepted, binary arrays
 * also if the form's keys are bytes, and all else is refused. */
Test(refused, arrays_of_another_form)
{
  struct rng rng = rng_start(1);
  for (size_t t = 0; t < MADE_NTYPES; t++) {
    const struct made_type *type = &made_types[t];
    struct made made;
    made_array(&(struct made_plan){.type = type, .n = 3, .nvalues = 4}, &rng, &made);
    for (unsigned encoding = 0; encoding < NENCODINGS; encoding++)
      for (uint32_t flags = 0; flags < 8; flags++) {
        const lanebloom_key_form form = {(lanebloom_encoding)encoding, flags};
        const char *name = lanebloom_encoding_name(form.encoding);
        const char *found = type->is_text ? "text" : lanebloom_encoding_name(type->encoding);
        const bool is_binary = type->encoding == LANEBLOOM_BYTES && !type->is_text;
        const bool is_of_bytes = form.encoding == LANEBLOOM_HEX ||
                                 form.encoding == LANEBLOOM_BASE64 ||
                                 form.encoding == LANEBLOOM_UUID;
        char text[256];
        test_context("\"%s\", form %s, flags %u", type->format, name, flags);
        if (flags == 0 && (form.encoding == type->encoding || (is_binary && is_of_bytes))) {
          lanebloom_filter *filter = filter_with(form);
          size_t count = 99;
          cr_assert(lanebloom_filter_screen_arrow(filter, &made.rows.schema, &made.rows.array, NULL,
                                                  &count, NULL, 0) == LANEBLOOM_OK);
          lanebloom_filter_close(filter);
          continue;
        }
        if (flags)
          snprintf(
              text, sizeof text,
              "keys of the %%s: %s%s%s%s, but keys of arrays are not changed; the array has %s",
              name, flags & 1 ? ", trimmed" : "", flags & 2 ? ", lower-cased" : "",
              flags & 4 ? ", joined fields" : "", found);
        else
          snprintf(text, sizeof text, "keys of the %%s: %s; the array has %s", name, found);
        filters_refuse(&made.rows.schema, &made.rows.array, form, LANEBLOOM_ERR_MISMATCH, text);
        builders_refuse(&made.rows.schema, &made.rows.array, form, LANEBLOOM_ERR_MISMATCH, text);
      }
    made_free(&made);
  }
}

/* A few complete messages, as users read them. */
Test(refused, words_of_a_mismatch)
{
  static const struct {
    const char *format;
    lanebloom_key_form form;
    const char *text;
  } cases[] = {
      {"i", {LANEBLOOM_INT64, 0}, "keys of the %s: int64; the array has int32"},
      {"u", {LANEBLOOM_INT64, 0}, "keys of the %s: int64; the array has text"},
      {"u", {LANEBLOOM_HEX, 0}, "keys of the %s: hex; the array has text"},
      {"vu", {LANEBLOOM_BASE64, 0}, "keys of the %s: base64; the array has text"},
      {"U", {LANEBLOOM_UUID, 0}, "keys of the %s: uuid; the array has text"},
      {"z", {LANEBLOOM_INT32, 0}, "keys of the %s: int32; the array has bytes"},
      {"u",
       {LANEBLOOM_BYTES, LANEBLOOM_KEY_LOWERED},
       "keys of the %s: bytes, lower-cased, but keys of arrays are not changed; the array has "
       "text"},
  };
  const uint64_t zeros[8] = {0};
  const void *buffers[] = {NULL, zeros, zeros};
  for (size_t i = 0; i < COUNT(cases); i++) {
    const struct ArrowSchema schema = schema_of(cases[i].format);
    const struct ArrowArray array = array_of(1, buffers, 3);
    filters_refuse(&schema, &array, cases[i].form, LANEBLOOM_ERR_MISMATCH, cases[i].text);
    builders_refuse(&schema, &array, cases[i].form, LANEBLOOM_ERR_MISMATCH, cases[i].text);
  }
}

/* Only the extension of this name on values of 16 bytes makes a UUID. */
Test(refused, marks_of_another_extension)
{
  static const struct {
    const char *format, *mark;
    lanebloom_encoding encoding;
  } cases[] = {{"w:16", "arrow.uuid", LANEBLOOM_UUID},   {"w:16", "arrow.uui", LANEBLOOM_BYTES},
               {"w:16", "arrow.uuid2", LANEBLOOM_BYTES}, {"w:16", "", LANEBLOOM_BYTES},
               {"w:17", "arrow.uuid", LANEBLOOM_BYTES},  {"z", "arrow.uuid", LANEBLOOM_BYTES}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct ArrowSchema schema = schema_of(cases[i].format);
    lanebloom_key_form form = {LANEBLOOM_HEX, 1};
    schema.metadata = made_extension(cases[i].mark);
    cr_assert(lanebloom_arrow_key_form(&schema, &form, NULL, 0) == LANEBLOOM_OK);
    cr_assert(form.encoding == cases[i].encoding && form.flags == 0, "case %zu", i);
    free((void *)schema.metadata);
  }
  const int32_t counts[][2] = {{0, 0}, {-1, 0}, {1, -1}};
  for (size_t i = 0; i < COUNT(counts); i++) {
    struct ArrowSchema schema = schema_of("w:16");
    lanebloom_key_form form = {LANEBLOOM_HEX, 1};
    schema.metadata = (const char *)counts[i];
    cr_assert(lanebloom_arrow_key_form(&schema, &form, NULL, 0) == LANEBLOOM_OK);
    cr_assert(form.encoding == LANEBLOOM_BYTES, "counts %zu", i);
  }
}

/* ---- Structs ---- */

/* A released struct points to memory that is no longer there. */
static void *gone(void)
{
  return (void *)(uintptr_t)16;
}

Test(refused, released_schemas)
{
  static const char released[] =
      "Arrow schema: expected one that is not released, found a released one";
  static const char none[] = "Arrow schema: expected one that is not released, found none";
  const uint64_t zeros[8] = {0};
  const void *buffers[] = {NULL, zeros, zeros};
  struct ArrowArray array = array_of(1, buffers, 3), values = array;
  struct ArrowSchema schema = {
      .format = gone(), .name = gone(), .metadata = gone(), .dictionary = gone()};
  form_is_refused(&schema, LANEBLOOM_ERR_ARGUMENT, released);
  all_refuse(&schema, &array, LANEBLOOM_ERR_ARGUMENT, released);
  struct ArrowSchema indices = schema_of("i");
  indices.dictionary = &schema;
  array.dictionary = &values;
  form_is_refused(&indices, LANEBLOOM_ERR_ARGUMENT, released);
  all_refuse(&indices, &array, LANEBLOOM_ERR_ARGUMENT, released);
  schema = schema_of(NULL);
  form_is_refused(&schema, LANEBLOOM_ERR_ARGUMENT, none);
  all_refuse(&schema, &array, LANEBLOOM_ERR_ARGUMENT, none);
}

Test(refused, released_arrays_and_lengths)
{
  static const char range[] = "Arrow array: its length or offset is negative or too large";
  static const struct {
    int64_t length, offset;
  } lengths[] = {{-1, 0},
                 {1, -1},
                 {INT64_MIN, 0},
                 {INT64_MAX, 0},
                 {INT64_MAX, INT64_MAX},
                 {1, INT64_MAX},
                 {0, INT64_MAX},
                 {INT64_MAX / 64 + 1, 0},
                 {1, INT64_MAX / 64}};
  const uint64_t zeros[8] = {0};
  const void *buffers[] = {NULL, zeros, zeros};
  for (size_t t = 0; t < MADE_NTYPES; t++) {
    struct ArrowSchema schema = schema_of(made_types[t].format), indices = schema_of("c");
    struct ArrowArray array = {.length = 1, .n_buffers = 3, .buffers = gone()};
    struct ArrowArray rows = array_of(1, buffers, 2);
    indices.dictionary = &schema;
    rows.dictionary = &array;
    all_refuse(&schema, &array, LANEBLOOM_ERR_ARGUMENT, "Arrow array: it is released");
    all_refuse(&indices, &rows, LANEBLOOM_ERR_ARGUMENT, "Arrow array: it is released");
    array = array_of(0, buffers, 3);
    for (size_t i = 0; i < COUNT(lengths); i++) {
      array.length = lengths[i].length;
      array.offset = lengths[i].offset;
      test_context("\"%s\", length %lld, offset %lld", schema.format, (long long)array.length,
                   (long long)array.offset);
      all_refuse(&schema, &array, LANEBLOOM_ERR_ARGUMENT, range);
      all_refuse(&indices, &rows, LANEBLOOM_ERR_ARGUMENT, range);
    }
  }
  struct ArrowSchema schema = schema_of("u"), indices = schema_of("c");
  struct ArrowArray rows = array_of(1, buffers, 2);
  indices.dictionary = &schema;
  all_refuse(&indices, &rows, LANEBLOOM_ERR_ARGUMENT, "Arrow array: its dictionary is missing");
}

/* These sizes in bytes would wrap around, to 0 or to a plausible number. */
Test(refused, values_that_no_memory_holds)
{
  static const char range[] = "Arrow array: its length or offset is negative or too large";
  static const struct {
    const char *format;
    int64_t length, offset;
  } cases[] = {
      {"w:65", INT64_MAX / 65 + 1, 0},
      {"w:128", 1, INT64_MAX / 64 - 1}, /* 2^64 - 128 bytes */
      {"w:256", 1, INT64_C(1) << 56},   /* 2^64 */
      {"w:2147483647", 1, INT64_C(1) << 33},
      {"w:2147483647", INT64_C(1) << 32, 3},
      {"w:1073741824", 1, INT64_C(1) << 34}, /* 2^64 */
      {"w:1073741824", INT64_C(1) << 33, 0}, /* 2^63 */
  };
  const uint64_t zeros[32] = {0};
  const void *buffers[] = {NULL, zeros, zeros};
  for (size_t i = 0; i < COUNT(cases); i++) {
    struct ArrowSchema schema = schema_of(cases[i].format), indices = schema_of("c");
    struct ArrowArray array = array_of(cases[i].length, buffers, 2), rows = array_of(1, buffers, 2);
    array.offset = cases[i].offset;
    indices.dictionary = &schema;
    rows.dictionary = &array;
    test_context("case %zu", i);
    all_refuse(&schema, &array, LANEBLOOM_ERR_ARGUMENT, range);
    all_refuse(&indices, &rows, LANEBLOOM_ERR_ARGUMENT, range);
  }
}

Test(refused, missing_buffers)
{
  static const char more[] = "Arrow array: it has fewer buffers than its type needs";
  static const char values[] = "Arrow array: its values are missing";
  static const char offsets[] = "Arrow array: its offsets are missing or not aligned";
  static const char sizes[] = "Arrow array: the sizes of its buffers are missing or not aligned";
  const uint64_t zeros[8] = {0};
  for (size_t t = 0; t < MADE_NTYPES; t++) {
    const struct made_type *type = &made_types[t];
    struct ArrowSchema schema = schema_of(type->format);
    const void *buffers[4] = {NULL, zeros, zeros, zeros};
    const bool is_fixed = type->kind <= FIXED_BYTES,
               has_offsets = type->kind == STRINGS32 || type->kind == STRINGS64;
    const int64_t nbuffers = is_fixed ? 2 : 3;
    struct ArrowArray array = array_of(1, buffers, nbuffers);
    test_context("\"%s\"", type->format);
    for (int64_t n = -1; n < nbuffers; n++) {
      array.n_buffers = n;
      all_refuse(&schema, &array, LANEBLOOM_ERR_ARGUMENT, more);
    }
    array = array_of(1, NULL, nbuffers);
    all_refuse(&schema, &array, LANEBLOOM_ERR_ARGUMENT, more);
    array = array_of(1, buffers, nbuffers);
    buffers[1] = NULL;
    if (has_offsets)
      all_refuse(&schema, &array, LANEBLOOM_ERR_ARGUMENT, offsets);
    else if (!is_fixed || type->width > 0)
      all_refuse(&schema, &array, LANEBLOOM_ERR_ARGUMENT, values);
    for (size_t shift = 1; has_offsets && shift < (type->kind == STRINGS32 ? 4 : 8); shift++) {
      buffers[1] = (const char *)zeros + shift;
      all_refuse(&schema, &array, LANEBLOOM_ERR_ARGUMENT, offsets);
    }
    buffers[1] = zeros;
    for (size_t shift = 0; type->kind == STRING_VIEWS && shift < 8; shift++) {
      array.n_buffers = 4;
      buffers[3] = shift ? (const char *)zeros + shift : NULL;
      all_refuse(&schema, &array, LANEBLOOM_ERR_ARGUMENT, sizes);
    }
  }
}

/* ---- Errors in buffers that the structs reveal ---- */

Test(refused, offsets_that_fall)
{
  static const char text[] = "Arrow array: its offsets fall, or are negative or too large";
  static const int32_t wrong[][5] = {
      {0, 5, 3, 8, 9},  {1, 0, 3, 8, 9},     {0, 1, 2, 9, 8},
      {-1, 0, 1, 2, 3}, {-4, -3, -2, -1, 0}, {0, 0, 0, INT32_MAX, INT32_MIN},
      {0, 0, -1, 0, 0},
  };
  static const char bytes[10] = "0123456789";
  for (size_t i = 0; i < COUNT(wrong); i++) {
    int64_t wide[6] = {0};
    int32_t narrow[6] = {0};
    for (size_t j = 0; j < 5; j++)
      wide[j + 1] = narrow[j + 1] = wrong[i][j];
    for (size_t format = 0; format < 4; format++) {
      static const char *const formats[] = {"u", "z", "U", "Z"};
      const uint8_t valid = 0;
      const void *buffers[] = {i % 2 ? &valid : NULL,
                               format < 2 ? (const void *)narrow : (const void *)wide, bytes};
      struct ArrowSchema schema = schema_of(formats[format]);
      struct ArrowArray array = array_of(4, buffers, 3);
      array.offset = 1;
      array.null_count = i % 2 ? 4 : 0;
      test_context("\"%s\", offsets %zu", formats[format], i);
      all_refuse(&schema, &array, LANEBLOOM_ERR_CORRUPT, text);
    }
  }
  /* bytes are expected, and there are none */
  const int32_t narrow[] = {0, 0, 1};
  const int64_t wide[] = {3, 3, 4};
  struct ArrowSchema schema = schema_of("u");
  struct ArrowArray array = array_of(2, (const void *[]){NULL, narrow, NULL}, 3);
  all_refuse(&schema, &array, LANEBLOOM_ERR_CORRUPT, text);
  schema.format = "Z";
  array.buffers[1] = wide;
  all_refuse(&schema, &array, LANEBLOOM_ERR_CORRUPT, text);
  /* more bytes than memory can hold */
  static const int64_t large[][3] = {
      {0, 0, INT64_MAX}, {INT64_MAX, INT64_MAX, INT64_MAX}, {0, 0, INT64_MAX / 64 + 1}};
  for (size_t i = 0; i < COUNT(large); i++) {
    array = array_of(2, (const void *[]){NULL, large[i], bytes}, 3);
    all_refuse(&schema, &array, LANEBLOOM_ERR_CORRUPT, text);
  }
}

static void put_view(uint8_t view[16], int32_t size, int32_t buffer, int32_t offset)
{
  memset(view, 0, 16);
  memcpy(view, &size, sizeof size);
  if (size < 0 || size > 12) {
    memcpy(view + 8, &buffer, sizeof buffer);
    memcpy(view + 12, &offset, sizeof offset);
  }
}

Test(refused, views_that_point_outside)
{
  static const int32_t wrong[][3] = {
      {-1, 0, 0},         {INT32_MIN, 0, 0},  {13, -1, 0},
      {13, 3, 0}, /* the first number after the buffers */
      {13, INT32_MAX, 0}, {13, INT32_MIN, 0}, {13, 0, -1},
      {13, 0, 8}, /* one byte too many */
      {21, 0, 0},         {INT32_MAX, 0, 0},  {INT32_MAX, 0, INT32_MAX},
      {13, 0, INT32_MAX}, {13, 1, 0}, /* a buffer that does not exist */
      {13, 2, 0},                     /* a buffer of negative size */
  };
  static const char text[] = "Arrow array: row 2 has a view that points outside its buffers";
  const char *bytes = "01234567890123456789";
  const int64_t sizes[] = {20, 20, -20};
  for (size_t i = 0; i < COUNT(wrong); i++) {
    uint8_t views[4][16] = {0}, valid = 0x1f;
    put_view(views[1], 13, 0, 7);
    put_view(views[2], 20, 0, 0);
    put_view(views[3], wrong[i][0], wrong[i][1], wrong[i][2]);
    const void *buffers[] = {&valid, views, bytes, NULL, bytes, sizes};
    struct ArrowSchema schema = schema_of(i % 2 ? "vu" : "vz"), indices = schema_of("c");
    struct ArrowArray array = array_of(3, buffers, 6), rows = array_of(1, buffers, 2);
    array.offset = 1;
    array.null_count = -1;
    test_context("view %zu", i);
    all_refuse(&schema, &array, LANEBLOOM_ERR_CORRUPT, text);
    indices.dictionary = &schema;
    rows.dictionary = &array;
    all_refuse(&indices, &rows, LANEBLOOM_ERR_CORRUPT, text);
    /* the view of a null is not read */
    valid = 0x17 & ~8;
    lanebloom_slice slices[3];
    cr_assert(lanebloom_arrow_slices(&schema, &array, slices, NULL, NULL, 0) == LANEBLOOM_OK);
    cr_assert(slices[0].size == 13 && slices[0].data == bytes + 7);
    cr_assert(slices[1].size == 20 && slices[1].data == bytes);
    cr_assert(slices[2].size == 0 && !slices[2].data);
  }
}

Test(refused, indices_outside_the_dictionary)
{
  static const char text[] = "Arrow array: row 1 has an index that is not in the dictionary";
  static const uint8_t letters[] = "abc";
  static const uint64_t wrong[] = {3, 4, 127, 128, 0xff, 0x80, 0xfffe};
  const void *letter_buffers[] = {NULL, letters};
  for (size_t t = 0; t < MADE_NINDEX_TYPES; t++)
    for (size_t i = 0; i < 2 * COUNT(wrong); i++) {
      const size_t width = made_types[t].width;
      const uint64_t index = i % 2 ? -wrong[i / 2] : wrong[i / 2];
      const uint32_t index32 = (uint32_t)index;
      const uint16_t index16 = (uint16_t)index;
      const uint8_t index8 = (uint8_t)index;
      uint8_t indices[3 * 8] = {0}, valid = 7;
      memcpy(indices + 2 * width,
             width == 8   ? (const void *)&index
             : width == 4 ? (const void *)&index32
             : width == 2 ? (const void *)&index16
                          : (const void *)&index8,
             width);
      if ((width == 1 && index8 < 3) || (width == 2 && index16 < 3))
        continue;
      struct ArrowSchema values = schema_of("w:1"), schema = schema_of(made_types[t].format);
      struct ArrowArray array = array_of(3, letter_buffers, 2);
      struct ArrowArray rows = array_of(2, (const void *[]){&valid, indices}, 2);
      rows.offset = 1;
      rows.null_count = -1;
      schema.dictionary = &values;
      rows.dictionary = &array;
      test_context("\"%s\", index %llu", schema.format, (unsigned long long)index);
      all_refuse(&schema, &rows, LANEBLOOM_ERR_CORRUPT, text);
      valid = 3; /* the index of a null is not read */
      lanebloom_slice slices[2];
      cr_assert(lanebloom_arrow_slices(&schema, &rows, slices, NULL, NULL, 0) == LANEBLOOM_OK);
      cr_assert(slices[0].data == letters && slices[0].size == 1 && !slices[1].data);
    }
}

/* Empty values need no buffer, so an array can have any number of rows. */
Test(refused, more_rows_than_indices_can_say)
{
  const lanebloom_key_form form = {.encoding = LANEBLOOM_BYTES};
  const struct ArrowSchema schema = schema_of("w:0");
  const struct ArrowArray array =
      array_of((int64_t)UINT32_MAX + 1, (const void *[]){NULL, NULL}, 2);
  lanebloom_filter *filter = filter_with(form);
  uint32_t index = 77;
  size_t count = 99;
  char problem[256] = "old";
  cr_assert(lanebloom_filter_select_arrow(filter, &schema, &array, &index, &count, problem,
                                          sizeof problem) == LANEBLOOM_ERR_LIMIT);
  cr_assert_str_eq(problem, "Arrow array: expected at most 4294967295 rows, found 4294967296");
  cr_assert(index == 77 && count == 99);
  lanebloom_filter_close(filter);
}

Test(refused, formats_that_do_not_hash)
{
  const void *buffers[] = {NULL, "abc"};
  const struct ArrowSchema schema = schema_of("w:1");
  for (int64_t n = 0; n < 4; n += 3) {
    const struct ArrowArray array = array_of(n, buffers, 2);
    uint64_t hashes[3] = {7, 7, 7};
    struct refusal refusal =
        refusal_of(LANEBLOOM_ERR_FORMAT, lanebloom_status_text(LANEBLOOM_ERR_FORMAT), "");
    is_refused(&refusal, "hash",
               lanebloom_hash_arrow((lanebloom_format)test_first_unknown_format(), &schema, &array,
                                    hashes, refusal.problem, sizeof refusal.problem));
    cr_assert(hashes[0] == 7);
  }
}

/* ---- Odd arrays that are not refused ---- */

static void all_empty(const struct ArrowSchema *schema, const struct ArrowArray *array,
                      const bool *is_null)
{
  const lanebloom_key_form form = {.encoding = LANEBLOOM_BYTES};
  const size_t n = (size_t)array->length;
  const lanebloom_keys empty = lanebloom_keys_fixed(NULL, 0, 1);
  lanebloom_filter *without = filter_with(form), *with;
  uint32_t hash, hashes[8];
  uint8_t mask[8];
  lanebloom_slice slices[8];
  size_t count, nvalid = 0;
  lanebloom_builder *builder;
  char problem[256] = "old";
  cr_assert(lanebloom_hash(LANEBLOOM_LEVELDB, &empty, &hash) == LANEBLOOM_OK);
  cr_assert(lanebloom_builder_create(LANEBLOOM_LEVELDB, 10, 0, &builder) == LANEBLOOM_OK);
  cr_assert(lanebloom_builder_add_arrow(builder, schema, array, problem, sizeof problem) ==
            LANEBLOOM_OK);
  cr_assert(lanebloom_builder_finish(builder, &with) == LANEBLOOM_OK);
  cr_assert(lanebloom_filter_may_contain(with, NULL, 0));
  cr_assert(lanebloom_hash_arrow(LANEBLOOM_LEVELDB, schema, array, hashes, NULL, 0) ==
            LANEBLOOM_OK);
  cr_assert(lanebloom_arrow_slices(schema, array, slices, NULL, NULL, 0) == LANEBLOOM_OK);
  cr_assert(lanebloom_filter_mask_arrow(with, schema, array, mask, &count, NULL, 0) ==
            LANEBLOOM_OK);
  for (size_t i = 0; i < n; i++) {
    cr_assert(mask[i] == !is_null[i] && hashes[i] == (is_null[i] ? 0 : hash));
    cr_assert(!slices[i].data == is_null[i] && slices[i].size == 0);
    nvalid += !is_null[i];
  }
  cr_assert(count == nvalid);
  cr_assert(lanebloom_filter_screen_arrow(without, schema, array, NULL, &count, NULL, 0) ==
            LANEBLOOM_OK);
  cr_assert(count == (lanebloom_filter_may_contain(without, NULL, 0) ? nvalid : 0));
  lanebloom_filter_close(with);
  lanebloom_filter_close(without);
  lanebloom_builder_destroy(builder);
}

/* Empty values may have no bytes at all, whatever their offsets are. */
Test(refused, not_empty_values_without_bytes)
{
  static const char *const formats[] = {"w:0", "u", "z", "U", "Z"};
  static const bool nulls[2][4] = {{0}, {0, 1, 0, 1}};
  const int32_t narrow[] = {9, 9, 9, 9, 9, 9};
  const int64_t wide[] = {9, 9, 9, 9, 9, 9};
  const uint8_t valid = 0xa, indices[] = {0, 1, 2, 3};
  for (size_t f = 0; f < COUNT(formats); f++)
    for (size_t with_nulls = 0; with_nulls < 2; with_nulls++) {
      const void *offsets = f == 0 ? NULL : f < 3 ? (const void *)narrow : (const void *)wide;
      const void *buffers[] = {with_nulls ? &valid : NULL, offsets, NULL};
      struct ArrowSchema schema = schema_of(formats[f]), by = schema_of("c");
      struct ArrowArray array = array_of(4, buffers, f == 0 ? 2 : 3);
      struct ArrowArray rows = array_of(4, (const void *[]){NULL, indices}, 2);
      array.offset = 1;
      array.null_count = -1;
      test_context("\"%s\", nulls %zu", formats[f], with_nulls);
      all_empty(&schema, &array, nulls[with_nulls]);
      by.dictionary = &schema;
      rows.dictionary = &array;
      all_empty(&by, &rows, nulls[with_nulls]);
    }
}

/* A missing name is the empty one. */
Test(refused, not_an_array_without_a_name)
{
  const lanebloom_key_form form = {.encoding = LANEBLOOM_BYTES};
  struct ArrowSchema schema = schema_of("w:1"), booleans_schema;
  const struct ArrowArray array = array_of(3, (const void *[]){NULL, "abc"}, 2);
  struct ArrowArray booleans;
  lanebloom_filter *filter = filter_with(form);
  schema.name = NULL;
  cr_assert(lanebloom_filter_booleans_arrow(filter, &schema, &array, &booleans_schema, &booleans,
                                            NULL, 0) == LANEBLOOM_OK);
  cr_assert_str_eq(booleans_schema.name, "");
  cr_assert(*(const uint8_t *)booleans.buffers[1] == 7);
  booleans.release(&booleans);
  booleans_schema.release(&booleans_schema);
  lanebloom_filter_close(filter);
}
