/* Every call that takes Arrow arrays gives the same results as calls for one key at a time.
 * SPDX-License-Identifier: MIT */
#include <string.h>

#include "arrays.h"

enum { UNWRITTEN = 0xa5, NBEHIND = 16 };

/* The expected results for an array. */
struct expected {
  size_t n, count;
  lanebloom_slice *added; /* the keys that a builder receives */
  size_t nadded;
  uint8_t *bitmap, *mask;
  uint32_t *indices;
};

/* Returns room for an output, followed by bytes that no call may write to. */
static void *unwritten(size_t nbytes)
{
  uint8_t *bytes = test_alloc(nbytes + NBEHIND);
  memset(bytes, UNWRITTEN, nbytes + NBEHIND);
  return bytes;
}

static void free_output(const char *what, void *output, size_t nbytes)
{
  const uint8_t *behind = (const uint8_t *)output + nbytes;
  for (size_t i = 0; i < NBEHIND; i++)
    if (behind[i] != UNWRITTEN)
      test_fatal("%s: byte %zu behind the output is written to", what, i);
  free(output);
}

static void must(lanebloom_status status, const char *problem)
{
  if (status || problem[0])
    test_fatal("%s: %s", lanebloom_status_text(status), problem);
}

/* Lists the keys to add. For a dictionary, these are the values that rows refer to, in the
 * dictionary's order. */
static void list_added(const struct sample *sample, struct expected *expected)
{
  const size_t nvalues = sample->has_dictionary ? (size_t)sample->values.array.length : 0;
  bool *is_used = test_alloc(nvalues * sizeof *is_used);
  expected->added = test_alloc((expected->n + nvalues) * sizeof *expected->added);
  for (size_t i = 0; i < expected->n; i++) {
    if (!sample->has_dictionary && sample->expected[i].data)
      expected->added[expected->nadded++] = sample->expected[i];
    else if (sample->has_dictionary && sample->expected[i].data)
      is_used[sample->indices[i]] = true;
  }
  for (size_t i = 0; i < nvalues; i++)
    if (is_used[i])
      expected->added[expected->nadded++] = (lanebloom_slice){
          sample->values.bytes + sample->values.keys[i].at, sample->values.keys[i].size};
  free(is_used);
}

static struct expected expect(const struct sample *sample)
{
  struct expected expected = {.n = (size_t)sample->rows.array.length};
  expected.bitmap = test_alloc((expected.n + 7) / 8);
  expected.mask = test_alloc(expected.n);
  expected.indices = test_alloc(expected.n * sizeof *expected.indices);
  list_added(sample, &expected);
  return expected;
}

static void query_each_key(const struct sample *sample, const lanebloom_filter *filter,
                           struct expected *expected)
{
  memset(expected->bitmap, 0, (expected->n + 7) / 8);
  expected->count = 0;
  for (size_t i = 0; i < expected->n; i++) {
    const lanebloom_slice *key = &sample->expected[i];
    const bool may = key->data && lanebloom_filter_may_contain(filter, key->data, key->size);
    expected->mask[i] = may;
    expected->bitmap[i / 8] |= (uint8_t)(may << i % 8);
    if (may)
      expected->indices[expected->count++] = (uint32_t)i;
  }
}

static void free_expected(struct expected *expected)
{
  free(expected->added);
  free(expected->bitmap);
  free(expected->mask);
  free(expected->indices);
}

/* ---- Answers ---- */

static void check_screening(const struct sample *sample, const lanebloom_filter *filter,
                            const struct expected *expected)
{
  const struct ArrowSchema *schema = &sample->rows.schema;
  const struct ArrowArray *array = &sample->rows.array;
  const size_t n = expected->n;
  size_t counts[4] = {SIZE_MAX, SIZE_MAX, SIZE_MAX, SIZE_MAX};
  char problem[256] = "old";
  uint8_t *bitmap = unwritten((n + 7) / 8), *mask = unwritten(n);
  uint32_t *indices = unwritten(n * sizeof *indices);
  must(lanebloom_filter_screen_arrow(filter, schema, array, bitmap, &counts[0], problem,
                                     sizeof problem),
       problem);
  must(lanebloom_filter_screen_arrow(filter, schema, array, NULL, &counts[1], problem,
                                     sizeof problem),
       problem);
  must(
      lanebloom_filter_mask_arrow(filter, schema, array, mask, &counts[2], problem, sizeof problem),
      problem);
  must(lanebloom_filter_select_arrow(filter, schema, array, indices, &counts[3], problem,
                                     sizeof problem),
       problem);
  for (size_t i = 0; i < COUNT(counts); i++)
    if (counts[i] != expected->count)
      test_fatal("count %zu is %zu, expected %zu", i, counts[i], expected->count);
  test_same_bytes("bitmap", bitmap, expected->bitmap, (n + 7) / 8);
  test_same_bytes("mask", mask, expected->mask, n);
  test_same_bytes("indices", indices, expected->indices, expected->count * sizeof *indices);
  free_output("bitmap", bitmap, (n + 7) / 8);
  free_output("mask", mask, n);
  free_output("indices", indices, n * sizeof *indices);
}

