/* Makes Arrow arrays of every type that can hold keys. The keys of numbers are computed by shifts;
 * the arrays contain copies of the numbers as the host stores them.
 * SPDX-License-Identifier: MIT */
#include "arrays.h"

#include <string.h>

/* ---- Types ---- */

#define NUMBER(format_, kind_, width_, key_nbytes_, encoding_)                                     \
  {                                                                                                \
    .format = (format_), .kind = (kind_), .width = (width_), .key_nbytes = (key_nbytes_),          \
    .encoding = LANEBLOOM_##encoding_                                                              \
  }
#define BYTES_OF(nbytes)                                                                           \
  {                                                                                                \
    .format = "w:" #nbytes, .kind = FIXED_BYTES, .width = (nbytes), .key_nbytes = (nbytes)         \
  }

/* The types that can be indices of a dictionary come first. */
const struct array_type array_types[NARRAY_TYPES] = {
    NUMBER("c", SIGNED, 1, 4, INT32),
    NUMBER("s", SIGNED, 2, 4, INT32),
    NUMBER("i", SIGNED, 4, 4, INT32),
    NUMBER("l", SIGNED, 8, 8, INT64),
    NUMBER("C", UNSIGNED, 1, 4, UINT32),
    NUMBER("S", UNSIGNED, 2, 4, UINT32),
    NUMBER("I", UNSIGNED, 4, 4, UINT32),
    NUMBER("L", UNSIGNED, 8, 8, UINT64),
    NUMBER("f", UNSIGNED, 4, 4, FLOAT32),
    NUMBER("g", UNSIGNED, 8, 8, FLOAT64),
    NUMBER("tdD", SIGNED, 4, 4, DATE32),
    NUMBER("tdm", SIGNED, 8, 8, TIMESTAMP_MS),
    NUMBER("tss:", SIGNED, 8, 8, TIMESTAMP_S),
    NUMBER("tsm:", SIGNED, 8, 8, TIMESTAMP_MS),
    NUMBER("tsu:", SIGNED, 8, 8, TIMESTAMP_US),
    NUMBER("tsn:", SIGNED, 8, 8, TIMESTAMP_NS),
    NUMBER("tss:UTC", SIGNED, 8, 8, TIMESTAMP_S),
    NUMBER("tsm:+02:00", SIGNED, 8, 8, TIMESTAMP_MS),
    NUMBER("tsu:Europe/Paris", SIGNED, 8, 8, TIMESTAMP_US),
    NUMBER("tsn:UTC", SIGNED, 8, 8, TIMESTAMP_NS),
    NUMBER("tts", SIGNED, 4, 4, INT32),
    NUMBER("ttm", SIGNED, 4, 4, INT32),
    NUMBER("ttu", SIGNED, 8, 8, INT64),
    NUMBER("ttn", SIGNED, 8, 8, INT64),
    NUMBER("tDs", SIGNED, 8, 8, INT64),
    NUMBER("tDm", SIGNED, 8, 8, INT64),
    NUMBER("tDu", SIGNED, 8, 8, INT64),
    NUMBER("tDn", SIGNED, 8, 8, INT64),
    NUMBER("d:38,0", SIGNED, 16, 16, DECIMAL128),
    NUMBER("d:5,0,128", SIGNED, 16, 16, DECIMAL128),
    {.format = "w:16",
     .kind = FIXED_BYTES,
     .width = 16,
     .key_nbytes = 16,
     .encoding = LANEBLOOM_UUID,
     .is_uuid = true},
    BYTES_OF(16),
    BYTES_OF(0),
    BYTES_OF(1),
    BYTES_OF(2),
    BYTES_OF(4),
    BYTES_OF(5),
    BYTES_OF(8),
    BYTES_OF(15),
    BYTES_OF(17),
    BYTES_OF(40),
    {.format = "u", .kind = STRINGS32, .is_text = true},
    {.format = "U", .kind = STRINGS64, .is_text = true},
    {.format = "vu", .kind = STRING_VIEWS, .is_text = true},
    {.format = "z", .kind = STRINGS32},
    {.format = "Z", .kind = STRINGS64},
    {.format = "vz", .kind = STRING_VIEWS},
};

