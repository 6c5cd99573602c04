/* Fuzzes the calls for Arrow: makes the two structs of Arrow from any bytes. Formats, lengths,
 * offsets and null counts may be anything. Buffers may be missing, may have any content and may not
 * be aligned, and dictionaries may have dictionaries. Only the lengths of buffers are always right.
 * The following must be true: either every call refuses the array, or every call takes it. If they
 * take it, their results agree with each other and with calls for one key at a time, for each
 * kernel.
 *
 *   format of the filter | form: encoding, flags | schema and array
 *   1 byte each, except schema and array
 *
 * SPDX-License-Identifier: MIT */
#include <lanebloom_arrow.h>

#include "fuzz.h"
#include "support.h"

enum { MAX_NROWS = 1300, MAX_NBUFFERS = 6, MAX_DEPTH = 3 };

/* A column and all memory to which its structs point. */
struct column {
  struct ArrowSchema schema;
  struct ArrowArray array;
  const void *buffers[MAX_NBUFFERS];
  void *blocks[MAX_NBUFFERS]; /* the allocations that hold its buffers */
  char *format, *metadata;
  struct column *dictionary;
};

static void release_schema(struct ArrowSchema *schema)
{
  (void)schema;
  abort();
}

static void release_array(struct ArrowArray *array)
{
  (void)array;
  abort();
}

/* ---- Making ---- */

/* The properties of a format that decide the lengths of its buffers. */
struct needs {
  uint64_t width; /* bytes of each value, of each view (16) or of each offset */
  bool has_offsets, has_views;
};

static struct needs needs_of(const char *format)
{
  static const struct {
    const char *begin;
    uint64_t width;
  } widths[] = {{"c", 1}, {"C", 1},   {"s", 2},   {"S", 2},   {"i", 4},  {"I", 4},
                {"f", 4}, {"tdD", 4}, {"tts", 4}, {"ttm", 4}, {"d:", 16}};
  if (strcmp(format, "u") == 0 || strcmp(format, "z") == 0)
    return (struct needs){.width = 4, .has_offsets = true};
  if (strcmp(format, "U") == 0 || strcmp(format, "Z") == 0)
    return (struct needs){.width = 8, .has_offsets = true};
  if (strcmp(format, "vu") == 0 || strcmp(format, "vz") == 0)
    return (struct needs){.width = 16, .has_views = true};
  if (strncmp(format, "w:", 2) == 0)
    return (struct needs){.width = strtoull(format + 2, NULL, 10)};
  for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
    if (strncmp(format, widths[i].begin, strlen(widths[i].begin)) == 0)
      return (struct needs){.width = widths[i].width};
  return (struct needs){.width = 8};
}

/* Makes a buffer of exactly nbytes, from bytes of the input, which are repeated. The buffer ends
 * where its allocation ends, so that sanitizers detect reads past it. It begins `shift` bytes after
 * the allocation's beginning, so that it may not be aligned. */
static void make_buffer(struct fuzz_input *input, struct column *column, size_t i, size_t nbytes,
                        size_t shift)
{
  const lanebloom_slice pattern = input_short(input);
  uint8_t *block = fuzz_alloc(shift + nbytes);
  memset(block, 0, shift + nbytes);
  for (size_t at = 0; at < nbytes && pattern.size > 0; at += pattern.size)
    memcpy(block + shift + at, pattern.data,
           nbytes - at < pattern.size ? nbytes - at : pattern.size);
  column->blocks[i] = block;
  column->buffers[i] = block + shift;
}

/* Returns how many bytes of data the rows need according to their offsets, up to the first offset
 * that would be refused. */
static size_t bytes_for_offsets(const struct column *column, size_t width, size_t nrows,
                                size_t first)
{
  int64_t end = 0;
  for (size_t i = 0; i <= nrows && column->buffers[1]; i++) {
    int32_t narrow = 0;
    int64_t wide = 0;
    const uint8_t *at = (const uint8_t *)column->buffers[1] + (first + i) * width;
    if (width == sizeof narrow)
      memcpy(&narrow, at, width);
    else
      memcpy(&wide, at, width);
    wide += narrow;
    if (wide < end)
      break;
    end = wide;
  }
  return (size_t)end;
}

