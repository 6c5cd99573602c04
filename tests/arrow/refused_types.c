/* Types, key forms and formats that are refused.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "refusals.h"

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

/* Tries every type with every form. A form with the type's own encoding is accepted. Binary arrays
 * are also accepted if the form's keys are bytes. Every other pair is refused. */
Test(refused, arrays_of_another_form)
{
  struct rng rng = rng_start(1);
  for (size_t t = 0; t < NARRAY_TYPES; t++) {
    const struct array_type *type = &array_types[t];
    struct sample sample;
    sample_make(&(struct array_plan){.type = type, .n = 3, .nvalues = 4}, &rng, &sample);
    for (unsigned encoding = 0; encoding < NENCODINGS; encoding++)
      for (uint32_t flags = 0; flags < 16; flags++) {
        if (flags & LANEBLOOM_KEY_LOWERED && flags & LANEBLOOM_KEY_UPPERED)
          continue;
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
          cr_assert(lanebloom_filter_screen_arrow(filter, &sample.rows.schema, &sample.rows.array,
                                                  NULL, &count, NULL, 0) == LANEBLOOM_OK);
          lanebloom_filter_free(filter);
          continue;
        }
        if (flags)
          snprintf(
              text, sizeof text,
              "keys of the %%s: %s%s%s%s%s, but keys of arrays are not changed; the array has %s",
              name, flags & 1 ? ", trimmed" : "", flags & 2 ? ", lower-cased" : "",
              flags & 8 ? ", upper-cased" : "", flags & 4 ? ", fields joined by a tab" : "", found);
        else
          snprintf(text, sizeof text, "keys of the %%s: %s; the array has %s", name, found);
        filters_refuse(&sample.rows.schema, &sample.rows.array, form, LANEBLOOM_ERR_MISMATCH, text);
        builders_refuse(&sample.rows.schema, &sample.rows.array, form, LANEBLOOM_ERR_MISMATCH,
                        text);
      }
    sample_free(&sample);
  }
}

/* A few complete messages, as a user reads them. */
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
      {"u",
       {LANEBLOOM_BYTES, LANEBLOOM_KEY_SHA1 | LANEBLOOM_KEY_UPPER_HEX},
       "keys of the %s: sha1:HEX, but keys of arrays are not changed; the array has text"},
      {"z",
       {LANEBLOOM_BYTES, LANEBLOOM_KEY_NTLM | LANEBLOOM_KEY_UPPERED},
       "keys of the %s: ntlm, upper-cased, but keys of arrays are not changed; the array has "
       "bytes"},
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

/* Only values of 16 bytes with the extension of this name are UUIDs. */
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
    schema.metadata = extension_metadata(cases[i].mark);
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

/* ---- Hashes ---- */

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