const struct array_type *array_type_of(const char *format)
{
  for (size_t i = 0; i < NARRAY_TYPES; i++)
    if (strcmp(array_types[i].format, format) == 0 && !array_types[i].is_uuid)
      return &array_types[i];
  test_fatal("no type %s", format);
}

static char *put_count(char *to, int32_t count)
{
  memcpy(to, &count, sizeof count);
  return to + sizeof count;
}

char *extension_metadata(const char *name)
{
  const lanebloom_slice strings[] = {{"ARROW:extension:metadata", 24},
                                     {"", 0},
                                     {"ARROW:extension:name", 20},
                                     {name, strlen(name)}};
  size_t nbytes = sizeof(int32_t);
  for (size_t i = 0; i < COUNT(strings); i++)
    nbytes += sizeof(int32_t) + strings[i].size;
  char *metadata = test_alloc(nbytes), *to = put_count(metadata, 2);
  for (size_t i = 0; i < COUNT(strings); i++) {
    to = put_count(to, (int32_t)strings[i].size);
    memcpy(to, strings[i].data, strings[i].size);
    to += strings[i].size;
  }
  return metadata;
}

void release_no_array(struct ArrowArray *array)
{
  (void)array;
  test_fatal("an array of the caller is released");
}

void release_no_schema(struct ArrowSchema *schema)
{
  (void)schema;
  test_fatal("a schema of the caller is released");
}

/* ---- Values ---- */

enum { NDIFFERENT = 100, MAX_STRING = 40 };

/* Draws one of NDIFFERENT numbers: just above 0, just below 0, near INT64_MIN, or arbitrary. */
static uint64_t random_number(struct rng *rng)
{
  const uint64_t which = rng_below(rng, NDIFFERENT);
  switch (which % 4) {
  case 0:
    return which;
  case 1:
    return -which;
  case 2:
    return (uint64_t)INT64_MIN + which;
  default:
    return which * 0x9e3779b97f4a7c15;
  }
}

/* Stores a number in the host's byte order. */
static void store_number(uint8_t *to, size_t width, uint64_t low, uint64_t high)
{
  const uint8_t value8 = (uint8_t)low;
  const uint16_t value16 = (uint16_t)low;
  const uint32_t value32 = (uint32_t)low;
  const bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
  switch (width) {
  case 1:
    memcpy(to, &value8, width);
    break;
  case 2:
    memcpy(to, &value16, width);
    break;
  case 4:
    memcpy(to, &value32, width);
    break;
  case 8:
    memcpy(to, &low, width);
    break;
  default:
    memcpy(to, is_little ? &low : &high, sizeof low);
    memcpy(to + sizeof low, is_little ? &high : &low, sizeof high);
  }
}

/* Cuts a number to the width of the array, and extends it to 128 bits. */
static void cut_number(const struct array_type *type, uint64_t *low, uint64_t *high)
{
  if (type->width < sizeof *low) {
    const unsigned nbits = 8 * (unsigned)type->width;
    const bool is_negative = type->kind == SIGNED && *low >> (nbits - 1) & 1;
    *low &= (UINT64_C(1) << nbits) - 1;
    if (is_negative)
      *low |= UINT64_MAX << nbits;
  }
  *high = type->kind == SIGNED && *low >> 63 ? UINT64_MAX : 0;
}

static void fill_number(const struct array_type *type, struct rng *rng, uint8_t *value,
                        uint8_t *key)
{
  uint64_t low = random_number(rng), high;
  cut_number(type, &low, &high);
  if (type->width == 16 && low % 3 == 0)
    high = low * 3;
  store_number(value, type->width, low, high);
  for (size_t i = 0; i < type->key_nbytes; i++)
    key[i] = (uint8_t)((i < 8 ? low : high) >> i % 8 * 8);
}

/* Fills in one of a few strings of this length. */
static size_t fill_string(struct rng *rng, size_t size, uint8_t *bytes)
{
  const uint64_t which = rng_below(rng, 4);
  for (size_t i = 0; i < size; i++)
    bytes[i] = (uint8_t)(which * 61 + i * 7 + size);
  return size;
}