static void check_booleans(const struct sample *sample, const lanebloom_filter *filter,
                           const struct expected *expected)
{
  char problem[256] = "old";
  struct ArrowSchema schema;
  struct ArrowArray array;
  memset(&schema, UNWRITTEN, sizeof schema);
  memset(&array, UNWRITTEN, sizeof array);
  must(lanebloom_filter_booleans_arrow(filter, &sample->rows.schema, &sample->rows.array, &schema,
                                       &array, problem, sizeof problem),
       problem);
  if (strcmp(schema.format, "b") != 0 || strcmp(schema.name, "made") != 0 || schema.metadata ||
      schema.flags != 0 || schema.n_children != 0 || schema.children || schema.dictionary ||
      !schema.release)
    test_fatal("the schema of the booleans is wrong");
  if (array.length != sample->rows.array.length || array.null_count != 0 || array.offset != 0 ||
      array.n_buffers != 2 || array.n_children != 0 || array.children || array.dictionary ||
      array.buffers[0] || !array.release)
    test_fatal("the array of the booleans is wrong");
  test_same_bytes("booleans", array.buffers[1], expected->bitmap, (expected->n + 7) / 8);
  array.release(&array);
  schema.release(&schema);
  if (array.release || schema.release)
    test_fatal("booleans that are released do not say so");
}

static void check_hashes(const struct sample *sample, lanebloom_format format,
                         const struct expected *expected)
{
  const size_t nbytes = lanebloom_format_hash_size(format);
  char problem[256] = "old";
  uint8_t *hashes = unwritten(expected->n * nbytes);
  must(lanebloom_hash_arrow(format, &sample->rows.schema, &sample->rows.array, hashes, problem,
                            sizeof problem),
       problem);
  for (size_t i = 0; i < expected->n; i++) {
    uint8_t hash[LANEBLOOM_MAX_HASH_SIZE] = {0};
    const lanebloom_slice *key = &sample->expected[i];
    const lanebloom_keys one = lanebloom_keys_fixed(key->data, key->size, 1);
    if (key->data)
      must(lanebloom_hash(format, &one, hash), "");
    if (memcmp(hashes + i * nbytes, hash, nbytes) != 0)
      test_fatal("row %zu has another hash", i);
  }
  free_output("hashes", hashes, expected->n * nbytes);
}

static void check_slices(const struct sample *sample, const struct expected *expected)
{
  char problem[256] = "old";
  lanebloom_slice *slices = unwritten(expected->n * sizeof *slices);
  uint8_t *numbers = unwritten(expected->n * 16);
  must(lanebloom_arrow_slices(&sample->rows.schema, &sample->rows.array, slices, numbers, problem,
                              sizeof problem),
       problem);
  for (size_t i = 0; i < expected->n; i++) {
    const lanebloom_slice *key = &sample->expected[i];
    if (!slices[i].data != !key->data || slices[i].size != key->size ||
        (key->size > 0 && memcmp(slices[i].data, key->data, key->size) != 0))
      test_fatal("row %zu has another slice", i);
  }
  free_output("slices", slices, expected->n * sizeof *slices);
  free_output("numbers", numbers, expected->n * 16);
}

/* ---- Building ---- */

static lanebloom_builder *builder_of(const struct sample *sample, lanebloom_format format,
                                     uint64_t expected_keys)
{
  lanebloom_builder *builder;
  lanebloom_key_form form;
  char problem[256] = "old";
  must(lanebloom_arrow_key_form(&sample->rows.schema, &form, problem, sizeof problem), problem);
  must(lanebloom_builder_create(format, 10, expected_keys, &builder), "");
  must(lanebloom_builder_set_key_form(builder, form), "");
  return builder;
}

/* Builds a filter of one key, then the array, then that key again. */
static lanebloom_filter *add_between(const struct sample *sample, lanebloom_format format,
                                     uint64_t expected_keys, const lanebloom_keys *keys)
{
  const lanebloom_keys one = lanebloom_keys_fixed("before", 6, 1);
  lanebloom_builder *builder = builder_of(sample, format, expected_keys);
  lanebloom_filter *filter;
  char problem[256] = "old";
  must(lanebloom_builder_add(builder, &one), "");
  if (keys)
    must(lanebloom_builder_add(builder, keys), "");
  else
    must(lanebloom_builder_add_arrow(builder, &sample->rows.schema, &sample->rows.array, problem,
                                     sizeof problem),
         problem);
  must(lanebloom_builder_add(builder, &one), "");
  must(lanebloom_builder_finish(builder, &filter), "");
  lanebloom_builder_free(builder);
  return filter;
}

