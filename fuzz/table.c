/* Fuzzes the reader of tables with any bytes. The following must be true: the table opens, or there
 * is an error message. The description of the table is valid. For every kernel, screening keys in
 * one table and in several gives the results that range and filter give for each key.
 *
 *   flags, 1 byte: 1 verify checksums, 2 writer LevelDB, 4 writer goleveldb | keys | the file
 *
 * SPDX-License-Identifier: MIT */
#include <math.h>

#include "common/bytes.h"
#include "fuzz.h"
#include "tables/table.h"

/* ---- Checksums are not verified, because nearly every mutation would be refused ---- */

static bool verifies;

/* The linker replaces calls of lanebloom_footer_read() by calls of the function whose name begins
 * with __wrap_. The name with __real_ stands for the original function. */
lanebloom_status __real_lanebloom_footer_read(const struct input *input, struct footer *footer,
                                              const struct problem *problem);
lanebloom_status __wrap_lanebloom_footer_read(const struct input *input, struct footer *footer,
                                              const struct problem *problem);

lanebloom_status __wrap_lanebloom_footer_read(const struct input *input, struct footer *footer,
                                              const struct problem *problem)
{
  lanebloom_status status = __real_lanebloom_footer_read(input, footer, problem);
  if (!verifies)
    footer->checksum = CHECKSUM_NONE;
  return status;
}

/* Corrects the checksum of the footer. Tables of RocksDB and Pebble from version 6 on have this
 * checksum. The layout of the footer is in src/tables/footer.c. */
static void repair_rocksdb(uint8_t *file, size_t size)
{
  enum { FOOTER_NBYTES = 53, AT_CHECKSUM = 5, AT_BASE = 9 };
  if (size < FOOTER_NBYTES)
    return;
  uint8_t *footer = file + size - FOOTER_NBYTES;
  store_le32(footer + AT_CHECKSUM, 0);
  const uint32_t sum =
      footer[0] < CHECKSUM_END ? lanebloom_checksum(footer[0], footer, FOOTER_NBYTES) : 0;
  store_le32(footer + AT_CHECKSUM,
             sum + lanebloom_checksum_context(load_le32(footer + AT_BASE), size - FOOTER_NBYTES));
}

static void repair_pebble(uint8_t *file, size_t size, uint32_t version)
{
  enum { MAX_NBYTES = 61, CHECKSUM_NBYTES = 4, BEHIND_NBYTES = 12 };
  const size_t nbytes = version == 6 ? 57 : MAX_NBYTES;
  if (size < nbytes)
    return;
  uint8_t *footer = file + size - nbytes, *checksum = file + size - BEHIND_NBYTES - CHECKSUM_NBYTES;
  uint8_t summed[MAX_NBYTES];
  memcpy(summed, footer, nbytes);
  memcpy(summed + (checksum - footer), checksum + CHECKSUM_NBYTES, BEHIND_NBYTES);
  store_le32(checksum, lanebloom_checksum(CHECKSUM_CRC32C, summed, nbytes - CHECKSUM_NBYTES));
}

static void repair_footer(uint8_t *file, size_t size)
{
  enum { MAGIC_NBYTES = 8, VERSION_NBYTES = 4 };
  if (size < MAGIC_NBYTES + VERSION_NBYTES)
    return;
  const uint64_t magic = load_le64(file + size - MAGIC_NBYTES);
  const uint32_t version = load_le32(file + size - MAGIC_NBYTES - VERSION_NBYTES);
  if (magic == 0x88e241b785f4cff7 && version >= 6)
    repair_rocksdb(file, size);
  else if (magic == 0xb3aa9ff0b3aa9ff0 && version >= 6)
    repair_pebble(file, size, version);
}

/* ---- Answers ---- */

static int compare(lanebloom_slice a, lanebloom_slice b)
{
  const size_t common = a.size < b.size ? a.size : b.size;
  const int order = common ? memcmp(a.data, b.data, common) : 0;
  return order ? order : (a.size > b.size) - (a.size < b.size);
}

/* Returns the first block whose separator is not below the key, by a search from the beginning. */
static size_t find(const struct index *index, lanebloom_slice key)
{
  size_t i = 0;
  while (i < index->n && compare(lanebloom_index_separator(index, i), key) < 0)
    i++;
  return i;
}

/* Checks whether `asked`, a key or a prefix, may be in the filter of data block i or of partition
 * i. */
static bool may_match(const lanebloom_table *table, size_t i, lanebloom_slice asked)
{
  if (table->kind != LANEBLOOM_TABLE_FILTER_BLOCK)
    return !table->filters[i] ||
           lanebloom_filter_may_contain(table->filters[i], asked.data, asked.size);
  const uint64_t offset = table->index.handles[i].offset;
  for (size_t hash = 0; hash < 2; hash++)
    if (table->filter_blocks[hash] &&
        lanebloom_filter_block_may_contain(table->filter_blocks[hash], offset, asked.data,
                                           asked.size))
      return true;
  return false;
}

/* Checks whether the table may have the key by the definition: the key must be in range, and must
 * be in the filter for it. */