static size_t random_size(struct rng *rng)
{
  return (size_t)(rng_below(rng, 3) ? rng_below(rng, 16) : rng_below(rng, MAX_STRING));
}

/* ---- Columns ---- */

/* The values of null rows are arbitrary, except that offsets never decrease. */
static uint8_t *make_validity(size_t at, size_t n, const bool *is_null, struct rng *rng)
{
  const size_t nbytes = (at + n + 7) / 8;
  uint8_t *valid = test_alloc(nbytes);
  rng_fill(rng, valid, nbytes);
  for (size_t i = 0; i < n; i++) {
    const unsigned bit = 1U << (at + i) % 8;
    valid[(at + i) / 8] = (uint8_t)(is_null[i] ? valid[(at + i) / 8] & ~bit //
                                               : valid[(at + i) / 8] | bit);
  }
  return valid;
}

static void make_fixed(struct array_column *column, const struct array_type *type, size_t at,
                       size_t n, struct rng *rng)
{
  uint8_t *values = test_alloc((at + n) * type->width);
  rng_fill(rng, values, (at + n) * type->width);
  for (size_t i = 0; i < n; i++) {
    struct array_key *key = &column->keys[i];
    uint8_t *value = values + (at + i) * type->width, *bytes = column->bytes + column->nbytes;
    if (key->is_null)
      continue;
    *key = (struct array_key){.at = column->nbytes, .size = type->key_nbytes};
    if (type->kind == FIXED_BYTES) {
      fill_string(rng, type->width, bytes);
      memcpy(value, bytes, type->width);
    } else {
      fill_number(type, rng, value, bytes);
    }
    column->nbytes += key->size;
  }
  column->buffers[1] = values;
  if (type->width == 0 && rng_below(rng, 2)) {
    free(values);
    column->buffers[1] = NULL;
  }
  column->array.n_buffers = 2;
}

/* Null rows and the rows before the slice have bytes, too. */
static void make_strings(struct array_column *column, enum kind kind, size_t at, size_t n,
                         struct rng *rng)
{
  const size_t width = kind == STRINGS32 ? 4 : 8;
  uint8_t *offsets = test_alloc((at + n + 1) * width);
  uint8_t *bytes = test_alloc((at + n) * MAX_STRING);
  const bool are_empty = rng_below(rng, 20) == 0;
  size_t end = 0;
  for (size_t i = 0; i < at + n; i++) {
    store_number(offsets + i * width, width, end, 0);
    const size_t size = fill_string(rng, are_empty ? 0 : random_size(rng), bytes + end);
    if (i >= at && !column->keys[i - at].is_null) {
      struct array_key *key = &column->keys[i - at];
      *key = (struct array_key){.at = column->nbytes, .size = size};
      memcpy(column->bytes + column->nbytes, bytes + end, size);
      column->nbytes += size;
    }
    end += size;
  }
  store_number(offsets + (at + n) * width, width, end, 0);
  uint8_t *exact = test_alloc(end);
  memcpy(exact, bytes, end);
  free(bytes);
  column->buffers[1] = offsets;
  column->buffers[2] = exact;
  if (end == 0) {
    free(exact);
    column->buffers[2] = NULL;
  }
  column->array.n_buffers = 3;
}

/* Makes up to three buffers of long strings. Views point anywhere into them, up to their ends.
 * Views of nulls are arbitrary bytes. */
