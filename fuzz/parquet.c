/* Fuzzes the reader of Parquet files with any bytes. The following must be true: the file opens, or
 * there is an error message. The description of the file is valid. Screening reports as many keys
 * as it sets bits. If a column chunk cannot be screened, every key may be in it. But if only its
 * filter is of an unknown kind, this filter is ignored, and the chunk is screened without it.
 *
 *   keys, 96 bytes | the file
 *
 * SPDX-License-Identifier: MIT */
#include <lanebloom_parquet.h>

#include "fuzz.h"

enum { KEYS_NBYTES = 96, MOST_CHUNKS = 64 };

/* Makes keys of key_nbytes each, or of several sizes if key_nbytes is 0. */
static lanebloom_keys make_keys(const uint8_t *bytes, size_t nbytes, uint32_t key_nbytes)
{
  static lanebloom_slice keys[8];
  if (key_nbytes > 0)
    return lanebloom_keys_fixed(bytes, key_nbytes, nbytes / key_nbytes);
  for (size_t i = 0; i < 8; i++)
    keys[i] = (lanebloom_slice){bytes, i < nbytes ? i : nbytes};
  return lanebloom_keys_slices(keys, 8);
}

static void screen(const lanebloom_parquet *file, size_t row_group, size_t column,
                   const lanebloom_parquet_keys *keys, size_t nkeys)
{
  lanebloom_parquet_chunk_info chunk;
  uint8_t bitmap[KEYS_NBYTES / 8 + 1];
  char problem[200] = "";
  size_t nmaybe, nset = 0;
  lanebloom_filter *filter;
  lanebloom_parquet_describe_chunk(file, row_group, column, &chunk, sizeof chunk);
  const lanebloom_status status = lanebloom_parquet_screen(file, row_group, column, keys, bitmap,
                                                           &nmaybe, problem, sizeof problem);
  for (size_t i = 0; i < nkeys; i++)
    nset += bitmap[i / 8] >> i % 8 & 1;
  CHECK(nset == nmaybe && nmaybe <= nkeys);
  CHECK((status == LANEBLOOM_OK) == (*problem == '\0'));
  CHECK(!status || status == LANEBLOOM_ERR_FORMAT || nmaybe == nkeys);
  const lanebloom_status loaded =
      lanebloom_parquet_load_filter(file, row_group, column, &filter, problem, sizeof problem);
  CHECK(chunk.has_filter || loaded);
  CHECK(!chunk.is_elsewhere || (loaded && status));
  lanebloom_filter_free(filter);
}

static void ask_column(const lanebloom_parquet *file, size_t column, size_t nrow_groups,
                       const uint8_t *bytes)
{
  lanebloom_parquet_column_info info;
  lanebloom_parquet_keys *keys;
  char problem[200] = "";
  size_t found = column, bad;
  lanebloom_parquet_describe_column(file, column, &info, sizeof info);
  CHECK(strlen(info.type) > 0 && strlen(info.path) < SIZE_MAX);
  if (lanebloom_parquet_find(file, info.path, &found, problem, sizeof problem))
    CHECK(strlen(problem) > 0 && strlen(problem) < sizeof problem);
  const lanebloom_keys batch =
      make_keys(bytes, KEYS_NBYTES, info.key_size <= KEYS_NBYTES ? info.key_size : 1);
  const lanebloom_status status = lanebloom_parquet_keys_create(
      file, column, info.encoding, &batch, &keys, &bad, problem, sizeof problem);
  CHECK(info.has_keys || status == LANEBLOOM_ERR_ARGUMENT);
  CHECK(bad <= batch.n);
  if (status)
    return;
  for (size_t group = 0; group < nrow_groups && group < MOST_CHUNKS; group++)
    screen(file, group, column, keys, batch.n);
  lanebloom_parquet_keys_free(keys);
}

/* Screens keys by what Hudi wrote. If its filter cannot be used, only the range rules out keys. */
static void ask_hudi(const lanebloom_parquet *file, const uint8_t *bytes)
{
  const lanebloom_keys keys = make_keys(bytes, KEYS_NBYTES, 0);
  lanebloom_parquet_hudi_info info;
  lanebloom_filter *filter;
  uint8_t bitmap[1], passed[1] = {0xff};
  char problem[200] = "";
  size_t nmaybe;
  lanebloom_parquet_describe_hudi(file, &info, sizeof info);
  const lanebloom_status status =
      lanebloom_parquet_screen_hudi(file, &keys, bitmap, &nmaybe, problem, sizeof problem);
  CHECK((status == LANEBLOOM_OK) == (*problem == '\0'));
  check_bitmap(bitmap, keys.n, nmaybe);
  CHECK(!status || info.has_range || nmaybe == keys.n);
  CHECK(info.has_filter || info.has_range || nmaybe == keys.n);
  const lanebloom_status loaded =
      lanebloom_parquet_load_hudi_filter(file, &filter, problem, sizeof problem);
  CHECK(loaded == (info.has_filter ? status : LANEBLOOM_ERR_ARGUMENT));
  if (filter)
    lanebloom_filter_screen(filter, &keys, passed);
  CHECK((bitmap[0] & passed[0]) == bitmap[0]);
  CHECK(!filter || info.has_range || bitmap[0] == passed[0]);
  lanebloom_filter_free(filter);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  struct fuzz_input input = {bytes, size};
  uint8_t keys[KEYS_NBYTES] = {0};
  const lanebloom_slice some = input_bytes(&input, sizeof keys);
  if (some.size > 0)
    memcpy(keys, some.data, some.size);
  lanebloom_parquet *file;
  lanebloom_parquet_info info;
  char problem[200] = "";
  const lanebloom_status status = lanebloom_parquet_parse(
      input.at, input.left, LANEBLOOM_PARQUET_BOUNDS_ALL, &file, problem, sizeof problem);
  CHECK((status == LANEBLOOM_OK) == (*problem == '\0'));
  if (status)
    return 0;
  lanebloom_parquet_describe(file, &info, sizeof info);
  for (size_t column = 0; column < info.ncolumns && column < MOST_CHUNKS; column++)
    ask_column(file, column, info.nrow_groups, keys);
  ask_hudi(file, keys);
  lanebloom_parquet_free(file);
  return 0;
}
