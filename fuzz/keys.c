/* Fuzzes hashing, screening and building with any keys, in any layout in memory. The following must
 * be true for each kernel: hashes and results are the same as the scalar kernel gives for each key
 * alone. Built filters have all keys, and the same bytes as the filters that the scalar kernel
 * builds.
 *
 *   layout | format | bits per key | first key of a part | its number of keys
 *   | bytes before the first key, or from field to field | keys
 *   1 byte each, except keys
 *
 * SPDX-License-Identifier: MIT */
#include "fuzz.h"
#include "support.h"

enum { NLAYOUTS = 6 };

/* Copies of keys in one of the layouts. Bytes and views end where their memory ends, so that
 * sanitizers detect reads past it. */
struct layout {
  lanebloom_keys keys;
  uint8_t *data;
  uint32_t *offsets32;
  uint64_t *offsets64;
  uint8_t *fields, *views;
};

/* Copies keys to fields of records of `stride` bytes. Fields may overlap and change each other, so
 * the slices are set to the fields. */
static lanebloom_keys lay_out_fields(lanebloom_slice *slices, size_t n, size_t stride,
                                     uint8_t *fields)
{
  const size_t width = slices[0].size;
  for (size_t i = 0; i < n && width > 0; i++)
    memcpy(fields + i * stride, slices[i].data, width);
  for (size_t i = 0; i < n; i++)
    slices[i].data = fields + i * stride;
  return lanebloom_keys_strided(fields, width, stride, n);
}

/* Makes string views of keys. A key of up to 12 bytes is stored in the view itself; a longer one
 * stays in `data`. */
static lanebloom_keys lay_out_views(const lanebloom_slice *slices, size_t n, const uint8_t *data,
                                    uint8_t *views)
{
  for (size_t i = 0; i < n; data += slices[i++].size) {
    uint8_t *view = views + 16 * i;
    const uint32_t size = (uint32_t)slices[i].size;
    memset(view, 0xee, 16);
    memcpy(view, &size, sizeof size);
    if (size > 12)
      memcpy(view + 8, &data, sizeof data);
    else if (size > 0)
      memcpy(view + 4, data, size);
  }
  return lanebloom_keys_strings(views, n);
}

static struct layout lay_out(lanebloom_slice *slices, size_t n, unsigned which, size_t before)
{
  size_t nbytes = before;
  bool is_fixed = n > 0;
  for (size_t i = 0; i < n; i++) {
    nbytes += slices[i].size;
    is_fixed = is_fixed && slices[i].size == slices[0].size;
  }
  struct layout made = {.keys = lanebloom_keys_slices(slices, n),
                        .data = fuzz_alloc(nbytes),
                        .offsets32 = fuzz_alloc((n + 1) * sizeof *made.offsets32),
                        .offsets64 = fuzz_alloc((n + 1) * sizeof *made.offsets64),
                        .fields = fuzz_alloc(is_fixed ? (n - 1) * before + slices[0].size : 0),
                        .views = fuzz_alloc(before + 16 * n)};
  memset(made.data, 0, before);
  size_t at = before;
  for (size_t i = 0; i <= n; i++) {
    made.offsets32[i] = (uint32_t)at;
    made.offsets64[i] = at;
    if (i < n && slices[i].size > 0)
      memcpy(made.data + at, slices[i].data, slices[i].size);
    at += i < n ? slices[i].size : 0;
  }
  if (which == 1)
    made.keys = lanebloom_keys_offsets32(made.data, made.offsets32, n);
  else if (which == 2)
    made.keys = lanebloom_keys_offsets64(made.data, made.offsets64, n);
  else if (which == 3 && is_fixed)
    made.keys = lanebloom_keys_fixed(made.data + before, slices[0].size, n);
  else if (which == 4 && is_fixed)
    made.keys = lay_out_fields(slices, n, before, made.fields);
  else if (which == 5)
    made.keys = lay_out_views(slices, n, made.data + before, made.views + before);
  return made;
}

static void layout_free(struct layout *layout)
{
  free(layout->data);
  free(layout->offsets32);
  free(layout->offsets64);
  free(layout->fields);
  free(layout->views);
}

/* The results of the scalar kernel for each key alone, and of the filter that it builds. */
struct expected {
  uint8_t hashes[FUZZ_MAX_NKEYS * LANEBLOOM_MAX_HASH_SIZE], bitmap[FUZZ_BITMAP_NBYTES];
  size_t count, filter_nbytes;
  const uint8_t *filter_bytes;
};

