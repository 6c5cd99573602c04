/* The list of formats: what describes each format agrees with the other calls.
 * SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <lanebloom.h>
#include <math.h>
#include <string.h>

#include "common/bytes.h"
#include "few_keys.h"
#include "filter.h"

static lanebloom_format_info describe(lanebloom_format format)
{
  lanebloom_format_info info;
  cr_assert(lanebloom_format_describe(format, &info, sizeof info) == LANEBLOOM_OK, "format %d",
            (int)format);
  return info;
}

Test(formats, each_is_listed_once_and_found_by_name)
{
  const size_t n = lanebloom_format_count();
  cr_assert(n >= 5);
  for (size_t i = 0; i < n; i++) {
    const lanebloom_format format = lanebloom_format_at(i);
    const lanebloom_format_info info = describe(format);
    cr_assert(strcmp(info.name, lanebloom_format_name(format)) == 0 && info.text[0] != '\0');
    lanebloom_format found;
    cr_assert(lanebloom_format_by_name(info.name, &found) && found == format, "%s", info.name);
    cr_assert(info.hash_size == lanebloom_format_hash_size(format));
    for (size_t j = 0; j < i; j++)
      cr_assert(lanebloom_format_at(j) != format &&
                    strcmp(describe(lanebloom_format_at(j)).name, info.name) != 0,
                "%s is listed twice", info.name);
  }
}

/* Lists every value of the enum: a new value needs a line here. */
Test(formats, every_format_of_the_header_is_listed)
{
  size_t nlisted = 0;
  for (int number = 0; number < 100; number++)
    nlisted += strcmp(lanebloom_format_name((lanebloom_format)number), "unknown") != 0;
  cr_assert(nlisted == lanebloom_format_count());
  cr_assert(describe(LANEBLOOM_LEVELDB).builds && describe(LANEBLOOM_LEVELDB_SIGNED).builds);
  cr_assert(describe(LANEBLOOM_ROCKSDB_LEGACY).builds && describe(LANEBLOOM_ROCKSDB_LOCAL).builds);
  cr_assert(!describe(LANEBLOOM_ROCKSDB).builds && !describe(LANEBLOOM_ROCKSDB_RIBBON).builds);
  cr_assert(!describe(LANEBLOOM_PEBBLE_BINARYFUSE).builds);
}

/* A builder stores hashes, and leaves out equal neighbours of 4 or 8 bytes. */
Test(formats, only_formats_with_a_hash_are_built)
{
  const lanebloom_keys keys = lanebloom_keys_fixed("a", 1, 1);
  for (size_t i = 0; i < lanebloom_format_count(); i++) {
    const lanebloom_format format = lanebloom_format_at(i);
    const struct format_table *table = lanebloom_format_table(format);
    const char *name = lanebloom_format_name(format);
    lanebloom_builder *builder = (void *)1;
    lanebloom_filter *filter = (void *)1;
    uint8_t bytes[4096];
    size_t size = 1;
    uint64_t nbytes;
    unsigned nprobes;
    double number;
    cr_assert(!table->drops_equal_neighbours || lanebloom_format_hash_size(format) <= 8, "%s",
              name);
    if (table->hash != HASH_NONE)
      continue;
    cr_assert(!describe(format).builds, "%s", name);
    cr_assert(lanebloom_builder_create(format, 10, 0, &builder) == LANEBLOOM_ERR_FORMAT &&
              !builder);
    cr_assert(lanebloom_builder_create_for_rate(format, 0.01, 0, &builder) ==
                  LANEBLOOM_ERR_FORMAT &&
              !builder);
    cr_assert(lanebloom_filter_build(format, 10, &keys, &filter) == LANEBLOOM_ERR_FORMAT &&
              !filter);
    cr_assert(lanebloom_filter_build_raw(format, 10, &keys, bytes, sizeof bytes, &size) ==
                  LANEBLOOM_ERR_FORMAT &&
              size == 0);
    cr_assert(lanebloom_plan_size(format, 10, 1, &nbytes, &nprobes) == LANEBLOOM_ERR_FORMAT);
    cr_assert(lanebloom_plan_rate(format, 10, 1, &number) == LANEBLOOM_ERR_FORMAT);
    cr_assert(lanebloom_plan_bits(format, 0.01, 1, &number) == LANEBLOOM_ERR_FORMAT);
    cr_assert(lanebloom_plan_size_for_rate(format, 0.01, 1, &nbytes, &nprobes, NULL) ==
              LANEBLOOM_ERR_FORMAT);
    if (!table->recognise) {
      static const uint8_t hudi[] = {255, 255, 255, 255, 0, 0, 0, 1, 1, 0, 0, 0, 8, 1};
      cr_assert(lanebloom_filter_parse_raw(format, hudi, sizeof hudi, NULL, &filter, NULL, 0) ==
                LANEBLOOM_OK);
      cr_assert(lanebloom_builder_create_like(filter, &builder) == LANEBLOOM_ERR_FORMAT &&
                !builder);
      lanebloom_filter_free(filter);
    }
  }
}