static void make_views(struct array_column *column, size_t at, size_t n, struct rng *rng)
{
  const size_t nbuffers = (size_t)rng_below(rng, 4);
  uint8_t *views = test_alloc((at + n) * 16);
  int64_t *sizes = test_alloc(nbuffers * sizeof *sizes);
  uint8_t *buffers[3] = {0};
  for (size_t i = 0; i < nbuffers; i++) {
    sizes[i] = (int64_t)(13 + rng_below(rng, 3 * MAX_STRING));
    buffers[i] = test_alloc((size_t)sizes[i]);
    fill_string(rng, (size_t)sizes[i], buffers[i]);
    column->buffers[2 + i] = buffers[i];
  }
  rng_fill(rng, views, (at + n) * 16);
  for (size_t i = 0; i < n; i++) {
    struct array_key *key = &column->keys[i];
    uint8_t *view = views + (at + i) * 16, *bytes = column->bytes + column->nbytes;
    if (key->is_null)
      continue;
    size_t size = random_size(rng);
    const size_t which = nbuffers > 0 ? (size_t)rng_below(rng, nbuffers) : 0;
    const size_t room = nbuffers > 0 ? (size_t)sizes[which] : 12;
    size = size < room ? size : room;
    if (size <= 12) {
      fill_string(rng, size, bytes);
      memset(view, 0, 16);
      memcpy(view + 4, bytes, size);
    } else {
      const size_t offset = room - size - (size_t)rng_below(rng, room - size + 1);
      memcpy(bytes, buffers[which] + offset, size);
      memcpy(view + 4, bytes, 4);
      store_number(view + 8, 4, which, 0);
      store_number(view + 12, 4, offset, 0);
    }
    store_number(view, 4, size, 0);
    *key = (struct array_key){.at = column->nbytes, .size = size};
    column->nbytes += size;
  }
  column->buffers[1] = views;
  column->buffers[2 + nbuffers] = sizes;
  if (nbuffers == 0) {
    free(sizes);
    column->buffers[2] = NULL;
  }
  column->array.n_buffers = 3 + (int64_t)nbuffers;
}

/* One row in null_of rows is null. If null_of is 0, no row is null. */
static void make_column(struct array_column *column, const struct array_type *type, size_t n,
                        uint64_t null_of, bool is_slice, struct rng *rng)
{
  const size_t at = is_slice ? (size_t)rng_below(rng, 30) : 0;
  const size_t width = type->key_nbytes > MAX_STRING ? type->key_nbytes : MAX_STRING;
  bool *is_null = test_alloc(n * sizeof *is_null);
  size_t nnulls = 0;
  *column = (struct array_column){
      .schema = {.format = type->format,
                 .name = "made",
                 .flags = null_of ? ARROW_FLAG_NULLABLE : 0,
                 .release = release_no_schema},
      .array = {.length = (int64_t)n, .offset = (int64_t)at, .release = release_no_array},
      .keys = test_alloc(n * sizeof *column->keys),
      .bytes = test_alloc(n * width)};
  if (type->is_uuid)
    column->schema.metadata = extension_metadata("arrow.uuid");
  else if (rng_below(rng, 8) == 0)
    column->schema.metadata = extension_metadata("arrow.other");
  for (size_t i = 0; i < n; i++) {
    column->keys[i].is_null = is_null[i] = null_of && rng_below(rng, null_of) == 0;
    nnulls += is_null[i];
  }
  if (type->kind == STRINGS32 || type->kind == STRINGS64)
    make_strings(column, type->kind, at, n, rng);
  else if (type->kind == STRING_VIEWS)
    make_views(column, at, n, rng);
  else
    make_fixed(column, type, at, n, rng);
  if (nnulls > 0 || rng_below(rng, 4) == 0)
    column->buffers[0] = make_validity(at, n, is_null, rng);
  column->array.null_count = rng_below(rng, 2) ? -1 : (int64_t)nnulls;
  column->array.buffers = column->buffers;
  free(is_null);
}

static void free_column(struct array_column *column)
{
  for (size_t i = 0; i < MAX_NBUFFERS; i++)
    free((void *)column->buffers[i]);
  free((void *)column->schema.metadata);
  free(column->keys);
  free(column->bytes);
}

/* An array without rows needs no buffers. */
static void drop_buffers(struct array_column *column, struct rng *rng)
{
  if (column->array.length > 0 || rng_below(rng, 3) == 0)
    return;
  for (size_t i = 0; i < MAX_NBUFFERS; i++) {
    free((void *)column->buffers[i]);
    column->buffers[i] = NULL;
  }
  if (rng_below(rng, 2)) {
    column->array.n_buffers = 0;
    column->array.buffers = NULL;
  }
}