static void check(lanebloom_format format, double bits_per_key, const lanebloom_keys *keys,
                  const lanebloom_filter *filter, const struct expected *expected)
{
  static struct expected found;
  CHECK(lanebloom_hash(format, keys, found.hashes) == LANEBLOOM_OK);
  CHECK(memcmp(found.hashes, expected->hashes, keys->n * lanebloom_format_hash_size(format)) == 0);
  CHECK(lanebloom_filter_screen(filter, keys, found.bitmap) == expected->count);
  CHECK(memcmp(found.bitmap, expected->bitmap, (keys->n + 7) / 8) == 0);

  /* A filter that is built in one call equals the filter of the scalar kernel. A filter of two
   * merged builders has all keys. */
  lanebloom_filter *built;
  CHECK(lanebloom_filter_build(format, bits_per_key, keys, &built) == LANEBLOOM_OK);
  CHECK(lanebloom_filter_screen(built, keys, NULL) == keys->n);
  found.filter_bytes = lanebloom_filter_bytes(built, &found.filter_nbytes);
  CHECK(found.filter_nbytes == expected->filter_nbytes &&
        memcmp(found.filter_bytes, expected->filter_bytes, found.filter_nbytes) == 0);
  for (uint64_t expected_keys = 0; expected_keys <= keys->n;
       expected_keys += keys->n + (keys->n == 0)) {
    lanebloom_builder *into, *from;
    const lanebloom_keys head = lanebloom_keys_part(keys, 0, keys->n / 3),
                         tail = lanebloom_keys_part(keys, keys->n / 3, SIZE_MAX);
    CHECK(lanebloom_builder_create(format, bits_per_key, expected_keys, &into) == LANEBLOOM_OK);
    CHECK(lanebloom_builder_create(format, bits_per_key, expected_keys, &from) == LANEBLOOM_OK);
    CHECK(lanebloom_builder_add(into, &head) == LANEBLOOM_OK &&
          lanebloom_builder_add(from, &tail) == LANEBLOOM_OK);
    CHECK(lanebloom_builder_merge(into, from, NULL, 0) == LANEBLOOM_OK);
    lanebloom_builder_free(from);
    lanebloom_filter *merged;
    CHECK(lanebloom_builder_finish(into, &merged) == LANEBLOOM_OK);
    lanebloom_builder_free(into);
    CHECK(lanebloom_filter_screen(merged, keys, NULL) == keys->n);
    size_t nbytes;
    const uint8_t *bytes = lanebloom_filter_bytes(merged, &nbytes);
    if (expected_keys == 0) /* equals the filter of one builder */
      CHECK(nbytes == found.filter_nbytes && memcmp(bytes, found.filter_bytes, nbytes) == 0);
    lanebloom_filter_free(merged);
  }
  lanebloom_filter_free(built);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  lanebloom_format formats[MAX_FORMATS];
  const size_t nformats = test_formats_that_build(formats);
  static lanebloom_slice slices[FUZZ_MAX_NKEYS];
  static struct expected expected;
  struct fuzz_input input = {bytes, size};
  const unsigned which = input_byte(&input) % NLAYOUTS;
  const lanebloom_format format = formats[input_byte(&input) % nformats];
  const double bits_per_key = 1 + input_byte(&input) % 50;
  const size_t first = (size_t)input_byte(&input) * 4, most = 1 + (size_t)input_byte(&input) * 16,
               before = input_byte(&input);
  const lanebloom_keys keys = input_keys(&input, slices),
                       part = lanebloom_keys_part(&keys, first, most);
  struct layout layout = lay_out(slices, keys.n, which, before);

  CHECK(lanebloom_kernel_use("scalar") == LANEBLOOM_OK);
  lanebloom_filter *filter, *built; /* `filter` has only a part of the keys */
  CHECK(lanebloom_filter_build(format, bits_per_key, &part, &filter) == LANEBLOOM_OK);
  const size_t hash_nbytes = lanebloom_format_hash_size(format);
  memset(expected.bitmap, 0, sizeof expected.bitmap);
  expected.count = 0;
  for (size_t i = 0; i < keys.n; i++) {
    const lanebloom_keys one = lanebloom_keys_fixed(slices[i].data, slices[i].size, 1);
    CHECK(lanebloom_hash(format, &one, expected.hashes + i * hash_nbytes) == LANEBLOOM_OK);
    const bool may = lanebloom_filter_may_contain(filter, slices[i].data, slices[i].size);
    CHECK(may || i < first || i - first >= part.n);
    expected.bitmap[i / 8] |= (uint8_t)(may << i % 8);
    expected.count += may;
  }
  CHECK(lanebloom_filter_build(format, bits_per_key, &keys, &built) == LANEBLOOM_OK);
  expected.filter_bytes = lanebloom_filter_bytes(built, &expected.filter_nbytes);
  for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
    CHECK(lanebloom_kernel_use(lanebloom_kernel_at(i)) == LANEBLOOM_OK);
    check(format, bits_per_key, &layout.keys, filter, &expected);
    const lanebloom_keys cut = lanebloom_keys_part(&layout.keys, first, most);
    CHECK(cut.n == part.n && lanebloom_filter_screen(filter, &cut, NULL) == cut.n);
  }
  lanebloom_filter_free(built);
  lanebloom_filter_free(filter);
  layout_free(&layout);
  return 0;
}