/* Makes offsets. A byte of the input is the step from one offset to the next, so that most offsets
 * ascend. */
static void make_offsets(struct fuzz_input *input, struct column *column, size_t width, size_t n,
                         size_t shift)
{
  make_buffer(input, column, 1, n * width, shift);
  uint8_t *offsets = (uint8_t *)column->blocks[1] + shift;
  int64_t at = 0;
  for (size_t i = 0; i < n; i++) {
    const uint8_t step = offsets[i * width];
    at += step < 250 ? step % 32 : (int64_t)step - 252; /* a few steps are negative */
    const int32_t narrow = (int32_t)at;
    memcpy(offsets + i * width, width == sizeof narrow ? (void *)&narrow : (void *)&at, width);
  }
}

/* Makes each view from three bytes: a size, a buffer and an offset. Most views are right. */
static void make_views(struct fuzz_input *input, struct column *column, size_t n, size_t nbuffers,
                       const int64_t *sizes)
{
  make_buffer(input, column, 1, n * 16, 0);
  for (size_t i = 0; i < n; i++) {
    uint8_t *view = (uint8_t *)column->blocks[1] + i * 16;
    const uint8_t size_byte = view[0], buffer_byte = view[1], offset_byte = view[2];
    if (size_byte > 252) /* the view stays any bytes */
      continue;
    const int32_t size = size_byte % 24;
    memcpy(view, &size, sizeof size);
    if (size > 12 && nbuffers > 0) {
      const int32_t buffer = buffer_byte == 255 ? 255 : (int32_t)(buffer_byte % nbuffers);
      const int64_t room = buffer == 255 ? 1 : sizes[buffer] - size + 1;
      const int32_t offset = (int32_t)(room > 0 ? offset_byte % room : 0);
      memcpy(view + 8, &buffer, sizeof buffer);
      memcpy(view + 12, &offset, sizeof offset);
    }
  }
}

static char *make_metadata(struct fuzz_input *input, bool is_uuid)
{
  static const char key[] = "ARROW:extension:name", uuid[] = "arrow.uuid";
  const lanebloom_slice name = input_short(input);
  const int32_t counts[] = {1, sizeof key - 1, (int32_t)(is_uuid ? sizeof uuid - 1 : name.size)};
  char *metadata = fuzz_alloc(sizeof counts + sizeof key - 1 + (size_t)counts[2]), *to = metadata;
  memcpy(to, counts, 2 * sizeof *counts);
  to += 2 * sizeof *counts;
  memcpy(to, key, sizeof key - 1);
  to += sizeof key - 1;
  memcpy(to, &counts[2], sizeof *counts);
  if (counts[2] > 0)
    memcpy(to + sizeof *counts, is_uuid ? uuid : name.data, (size_t)counts[2]);
  return metadata;
}

/* These bits of a column's byte `bits` say what is special or wrong about the column. */
enum {
  HAS_DICTIONARY = 1,
  HAS_METADATA = 2,
  IS_UUID = 4,
  HAS_VALIDITY = 8,
  IS_ODD = 16, /* a byte of the bits below follows */
};

enum {
  SCHEMA_RELEASED = 1,
  ARRAY_RELEASED = 2,
  NO_FORMAT = 4,
  NO_BUFFERS = 8,
  ODD_NBUFFERS = 16,
  NO_BUFFER = 32,
  ODD_LENGTH = 64,
  MISALIGNED = 128
};