static bool may_contain(const lanebloom_table *table, lanebloom_slice key)
{
  if (table->is_empty ||
      (table->has_range && (compare(key, table->smallest) < 0 || compare(key, table->largest) > 0)))
    return false;
  lanebloom_slice asked = key;
  if (table->extractor.kind == EXTRACT_FIXED && key.size < table->extractor.nbytes)
    return true;
  if (table->extractor.kind != EXTRACT_KEY && key.size > table->extractor.nbytes)
    asked.size = table->extractor.nbytes;
  if (!table->uses_filter)
    return true;
  if (table->asks_all_filters) {
    for (size_t i = 0; i < table->index.n; i++)
      if (may_match(table, i, asked))
        return true;
    return false;
  }
  size_t i = table->kind == LANEBLOOM_TABLE_FILTER_FULL ? 0 : find(&table->index, key);
  if (table->kind == LANEBLOOM_TABLE_FILTER_BLOCK && i == table->index.n)
    return true;
  if (table->kind == LANEBLOOM_TABLE_FILTER_PARTITIONED && i == table->index.n)
    i--; /* the last partition */
  return may_match(table, i, asked);
}

static void screen(const lanebloom_table *table, const lanebloom_keys *keys)
{
  enum { NTABLES = 5, NSINGLE = 4, MAX_NDIFFERENT = 256 };
  static uint8_t expected[FUZZ_BITMAP_NBYTES], found[FUZZ_BITMAP_NBYTES], any[FUZZ_BITMAP_NBYTES];
  const lanebloom_slice *slices = keys->index;
  CHECK(lanebloom_kernel_use("scalar") == LANEBLOOM_OK);
  const size_t count = lanebloom_table_screen(table, keys, expected);
  check_bitmap(expected, keys->n, count);
  for (size_t i = 0; i < keys->n && i < MAX_NDIFFERENT; i++)
    CHECK(bit(expected, i) == may_contain(table, slices[i]));
  for (size_t i = 0; i < keys->n && i < NSINGLE; i++) {
    const lanebloom_keys one = lanebloom_keys_part(keys, i, 1);
    CHECK(lanebloom_table_screen(table, &one, NULL) == bit(expected, i));
  }
  const lanebloom_table *tables[NTABLES];
  uint8_t *bitmaps[NTABLES] = {0};
  size_t counts[NTABLES];
  for (size_t i = 0; i < NTABLES; i++)
    tables[i] = table;
  bitmaps[NTABLES - 1] = found;
  for (size_t i = 0; i < lanebloom_kernel_count(); i++) {
    CHECK(lanebloom_kernel_use(lanebloom_kernel_at(i)) == LANEBLOOM_OK);
    CHECK(lanebloom_table_screen(table, keys, found) == count);
    CHECK(memcmp(found, expected, (keys->n + 7) / 8) == 0);
    memset(found, 0, sizeof found);
    CHECK(lanebloom_tables_screen(tables, NTABLES, keys, any, bitmaps, counts) == count);
    CHECK(memcmp(any, expected, (keys->n + 7) / 8) == 0 &&
          memcmp(found, expected, (keys->n + 7) / 8) == 0);
    CHECK(counts[0] == count && counts[NTABLES - 1] == count);
  }
}

static void check_info(const lanebloom_table_info *info, size_t size)
{
  CHECK(info->file_nbytes == size);
  CHECK(isnan(info->model_rate) || (info->model_rate >= 0 && info->model_rate <= 1));
  CHECK(isnan(info->bits_per_key) || info->bits_per_key >= 0);
  CHECK(!info->has_range || compare(info->smallest, info->largest) <= 0);
  const char *const texts[] = {info->filter_name, info->comparator, info->prefix_extractor,
                               info->warning};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    CHECK(strlen(texts[i]) <=
          ((size_t)64 << 20) + 64 * size); /* the limit for the blocks of such a file */
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
  static lanebloom_slice slices[FUZZ_MAX_NKEYS];
  struct fuzz_input input = {bytes, size};
  const uint8_t how = input_byte(&input);
  lanebloom_keys keys = input_keys(&input, slices);
  const lanebloom_writer writer = how & 2   ? LANEBLOOM_WRITER_LEVELDB
                                  : how & 4 ? LANEBLOOM_WRITER_GOLEVELDB
                                            : LANEBLOOM_WRITER_UNKNOWN;
  uint8_t *file = fuzz_alloc(input.left);
  if (input.left > 0)
    memcpy(file, input.at, input.left);
  verifies = how & 1;
  if (!verifies)
    repair_footer(file, input.left);

  lanebloom_table *table;
  char problem[300];
  const lanebloom_status status =
      lanebloom_table_parse(file, input.left, writer, &table, problem, sizeof problem);
  CHECK(!table == (status != LANEBLOOM_OK) && (problem[0] == 0) == (status == LANEBLOOM_OK));
  CHECK(memchr(problem, 0, sizeof problem));
  if (table) {
    lanebloom_table_info info;
    lanebloom_table_describe(table, &info, sizeof info);
    check_info(&info, input.left);
    if (info.has_range && keys.n > 1) { /* two keys become the bounds of the range */
      slices[0] = info.smallest;
      slices[1] = info.largest;
    }
    screen(table, &keys);
    lanebloom_table_free(table);
  }
  free(file);
  return 0;
}