static void check_adding(const struct sample *sample, lanebloom_format format,
                         const struct expected *expected)
{
  const lanebloom_keys keys = lanebloom_keys_slices(expected->added, expected->nadded);
  char problem[256] = "old";
  lanebloom_builder *builder = builder_of(sample, format, 0);
  lanebloom_filter *built, *found;
  size_t nbytes;
  must(lanebloom_filter_build(format, 10, &keys, &built), "");
  const void *bytes = lanebloom_filter_bytes(built, &nbytes);
  must(lanebloom_builder_add_arrow(builder, &sample->rows.schema, &sample->rows.array, problem,
                                   sizeof problem),
       problem);
  must(lanebloom_builder_finish(builder, &found), "");
  test_filter_bytes("built", found, bytes, nbytes);
  lanebloom_filter_free(built);
  lanebloom_builder_free(builder);

  for (uint64_t expected_keys = 0; expected_keys <= 300; expected_keys += 300) {
    lanebloom_filter_info infos[2];
    built = add_between(sample, format, expected_keys, &keys);
    found = add_between(sample, format, expected_keys, NULL);
    lanebloom_filter_describe(built, &infos[0], sizeof infos[0]);
    lanebloom_filter_describe(found, &infos[1], sizeof infos[1]);
    if (infos[0].nkeys != infos[1].nkeys)
      test_fatal("%llu keys were added, expected %llu", (unsigned long long)infos[1].nkeys,
                 (unsigned long long)infos[0].nkeys);
    bytes = lanebloom_filter_bytes(built, &nbytes);
    test_filter_bytes("built after others", found, bytes, nbytes);
    lanebloom_filter_free(built);
  }
}

/* ---- Every call ---- */

static void check_form(const struct sample *sample, const struct array_type *type)
{
  lanebloom_key_form form = {LANEBLOOM_HEX, 1};
  char problem[256] = "old";
  must(lanebloom_arrow_key_form(&sample->rows.schema, &form, problem, sizeof problem), problem);
  if (form.encoding != type->encoding || form.flags != 0)
    test_fatal("the form is %s", lanebloom_encoding_name(form.encoding));
}

/* Builds a filter of about half of the keys. */
static lanebloom_filter *filter_of_some(const struct expected *expected, lanebloom_format format,
                                        lanebloom_encoding encoding, struct rng *rng)
{
  lanebloom_slice *some = test_alloc(expected->nadded * sizeof *some);
  size_t n = 0;
  for (size_t i = 0; i < expected->nadded; i++)
    if (rng_below(rng, 2))
      some[n++] = expected->added[i];
  const lanebloom_keys keys = lanebloom_keys_slices(some, n);
  lanebloom_filter *filter =
      test_filter_of(format, 4, &keys, (lanebloom_key_form){.encoding = encoding});
  free(some);
  return filter;
}

static void use_kernel(const char *name)
{
  must(lanebloom_kernel_use(name), "");
}

/* The scalar kernel makes the filter and the expected results. This kernel must give the same
 * results. */
static void check(const struct array_plan *plan, const char *kernel, struct rng *rng)
{
  lanebloom_format formats[MAX_FORMATS];
  const lanebloom_format format = formats[rng_below(rng, test_formats_that_build(formats))];
  struct sample sample;
  use_kernel("scalar");
  sample_make(plan, rng, &sample);
  struct expected expected = expect(&sample);
  lanebloom_filter *filter = filter_of_some(&expected, format, plan->type->encoding, rng);
  query_each_key(&sample, filter, &expected);
  use_kernel(kernel);
  check_form(&sample, plan->type);
  check_screening(&sample, filter, &expected);
  check_booleans(&sample, filter, &expected);
  check_hashes(&sample, format, &expected);
  check_slices(&sample, &expected);
  check_adding(&sample, format, &expected);
  lanebloom_filter_free(filter);
  free_expected(&expected);
  sample_free(&sample);
}

/* Checks a plan with a kernel chosen at random. */
static void check_plan(const struct array_plan *plan, struct rng *rng)
{
  const char *kernel = lanebloom_kernel_at(rng_below(rng, lanebloom_kernel_count()));
  test_context("%s: \"%s\"%s%s, %zu rows, %zu values, one of %llu and of %llu null%s", kernel,
               plan->type->format, plan->index_type ? " by " : "",
               plan->index_type ? plan->index_type->format : "", plan->n, plan->nvalues,
               (unsigned long long)plan->rows_null_of, (unsigned long long)plan->values_null_of,
               plan->has_slices ? ", slices" : "");
  check(plan, kernel, rng);
}