/* Breaks the structs of a column in ways that leave the lengths of its buffers right. */
static void make_odd(struct fuzz_input *input, struct column *column, unsigned odd)
{
  if (odd & SCHEMA_RELEASED)
    column->schema.release = NULL;
  if (odd & ARRAY_RELEASED)
    column->array.release = NULL;
  if (odd & NO_FORMAT)
    column->schema.format = NULL;
  if (odd & NO_BUFFERS)
    column->array.buffers = NULL;
  if (odd & ODD_NBUFFERS) /* most types need more buffers */
    column->array.n_buffers = (int64_t)(input_byte(input) % 4) - 1;
  if (odd & NO_BUFFER)
    column->buffers[input_byte(input) % MAX_NBUFFERS] = NULL;
  if (odd & ODD_LENGTH) {
    const int64_t number = (int64_t)input_number(input, 8);
    if (number < 0 || number > INT64_MAX / 64)
      *(input_byte(input) % 2 ? &column->array.length : &column->array.offset) = number;
  }
}

/* Reads a column from the input: length of the format, format | bits | rows, 2 bytes | offset |
 * null count | buffers | what make_odd() reads. A number without a size has 1 byte. */
static struct column *make_column(struct fuzz_input *input, unsigned depth)
{
  struct column *column = fuzz_alloc(sizeof *column);
  memset(column, 0, sizeof *column);
  const lanebloom_slice format = input_short(input);
  column->format = fuzz_alloc(format.size + 1);
  if (format.size > 0)
    memcpy(column->format, format.data, format.size);
  column->format[format.size] = 0;
  const unsigned bits = input_byte(input), odd = bits & IS_ODD ? input_byte(input) : 0;
  const size_t n = (size_t)input_number(input, 2) % MAX_NROWS, first = input_byte(input) % 40;
  const int64_t null_count = (int8_t)input_byte(input);
  const struct needs needs = needs_of(column->format);
  const size_t shift = odd & MISALIGNED ? 1 + input_byte(input) % 7 : 0, rows = first + n;
  if (bits & HAS_METADATA)
    column->metadata = make_metadata(input, bits & IS_UUID);
  if (bits & HAS_VALIDITY)
    make_buffer(input, column, 0, (rows + 7) / 8, 0);
  column->array = (struct ArrowArray){.length = (int64_t)n,
                                      .null_count = null_count,
                                      .offset = (int64_t)first,
                                      .n_buffers = 2,
                                      .buffers = column->buffers,
                                      .release = release_array};
  column->schema = (struct ArrowSchema){.format = column->format,
                                        .name = "fuzz",
                                        .metadata = column->metadata,
                                        .release = release_schema};
  size_t nbytes = 0;
  if (needs.has_offsets) {
    make_offsets(input, column, (size_t)needs.width, rows + 1, shift);
    nbytes = bytes_for_offsets(column, (size_t)needs.width, n, first);
    column->array.n_buffers = 3;
    make_buffer(input, column, 2, nbytes, 0);
  } else if (needs.has_views) {
    const size_t nbuffers = input_byte(input) % 4;
    int64_t sizes[3];
    for (size_t i = 0; i < nbuffers; i++) {
      sizes[i] = input_byte(input);
      make_buffer(input, column, 2 + i, (size_t)sizes[i], 0);
    }
    make_views(input, column, rows, nbuffers, sizes);
    uint8_t *block = fuzz_alloc(nbuffers * sizeof *sizes + shift);
    memcpy(block + shift, sizes, nbuffers * sizeof *sizes);
    column->blocks[2 + nbuffers] = block;
    column->buffers[2 + nbuffers] = block + shift;
    column->array.n_buffers = 3 + (int64_t)nbuffers;
  } else if (needs.width * rows <= 1 << 20 && needs.width <= 1 << 20) {
    make_buffer(input, column, 1, (size_t)needs.width * rows, shift);
  }
  make_odd(input, column, odd);
  if (bits & HAS_DICTIONARY && depth < MAX_DEPTH) {
    column->dictionary = make_column(input, depth + 1);
    column->schema.dictionary = &column->dictionary->schema;
    if (!(odd & NO_BUFFER))
      column->array.dictionary = &column->dictionary->array;
  }
  return column;
}

static void free_column(struct column *column)
{
  if (column->dictionary)
    free_column(column->dictionary);
  for (size_t i = 0; i < MAX_NBUFFERS; i++)
    free(column->blocks[i]);
  free(column->format);
  free(column->metadata);
  free(column);
}

