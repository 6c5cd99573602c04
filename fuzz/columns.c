/* Fuzzes the reader of Pebble's columnar blocks with any bytes. The following must be true: the
 * block has no more rows than bytes. Values lie in the block, and all of them and all keys together
 * have no more bytes than the block, less what keys share. In a block of keys, each key equals the
 * one that its definition gives.
 *
 *   layout, 1 byte | block
 *
 * SPDX-License-Identifier: MIT */
#include "common/bytes.h"
#include "fuzz.h"
#include "tables/block.h"

static uint64_t number_at(const struct column *column, uint64_t i)
{
  uint8_t bytes[8] = {0};
  if (column->width > 0)
    memcpy(bytes, column->numbers + i * column->width, column->width);
  return column->base + load_le64(bytes);
}

static lanebloom_slice slice_at(const struct column *column, uint64_t i)
{
  const uint64_t begin = i ? number_at(column, i - 1) : 0;
  return (lanebloom_slice){column->bytes + begin, (size_t)(number_at(column, i) - begin)};
}

static void check_part(const struct entries *entries, size_t *at, lanebloom_slice part)
{
  CHECK(entries->key_nbytes - *at >= part.size);
  CHECK(part.size == 0 || memcmp(entries->key + *at, part.data, part.size) == 0);
  *at += part.size;
}

/* Checks the key of a row: the prefix of all rows, that of its bundle, and the last part of a row
 * of the bundle up to this one that is not empty. */
static void check_key(const struct entries *entries, uint32_t row)
{
  const struct columns *columns = &entries->columns;
  const uint64_t bundle = row >> columns->bundle_shift,
                 prefix = 1 + bundle * ((UINT64_C(1) << columns->bundle_shift) + 1);
  uint64_t part = prefix + 1 + row - (bundle << columns->bundle_shift);
  while (part > prefix + 1 && slice_at(&columns->columns[0], part).size == 0)
    part--;
  size_t at = 0;
  check_part(entries, &at, slice_at(&columns->columns[0], 0));
  check_part(entries, &at, slice_at(&columns->columns[0], prefix));
  check_part(entries, &at, slice_at(&columns->columns[0], part));
  check_part(entries, &at, slice_at(&columns->columns[1], row));
  CHECK(entries->key_nbytes == at + 8);
  CHECK(load_le64(entries->key + at) == number_at(&columns->columns[2], row));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  enum { NLAYOUTS = 3, MAX_NCHECKED = 1000 };
  struct fuzz_input input = {bytes, size};
  const enum column_layout layout = COLUMNS_NAMES + input_byte(&input) % NLAYOUTS;
  uint8_t *copy = fuzz_alloc(input.left); /* exact, to detect reads behind it */
  if (input.left > 0)
    memcpy(copy, input.at, input.left);
  const struct block block = {.bytes = copy, .nbytes = input.left, .layout = layout};
  const struct entry_form form = {.has_handles = layout == COLUMNS_NAMES};
  struct entries entries;
  if (lanebloom_entries_begin(&block, form, LANEBLOOM_ENGINE_PEBBLE, &no_problem, &entries) ==
      LANEBLOOM_OK) {
    size_t nrows = 0, nbytes = 0;
    for (; lanebloom_entries_next(&entries); nrows++) {
      CHECK(entries.key_nbytes <= columns_max_key_nbytes(block.nbytes));
      if (layout == COLUMNS_KEYS && nrows < MAX_NCHECKED)
        check_key(&entries, (uint32_t)nrows);
      if (layout != COLUMNS_KEYS)
        nbytes += entries.key_nbytes;
      if (layout == COLUMNS_NAMES) {
        CHECK(entries.value.at >= copy && entries.value.end <= copy + block.nbytes &&
              entries.value.at <= entries.value.end);
        nbytes += cursor_left(&entries.value);
      }
    }
    CHECK(nrows <= block.nbytes && nbytes <= block.nbytes);
    lanebloom_entries_end(&entries, "block", &no_problem);
  }
  free(copy);
  return 0;
}
