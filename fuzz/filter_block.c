/* Fuzzes filter blocks in one of two ways. Either it takes any bytes as a filter block and screens
 * any keys of any data blocks; every kernel must then give the results of LevelDB's reader. Or it
 * makes any calls of the builder; the block must then have all keys that were added.
 *
 *   flags, 1 byte: 1 signed hash, 2 build | the rest, see below
 *
 * SPDX-License-Identifier: MIT */
#include <lanebloom_tables.h>

#include "fuzz.h"
#include "model.h"

static uint32_t number_at(const uint8_t *bytes)
{
  return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* ---- Reading: first offset 8 bytes | step 4 | keys per step 1 | keys | the block ---- */

/* Queries a filter block as LevelDB's FilterBlockReader does. LevelDB does not define the result
 * for a base_lg of 64 or more; in this case, every key may be present. */
static bool may_match(const uint8_t *bytes, size_t size, uint64_t data_block_offset, uint32_t hash)
{
  if (size < 5)
    return true;
  const uint64_t room = size - 5, offsets = number_at(bytes + room), base_lg = bytes[size - 1];
  if (offsets > room || base_lg >= 64)
    return true;
  const uint64_t index = data_block_offset >> base_lg;
  if (index >= (room - offsets) / 4)
    return true;
  const uint64_t begin = number_at(bytes + offsets + 4 * index),
                 end = number_at(bytes + offsets + 4 * index + 4);
  if (begin == end)
    return false;
  return begin > end || end > offsets || model_may_match(bytes + begin, end - begin, hash);
}

static void read_block(lanebloom_format format, struct fuzz_input *input)
{
  static lanebloom_slice slices[FUZZ_MAX_NKEYS];
  static uint64_t offsets[FUZZ_MAX_NKEYS];
  static uint8_t expected[FUZZ_BITMAP_NBYTES], found[FUZZ_BITMAP_NBYTES];
  const uint64_t first = input_number(input, 8), step = input_number(input, 4),
                 run = 1 + (uint64_t)input_byte(input);
  const lanebloom_keys keys = input_keys(input, slices);
  lanebloom_filter_block *block;
  CHECK(lanebloom_filter_block_parse(format, input->at, input->left, &block, NULL, 0) ==
        LANEBLOOM_OK);
  memset(expected, 0, sizeof expected);
  for (size_t i = 0; i < keys.n; i++) {
    offsets[i] = first + i / run * step;
    const uint32_t hash =
        model_bloomhash(slices[i].data, slices[i].size, format == LANEBLOOM_LEVELDB_SIGNED);
    const bool may = may_match(input->at, input->left, offsets[i], hash);
    CHECK(lanebloom_filter_block_may_contain(block, offsets[i], slices[i].data, slices[i].size) ==
          may);
    expected[i / 8] |= (uint8_t)(may << i % 8);
  }
  for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
    CHECK(lanebloom_kernel_use(lanebloom_kernel_at(i)) == LANEBLOOM_OK);
    const size_t count = lanebloom_filter_block_screen(block, offsets, &keys, found);
    CHECK(memcmp(found, expected, (keys.n + 7) / 8) == 0);
    check_bitmap(found, keys.n, count);
    CHECK(lanebloom_filter_block_screen(block, offsets, &keys, NULL) == count);
  }
  lanebloom_filter_block_free(block);
}

/* ---- Building: bits per key 1 byte | base_lg 1 | calls: bytes to the next data block 2, keys 1,
 * each of them ---- */

enum { MAX_NCALLS = 100 };

struct added {
  uint64_t data_block_offset;
  lanebloom_slice key;
};

/* Makes the calls of the builder, and returns the number of keys that were added. There are at most
 * 100 data blocks of 64 KiB, because a small base_lg makes many filters. */
static size_t build(lanebloom_format format, struct fuzz_input input,
                    lanebloom_filter_block_builder **builder, struct added added[FUZZ_MAX_NKEYS])
{
  const double bits_per_key = input_byte(&input);
  const unsigned base_lg = input_byte(&input);
  const lanebloom_status status =
      lanebloom_filter_block_builder_create(format, bits_per_key, base_lg, builder);
  CHECK(status == (base_lg > 63 ? LANEBLOOM_ERR_ARGUMENT : LANEBLOOM_OK));
  if (status)
    return 0;
  uint64_t offset = 0;
  size_t n = 0;
  for (size_t call = 0; call < MAX_NCALLS && input.left > 0; call++) {
    offset += input_number(&input, 2);
    CHECK(lanebloom_filter_block_builder_start_block(*builder, offset) == LANEBLOOM_OK);
    if (offset > 0)
      CHECK(lanebloom_filter_block_builder_start_block(*builder, offset - 1) ==
            LANEBLOOM_ERR_ARGUMENT);
    const size_t first = n;
    static lanebloom_slice slices[FUZZ_MAX_NKEYS];
    for (size_t nkeys = input_byte(&input); nkeys > 0 && n < FUZZ_MAX_NKEYS; nkeys--, n++)
      added[n] = (struct added){offset, slices[n - first] = input_short(&input)};
    const lanebloom_keys keys = lanebloom_keys_slices(slices, n - first);
    CHECK(lanebloom_filter_block_builder_add(*builder, &keys) == LANEBLOOM_OK);
  }
  return n;
}

static void build_block(lanebloom_format format, const struct fuzz_input *input)
{
  static struct added added[FUZZ_MAX_NKEYS];
  uint8_t *expected = NULL;
  size_t expected_nbytes = 0;
  for (size_t i = 0; i <= lanebloom_kernel_count(); i++) {
    CHECK(lanebloom_kernel_use(i == 0 ? "scalar" : lanebloom_kernel_at(i - 1)) == LANEBLOOM_OK);
    lanebloom_filter_block_builder *builder;
    const size_t n = build(format, *input, &builder, added);
    if (!builder)
      return;
    const void *bytes;
    size_t size;
    CHECK(lanebloom_filter_block_builder_finish(builder, &bytes, &size) == LANEBLOOM_OK);
    if (i == 0)
      expected = memcpy(fuzz_alloc(size), bytes, expected_nbytes = size);
    CHECK(size == expected_nbytes && memcmp(bytes, expected, size) == 0);
    lanebloom_filter_block *block;
    CHECK(lanebloom_filter_block_parse(format, bytes, size, &block, NULL, 0) == LANEBLOOM_OK);
    for (size_t key = 0; key < n; key++)
      CHECK(lanebloom_filter_block_may_contain(block, added[key].data_block_offset,
                                               added[key].key.data, added[key].key.size));
    lanebloom_filter_block_free(block);
    lanebloom_filter_block_builder_free(builder);
  }
  free(expected);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  struct fuzz_input input = {bytes, size};
  const uint8_t what = input_byte(&input);
  const lanebloom_format format = what & 1 ? LANEBLOOM_LEVELDB_SIGNED : LANEBLOOM_LEVELDB;
  CHECK(lanebloom_kernel_use("scalar") == LANEBLOOM_OK);
  if (what & 2)
    build_block(format, &input);
  else
    read_block(format, &input);
  return 0;
}