/* ---- Checking ---- */

static struct {
  uint8_t bitmap[(MAX_NROWS + 7) / 8], mask[MAX_NROWS], hashes[MAX_NROWS * LANEBLOOM_MAX_HASH_SIZE],
      numbers[MAX_NROWS * 16];
  uint32_t indices[MAX_NROWS];
  lanebloom_slice slices[MAX_NROWS];
} found;

/* Checks that there is a message if the status is an error, and none if it is not. Returns the
 * status. */
static lanebloom_status seen(lanebloom_status status, char problem[256])
{
  CHECK(!status == !problem[0]);
  memset(problem, 'x', 255);
  return status;
}

/* Checks a builder to which the array is added. If the array is refused, the builder must make a
 * filter without keys. */
static void check_adding(lanebloom_format format, lanebloom_key_form form,
                         const struct column *column, lanebloom_status expected, size_t n)
{
  const struct ArrowSchema *schema = &column->schema;
  const struct ArrowArray *array = &column->array;
  const lanebloom_keys none = lanebloom_keys_fixed(NULL, 0, 0);
  lanebloom_builder *builder;
  lanebloom_filter *filter, *empty;
  char problem[256] = "x";
  CHECK(lanebloom_builder_create(format, 10, 0, &builder) == LANEBLOOM_OK);
  CHECK(lanebloom_builder_set_key_form(builder, form) == LANEBLOOM_OK);
  CHECK(seen(lanebloom_builder_add_arrow(builder, schema, array, problem, sizeof problem),
             problem) == expected);
  CHECK(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK);
  lanebloom_builder_free(builder);
  size_t count = 0, nbytes, empty_nbytes, nvalid = 0;
  if (expected) {
    CHECK(lanebloom_filter_build(format, 10, &none, &empty) == LANEBLOOM_OK);
    const void *bytes = lanebloom_filter_bytes(filter, &nbytes),
               *empty_bytes = lanebloom_filter_bytes(empty, &empty_nbytes);
    CHECK(nbytes == empty_nbytes && memcmp(bytes, empty_bytes, nbytes) == 0);
    lanebloom_filter_free(empty);
  } else {
    for (size_t i = 0; i < n; i++)
      nvalid += found.slices[i].data != NULL;
    CHECK(lanebloom_filter_screen_arrow(filter, schema, array, NULL, &count, problem,
                                        sizeof problem) == LANEBLOOM_OK);
    CHECK(count == nvalid); /* all keys are present, and no null is */
  }
  lanebloom_filter_free(filter);
}

/* Compares the results for the rows of an array with calls for one key at a time. */
static void check_rows(const lanebloom_filter *filter, lanebloom_format format, size_t n,
                       size_t count, bool is_screened)
{
  const size_t hash_nbytes = lanebloom_format_hash_size(format);
  size_t nfound = 0;
  for (size_t i = 0; i < n; i++) {
    const lanebloom_slice key = found.slices[i];
    const lanebloom_keys one = lanebloom_keys_fixed(key.data, key.size, 1);
    uint8_t hash[LANEBLOOM_MAX_HASH_SIZE] = {0};
    CHECK(key.data || key.size == 0);
    if (key.data)
      CHECK(lanebloom_hash(format, &one, hash) == LANEBLOOM_OK);
    CHECK(memcmp(found.hashes + i * hash_nbytes, hash, hash_nbytes) == 0);
    if (!is_screened)
      continue;
    const bool may = key.data && lanebloom_filter_may_contain(filter, key.data, key.size);
    CHECK(found.mask[i] == may && bit(found.bitmap, i) == may);
    if (may)
      CHECK(found.indices[nfound++] == i);
  }
  if (is_screened) {
    CHECK(nfound == count);
    check_bitmap(found.bitmap, n, count);
  }
}

