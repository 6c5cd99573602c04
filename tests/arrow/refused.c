/* Arrays that are refused because of their structs or buffers, and unusual arrays that are
 * accepted.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "refusals.h"

/* ---- Structs ---- */

/* Returns a pointer to memory that is unmapped, as a released struct may hold. */
static void *dangling(void)
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
      .format = dangling(), .name = dangling(), .metadata = dangling(), .dictionary = dangling()};
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
  for (size_t t = 0; t < NARRAY_TYPES; t++) {
    struct ArrowSchema schema = schema_of(array_types[t].format), indices = schema_of("c");
    struct ArrowArray array = {.length = 1, .n_buffers = 3, .buffers = dangling()};
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

/* The sizes of these values in bytes would wrap around, to 0 or to a plausible number. */
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
  for (size_t t = 0; t < NARRAY_TYPES; t++) {
    const struct array_type *type = &array_types[t];
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
  static const char bytes[] = "0123456789";
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
  /* the offsets promise bytes, but the buffer is NULL */
  const int32_t narrow[] = {0, 0, 1};
  const int64_t wide[] = {3, 3, 4};
  struct ArrowSchema schema = schema_of("u");
  struct ArrowArray array = array_of(2, (const void *[]){NULL, narrow, NULL}, 3);
  all_refuse(&schema, &array, LANEBLOOM_ERR_CORRUPT, text);
  schema.format = "Z";
  array.buffers[1] = wide;
  all_refuse(&schema, &array, LANEBLOOM_ERR_CORRUPT, text);
  /* the offsets promise more bytes than memory can hold */
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
      {13, 3, 0}, /* the lowest number without a buffer */
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
  for (size_t t = 0; t < NINDEX_TYPES; t++)
    for (size_t i = 0; i < 2 * COUNT(wrong); i++) {
      const size_t width = array_types[t].width;
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
      struct ArrowSchema values = schema_of("w:1"), schema = schema_of(array_types[t].format);
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

/* Values of 0 bytes need no buffer, so an array can have more rows than 32-bit indices can
 * number. */
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
  lanebloom_filter_free(filter);
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
  lanebloom_filter_free(with);
  lanebloom_filter_free(without);
  lanebloom_builder_free(builder);
}

/* If all values are empty, their buffer may be NULL, whatever the offsets are. */
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

/* A name that is NULL counts as an empty name. */
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
  lanebloom_filter_free(filter);
}