/* Each number determines its array, so a failing array can be tried again alone. */
static void check_random(uint64_t first, uint64_t n)
{
  for (uint64_t i = first; i < first + n; i++) {
    struct rng rng = rng_start(i);
    const struct array_plan plan = random_array_plan(&rng);
    check_plan(&plan, &rng);
  }
}

/* Returns the number of random arrays, which LANEBLOOM_ARRAYS sets. */
static uint64_t count_random(void)
{
  const char *value = getenv("LANEBLOOM_ARRAYS");
  if (value)
    return strtoull(value, NULL, 10);
  return test_exhaustive() ? 200000 : 6000;
}

/* The random arrays are divided among four tests, each a process of its own. */
static void check_share(uint64_t which)
{
  const uint64_t n = count_random() / 4;
  check_random(which * n, n);
}

Test(rows, random_arrays_1)
{
  check_share(0);
}

Test(rows, random_arrays_2)
{
  check_share(1);
}

Test(rows, random_arrays_3)
{
  check_share(2);
}

Test(rows, random_arrays_4)
{
  check_share(3);
}

static const size_t LENGTHS[] = {0, 1, 7, 8, 9, 511, 512, 513};

Test(rows, every_type_at_every_length)
{
  struct rng rng = rng_start(1);
  for (size_t t = 0; t < NARRAY_TYPES; t++)
    for (size_t l = 0; l < COUNT(LENGTHS); l++)
      for (unsigned way = 0; way < 4; way++)
        check_plan(&(struct array_plan){.type = &array_types[t],
                                        .n = LENGTHS[l],
                                        .rows_null_of = way & 1 ? 3 : 0,
                                        .has_slices = way & 2},
                   &rng);
}

/* A random array is tried with only one kernel; this test tries every type with every kernel. */
Test(rows, every_type_by_every_kernel)
{
  struct rng rng = rng_start(5);
  for (size_t k = 0; k < lanebloom_kernel_count(); k++)
    for (size_t t = 0; t < NARRAY_TYPES; t++)
      for (unsigned has_dictionary = 0; has_dictionary < 2; has_dictionary++) {
        const struct array_plan plan = {.type = &array_types[t],
                                        .index_type = has_dictionary ? array_type_of("S") : NULL,
                                        .n = 513,
                                        .nvalues = 300,
                                        .rows_null_of = 5,
                                        .values_null_of = 5,
                                        .has_slices = true};
        test_context("%s: \"%s\"%s", lanebloom_kernel_at(k), plan.type->format,
                     has_dictionary ? ", a dictionary" : "");
        check(&plan, lanebloom_kernel_at(k), &rng);
      }
}

/* These layouts have values that can be used in place, numbers that are copied, and empty keys. */
static const char *const LAYOUTS[] = {"u", "Z", "vu", "w:5", "w:40", "w:0", "s", "l", "d:38,0"};

/* The lengths are around the number of keys that screening takes at once. */
Test(rows, arrays_of_more_than_one_part)
{
  struct rng rng = rng_start(2);
  for (size_t t = 0; t < COUNT(LAYOUTS); t++)
    for (size_t n = 32767; n <= 32769; n++)
      check_plan(
          &(struct array_plan){
              .type = array_type_of(LAYOUTS[t]), .n = n, .rows_null_of = 20, .has_slices = n % 2},
          &rng);
}

Test(rows, dictionaries_of_every_index)
{
  static const size_t lengths[] = {0, 1, 9, 100, 513};
  struct rng rng = rng_start(3);
  for (size_t t = 0; t < COUNT(LAYOUTS); t++)
    for (size_t index = 0; index < NINDEX_TYPES; index++)
      for (size_t l = 0; l < COUNT(lengths) * COUNT(lengths); l++)
        check_plan(&(struct array_plan){.type = array_type_of(LAYOUTS[t]),
                                        .index_type = &array_types[index],
                                        .n = lengths[l / COUNT(lengths)],
                                        .nvalues = lengths[l % COUNT(lengths)],
                                        .rows_null_of = l % 2 * 4,
                                        .values_null_of = l % 3 * 5,
                                        .has_slices = index % 2},
                   &rng);
}

Test(rows, large_dictionaries)
{
  static const size_t lengths[][2] = {
      {32767, 32769}, {32768, 32768}, {32769, 32767}, {5, 32769}, {32769, 5}};
  struct rng rng = rng_start(4);
  for (size_t t = 0; t < 4; t++)
    for (size_t l = 0; l < COUNT(lengths); l++)
      check_plan(&(struct array_plan){.type = array_type_of(LAYOUTS[t * 2]),
                                      .index_type = array_type_of(t % 2 ? "S" : "i"),
                                      .n = lengths[l][0],
                                      .nvalues = lengths[l][1],
                                      .rows_null_of = 10,
                                      .values_null_of = 10,
                                      .has_slices = l % 2},
                 &rng);
}