Test(formats, what_is_not_there)
{
  lanebloom_format_info info = {.name = "as it was"};
  cr_assert(lanebloom_format_at(lanebloom_format_count()) == 0 &&
            lanebloom_format_at(SIZE_MAX) == 0);
  static const char *const others[] = {"", "unknown", "level", "leveldb "};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    lanebloom_format found = LANEBLOOM_PARQUET;
    cr_assert(!lanebloom_format_by_name(others[i], &found) && found == LANEBLOOM_PARQUET, "%s",
              others[i]);
  }
  cr_assert(lanebloom_format_describe((lanebloom_format)0, &info, sizeof info) ==
            LANEBLOOM_ERR_FORMAT);
  cr_assert(strcmp(info.name, "as it was") == 0);
}

Test(formats, a_struct_of_another_size)
{
  struct {
    lanebloom_format_info info;
    char later[32];
  } larger;
  static const char zeros[sizeof larger.later];
  memset(&larger, 0x55, sizeof larger);
  cr_assert(lanebloom_format_describe(LANEBLOOM_LEVELDB, &larger.info, sizeof larger) ==
            LANEBLOOM_OK);
  cr_assert(memcmp(larger.later, zeros, sizeof zeros) == 0 && larger.info.max_nprobes == 30);

  const char *names[2] = {NULL, "as it was"};
  cr_assert(lanebloom_format_describe(LANEBLOOM_LEVELDB, (lanebloom_format_info *)(void *)names,
                                      sizeof *names) == LANEBLOOM_OK);
  cr_assert(strcmp(names[0], "leveldb") == 0 && strcmp(names[1], "as it was") == 0);
}

static lanebloom_status build_at(lanebloom_format format, double bits_per_key, double *in_effect)
{
  const lanebloom_keys keys = lanebloom_keys_fixed("a", 1, 1);
  lanebloom_filter *filter;
  lanebloom_filter_info info;
  lanebloom_status status = lanebloom_filter_build(format, bits_per_key, &keys, &filter);
  if (status)
    return status;
  lanebloom_filter_describe(filter, &info, sizeof info);
  *in_effect = info.bits_per_key;
  lanebloom_filter_free(filter);
  return LANEBLOOM_OK;
}

/* A number of bits per key may differ by this much from the number that was set, and from a whole
 * number of steps. */
static const double EPSILON = 1e-9;