/* ---- Dictionaries ---- */

static void point_at_values(struct sample *sample, const struct array_type *type, size_t nvalues,
                            struct rng *rng)
{
  struct array_column *rows = &sample->rows;
  const size_t n = (size_t)rows->array.length;
  uint64_t max = type->kind == SIGNED ? (UINT64_C(1) << (8 * type->width - 1)) - 1
                                      : UINT64_MAX >> (64 - 8 * type->width);
  max = max < nvalues ? max + 1 : nvalues;
  sample->indices = test_alloc(n * sizeof *sample->indices);
  for (size_t i = 0; i < n; i++) {
    if (rows->keys[i].is_null) /* its index is arbitrary */
      continue;
    const uint64_t used = 1 + max / 2; /* rarely, a row refers to a later value */
    sample->indices[i] = rng_below(rng, rng_below(rng, 30) ? used < max ? used : max : max);
    uint8_t *values = (uint8_t *)rows->buffers[1];
    store_number(values + ((size_t)rows->array.offset + i) * type->width, type->width,
                 sample->indices[i], 0);
  }
}

/* ---- Arrays ---- */

void sample_make(const struct array_plan *plan, struct rng *rng, struct sample *sample)
{
  *sample = (struct sample){.has_dictionary = plan->index_type};
  const bool has_no_values = sample->has_dictionary && plan->nvalues == 0;
  make_column(&sample->rows, sample->has_dictionary ? plan->index_type : plan->type, plan->n,
              has_no_values ? 1 : plan->rows_null_of, plan->has_slices, rng);
  if (sample->has_dictionary) {
    make_column(&sample->values, plan->type, plan->nvalues, plan->values_null_of, plan->has_slices,
                rng);
    point_at_values(sample, plan->index_type, plan->nvalues, rng);
    drop_buffers(&sample->values, rng);
    sample->rows.schema.dictionary = &sample->values.schema;
    sample->rows.array.dictionary = &sample->values.array;
  }
  drop_buffers(&sample->rows, rng);
  const size_t n = plan->n;
  sample->expected = test_alloc(n * sizeof *sample->expected);
  for (size_t i = 0; i < n; i++) {
    const struct array_column *column = &sample->rows;
    const struct array_key *key = &sample->rows.keys[i];
    if (sample->has_dictionary && !key->is_null) {
      column = &sample->values;
      key = &sample->values.keys[sample->indices[i]];
    }
    if (!key->is_null)
      sample->expected[i] = (lanebloom_slice){column->bytes + key->at, key->size};
  }
}

static size_t random_length(struct rng *rng)
{
  static const size_t lengths[] = {0, 1, 7, 8, 9, 511, 512, 513, 32767, 32768, 32769};
  const uint64_t which = rng_below(rng, 400);
  if (which == 0)
    return lengths[rng_below(rng, COUNT(lengths))];
  if (which < 12)
    return lengths[rng_below(rng, COUNT(lengths) - 3)];
  return (size_t)(which < 30 ? rng_below(rng, 1200) : rng_below(rng, 24));
}

struct array_plan random_array_plan(struct rng *rng)
{
  static const uint64_t null_ofs[] = {0, 0, 0, 1, 2, 3, 3, 50};
  struct array_plan plan = {.type = &array_types[rng_below(rng, NARRAY_TYPES)],
                            .n = random_length(rng),
                            .rows_null_of = null_ofs[rng_below(rng, COUNT(null_ofs))],
                            .values_null_of = null_ofs[rng_below(rng, COUNT(null_ofs))],
                            .has_slices = rng_below(rng, 2)};
  if (rng_below(rng, 3) == 0) {
    plan.index_type = &array_types[rng_below(rng, NINDEX_TYPES)];
    plan.nvalues = rng_below(rng, 3) ? 1 + (size_t)rng_below(rng, 20) : random_length(rng);
  }
  return plan;
}

void sample_free(struct sample *sample)
{
  free_column(&sample->rows);
  if (sample->has_dictionary)
    free_column(&sample->values);
  free(sample->indices);
  free(sample->expected);
}