static void check(const lanebloom_filter *filter, lanebloom_format format, lanebloom_key_form form,
                  const struct column *column)
{
  const struct ArrowSchema *schema = &column->schema;
  const struct ArrowArray *array = &column->array;
  struct ArrowSchema booleans_schema;
  struct ArrowArray booleans;
  char problem[256] = "x";
  const size_t size = sizeof problem;
  size_t counts[3] = {0};
  lanebloom_key_form type_form;
  const lanebloom_status opened = seen(
      lanebloom_arrow_slices(schema, array, found.slices, found.numbers, problem, size), problem);
  CHECK(seen(lanebloom_hash_arrow(format, schema, array, found.hashes, problem, size), problem) ==
        opened);
  if (lanebloom_arrow_key_form(schema, &type_form, problem, size))
    CHECK(opened == LANEBLOOM_ERR_FORMAT || opened == LANEBLOOM_ERR_ARGUMENT);
  memset(problem, 'x', size - 1);
  const lanebloom_status screened = seen(
      lanebloom_filter_screen_arrow(filter, schema, array, found.bitmap, &counts[0], problem, size),
      problem);
  CHECK(screened == opened || (!opened && screened == LANEBLOOM_ERR_MISMATCH));
  CHECK(seen(lanebloom_filter_mask_arrow(filter, schema, array, found.mask, &counts[1], problem,
                                         size),
             problem) == screened);
  CHECK(seen(lanebloom_filter_select_arrow(filter, schema, array, found.indices, &counts[2],
                                           problem, size),
             problem) == screened);
  CHECK(seen(lanebloom_filter_booleans_arrow(filter, schema, array, &booleans_schema, &booleans,
                                             problem, size),
             problem) == screened);
  const size_t n = opened ? 0 : (size_t)array->length;
  CHECK(counts[0] == counts[1] && counts[0] == counts[2]);
  if (screened) {
    CHECK(!booleans.release && !booleans_schema.release);
  } else {
    CHECK(memcmp(booleans.buffers[1], found.bitmap, (n + 7) / 8) == 0);
    CHECK(booleans.length == array->length);
    booleans.release(&booleans);
    booleans_schema.release(&booleans_schema);
  }
  check_rows(filter, format, n, counts[0], !screened);
  check_adding(format, form, column, screened, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  lanebloom_format formats[MAX_FORMATS];
  const size_t nformats = test_formats_that_build(formats);
  struct fuzz_input input = {bytes, size};
  const lanebloom_format format = formats[input_byte(&input) % nformats];
  lanebloom_key_form form = {.encoding = (lanebloom_encoding)(input_byte(&input) % 32),
                             .flags = input_byte(&input) % 32};
  form.flags = form.flags < 8 ? form.flags : 0;
  struct column *column = make_column(&input, 0);
  if (form.encoding > LANEBLOOM_UUID) { /* half of the inputs use the form of the column's type */
    form = (lanebloom_key_form){.encoding = LANEBLOOM_BYTES};
    if (lanebloom_arrow_key_form(&column->schema, &form, NULL, 0))
      form.flags = 0;
  }

  /* If the column has keys, makes a filter of every other key. */
  const struct ArrowArray *array = &column->array;
  size_t n = 0;
  if (!lanebloom_arrow_slices(&column->schema, array, found.slices, found.numbers, NULL, 0))
    for (size_t i = 0; i < (size_t)array->length; i += 2)
      if (found.slices[i].data)
        found.slices[n++] = found.slices[i];
  const lanebloom_keys keys = lanebloom_keys_slices(found.slices, n);
  lanebloom_builder *builder;
  lanebloom_filter *filter;
  CHECK(lanebloom_builder_create(format, 4, 0, &builder) == LANEBLOOM_OK);
  CHECK(lanebloom_builder_set_key_form(builder, form) == LANEBLOOM_OK);
  CHECK(lanebloom_builder_add(builder, &keys) == LANEBLOOM_OK);
  CHECK(lanebloom_builder_finish(builder, &filter) == LANEBLOOM_OK);
  lanebloom_builder_free(builder);
  for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
    CHECK(lanebloom_kernel_use(lanebloom_kernel_at(i)) == LANEBLOOM_OK);
    check(filter, format, form, column);
  }
  lanebloom_filter_free(filter);
  free_column(column);
  return 0;
}