Test(formats, bits_per_key_are_as_described)
{
  for (size_t i = 0; i < lanebloom_format_count(); i++) {
    const lanebloom_format format = lanebloom_format_at(i);
    const lanebloom_format_info info = describe(format);
    double bits = NAN;
    if (!info.builds) {
      cr_assert(info.max_bits_per_key == 0 && info.bits_per_key_step == 0);
      cr_assert(build_at(format, 10, &bits) == LANEBLOOM_ERR_FORMAT);
      continue;
    }
    const double min = info.min_bits_per_key, max = info.max_bits_per_key,
                 step = info.bits_per_key_step;
    cr_assert(min < max && step > 0, "%s", info.name);
    cr_assert(build_at(format, min, &bits) == LANEBLOOM_OK && bits >= min);
    cr_assert(build_at(format, nextafter(min, -1), &bits) == LANEBLOOM_ERR_ARGUMENT, "%s",
              info.name);
    cr_assert(build_at(format, max, &bits) == LANEBLOOM_OK && bits == max);
    for (double asked = 10; asked < 12; asked += step)
      cr_assert(build_at(format, asked, &bits) == LANEBLOOM_OK && fabs(bits - asked) < EPSILON,
                "%s: %.17g bits in effect, not %.17g", info.name, bits, asked);
    if (info.rounds_bits) {
      cr_assert(build_at(format, max + step, &bits) == LANEBLOOM_OK && bits == max);
      cr_assert(build_at(format, 10 + step / 4, &bits) == LANEBLOOM_OK && bits == 10);
    } else {
      cr_assert(build_at(format, max + step, &bits) == LANEBLOOM_ERR_ARGUMENT);
      cr_assert(build_at(format, 10 + step / 4, &bits) == LANEBLOOM_ERR_ARGUMENT);
    }
  }
}

Test(formats, probes_are_as_described)
{
  for (size_t i = 0; i < lanebloom_format_count(); i++) {
    const lanebloom_format_info info = describe(lanebloom_format_at(i));
    for (double bits = 1; info.builds && bits <= 100; bits++) {
      uint64_t nbytes;
      unsigned nprobes;
      cr_assert(lanebloom_plan_size(lanebloom_format_at(i), bits, 1000, &nbytes, &nprobes) ==
                LANEBLOOM_OK);
      cr_assert(nprobes >= info.min_nprobes && nprobes <= info.max_nprobes &&
                    nbytes <= info.max_size,
                "%s at %g bits per key: %u probes", info.name, bits, nprobes);
    }
  }
}

/* ---- A format with a header ----
 *
 * No engine's format has a header, but the code supports one. This format is rocksdb-local's
 * payload between a header, which contains an arbitrary mark, and a trailer. The linker replaces
 * two functions of the library by those below. */

enum { FRAMED = 100, HEADER_NBYTES = 12, FRAMED_TRAILER_NBYTES = 3 };

static lanebloom_status framed_parse(const struct format_table *format, const uint8_t *bytes,
                                     size_t size, struct filter_shape *shape,
                                     const struct problem *problem)
{
  (void)problem;
  static const size_t frame_nbytes = HEADER_NBYTES + FRAMED_TRAILER_NBYTES;
  if (size < frame_nbytes || memcmp(bytes, "head", 4) != 0 ||
      memcmp(bytes + size - FRAMED_TRAILER_NBYTES, "end", FRAMED_TRAILER_NBYTES) != 0)
    return LANEBLOOM_ERR_FORMAT;
  *shape = format->shape(format, size - frame_nbytes, format->line_nbytes, load_le32(bytes + 8));
  return LANEBLOOM_OK;
}

static void framed_write_frame(const struct format_table *format, const struct filter_shape *shape,
                               uint8_t *bytes)
{
  (void)format;
  memcpy(bytes, "headmark", 8);
  store_le32(bytes + 8, shape->nprobes);
  memcpy(bytes + HEADER_NBYTES + shape->nbytes, "end", FRAMED_TRAILER_NBYTES);
}

static const struct format_table *framed(void)
{
  static struct format_table table;
  table = lanebloom_format_rocksdb_local;
  table.id = (lanebloom_format)FRAMED;
  table.name = "framed";
  table.header_nbytes = HEADER_NBYTES;
  table.trailer_nbytes = FRAMED_TRAILER_NBYTES;
  table.parse = framed_parse;
  table.write_frame = framed_write_frame;
  return &table;
}

typedef lanebloom_status find_function(lanebloom_format id, const struct format_table **format);
find_function __real_lanebloom_format_find, __wrap_lanebloom_format_find;
find_function __real_lanebloom_format_find_to_build, __wrap_lanebloom_format_find_to_build;

lanebloom_status __wrap_lanebloom_format_find(lanebloom_format id,
                                              const struct format_table **format)
{
  if ((int)id != FRAMED)
    return __real_lanebloom_format_find(id, format);
  *format = framed();
  return LANEBLOOM_OK;
}

lanebloom_status __wrap_lanebloom_format_find_to_build(lanebloom_format id,
                                                       const struct format_table **format)
{
  return (int)id == FRAMED ? __wrap_lanebloom_format_find(id, format)
                           : __real_lanebloom_format_find_to_build(id, format);
}

static lanebloom_filter *build_as(int format, const lanebloom_keys *keys)
{
  lanebloom_filter *filter;
  cr_assert(lanebloom_filter_build((lanebloom_format)format, 10, keys, &filter) == LANEBLOOM_OK);
  return filter;
}

/* Checks that a framed filter gives the same answers as rocksdb-local with the same payload. */
static void assert_same_filter(const lanebloom_filter *framed, const lanebloom_filter *local,
                               const lanebloom_keys *keys)
{
  size_t framed_size, local_size;
  const uint8_t *framed_bytes = lanebloom_filter_bytes(framed, &framed_size),
                *local_bytes = lanebloom_filter_bytes(local, &local_size);
  const size_t payload_nbytes = local_size - lanebloom_format_rocksdb_local.trailer_nbytes;
  cr_assert(framed_size == HEADER_NBYTES + payload_nbytes + FRAMED_TRAILER_NBYTES);
  cr_assert(memcmp(framed_bytes, "headmark", 8) == 0);
  cr_assert(memcmp(framed_bytes + HEADER_NBYTES, local_bytes, payload_nbytes) == 0);
  cr_assert(memcmp(framed_bytes + framed_size - FRAMED_TRAILER_NBYTES, "end", 3) == 0);

  lanebloom_filter_info framed_info, local_info;
  lanebloom_filter_describe(framed, &framed_info, sizeof framed_info);
  lanebloom_filter_describe(local, &local_info, sizeof local_info);
  cr_assert(framed_info.nbits == local_info.nbits && framed_info.nbits_set == local_info.nbits_set);

  static uint64_t hashes[NKEYS];
  uint8_t framed_bitmap[NKEYS / 8], local_bitmap[NKEYS / 8];
  cr_assert(keys->n == NKEYS && lanebloom_hash(LANEBLOOM_ROCKSDB_LOCAL, keys, hashes) == 0);
  const size_t n = lanebloom_filter_screen(local, keys, local_bitmap);
  cr_assert(n < NKEYS && lanebloom_filter_screen(framed, keys, framed_bitmap) == n);
  cr_assert(memcmp(framed_bitmap, local_bitmap, sizeof local_bitmap) == 0);
  cr_assert(lanebloom_filter_screen_hashes(framed, hashes, NKEYS, framed_bitmap) == n);
  cr_assert(memcmp(framed_bitmap, local_bitmap, sizeof local_bitmap) == 0);

  uint64_t framed_positions[30], local_positions[30];
  const size_t nprobes = lanebloom_filter_positions(local, hashes, local_positions);
  cr_assert(lanebloom_filter_positions(framed, hashes, framed_positions) == nprobes);
  for (size_t i = 0; i < nprobes; i++)
    cr_assert(framed_positions[i] == local_positions[i] + UINT64_C(8) * HEADER_NBYTES);
}

Test(formats, a_header_is_passed_over)
{
  static uint8_t bytes[NKEYS * WIDTH], copy[2 * NKEYS];
  fill_keys(bytes);
  const lanebloom_keys keys = lanebloom_keys_fixed(bytes, WIDTH, NKEYS);
  const lanebloom_keys half = lanebloom_keys_part(&keys, 0, NKEYS / 2);
  lanebloom_filter *built = build_as(FRAMED, &half),
                   *local = build_as(LANEBLOOM_ROCKSDB_LOCAL, &half), *parsed, *cut;
  assert_same_filter(built, local, &keys);

  size_t size;
  const void *from = lanebloom_filter_bytes(built, &size);
  cr_assert(size <= sizeof copy);
  memcpy(copy, from, size);
  cr_assert(lanebloom_filter_parse_raw((lanebloom_format)FRAMED, copy, size, NULL, &parsed, NULL,
                                       0) == LANEBLOOM_OK);
  assert_same_filter(parsed, local, &keys);
  cr_assert(lanebloom_filter_parse_raw((lanebloom_format)FRAMED, copy, size - 1, NULL, &cut, NULL,
                                       0) == LANEBLOOM_ERR_FORMAT);

  uint64_t nbytes;
  unsigned nprobes;
  cr_assert(lanebloom_plan_size((lanebloom_format)FRAMED, 10, half.n, &nbytes, &nprobes) ==
                LANEBLOOM_OK &&
            nbytes == size);
  lanebloom_filter_free(parsed);
  lanebloom_filter_free(local);
  lanebloom_filter_free(built);
}

/* Merges two sized builders, each of which has a part of the first half of the keys. If nparts is
 * 1, uses only the first builder. */
static lanebloom_filter *build_sized(int format, const lanebloom_keys *keys, size_t nparts)
{
  lanebloom_builder *into, *from;
  lanebloom_filter *filter;
  cr_assert(lanebloom_builder_create((lanebloom_format)format, 10, NKEYS / 2, &into) ==
            LANEBLOOM_OK);
  cr_assert(lanebloom_builder_create((lanebloom_format)format, 10, NKEYS / 2, &from) ==
            LANEBLOOM_OK);
  const lanebloom_keys first = lanebloom_keys_part(keys, 0, NKEYS / 4),
                       second = lanebloom_keys_part(keys, NKEYS / 4, NKEYS / 4);
  cr_assert(lanebloom_builder_add(into, &first) == LANEBLOOM_OK);
  if (nparts == 2)
    cr_assert(lanebloom_builder_add(from, &second) == LANEBLOOM_OK &&
              lanebloom_builder_merge(into, from, NULL, 0) == LANEBLOOM_OK);
  cr_assert(lanebloom_builder_finish(into, &filter) == LANEBLOOM_OK);
  lanebloom_builder_free(from);
  lanebloom_builder_free(into);
  return filter;
}

Test(formats, a_header_survives_merging)
{
  static uint8_t bytes[NKEYS * WIDTH], copy[2 * NKEYS];
  fill_keys(bytes);
  const lanebloom_keys keys = lanebloom_keys_fixed(bytes, WIDTH, NKEYS);
  lanebloom_filter *one = build_sized(FRAMED, &keys, 1), *both = build_sized(FRAMED, &keys, 2),
                   *local = build_sized(LANEBLOOM_ROCKSDB_LOCAL, &keys, 2), *merged, *other;
  assert_same_filter(both, local, &keys);
  cr_assert(lanebloom_filter_merge((const lanebloom_filter *[]){one, both}, 2, &merged, NULL, NULL,
                                   0) == LANEBLOOM_OK);
  assert_same_filter(merged, local, &keys);
  lanebloom_filter_free(merged);

  size_t size;
  const void *from = lanebloom_filter_bytes(both, &size);
  cr_assert(size <= sizeof copy);
  memcpy(copy, from, size);
  copy[4] = 'M'; /* changes the mark */
  cr_assert(lanebloom_filter_parse_raw((lanebloom_format)FRAMED, copy, size, NULL, &other, NULL,
                                       0) == LANEBLOOM_OK);
  cr_assert(lanebloom_filter_merge((const lanebloom_filter *[]){both, other}, 2, &merged, NULL,
                                   NULL, 0) == LANEBLOOM_ERR_MISMATCH);
  lanebloom_filter_free(other);
  lanebloom_filter_free(local);
  lanebloom_filter_free(both);
  lanebloom_filter_free(one);
}
